"""toppush and tau_fpl against a quadratic programme, a certificate and each other."""

import numpy as np
import pytest

from aucbench_algorithms import TauFpl, TopPush
from aucbench_algorithms._top_projection import project
from aucbench_algorithms.toppush import _best_duals
from tests.helpers.training import random_problem, train

PASSES = np.zeros((300, 0), np.int64)
METHODS = [
    *(TopPush(lam=0.1), TauFpl(lam=0.1, tau=0.05), TauFpl(lam=0.01, tau=0.2), TopPush(lam=0.01)),
    TauFpl(lam=0.2, tau=0.999),  # all negatives are the top
]


def objective(w, X, y, lam, K):
    """The primal objective."""
    s = X @ w
    top = np.sort(s[y == -1])[-K:].mean()
    return lam / 2 * w @ w + np.mean(np.maximum(0, 1 + top - s[y == 1]) ** 2)


def top_of(algorithm, y):
    negatives = int(np.count_nonzero(y == -1))
    return min(int(getattr(algorithm, "tau", 0) * negatives) + 1, negatives)


def violation(b, r, K, alpha, a, q):
    """How far (a, q) is from the projection: balance, bounds, and the slope towards any other point."""
    by_a, by_q = alpha * (a - b), q - r  # gradients of half the squared distance, which falls along no ray
    falls = -(by_a.min() + np.sort(by_q)[:K].mean())
    bounds = max((q - a.sum() / K).max(), -a.min(), -q.min())
    return max(abs(a.sum() - q.sum()), bounds, falls, abs(by_a @ a + by_q @ q))


@pytest.mark.parametrize("has_ties", [True, False], ids=["ties", "no ties"])
def test_the_projection_satisfies_its_optimality_conditions(has_ties):
    rng = np.random.default_rng(0)
    capped = 0
    for _ in range(3000):
        b, r = (3 * rng.normal(size=size) for size in rng.integers(1, 9, 2))
        if has_ties:
            b, r = np.round(b), np.round(r)
        K, alpha = int(rng.integers(1, r.size + 1)), float(rng.choice([0.1, 1.0, 20.0]))
        a, q = b.copy(), r.copy()
        project(a, q, K, alpha)
        assert violation(b, r, K, alpha, a, q) < 1e-10
        capped += K > 1 and q.max() > 0 and q.max() > a.sum() / K - 1e-12
    assert capped > 300


@pytest.mark.parametrize("K", [1, 500, 5_000, 20_000])
def test_a_long_projection_keeps_its_digits(K):
    b, r = (np.random.default_rng(seed).normal(size=size) for seed, size in ((1, 7_000), (2, 20_000)))
    a, q = b.copy(), r.copy()
    project(a, q, K, 1.0)
    assert violation(b, r, K, 1.0, a, q) < 1e-12 * (np.abs(b).sum() + np.abs(r).sum())


def passes_until_solved(algorithm, X, y):
    """The smallest number of passes that solves the problem."""
    return next(k for k in range(len(PASSES)) if train(algorithm, X, y, PASSES[:k]).solved)


@pytest.mark.parametrize("passes", [1, 3, 8, "solved"])
@pytest.mark.parametrize("algorithm", METHODS, ids=str)
def test_the_gap_is_that_of_primal_and_dual_and_small_in_the_end(algorithm, passes):
    X, y = random_problem(2, 200, 4)
    positive, lam, K = y == 1, algorithm.lam, top_of(algorithm, y)
    is_last = passes == "solved"
    passes = passes_until_solved(algorithm, X, y) - 1 if is_last else passes
    before = train(algorithm, X, y, PASSES[:passes])
    state = train(algorithm, X, y, PASSES[: passes + 1])
    assert state.solved or not is_last
    n_pos = int(positive.sum())
    duals = _best_duals(X @ before.w, before.centre, positive, K, before.nu).values
    a, q = duals[positive], duals[~positive]
    assert min(a.min(), q.min()) >= 0
    assert a.sum() == pytest.approx(q.sum(), rel=1e-11)
    assert q.max() <= a.sum() / K * (1 + 1e-11)
    v = a @ X[positive] - q @ X[~positive]
    dual = (a - a**2 / 4).mean() - v @ v / (2 * lam * n_pos**2)
    primal = objective(before.w, X, y, lam, K)
    assert state.gap == pytest.approx((primal - dual) / primal, rel=1e-8, abs=1e-11)
    assert 0.0 <= primal - dual <= (1e-6 * primal if is_last else np.inf)
