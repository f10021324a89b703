"""The three ways to solve the pairwise least squares, against all pairs and each other."""

import numpy as np
import pytest
from scipy import sparse

from aucbench import Problem
from aucbench_algorithms import LsSvm, _newton, ls_svm
from tests.helpers.training import difference, random_problem, weights


def pairwise_gradient(w, X, y, lam):
    Z = (X[y == 1][:, None] - X[y == -1][None]).reshape(-1, X.shape[1])
    return lam * w - Z.T @ (1.0 - Z @ w) / len(Z)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(80, 10), (30, 100)])
def test_the_gradient_over_all_pairs_vanishes(shape, layout):
    X, y = random_problem(8, *shape, density=0.5)
    w = weights(LsSvm(0.05), layout(X), y, np.zeros((1, 0), np.int64))
    assert np.abs(pairwise_gradient(w, X, y, 0.05)).max() < 1e-13


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("solver", ["columns", "rows", "gradients"])
def test_every_solver_agrees_with_all_pairs_in_many_blocks(solver, layout, monkeypatch):
    monkeypatch.setattr(ls_svm, "BLOCK_ENTRIES", 128)
    X, y = random_problem(9, 60, 25, density=0.5, unit=False)
    means = np.stack([X[y == -1].mean(axis=0), X[y == 1].mean(axis=0)])
    rows = ls_svm._centred(Problem(layout(X), y), means)
    if solver == "columns":
        w = ls_svm._by_columns(ls_svm._gram_of_columns(rows), means, 0.1)
    elif solver == "rows":
        w = ls_svm._by_rows(rows, 0.1, ls_svm._gram_of_rows(rows))
    else:
        w = ls_svm._by_gradients(rows, 0.1, np.zeros(25))
    exact = weights(LsSvm(0.1), X, y, np.zeros((1, 0), np.int64))
    assert difference(w, exact) < 1e-11
    assert np.abs(pairwise_gradient(w, X, y, 0.1)).max() < 1e-11


def test_high_dimensional_sparse_data_is_solved_without_a_matrix(monkeypatch):
    monkeypatch.setattr(_newton, "LARGEST_FACTORED", 10)
    X, y = random_problem(10, 50, 300, density=0.05)
    w = weights(LsSvm(1e-2), sparse.csr_array(X), y, np.zeros((1, 0), np.int64))
    assert np.abs(pairwise_gradient(w, X, y, 1e-2)).max() < 1e-12
