"""Where the specification gives exactly zero, so do the kernels."""

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench import ParameterError, Problem
from tests.algorithms import reference_square
from tests.helpers.fake_plugins import two_clouds

X, Y = two_clouds(60, 5)
ORDER = np.concatenate([np.flatnonzero(Y == 1)[:3], np.flatnonzero(Y == -1)[:3], np.arange(60)])


@pytest.mark.parametrize("name", ["solam", "regsolam"])
@pytest.mark.parametrize("rows", [X, sparse.csr_matrix(X)], ids=["dense", "csr"])
def test_the_mean_of_points_that_are_zero_is_zero(name, rows):
    algorithm = aucbench.catalog().algorithm(name)(zeta=1.0, average="before")
    path = aucbench.replay(algorithm, rows, Y, ORDER, checkpoints=range(len(ORDER) + 1))
    first = np.flatnonzero(np.abs(path).max(axis=1) > 1e-12)[0]
    assert first > 3  # while one class only was seen, and one step more, the mean is exactly zero
    np.testing.assert_array_equal(path[:first], 0.0)


@pytest.mark.parametrize("density", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_adaoam_moves_no_weight_whose_gradient_is_exactly_zero(density, seed):
    rng = np.random.default_rng(seed)
    binary = (rng.random((150, 60)) < density).astype(float)
    labels = np.where(rng.random(150) < 0.3, 1, -1).astype(np.int8)
    order = rng.permutation(150)
    ours = aucbench.replay(
        aucbench.catalog().algorithm("adaoam")(eta=2.0**-4, lam=2.0**-8), binary, labels, order
    )
    expected = reference_square.adaoam(binary, labels, order)
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_the_largest_norm_of_sparse_rows_is_that_of_dense_rows_whatever_is_empty():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((5000, 40)) * (rng.random((5000, 40)) < 0.2)
    rows[[0, 17, 18, 4999]] = 0.0
    labels = np.ones(5000, np.int8)
    expected = np.linalg.norm(rows, axis=1).max()
    assert Problem(rows, labels).max_norm == pytest.approx(expected, rel=1e-14)
    assert Problem(sparse.csr_matrix(rows), labels).max_norm == pytest.approx(expected, rel=1e-14)
    assert Problem(sparse.csr_matrix((3, 4)), labels[:3]).max_norm == 0.0


def test_roc_sgd_shrinks_nothing_at_lam_zero_unless_the_schedule_needs_it():
    roc_sgd = aucbench.catalog().algorithm("roc_sgd")
    assert roc_sgd(lam=0.0).lam == 0.0
    with pytest.raises(ParameterError, match="lam must be > 0 for the Pegasos"):
        roc_sgd(lam=0.0, schedule="pegasos")
