"""Data sets of two classes from the folder `binary` of the LIBSVM site."""

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
class AustralianScale(Australian):
    """The rows of `australian` with every feature scaled to [-1, 1]: 690 rows, 14 features, 44% positive."""

    name: ClassVar[str] = "australian_scale"
    files: ClassVar[tuple[File, ...]] = (File("binary/australian_scale", rows=690, labels={-1: 383, 1: 307}),)


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
