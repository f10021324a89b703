"""Data sets of several classes from the folders `multiclass` and `multilabel` of the LIBSVM site."""

from dataclasses import dataclass
from typing import Any, ClassVar

from aucbench import File, Grouping
from aucbench_datasets._several_classes import SeveralClasses, checked_topic, numbered
from aucbench_datasets.libsvm_binary import Rcv1Binary

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
class Usps(SeveralClasses):
    """Digits on letters of the US mail (16 x 16 pixels): 7,291 + 2,007 rows, 256 features, 10 classes."""

    name: ClassVar[str] = "usps"
    features: ClassVar[int] = 256
    files: ClassVar[tuple[File, ...]] = (
        File(
            "multiclass/usps.bz2",
            rows=7291,
            labels=numbered(1, 1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
        ),
        File(
            "multiclass/usps.t.bz2",
            part="test",
            rows=2007,
            labels=numbered(1, 359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
        ),
    )
    citation: ClassVar[str] = (
        "J. J. Hull: A database for handwritten text recognition research. IEEE TPAMI 16, 1994"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Letter(SeveralClasses):
    """Capital letters by features of their shape: 15,000 + 5,000 rows, 16 features, 26 classes."""

    name: ClassVar[str] = "letter"
    features: ClassVar[int] = 16
    files: ClassVar[tuple[File, ...]] = (
        File(
            "multiclass/letter.scale",
            rows=15000,
            labels=numbered(
                1,
                594,
                567,
                554,
                598,
                565,
                565,
                547,
                538,
                567,
                575,
                572,
                560,
                607,
                605,
                574,
                597,
                594,
                568,
                563,
                599,
                606,
                581,
                576,
                583,
                602,
                543,
            ),
        ),
        File(
            "multiclass/letter.scale.t",
            part="test",
            rows=5000,
            labels=numbered(
                1,
                195,
                199,
                182,
                207,
                203,
                210,
                226,
                196,
                188,
                172,
                167,
                201,
                185,
                178,
                179,
                206,
                189,
                190,
                185,
                197,
                207,
                183,
                176,
                204,
                184,
                191,
            ),
        ),
    )
    citation: ClassVar[str] = (
        "D. Slate: Letter recognition. UCI Machine Learning Repository 1991. https://doi.org/10.24432/C5ZP40"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Mnist(SeveralClasses):
    """Handwritten digits (28 x 28 pixels): 60,000 + 10,000 rows, 780 features, 10 classes."""

    name: ClassVar[str] = "mnist"
    features: ClassVar[int] = 780
    files: ClassVar[tuple[File, ...]] = (
        File(
            "multiclass/mnist.bz2",
            rows=60000,
            labels=numbered(0, 5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
        ),
        File(
            "multiclass/mnist.t.bz2",
            part="test",
            rows=10000,
            labels=numbered(0, 980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
        ),
    )
    citation: ClassVar[str] = (
        "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to document "
        "recognition. Proc. IEEE 86, 1998"
    )
    licence: ClassVar[str] = "CC BY-SA 3.0"


@dataclass(frozen=True)
class Connect4(SeveralClasses):
    """Positions of the game connect-4, won, lost or drawn: 67,557 rows, 126 binary features, 3 classes."""

    name: ClassVar[str] = "connect_4"
    features: ClassVar[int] = 126
    files: ClassVar[tuple[File, ...]] = (
        File("multiclass/connect-4", rows=67557, labels=numbered(-1, 16635, 6449, 44473)),
    )
    citation: ClassVar[str] = (
        "J. Tromp: Connect-4. UCI Machine Learning Repository 1995. https://doi.org/10.24432/C59P43"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Acoustic(SeveralClasses):
    """Vehicles by the sound they make: 78,823 + 19,705 rows, 50 features, 3 classes."""

    name: ClassVar[str] = "acoustic"
    features: ClassVar[int] = 50
    files: ClassVar[tuple[File, ...]] = (
        File("multiclass/vehicle/acoustic.bz2", rows=78823),
        File("multiclass/vehicle/acoustic.t.bz2", part="test", rows=19705),
    )
    citation: ClassVar[str] = (
        "M. Duarte, Y. H. Hu: Vehicle classification in distributed sensor networks. J. Parallel and "
        "Distributed Computing 64, 2004"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Dna(SeveralClasses):
    """Splice junctions in DNA, of either kind or none: 2,000 + 1,186 rows, 180 binary features, 3 classes."""

    name: ClassVar[str] = "dna"
    features: ClassVar[int] = 180
    files: ClassVar[tuple[File, ...]] = (
        File("multiclass/dna.scale", rows=2000, labels=numbered(1, 464, 485, 1051)),
        File("multiclass/dna.scale.t", part="test", rows=1186, labels=numbered(1, 303, 280, 603)),
    )
    citation: ClassVar[str] = (
        "M. O. Noordewier, G. G. Towell, J. W. Shavlik: Training knowledge-based neural networks to "
        "recognize genes. NIPS 1990; Statlog"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Aloi(SeveralClasses):
    """Photographs of a thousand objects: 108,000 rows, 128 features, 1,000 classes."""

    name: ClassVar[str] = "aloi"
    features: ClassVar[int] = 128
    files: ClassVar[tuple[File, ...]] = (File("multiclass/aloi.bz2", rows=108000),)
    citation: ClassVar[str] = (
        "A. Rocha, S. Goldenstein: Multiclass from binary: expanding one-vs-all, one-vs-one and ECOC-"
        "based approaches. IEEE TNNLS 25, 2014"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Satimage(SeveralClasses):
    """Soil seen from a satellite: 4,435 + 2,000 rows, 36 features, 6 classes."""

    name: ClassVar[str] = "satimage"
    features: ClassVar[int] = 36
    files: ClassVar[tuple[File, ...]] = (
        File("multiclass/satimage.scale", rows=4435),
        File("multiclass/satimage.scale.t", part="test", rows=2000),
    )
    citation: ClassVar[str] = (
        "A. Srinivasan: Statlog (Landsat satellite). UCI Machine Learning Repository 1993. "
        "https://doi.org/10.24432/C55887"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Shuttle(SeveralClasses):
    """Positions of radiators in the space shuttle: 43,500 + 14,500 rows, 9 features, 7 classes."""

    name: ClassVar[str] = "shuttle"
    features: ClassVar[int] = 9
    files: ClassVar[tuple[File, ...]] = (
        File("multiclass/shuttle.scale", rows=43500, labels=numbered(1, 34108, 37, 132, 6748, 2458, 6, 11)),
        File(
            "multiclass/shuttle.scale.t",
            part="test",
            rows=14500,
            labels=numbered(1, 11478, 13, 39, 2155, 809, 4, 2),
        ),
    )
    citation: ClassVar[str] = (
        "Statlog (shuttle). UCI Machine Learning Repository. https://doi.org/10.24432/C5WS31"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Pendigits(SeveralClasses):
    """Digits written with a pen on a tablet: 7,494 + 3,498 rows, 16 features, 10 classes."""

    name: ClassVar[str] = "pendigits"
    features: ClassVar[int] = 16
    files: ClassVar[tuple[File, ...]] = (
        File(
            "multiclass/pendigits",
            rows=7494,
            labels=numbered(0, 780, 779, 780, 719, 780, 720, 720, 778, 719, 719),
        ),
        File(
            "multiclass/pendigits.t",
            part="test",
            rows=3498,
            labels=numbered(0, 363, 364, 364, 336, 364, 335, 336, 364, 336, 336),
        ),
    )
    citation: ClassVar[str] = (
        "E. Alpaydin, F. Alimoglu: Pen-based recognition of handwritten digits. UCI Machine Learning "
        "Repository 1996. https://doi.org/10.24432/C5MG6K"
    )
    licence: ClassVar[str] = "CC BY 4.0"


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
        checked_topic(self.name, self.topic)

    @property
    def files(self) -> tuple[File, ...]:
        """The training file and the four test files."""
        topic = checked_topic(self.name, self.topic)
        test = enumerate((199328, 199339, 199576, 183022))
        return (
            File("multilabel/rcv1_topics_train.svm.bz2", rows=23149, topic=topic),
            *(
                File(f"multilabel/rcv1_topics_test_{i}.svm.bz2", part="test", rows=rows, topic=topic)
                for i, rows in test
            ),
        )
