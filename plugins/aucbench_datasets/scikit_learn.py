"""Real data sets that come with scikit-learn, read without importing scikit-learn, which takes a second."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from aucbench import DataError, Samples
from aucbench_datasets._labels import SeveralClasses


def _bundled(name: str, file: str, header_lines: int) -> Samples:
    """All rows of a file that comes with scikit-learn; the labels are its last column."""
    spec = find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise DataError(f"{name}: its file {file} comes with scikit-learn, which is not installed.")
    path = Path(spec.origin).parent / "datasets" / "data" / file
    if not path.is_file():
        raise DataError(f"{name}: the installed scikit-learn has no file {path}.")
    table = np.loadtxt(path, delimiter=",", skiprows=header_lines)
    return Samples(table[:, :-1], table[:, -1])


@dataclass(frozen=True)
class BreastCancer:
    """Breast cancer Wisconsin (diagnostic): 569 tumours, 30 features, 212 malignant (positive)."""

    name = "breast_cancer"
    family = "wdbc"
    features = 30
    positive = (0.0,)  # malignant, the rarer class
    citation = (
        "W. N. Street, W. H. Wolberg, O. L. Mangasarian: Nuclear feature extraction for breast tumor "
        "diagnosis. IS&T/SPIE 1993. https://doi.org/10.24432/C5DW2B"
    )
    licence = "CC BY 4.0"

    def load(self) -> Samples:
        """All rows; label 0 is malignant, 1 is benign."""
        return _bundled(self.name, "breast_cancer.csv", header_lines=1)


@dataclass(frozen=True)
class Digits:
    """Handwritten digits (8 x 8 pixels): 1,797 images, 64 features, 5 to 9 (positive) against 0 to 4."""

    name = "digits"
    family = "optdigits"
    features = 64
    positive = (5.0, 6.0, 7.0, 8.0, 9.0)
    citation = (
        "E. Alpaydin, C. Kaynak: Optical recognition of handwritten digits. UCI Machine Learning "
        "Repository 1998. https://doi.org/10.24432/C50P49"
    )
    licence = "CC BY 4.0"

    def load(self) -> Samples:
        """All rows; the label is the digit."""
        return _bundled(self.name, "digits.csv.gz", header_lines=0)


@dataclass(frozen=True)
class Wine(SeveralClasses):
    """Wines of three growers by chemical analysis: 178 rows, 13 features, 3 classes."""

    name = "wine"
    features = 13
    citation = (
        "S. Aeberhard, M. Forina: Wine. UCI Machine Learning Repository 1991. https://doi.org/10.24432/C5PC7J"
    )
    licence = "CC BY 4.0"

    def load(self) -> Samples:
        """All rows; the label is the grower, 0 to 2."""
        return _bundled(self.name, "wine_data.csv", header_lines=1)
