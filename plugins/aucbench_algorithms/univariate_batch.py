"""Batch minimisation of a univariate loss with balanced classes.

    lam / 2 |w|^2 + 1/2 [mean over positives of l(w.x) + mean over negatives of l(-w.x)]

l(m) = log(1 + e^-m) for `uni_log`, (1 - m)^2 for `uni_square`. Both are consistent with the AUC.

With c_i = 1 / (2 n_y), a Newton system is (lam I + X^T D X) p = g, D = diag(c_i l''(m_i)). It is factored in
the smaller of n and d, or solved by conjugate gradients where both exceed 2,048. The square loss needs one
system, (lam I + 2 X^T C X) w = m+ - m-. The logistic one is done when |gradient| <= 1e-10 lam |w|, which
bounds |w - w*| / |w| by 1e-10, or when a step no longer changes w.

Cost: O(n d min(n, d)) per iteration, O(nnz) per conjugate-gradient product.

Source: Kotlowski, Dembczynski, Huellermeier, Bipartite ranking through minimization of univariate loss,
ICML 2011.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse, special

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields
from aucbench_algorithms import newton

BLOCK_ENTRIES = 1 << 22  # entries of the rows that are made dense at a time
GRADIENT = 1e-10  # against lam |w|
SMALLEST_STEP = 1e-14  # against |w|
INNER = 1e-2  # residual of the conjugate gradients against |gradient|
EXACT = 1e-14  # the same for the one system of the square loss
MOST_PRODUCTS = 10_000
GRID = {"lam": tuple(2.0**power for power in range(-10, 11))}


class State(NamedTuple):
    """The current point."""

    w: np.ndarray  # (d,)
    solved: bool


class _Batch:
    """What both methods share."""

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero."""
        return State(np.zeros(problem.n_features), False)

    def done(self, state: State) -> bool:
        """Whether the solution is found."""
        return state.solved

    def weights(self, state: State) -> np.ndarray:
        """(d,) the current point."""
        return state.w.copy()

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ state.w


@dataclass(frozen=True)
class UniLog(_Batch):
    """Balanced logistic regression without intercept, to its optimum by Newton's method.

    Parameters
    ----------
    lam : float > 0
        Weight of |w|^2 / 2.
    """

    name: ClassVar[str] = "uni_log"
    colour: ClassVar[str] = "#5f68fa"
    access: ClassVar[Access] = Access.full
    losses: ClassVar[tuple[str, ...]] = ("logistic",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = GRID
    claims: ClassVar[Claims] = Claims(rate="quadratic", cost="n d min(n, d)")
    citation: ClassVar[str] = "kotlowski2011bipartite"
    deviations: ClassVar[tuple[str, ...]] = ()

    lam: Positive = 1e-2

    def step(self, state: State, batch: Batch) -> State:
        """One Newton iteration a row, until solved."""
        for _ in range(len(batch.rows)):
            if state.solved:
                break
            state = self._iterate(state.w, batch.X, batch.y)
        return state

    def _iterate(self, w: np.ndarray, X: Any, y: np.ndarray) -> State:
        c = 0.5 * _shares(y)
        scores = np.asarray(X @ w, np.float64)
        gradient = self.lam * w - X.T @ (c * y * special.expit(-y * scores))
        size = float(np.linalg.norm(gradient))
        if not np.isfinite(size):
            return State(np.full_like(w, np.nan), True)
        if size <= GRADIENT * self.lam * np.linalg.norm(w):
            return State(w, True)
        curvature = c * special.expit(scores) * special.expit(-scores)
        direction = -_solve(X, curvature, self.lam, gradient, INNER)
        moved = np.asarray(X @ direction, np.float64)

        def slope(t: float) -> float:
            pull = c * y * special.expit(-y * (scores + t * moved))
            return float(self.lam * (w + t * direction) @ direction - pull @ moved)

        step = newton.step_length(slope) * direction
        w = w + step
        return State(w, not np.linalg.norm(step) > SMALLEST_STEP * np.linalg.norm(w))


@dataclass(frozen=True)
class UniSquare(_Batch):
    """Balanced least squares on the labels without intercept, in closed form; found by the first iteration.

    Parameters
    ----------
    lam : float > 0
        Weight of |w|^2 / 2.
    """

    name: ClassVar[str] = "uni_square"
    colour: ClassVar[str] = "#574d8a"
    access: ClassVar[Access] = Access.full
    losses: ClassVar[tuple[str, ...]] = ("square",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = GRID
    claims: ClassVar[Claims] = Claims(rate="exact", cost="n d min(n, d)")
    citation: ClassVar[str] = "kotlowski2011bipartite"
    deviations: ClassVar[tuple[str, ...]] = ()

    lam: Positive = 1e-2

    def step(self, state: State, batch: Batch) -> State:
        """Solve, unless it is done already."""
        if len(batch.rows) == 0 or state.solved:
            return state
        share = _shares(batch.y)
        difference = batch.X.T @ (share * batch.y)
        if not np.all(np.isfinite(difference)):
            return State(np.full_like(state.w, np.nan), True)
        return State(_solve(batch.X, share, self.lam, difference, EXACT), True)


def _shares(y: np.ndarray) -> np.ndarray:
    """(n,) 1 / n_y of every row."""
    positive = y == 1
    n_pos = int(np.count_nonzero(positive))
    return np.where(positive, 1.0 / max(1, n_pos), 1.0 / max(1, y.size - n_pos))


def _solve(X: Any, weights: np.ndarray, lam: float, g: np.ndarray, tolerance: float) -> np.ndarray:
    """The solution p of (lam I + X^T diag(weights) X) p = g, refined once where it was factored."""

    def multiply(v: np.ndarray) -> np.ndarray:
        return lam * v + X.T @ (weights * (X @ v))

    n, d = X.shape
    if min(n, d) > newton.LARGEST_FACTORED:
        return newton.conjugate_gradients(multiply, g, tolerance, MOST_PRODUCTS)
    root = np.sqrt(weights)
    matrix = np.zeros((min(n, d),) * 2)
    if d <= n:
        size = max(1, BLOCK_ENTRIES // d)
        for start in range(0, n, size):
            part = slice(start, start + size)
            block = _dense(X[part]) * root[part, None]
            matrix += block.T @ block
    else:
        matrix += (_dense(X @ X.T) * root) * root[:, None]
    matrix.flat[:: matrix.shape[0] + 1] += lam
    factor = linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)

    def solver(g: np.ndarray) -> np.ndarray:
        if d <= n:
            return linalg.cho_solve(factor, g, check_finite=False)
        inner = linalg.cho_solve(factor, root * (X @ g), check_finite=False)
        return (g - X.T @ (root * inner)) / lam

    p = solver(g)
    return p + solver(g - multiply(p))


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, np.float64)
