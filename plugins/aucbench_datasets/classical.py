"""Small data sets for two classes, most of them from the first years of machine learning; LIBSVM site."""

from dataclasses import dataclass
from typing import ClassVar

from aucbench import File


@dataclass(frozen=True)
class Australian:
    """Credit cards granted in Australia: 690 rows, 14 features, 44% positive."""

    name: ClassVar[str] = "australian"
    features: ClassVar[int] = 14
    files: ClassVar[tuple[File, ...]] = (File("binary/australian", rows=690, labels={-1: 383, 1: 307}),)
    citation: ClassVar[str] = (
        "R. Quinlan: Statlog (Australian credit approval). UCI Machine Learning Repository 1987. "
        "https://doi.org/10.24432/C59012"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Diabetes:
    """Diabetes among Pima women, no diabetes is positive as on the LIBSVM site: 768 rows, 8 features."""

    name: ClassVar[str] = "diabetes"
    features: ClassVar[int] = 8
    files: ClassVar[tuple[File, ...]] = (File("binary/diabetes", rows=768, labels={-1: 268, 1: 500}),)
    citation: ClassVar[str] = (
        "J. W. Smith et al.: Using the ADAP learning algorithm to forecast the onset of diabetes mellitus. "
        "Symposium on Computer Applications and Medical Care 1988"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Fourclass:
    """Two interleaved shapes in the plane, made of four classes: 862 rows, 2 features, 36% positive."""

    name: ClassVar[str] = "fourclass"
    features: ClassVar[int] = 2
    files: ClassVar[tuple[File, ...]] = (File("binary/fourclass", rows=862, labels={-1: 555, 1: 307}),)
    citation: ClassVar[str] = (
        "T. K. Ho, E. M. Kleinberg: Building projectable classifiers of arbitrary complexity. ICPR 1996"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class German:
    """Bad credit risks in Germany: 1,000 rows, 24 numeric features, 30% positive."""

    name: ClassVar[str] = "german"
    features: ClassVar[int] = 24
    files: ClassVar[tuple[File, ...]] = (File("binary/german.numer", rows=1000, labels={-1: 700, 1: 300}),)
    citation: ClassVar[str] = (
        "H. Hofmann: Statlog (German credit data). UCI Machine Learning Repository 1994. "
        "https://doi.org/10.24432/C5NC77"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Splice:
    """Splice junctions in DNA: 1,000 + 2,175 rows, 60 features, 52% positive."""

    name: ClassVar[str] = "splice"
    features: ClassVar[int] = 60
    files: ClassVar[tuple[File, ...]] = (
        File("binary/splice", rows=1000, labels={-1: 483, 1: 517}),
        File("binary/splice.t", part="test", rows=2175, labels={-1: 1044, 1: 1131}),
    )
    citation: ClassVar[str] = (
        "Molecular biology (splice-junction gene sequences). UCI Machine Learning Repository 1992. "
        "https://doi.org/10.24432/C5M888; two classes by the Delve project"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Svmguide1:
    """Astroparticles, from the guide to SVM classification: 3,089 + 4,000 rows, 4 features."""

    name: ClassVar[str] = "svmguide1"
    features: ClassVar[int] = 4
    files: ClassVar[tuple[File, ...]] = (
        File("binary/svmguide1", rows=3089, labels={0: 1089, 1: 2000}),
        File("binary/svmguide1.t", part="test", rows=4000, labels={0: 2000, 1: 2000}),
    )
    citation: ClassVar[str] = (
        "C.-W. Hsu, C.-C. Chang, C.-J. Lin: A practical guide to support vector classification. "
        "National Taiwan University 2003"
    )
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Svmguide3:
    """Vehicles, from the guide to SVM classification: 1,243 + 41 rows, a quarter of one class."""

    name: ClassVar[str] = "svmguide3"
    files: ClassVar[tuple[File, ...]] = (
        File("binary/svmguide3", rows=1243),
        File("binary/svmguide3.t", part="test", rows=41),
    )
    citation: ClassVar[str] = Svmguide1.citation
    licence: ClassVar[str] = "not stated"


@dataclass(frozen=True)
class Madelon:
    """An artificial problem of 5 useful and 495 useless features: 2,000 + 600 rows, 50% positive."""

    name: ClassVar[str] = "madelon"
    features: ClassVar[int] = 500
    files: ClassVar[tuple[File, ...]] = (
        File("binary/madelon", rows=2000, labels={-1: 1000, 1: 1000}),
        File("binary/madelon.t", part="test", rows=600, labels={-1: 300, 1: 300}),
    )
    citation: ClassVar[str] = (
        "I. Guyon et al.: Result analysis of the NIPS 2003 feature selection challenge. NIPS 2004. "
        "https://doi.org/10.24432/C5602H"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Leu:
    """Two kinds of leukaemia by gene expression: 38 + 34 rows, 7,129 features."""

    name: ClassVar[str] = "leu"
    features: ClassVar[int] = 7129
    files: ClassVar[tuple[File, ...]] = (
        File("binary/leu.bz2", rows=38),
        File("binary/leu.t.bz2", part="test", rows=34),
    )
    citation: ClassVar[str] = (
        "T. R. Golub et al.: Molecular classification of cancer. Science 286, 1999. "
        "https://doi.org/10.1126/science.286.5439.531"
    )
    licence: ClassVar[str] = "not stated"
