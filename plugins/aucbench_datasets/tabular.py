"""Tables of medium size for two classes: LIBSVM site, UCI repository, OpenML."""

from dataclasses import dataclass
from typing import ClassVar

from aucbench import File, Table

UCI = "https://archive.ics.uci.edu"


@dataclass(frozen=True)
class A9a:
    """Adult, incomes above 50,000 dollars a year: 32,561 + 16,281 rows, 123 binary features, 24% positive."""

    name: ClassVar[str] = "a9a"
    features: ClassVar[int] = 123
    files: ClassVar[tuple[File, ...]] = (
        File("binary/a9a", rows=32561, labels={-1: 24720, 1: 7841}),
        File("binary/a9a.t", part="test", rows=16281, labels={-1: 12435, 1: 3846}),
    )
    citation: ClassVar[str] = (
        "B. Becker, R. Kohavi: Adult. UCI Machine Learning Repository 1996. https://doi.org/10.24432/C5XW20; "
        "binary features by J. C. Platt, 1998"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class W8a:
    """Web pages of one category, by key words: 49,749 + 14,951 rows, 300 binary features, 3% positive."""

    name: ClassVar[str] = "w8a"
    features: ClassVar[int] = 300
    files: ClassVar[tuple[File, ...]] = (
        File("binary/w8a", rows=49749, labels={-1: 48270, 1: 1479}),
        File("binary/w8a.t", part="test", rows=14951, labels={-1: 14497, 1: 454}),
    )
    citation: ClassVar[str] = (
        "J. C. Platt: Fast training of support vector machines using sequential minimal optimization. "
        "Advances in Kernel Methods, MIT Press 1998"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Ijcnn1:
    """Misfiring of a combustion engine (IJCNN 2001): 49,990 + 91,701 rows, 22 features, 10% positive."""

    name: ClassVar[str] = "ijcnn1"
    features: ClassVar[int] = 22
    # ijcnn1.tr and ijcnn1.val of the site are a partition of the training file.
    files: ClassVar[tuple[File, ...]] = (
        File("binary/ijcnn1.bz2", rows=49990, labels={-1: 45137, 1: 4853}),
        File("binary/ijcnn1.t.bz2", part="test", rows=91701, labels={-1: 82989, 1: 8712}),
    )
    citation: ClassVar[str] = (
        "D. Prokhorov: IJCNN 2001 neural network competition. Slide presentation in IJCNN'01, Ford Research "
        "Laboratory 2001"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Covtype:
    """Forest cover, lodgepole pine (positive) or not: 581,012 rows, 54 features, 49% positive."""

    name: ClassVar[str] = "covtype"
    features: ClassVar[int] = 54
    files: ClassVar[tuple[File, ...]] = (
        File("binary/covtype.libsvm.binary.bz2", rows=581012, labels={1: 297711, 2: 283301}),
    )
    citation: ClassVar[str] = (
        "J. A. Blackard: Covertype. UCI Machine Learning Repository 1998. https://doi.org/10.24432/C50K5N; "
        "two classes by R. Collobert, S. Bengio, Y. Bengio, 2002"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class CodRna:
    """Non-coding RNA, or not: 59,535 + 271,617 rows, 8 features, a third positive."""

    name: ClassVar[str] = "cod_rna"
    features: ClassVar[int] = 8
    files: ClassVar[tuple[File, ...]] = (
        File("binary/cod-rna", rows=59535, labels={-1: 39690, 1: 19845}),
        File("binary/cod-rna.t", part="test", rows=271617, labels={-1: 181078, 1: 90539}),
    )
    citation: ClassVar[str] = (
        "A. V. Uzilov, J. M. Keegan, D. H. Mathews: Detection of non-coding RNAs on the basis of predicted "
        "secondary structure formation free energy change. BMC Bioinformatics 7, 2006"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class SkinNonskin:
    """Colours of skin (positive) and of other things: 245,057 rows, 3 features, 21% positive."""

    name: ClassVar[str] = "skin_nonskin"
    features: ClassVar[int] = 3
    files: ClassVar[tuple[File, ...]] = (
        File("binary/skin_nonskin", rows=245057, labels={1: 50859, 2: 194198}),
    )
    citation: ClassVar[str] = (
        "R. Bhatt, A. Dhall: Skin segmentation. UCI Machine Learning Repository 2012. "
        "https://doi.org/10.24432/C5T30C"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Phishing:
    """Web addresses that phish, or not: 11,055 rows, 68 binary features, 56% positive."""

    name: ClassVar[str] = "phishing"
    features: ClassVar[int] = 68
    files: ClassVar[tuple[File, ...]] = (File("binary/phishing", rows=11055, labels={0: 4898, 1: 6157}),)
    citation: ClassVar[str] = (
        "R. Mohammad, L. McCluskey: Phishing websites. UCI Machine Learning Repository 2012. "
        "https://doi.org/10.24432/C51W2X"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Mushrooms:
    """Edible and poisonous mushrooms: 8,124 rows, 112 binary features, the rarer class is positive."""

    name: ClassVar[str] = "mushrooms"
    features: ClassVar[int] = 112
    files: ClassVar[tuple[File, ...]] = (File("binary/mushrooms", rows=8124),)
    citation: ClassVar[str] = (
        "Mushroom. UCI Machine Learning Repository 1981. https://doi.org/10.24432/C5959T"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Spambase:
    """E-mail that is spam (positive), or not: 4,601 rows, 57 features, 39% positive."""

    name: ClassVar[str] = "spambase"
    features: ClassVar[int] = 57
    files: ClassVar[tuple[File, ...]] = (
        File(
            "uci/spambase.data",
            rows=4601,
            labels={0: 2788, 1: 1813},
            urls=(
                f"{UCI}/ml/machine-learning-databases/spambase/spambase.data",
                f"{UCI}/static/public/94/spambase.zip#spambase.data",
            ),
            kind="csv",
            table=Table(header=False),
        ),
    )
    citation: ClassVar[str] = (
        "M. Hopkins, E. Reeber, G. Forman, J. Suermondt: Spambase. UCI Machine Learning Repository 1999. "
        "https://doi.org/10.24432/C53G6X"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Magic04:
    """Showers seen by a gamma telescope, hadrons are positive: 19,020 rows, 10 features, 35% positive."""

    name: ClassVar[str] = "magic04"
    features: ClassVar[int] = 10
    files: ClassVar[tuple[File, ...]] = (
        File(
            "uci/magic04.data",
            rows=19020,
            labels={"g": 12332, "h": 6688},
            urls=(
                f"{UCI}/ml/machine-learning-databases/magic/magic04.data",
                f"{UCI}/static/public/159/magic+gamma+telescope.zip#magic04.data",
            ),
            kind="csv",
            table=Table(header=False),
        ),
    )
    citation: ClassVar[str] = (
        "R. Bock: MAGIC gamma telescope. UCI Machine Learning Repository 2007. "
        "https://doi.org/10.24432/C52C8B"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Mammography:
    """Calcifications in mammograms: 11,183 rows, 6 features, 2% positive."""

    name: ClassVar[str] = "mammography"
    features: ClassVar[int] = 6
    files: ClassVar[tuple[File, ...]] = (
        File("openml/310", rows=11183, labels={-1: 10923, 1: 260}, kind="openml"),
    )
    citation: ClassVar[str] = (
        "K. S. Woods et al.: Comparative evaluation of pattern recognition techniques for detection of "
        "microcalcifications in mammography. IJPRAI 7, 1993; OpenML 310"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Phoneme:
    """Nasal and oral (positive) vowels: 5,404 rows, 5 features, 29% positive."""

    name: ClassVar[str] = "phoneme"
    features: ClassVar[int] = 5
    files: ClassVar[tuple[File, ...]] = (
        File("openml/1489", rows=5404, labels={1: 3818, 2: 1586}, kind="openml"),
    )
    citation: ClassVar[str] = "Phoneme. ELENA project, ESPRIT 6891, 1995; OpenML 1489"
    licence: ClassVar[str] = "not stated"
