"""Large dense data sets: particle physics, and one made for a challenge."""

from dataclasses import dataclass
from typing import ClassVar

from aucbench import File, Table


@dataclass(frozen=True)
class Higgs:
    """Simulated collisions that made a Higgs boson (positive): 11,000,000 rows, 28 features, 53% positive."""

    name: ClassVar[str] = "higgs"
    features: ClassVar[int] = 28
    large: ClassVar[bool] = True
    files: ClassVar[tuple[File, ...]] = (
        File("binary/HIGGS.xz", rows=11_000_000, labels={0: 5170877, 1: 5829123}),
    )
    citation: ClassVar[str] = (
        "P. Baldi, P. Sadowski, D. Whiteson: Searching for exotic particles in high-energy physics with deep "
        "learning. Nature Communications 5, 2014. https://doi.org/10.24432/C5V312"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Susy:
    """Simulated collisions with supersymmetric particles (positive): 5,000,000 rows, 18 features."""

    name: ClassVar[str] = "susy"
    features: ClassVar[int] = 18
    large: ClassVar[bool] = True
    files: ClassVar[tuple[File, ...]] = (
        File("binary/SUSY.xz", rows=5_000_000, labels={0: 2712173, 1: 2287827}),
    )
    citation: ClassVar[str] = (
        "P. Baldi, P. Sadowski, D. Whiteson: Searching for exotic particles in high-energy physics with deep "
        "learning. Nature Communications 5, 2014. https://doi.org/10.24432/C54606"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Epsilon:
    """The Pascal large-scale learning challenge 2008: 400,000 + 100,000 rows of unit norm, 2,000 features."""

    name: ClassVar[str] = "epsilon"
    features: ClassVar[int] = 2000
    large: ClassVar[bool] = True
    files: ClassVar[tuple[File, ...]] = (
        File("binary/epsilon_normalized.xz", rows=400_000),
        File("binary/epsilon_normalized.t.xz", part="test", rows=100_000),
    )
    citation: ClassVar[str] = (
        "S. Sonnenburg, V. Franc, E. Yom-Tov, M. Sebag: Pascal large scale learning challenge. 2008; "
        "normalised by G.-X. Yuan, C.-H. Ho, C.-J. Lin, JMLR 13, 2012"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class KddCup04:
    """KDD Cup 2004, particle physics: 50,000 rows; the 70 features that are never missing."""

    name: ClassVar[str] = "kddcup04"
    features: ClassVar[int] = 70
    files: ClassVar[tuple[File, ...]] = (
        File(
            "by_hand/phy_train.dat",
            rows=50_000,
            kind="csv",
            # The number of the case, and eight columns where 999 and 9999 stand for missing values.
            table=Table(target=1, header=False, drop=(0, 21, 22, 23, 30, 45, 46, 47, 56)),
            by_hand="phy_train.dat of the archive that https://osmot.cs.cornell.edu/kddcup/datasets.html "
            "gives out after a registration",
        ),
    )
    citation: ClassVar[str] = (
        "R. Caruana, T. Joachims, L. Backstrom: KDD-Cup 2004: results and analysis. SIGKDD Explorations 6, "
        "2004"
    )
    licence: ClassVar[str] = "not stated"
