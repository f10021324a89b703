"""`python -m benchmarks families`: shared rows are found, and those of the catalogue are declared."""

import numpy as np
import pytest
from scipy import sparse

from aucbench import catalog
from aucbench.data import load
from benchmarks.families import families, row_hashes, shared
from benchmarks.real_sets import Choice

SAME = [("diabetes", "keel_pima"), ("keel_satimage", "adbench_satimage_2"), ("keel_wisconsin", "adbench_wbc")]


@pytest.mark.parametrize("seed", range(20))
def test_the_shared_rows_are_those_that_agree_in_five_digits(seed):
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.integers(-6, 7, 3)
    one, two = (rng.integers(-2, 3, (rows, 3)) * 1.2345 * sizes for rows in (rng.integers(5, 60), 40))
    near = two * (1 + rng.uniform(-1e-8, 1e-8, two.shape))
    expected = [{tuple(row) for row in np.round(X / sizes, 3) + 0.0} for X in (one, two)]
    share = len(expected[0] & expected[1]) / min(map(len, expected))
    assert shared(row_hashes(one), row_hashes(near)) == pytest.approx(share)
    assert shared(row_hashes(sparse.csr_matrix(one)), row_hashes(two)) == pytest.approx(share)
    assert shared(row_hashes(two), row_hashes(two * 1.001)) < 0.5


@pytest.mark.mirror
def test_data_sets_that_share_rows_are_declared_one_family(monkeypatch):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    known = {name: row_hashes(load(catalog().dataset(name)()).X) for pair in SAME for name in pair}
    assert all(shared(known[one], known[two]) > 0.9 for one, two in SAME)
    found = list(families(Choice()))
    assert all(measure.reached for measure in found), [str(each) for each in found]
