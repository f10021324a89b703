"""Data sets of several classes, mostly pictures of characters and measurements; LIBSVM site."""

from dataclasses import dataclass
from typing import ClassVar

from aucbench import File
from aucbench_datasets.classes import SeveralClasses, numbered


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
