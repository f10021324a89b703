"""Data sets that are given out after a registration: the user downloads them and names the folder."""

from dataclasses import dataclass
from typing import Any, ClassVar

from aucbench import File, Table
from aucbench_datasets._several_classes import checked_topic


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


@dataclass(frozen=True)
class Ecml2012:
    """Wikipedia pages of the ECML/PKDD 2012 challenge, one category against the rest: 456,886 rows.

    Parameters
    ----------
    topic : number, optional
        The category whose rows are positive; the one with most rows when left out.
    """

    name: ClassVar[str] = "ecml2012"
    citation: ClassVar[str] = (
        "I. Partalas et al.: LSHTC: a benchmark for large-scale text classification. arXiv:1503.08581, 2015"
    )
    licence: ClassVar[str] = "not stated"
    topic: Any = None

    def __post_init__(self) -> None:
        checked_topic(self.name, self.topic)

    @property
    def files(self) -> tuple[File, ...]:
        """The training file."""
        return (
            File(
                "by_hand/ecml2012",
                rows=456886,
                topic=checked_topic(self.name, self.topic),
                by_hand="the training file (medium Wikipedia) of the ECML/PKDD 2012 challenge on large-scale "
                "hierarchical text classification, in LIBSVM format with commas and no blanks between labels",
            ),
        )
