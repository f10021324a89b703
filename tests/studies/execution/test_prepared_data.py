"""A method that changes its rows fails, and leaves no other method with changed rows."""

import re
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

from aucbench.data.preprocess import Prepared
from aucbench.studies.execution.prepared_data import SAMPLE, WHOLE, fingerprint
from aucbench.studies.store import Store
from tests.helpers.studies import entry, results, run_entries
from tests.helpers.study_methods import Gentle

SMALL = np.random.default_rng(0).normal(size=(40, 5))
LARGE = np.ones((2 * WHOLE // 8, 16))


def changed(array, part, change):
    """Apply a change to a part of an array."""
    array[part] = change(array[part])


@pytest.mark.parametrize(
    ("X", "change"),
    [
        *((layout(SMALL), lambda arrays: changed(values(arrays.X), 3, lambda x: x + 1e-9))
          for layout in (np.array, np.asfortranarray, sparse.csr_array)),
        (SMALL, lambda arrays: changed(arrays.y_test, 7, lambda y: -y)),
        *((LARGE, lambda arrays, column=column: changed(arrays.X, np.s_[:, column], lambda x: 1.5 * x))
          for column in (0, 5, 15)),
        (LARGE, lambda arrays: changed(arrays.X, np.s_[:: SAMPLE // 1000], lambda x: x + 1e-9)),
    ],
)  # fmt: skip
def test_a_changed_value_label_column_or_part_of_the_rows_shows(X, change):
    X = X.copy(order="K") if isinstance(X, np.ndarray) else X.copy()
    y = np.array([1, -1] * (X.shape[0] // 2), np.int8)
    arrays = Prepared(X, y, X.copy(), y.copy(), 0.0)
    before = fingerprint(arrays)
    assert fingerprint(arrays) == before
    change(arrays)
    assert fingerprint(arrays) != before


def values(X):
    return X.data if sparse.issparse(X) else X


class Spoiler(Gentle):
    """A method that halves its rows in place."""

    name: ClassVar[str] = "spoiler"

    def step(self, w, batch):
        X = batch.X
        X /= 2.0
        return w


def test_the_cell_of_a_method_that_changes_its_rows_fails_and_the_next_cells_have_them_anew(tmp_path):
    single, shared = Store(tmp_path / "alone"), Store(tmp_path / "beside")
    run_entries([entry(Gentle())], single)
    outcome = run_entries([entry(Spoiler()), entry(Gentle())], shared)
    (failure,) = outcome.failures
    assert failure.reason == "failed"
    assert re.search("spoiler of distribution.*changes the rows", failure.message)
    assert results(shared) == results(single)
