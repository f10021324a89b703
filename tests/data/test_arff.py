"""ARFF files as scikit-learn's writer makes them, against SciPy's reader."""

import gzip

import numpy as np
import pytest
from scipy.io import arff
from sklearn.externals import _arff

from aucbench import DataError
from aucbench.data import columns_of, load
from aucbench_datasets.user_files import Arff, Csv


@pytest.fixture
def path(tmp_path):
    """40 rows with a missing number, a category with a blank, and labels that are numbers in quotes."""
    rng = np.random.default_rng(0)
    kinds = rng.choice(["red", "light blue"], 40)
    rows = [
        [float(x), str(kind), str(rng.integers(0, 2))]
        for x, kind in zip(rng.normal(size=40), kinds, strict=True)
    ]
    rows[3][0] = None
    attributes = [("size", "REAL"), ("kind", ["red", "light blue"]), ("class", ["0", "1"])]
    text = _arff.dumps(
        {"description": "made here", "relation": "own", "attributes": attributes, "data": rows}
    )
    (tmp_path / "own.arff").write_text(text)
    return tmp_path / "own.arff"


def test_own_arff_files_are_read_as_scipy_reads_them(path):
    loaded = load(Arff(str(path), missing="median"))
    table, _ = arff.loadarff(path)
    size = np.where(np.isnan(table["size"]), np.nanmedian(table["size"]), table["size"])
    np.testing.assert_array_equal(loaded.X[:, 0], size)
    np.testing.assert_array_equal(loaded.X[:, 1], table["kind"] == b"light blue")
    np.testing.assert_array_equal(loaded.y == 1, table["class"] == b"1")
    assert [(c.kind, c.levels) for c in columns_of(Arff(str(path), missing="median"))] == [
        ("number", 0), ("categories", 2), ("label", 0)
    ]  # fmt: skip


def test_own_arff_files_may_be_compressed(path):
    packed = path.with_suffix(".arff.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load(Arff(str(packed), missing="median")).sha256


def test_arff_in_place_of_csv_is_refused_with_the_reader_that_reads_it(path):
    with pytest.raises(DataError, match=r"dataset=arff"):
        load(Csv(str(path)))
