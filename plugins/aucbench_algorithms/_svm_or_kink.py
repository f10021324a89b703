"""The pairwise hinge near its solution: exact on the pairs at the kink, linear on all others.

    min over w of  lam / 2 |w|^2 - f.w + sum over kink pairs k of c_k max(0, 1 - w.z_k)

with f the mean of z over the other pairs of margin below 1, and 1 / (n+ n-) per pair in c. Equal rows are
merged into groups, pairs of rows into pairs of groups. The augmented Lagrangian method finds w and the dual
variables a in [0, 1]: with the margins m at the minimum in w, a = clip(a + (1 - m) / nu, 0, 1), nu falling.
Each minimum is found by Newton's method on a piecewise quadratic; for a problem like this both end after
finitely many steps.
"""

from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from aucbench import Batch
from aucbench.kernels import sorted_pairs
from aucbench_algorithms import _newton

MOST_PAIRS = 1 << 17  # most kink pairs written out
MOST_ENTRIES = 1 << 22  # most entries of their dense differences
MOST_COMPARED = 1 << 24  # most entries of rows compared with each other
LARGEST_FACTORED = 4096  # most rows of a factored matrix
OUTER, INNER = 30, 30  # multiplier updates, Newton iterations for each
EXACT = 1e-15  # change of w, relative to |w|, that ends either loop
STIFFEST = 1e-6  # least nu: below it the Newton systems lose too many digits
ROUNDING = 64 * np.finfo(np.float64).eps  # rounding error of a margin, relative to its scores


class Groups(NamedTuple):
    """Groups of rows of one class; equal rows near the kink are in one group."""

    of_row: np.ndarray  # (n,) the group of each row
    first: np.ndarray  # (groups,) one row of each group
    sizes: np.ndarray  # (groups,) rows of each group, or the sum of their weights


def solve(batch: Batch, w: np.ndarray, mu: float, lam: float) -> tuple[np.ndarray, float] | None:
    """The exact solution for the pairs within 2 mu of the kink at w, and its gap on the whole problem.

    None when too many pairs are near the kink.
    """
    X, y = batch.X, batch.y
    groups = _group(batch, np.asarray(X @ w, np.float64), mu)
    if groups is None:
        return None
    scores, labels = _scores(X, w, groups), y[groups.first]
    ranking = sorted_pairs.rank(scores, labels)
    band = sorted_pairs.window(ranking, 1.0 + mu, 1.0 - 2.0 * mu)
    pairs = sorted_pairs.count(band)
    if pairs > MOST_PAIRS or (not sparse.issparse(X) and pairs * X.shape[1] > MOST_ENTRIES):
        return None
    left, right = sorted_pairs.members(ranking, band)
    ranking = sorted_pairs.rank(scores[groups.of_row], y, batch.weights)
    total = ranking.total
    below = sorted_pairs.window(ranking, 1.0 - 2.0 * mu)
    force = X.T @ (y * sorted_pairs.degrees(ranking, below) / total)
    first, second = X[groups.first[left]], X[groups.first[right]]
    if sparse.issparse(X):
        Z: Any = sparse.csr_array(first.astype(np.float64) - second.astype(np.float64))
    else:
        Z = np.subtract(first, second, dtype=np.float64)
    c = groups.sizes[left] * groups.sizes[right] / total
    start = np.clip((1.0 - Z @ w) / mu, 0.0, 1.0)
    solution = _multipliers(Z, c, force, w, start, lam, mu)
    if solution is None:
        return None
    w, a = solution
    return w, _gap(batch, w, lam, groups, (left, right), c, a)


def _group(batch: Batch, scores: np.ndarray, mu: float) -> Groups | None:
    """Group equal rows near the kink; None when there are too many rows to compare."""
    X, y = batch.X, batch.y
    ranking = sorted_pairs.rank(scores, y)
    band = sorted_pairs.window(ranking, 1.0 + 1.1 * mu, 1.0 - 2.1 * mu)
    rows = np.flatnonzero(sorted_pairs.degrees(ranking, band))
    part = X[rows]
    if (part.nnz if sparse.issparse(X) else part.size) > MOST_COMPARED:
        return None
    first_rows: dict[bytes, int] = {}
    content = np.arange(y.size)
    for k in range(rows.size):
        if sparse.issparse(X):
            inside = slice(part.indptr[k], part.indptr[k + 1])
            key = part.indices[inside].tobytes() + part.data[inside].tobytes()
        else:
            key = part[k].tobytes()
        digest = (b"+" if y[rows[k]] == 1 else b"-") + blake2b(key, digest_size=16).digest()
        content[rows[k]] = first_rows.setdefault(digest, rows[k])
    first, of_row = np.unique(content, return_inverse=True)
    return Groups(of_row, first, np.bincount(of_row, batch.weights))


def _scores(X: Any, w: np.ndarray, groups: Groups) -> np.ndarray:
    """(groups,) scores, equal for equal rows, which a product of many rows does not guarantee."""
    return np.asarray(X @ w, np.float64)[groups.first]


def _multipliers(
    Z: Any, c: np.ndarray, force: np.ndarray, w: np.ndarray, a: np.ndarray, lam: float, nu: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """w and the dual variables; None when a Newton system is too large."""
    nu = max(nu, STIFFEST)
    for _ in range(OUTER):
        last = w
        for _ in range(INNER):
            trial = a + (1.0 - Z @ w) / nu
            free = np.flatnonzero((trial > 0.0) & (trial < 1.0))
            gradient = lam * w - force - Z.T @ (c * np.clip(trial, 0.0, 1.0))
            direction = _solve_pairs(Z[free], c[free] / nu, -gradient, lam)
            if direction is None:
                return None
            moved = Z @ direction

            def slope(t: float, w=w, direction=direction, trial=trial, moved=moved, nu=nu) -> float:
                pull = c * np.clip(trial - t * moved / nu, 0.0, 1.0)
                return float((lam * (w + t * direction) - force) @ direction - pull @ moved)

            step = _newton.step_length(slope) * direction
            w = w + step
            if not np.linalg.norm(step) > EXACT * np.linalg.norm(w):
                break
        a = np.clip(a + (1.0 - Z @ w) / nu, 0.0, 1.0)
        if nu == STIFFEST and not np.linalg.norm(w - last) > EXACT * np.linalg.norm(w):
            break
        nu = max(0.1 * nu, STIFFEST)
    return w, a


def _solve_pairs(Z: Any, c: np.ndarray, g: np.ndarray, lam: float) -> np.ndarray | None:
    """The solution of (lam I + Z^T diag(c) Z) p = g, factored in the smaller of both sizes."""
    pairs, d = Z.shape
    if pairs == 0:
        return g / lam
    if min(pairs, d) > LARGEST_FACTORED:
        return None
    if pairs < d:
        matrix = _newton.dense(Z @ Z.T) + np.diag(lam / c)
        return (g - Z.T @ linalg.solve(matrix, Z @ g, assume_a="pos", check_finite=False)) / lam
    weighted = Z.T * c if isinstance(Z, np.ndarray) else Z.T @ sparse.diags_array(c)
    matrix = _newton.dense(weighted @ Z)
    return linalg.solve(matrix + lam * np.eye(d), g, assume_a="pos", check_finite=False)


def _gap(batch: Batch, w: np.ndarray, lam: float, groups: Groups, pairs: Any, c: Any, a: Any) -> float:
    """The duality gap, with dual variables `a` at the given pairs of groups, exact slopes at all others.

    A margin that is 1 up to the rounding of its scores counts as 1.
    """
    X, y, (left, right) = batch.X, batch.y, pairs
    scores = _scores(X, w, groups)
    ranking = sorted_pairs.rank(scores[groups.of_row], y, batch.weights)
    pull = y * sorted_pairs.degrees(ranking, sorted_pairs.window(ranking, 1.0)) / ranking.total
    margins = scores[left] - scores[right]
    change = c * (a - (margins < 1.0))
    pull += np.bincount(groups.first[left], change, y.size) - np.bincount(groups.first[right], change, y.size)
    missed = lam * w - X.T @ pull
    slack = 1.0 - margins
    slack[np.abs(slack) <= ROUNDING * (1.0 + np.abs(scores[left]) + np.abs(scores[right]))] = 0.0
    at_kink = np.maximum(0.0, slack) - a * slack
    return float(c @ at_kink + (missed @ missed) / (2.0 * lam))
