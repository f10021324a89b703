"""aum: its area and both derivatives against the definition, its line search against all breakpoints."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from aucbench_algorithms import Aum
from aucbench_algorithms.aum import area, line_search
from tests.helpers.training import difference, random_problem, train, weights

LAYOUTS = [np.asarray, sparse.csr_matrix, sparse.csr_array]
each_layout = pytest.mark.parametrize("layout", LAYOUTS)
PASSES = np.zeros((100, 0), np.int64)
TIES = pytest.mark.parametrize("has_ties", [True, False], ids=["ties", "no ties"])


def samples(count, has_ties, vectors=1):
    rng = np.random.default_rng(0)
    for _ in range(count):
        n = rng.integers(1, 12)
        values = 3 * rng.normal(size=(vectors, n))
        yield (*(np.round(values) if has_ties else values), rng.random(n) < rng.random())


def defined_area(scores, positive):
    """By false positives and false negatives at every threshold."""
    thresholds = -scores
    values = np.unique(thresholds)
    total = 0.0
    for low, high in pairwise(values):
        false_positives = np.count_nonzero(thresholds[~positive] <= low)
        false_negatives = np.count_nonzero(thresholds[positive] > low)
        total += min(false_positives, false_negatives) * (high - low)
    return total


def defined_derivatives(scores, positive):
    """The effect of a small change of one score on the counts within the gap it opens."""
    left, right, t = np.zeros(scores.size), np.zeros(scores.size), -scores
    for i in range(scores.size):
        before = np.sum(t[~positive] < t[i]), np.sum(t[positive] >= t[i])
        after = np.sum(t[~positive] <= t[i]), np.sum(t[positive] > t[i])
        df, dn = (0, -1) if positive[i] else (1, 0)
        right[i] = min(before[0] + df, before[1] + dn) - min(before)
        left[i] = min(after) - min(after[0] - df, after[1] - dn)
    return left, right


def defined_step(scores, change, positive):
    """Through all points where two scores meet, one after the other."""
    meetings = {0.0}
    for i in range(scores.size):
        for j in range(i):
            if change[i] != change[j]:
                meetings.add((scores[i] - scores[j]) / (change[i] - change[j]))
    points = sorted(t for t in meetings if t == 0.0 or t > 1e-12)
    lowest = defined_area(scores, positive)
    if lowest < 1e-10:
        return 0.0
    first = last = 0.0
    for t in points[1:]:
        value = defined_area(scores - t * change, positive)
        if value > lowest + 1e-9:
            break
        if value < lowest - 1e-9:
            lowest, first = value, t
        last = t
        if value < 1e-10:
            break
    return 0.5 * (first + last)


@TIES
def test_the_line_search_ends_where_a_walk_through_all_breakpoints_does(has_ties):
    moved = 0
    for scores, change, positive in samples(1500, has_ties, vectors=2):
        expected = defined_step(scores, change, positive)
        assert line_search(scores, change, positive) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        moved += expected > 0
    assert moved > 300


@TIES
@each_layout
def test_training_is_that_of_the_definition(layout, has_ties):
    X, y = random_problem(2, 25, 4)
    X = np.round(2.0 * X) if has_ties else X
    positive = y == 1
    w = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    w /= np.linalg.norm(w)
    path = [w]
    for steps in range(1, 5):
        scores = X @ w
        left, right = defined_derivatives(np.round(scores, 12), positive)
        g = X.T @ (left + right) / 2
        w = w - defined_step(scores, X @ g, positive) * g
        path.append(w)
        for average, expected in ((False, w), (True, np.mean(path, axis=0))):
            method = Aum(steps=steps, threshold=0.0, average=average)
            assert difference(weights(method, layout(X), y, PASSES), expected) < 1e-9


@each_layout
def test_it_stops_at_a_small_fall_or_after_its_steps(layout):
    X, y = random_problem(3, 200, 6)
    method = Aum(threshold=0.1, average=False)
    areas = [area(X @ weights(method, layout(X), y, PASSES[:k]), y == 1) for k in range(20)]
    falls = -np.diff(areas)
    state = train(method, layout(X), y, PASSES)
    assert state.solved
    assert falls[state.iteration - 1] <= method.threshold < falls[: state.iteration - 1].min()
    assert train(Aum(steps=2), layout(X), y, PASSES).iteration == 2
    assert (falls >= -1e-12).all()
