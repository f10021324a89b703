"""A method that changes its rows fails, and leaves no other method with changed rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

from aucbench.data.preprocess import Prepared
from aucbench.studies.execution.prepared_data import SAMPLE, WHOLE, fingerprint
from aucbench.studies.store import Store
from tests.helpers.studies import entry, results, run_entries
from tests.helpers.study_methods import Gentle


def prepared(X):
    y = np.array([1, -1] * (X.shape[0] // 2), np.int8)
    return Prepared(X, y, X.copy(), y.copy(), 0.0)


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array], ids=["c", "f", "csr"])
def test_one_changed_value_of_a_small_array_shows(layout):
    arrays = prepared(layout(np.random.default_rng(0).normal(size=(40, 5))))
    before = fingerprint(arrays)
    assert fingerprint(arrays) == before
    part = arrays.X.data if sparse.issparse(arrays.X) else arrays.X
    part[3] += 1e-9
    assert fingerprint(arrays) != before


def test_one_changed_label_shows():
    arrays = prepared(np.ones((40, 5)))
    before = fingerprint(arrays)
    arrays.y_test[7] *= -1
    assert fingerprint(arrays) != before


@pytest.mark.parametrize("column", range(16))
def test_one_changed_column_of_a_large_array_shows(column):
    arrays = prepared(np.ones((2 * WHOLE // 8, 16)))
    before = fingerprint(arrays)
    arrays.X[:, column] *= 1.5
    assert fingerprint(arrays) != before


def test_changed_rows_of_a_large_array_show():
    arrays = prepared(np.ones((4 * WHOLE // 10, 10)))
    before = fingerprint(arrays)
    arrays.X[:: SAMPLE // 1000] += 1e-9
    assert fingerprint(arrays) != before


@dataclass(frozen=True)
class Spoiler:
    """Halves the rows it is given."""

    name: ClassVar[str] = "spoiler"
    access: ClassVar[str] = "stream"

    def init(self, problem, rng):
        return np.zeros(problem.n_features)

    def step(self, w, batch):
        X = batch.X
        X /= 2.0
        return w

    def score(self, w, X):
        return X @ w


def test_the_cell_of_a_method_that_changes_its_rows_fails_and_the_next_cells_have_them_anew(tmp_path):
    alone, beside = Store(tmp_path / "alone"), Store(tmp_path / "beside")
    run_entries([entry(Gentle())], alone)
    outcome = run_entries([entry(Spoiler()), entry(Gentle())], beside)
    (failure,) = outcome.failures
    assert failure.reason == "failed"
    assert "spoiler of distribution" in failure.message
    assert "changes the rows it is given" in failure.message
    assert results(beside) == results(alone)
