"""Data sets of the LIBSVM site, https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/."""

from dataclasses import dataclass
from typing import ClassVar

from aucbench import File


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
