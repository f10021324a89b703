"""Sums over pairs from sorted scores, against the pairs written out; line search and conjugate gradients."""

import numpy as np
import pytest
from scipy import sparse

from aucbench.kernels import sorted_pairs
from tests.helpers.training import random_problem


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-np.inf, 1.0), (-np.inf, -0.5), (-0.25, 0.5), (5.0, 9.0)])
def test_sums_over_a_window_equal_sums_over_its_pairs(low, high, ties):
    X, y = random_problem(1, 70, 5)
    w = np.arange(1.0, 6.0) / 3
    scores = np.round(2 * X @ w) / 4 if ties else X @ w
    v = np.random.default_rng(0).normal(size=70)
    inside = (y[:, None] == 1) & (y[None] == -1)
    margins = scores[:, None] - scores[None]
    inside &= (margins >= low) & (margins < high)
    ranking = sorted_pairs.rank(scores, y)
    pairs = sorted_pairs.window(ranking, high, low)
    i, j = np.nonzero(inside)
    assert sorted_pairs.count(pairs) == len(i)
    expected = np.bincount(i, minlength=70) + np.bincount(j, minlength=70)
    assert np.array_equal(sorted_pairs.degrees(ranking, pairs), expected)
    assert set(zip(*sorted_pairs.members(ranking, pairs), strict=True)) == set(zip(i, j, strict=True))
    laplacian = np.bincount(i, v[i] - v[j], 70) + np.bincount(j, v[j] - v[i], 70)
    np.testing.assert_allclose(sorted_pairs.laplacian(ranking, pairs, v), laplacian, atol=1e-13)
    Z = X[i] - X[j]
    for layout in (np.asarray, sparse.csr_array):
        scatter = sorted_pairs.scatter(ranking, pairs, layout(X))
        np.testing.assert_allclose(scatter, Z.T @ Z, atol=1e-12)


def test_the_sum_over_a_short_window_is_exact_however_far_along_it_stands():
    rng = np.random.default_rng(2)
    low = np.sort(rng.random(200_000)) * 1e6
    scores = np.concatenate([[low[-2]], low])
    y = np.full(scores.size, -1, np.int8)
    y[0] = 1
    ranking = sorted_pairs.rank(scores, y)
    pairs = sorted_pairs.window(ranking, 1e-9, -1e-9)
    assert sorted_pairs.count(pairs) == 1
    assert sorted_pairs.laplacian(ranking, pairs, scores)[0] == 0.0
