"""Texts and web pages: many features, few of them in each row; LIBSVM site and UCI repository."""

from dataclasses import dataclass
from typing import Any, ClassVar

from aucbench import File, Grouping, ParameterError
from aucbench_datasets.classes import SeveralClasses, numbered

# fmt: off
_SECTOR = (
    File("multiclass/sector.scale.bz2", rows=6412, labels=numbered(
        1,
        43, 45, 79, 64, 62, 78, 62, 57, 79, 60, 59, 80, 55, 57, 76, 66, 46, 43, 66, 66, 67, 67, 66, 67, 67,
        66, 67, 17, 80, 67, 53, 80, 30, 53, 67, 75, 30, 74, 56, 45, 73, 73, 52, 69, 70, 56, 74, 70, 56, 74,
        70, 41, 70, 71, 59, 70, 66, 60, 56, 67, 53, 72, 69, 11, 71, 73, 55, 73, 73, 56, 36, 76, 58, 66, 53,
        58, 62, 69, 64, 65, 69, 66, 65, 69, 55, 68, 68, 64, 43, 72, 38, 71, 76, 51, 70, 77, 52, 70, 25, 10,
        66, 65, 61, 20, 74,
    )),
    File("multiclass/sector.t.scale.bz2", part="test", rows=3207, labels=numbered(
        1,
        42, 23, 21, 35, 43, 20, 38, 43, 19, 36, 41, 20, 35, 39, 24, 34, 37, 7, 34, 34, 32, 33, 34, 33, 33,
        34, 33, 20, 20, 33, 47, 20, 10, 47, 33, 14, 33, 26, 34, 32, 27, 26, 48, 20, 30, 44, 26, 30, 44, 26,
        30, 34, 30, 29, 41, 30, 24, 40, 24, 33, 36, 28, 31, 23, 28, 27, 45, 29, 29, 43, 19, 24, 42, 34, 12,
        34, 33, 31, 33, 35, 31, 34, 35, 31, 30, 32, 32, 36, 18, 28, 38, 29, 24, 46, 30, 23, 46, 30, 3, 17,
        20, 32, 39, 19, 26,
    )),
)
# fmt: on


@dataclass(frozen=True)
class Sector(SeveralClasses):
    """Web pages of companies in 105 sectors: 6,412 + 3,207 rows, 55,197 features."""

    name: ClassVar[str] = "sector"
    features: ClassVar[int] = 55197
    files: ClassVar[tuple[File, ...]] = _SECTOR
    citation: ClassVar[str] = (
        "A. McCallum, K. Nigam: A comparison of event models for naive Bayes text classification. AAAI "
        "workshop on learning for text categorization 1998"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class SectorLvr:
    """The largest of sector's 105 classes (the first of three such) against the rest: 1.2% positive."""

    name: ClassVar[str] = "sector_lvr"
    features: ClassVar[int] = 55197
    grouping: ClassVar[Grouping] = Grouping.largest
    files: ClassVar[tuple[File, ...]] = _SECTOR
    citation: ClassVar[str] = Sector.citation
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class News20(SeveralClasses):
    """Postings to 20 newsgroups: 15,935 + 3,993 rows, 62,061 features, 20 classes."""

    name: ClassVar[str] = "news20"
    features: ClassVar[int] = 62061
    files: ClassVar[tuple[File, ...]] = (
        File("multiclass/news20.bz2", rows=15935),
        File("multiclass/news20.t.bz2", part="test", rows=3993),
    )
    citation: ClassVar[str] = (
        "K. Lang: NewsWeeder: learning to filter netnews. ICML 1995. https://doi.org/10.24432/C5C323"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class News20Binary:
    """Postings to newsgroups in two classes: 19,996 rows, 1,355,191 features, 50% positive."""

    name: ClassVar[str] = "news20_binary"
    features: ClassVar[int] = 1355191
    files: ClassVar[tuple[File, ...]] = (
        File("binary/news20.binary.bz2", rows=19996, labels={-1: 9997, 1: 9999}),
    )
    citation: ClassVar[str] = (
        "S. S. Keerthi, D. DeCoste: A modified finite Newton method for fast solution of large scale linear "
        "SVMs. JMLR 6, 2005"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Rcv1Binary:
    """Reuters news, CCAT and ECAT (positive) against GCAT and MCAT: 20,242 + 677,399 rows, 52% positive."""

    name: ClassVar[str] = "rcv1_binary"
    features: ClassVar[int] = 47236
    large: ClassVar[bool] = True
    files: ClassVar[tuple[File, ...]] = (
        File("binary/rcv1_train.binary.bz2", rows=20242, labels={-1: 9751, 1: 10491}),
        File("binary/rcv1_test.binary.bz2", part="test", rows=677399, labels={-1: 321939, 1: 355460}),
    )
    citation: ClassVar[str] = (
        "D. D. Lewis, Y. Yang, T. G. Rose, F. Li: RCV1: a new benchmark collection for text categorization "
        "research. JMLR 5, 2004"
    )
    licence: ClassVar[str] = "not stated"


def _checked_topic(name: str, topic: Any) -> float | str:
    if topic is None:
        return "largest"
    if isinstance(topic, bool) or not isinstance(topic, int | float):
        raise ParameterError(f"{name}: topic must be the number of a label, got {topic!r}.")
    return float(topic)


@dataclass(frozen=True)
class Rcv1v2:
    """Reuters news by topic, one of 101 against the rest: 23,149 + 781,265 rows, 47,236 features.

    Parameters
    ----------
    topic : number, optional
        The label whose rows are positive; the one with most training rows when left out.
    """

    name: ClassVar[str] = "rcv1v2"
    features: ClassVar[int] = 47236
    large: ClassVar[bool] = True
    citation: ClassVar[str] = Rcv1Binary.citation
    licence: ClassVar[str] = "not stated"
    topic: Any = None

    def __post_init__(self) -> None:
        _checked_topic(self.name, self.topic)

    @property
    def files(self) -> tuple[File, ...]:
        """The training file and the four test files."""
        topic = _checked_topic(self.name, self.topic)
        test = enumerate((199328, 199339, 199576, 183022))
        return (
            File("multilabel/rcv1_topics_train.svm.bz2", rows=23149, topic=topic),
            *(
                File(f"multilabel/rcv1_topics_test_{i}.svm.bz2", part="test", rows=rows, topic=topic)
                for i, rows in test
            ),
        )


@dataclass(frozen=True)
class RealSim:
    """Postings on real and simulated cars and aircraft: 72,309 rows, 20,958 features, 31% positive."""

    name: ClassVar[str] = "real_sim"
    features: ClassVar[int] = 20958
    files: ClassVar[tuple[File, ...]] = (
        File("binary/real-sim.bz2", rows=72309, labels={-1: 50071, 1: 22238}),
    )
    citation: ClassVar[str] = "A. McCallum: SRAA: simulated, real, aviation and auto newsgroups. 1998"
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Webspam:
    """Web pages that are spam (positive), by single bytes: 350,000 rows, 254 features, 61% positive."""

    name: ClassVar[str] = "webspam"
    features: ClassVar[int] = 254
    large: ClassVar[bool] = True
    files: ClassVar[tuple[File, ...]] = (
        File("binary/webspam_wc_normalized_unigram.svm.xz", rows=350000, labels={-1: 137811, 1: 212189}),
    )
    citation: ClassVar[str] = (
        "S. Webb, J. Caverlee, C. Pu: Introducing the Webb spam corpus. CEAS 2006; "
        "D. Wang, D. Irani, C. Pu: Evolutionary study of web spam. CollaborateCom 2012"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class FarmAds:
    """Advertisements on farm animals, approved (positive) or not: 4,143 rows, 54,877 features."""

    name: ClassVar[str] = "farm_ads"
    features: ClassVar[int] = 54877
    files: ClassVar[tuple[File, ...]] = (
        File(
            "uci/farm-ads-vect",
            rows=4143,
            urls=(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/00218/farm-ads-vect",
                "https://archive.ics.uci.edu/static/public/218/farm+ads.zip#farm-ads-vect",
            ),
        ),
    )
    citation: ClassVar[str] = (
        "C. Mesterharm, M. J. Pazzani: Active learning using on-line algorithms. KDD 2011. "
        "https://doi.org/10.24432/C5DS5J"
    )
    licence: ClassVar[str] = "CC BY 4.0"


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
        _checked_topic(self.name, self.topic)

    @property
    def files(self) -> tuple[File, ...]:
        """The training file."""
        return (
            File(
                "by_hand/ecml2012",
                rows=456886,
                topic=_checked_topic(self.name, self.topic),
                by_hand="the training file (medium Wikipedia) of the ECML/PKDD 2012 challenge on large-scale "
                "hierarchical text classification, in LIBSVM format with commas and no blanks between labels",
            ),
        )
