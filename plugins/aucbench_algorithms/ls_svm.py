"""LS-SVM over pairs: the closed form every square-loss method aims at.

    w = argmin lam / 2 |w|^2 + 1/2 mean over pairs of (1 - w.(x+ - x-))^2
      = (S+ + S- + b b^T + lam I)^-1 (m+ - m-),    b = m- - m+

with the class means m and covariances S. With Z of the centred rows (x_i - m_y) / sqrt(n_y) and b^T below
them, the matrix is Z^T Z + lam I. It is factored by Cholesky where the smaller of n and d allows: of size
d, or of size n + 1 by the identity (Z^T Z + lam I)^-1 Z^T = Z^T (Z Z^T + lam I)^-1. Beyond that conjugate
gradients use products with X alone, which suits sparse data of high dimension.

Cost: O(n d min(n, d)) once, or O(nnz) per conjugate-gradient iteration.

Source: the pairwise least-squares classifier that Gao et al., ICML 2013, compare with.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields

LARGEST_FACTORED = 2048  # rows of a matrix that is factored
BLOCK_ENTRIES = 1 << 22  # entries of the rows that are centred at a time
TOLERANCE = 1e-14  # of the conjugate gradients, of the residual against the right-hand side


class State(NamedTuple):
    """The solution, and what it needs of the training data."""

    w: np.ndarray  # (d,)
    mean_pos: np.ndarray  # (d,)
    mean_neg: np.ndarray  # (d,)
    solved: bool


@dataclass(frozen=True)
class LsSvm:
    """Least-squares SVM over all pairs, in closed form; found by the first iteration.

    Parameters
    ----------
    lam : float > 0 or None
        Weight of |w|^2 / 2. None is 1 / n for n training rows.
    """

    name: ClassVar[str] = "ls_svm"
    colour: ClassVar[str] = "#1a7699"
    access: ClassVar[Access] = Access.full
    losses: ClassVar[tuple[str, ...]] = ("square",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"lam": tuple(10.0**power for power in range(-8, 2))}
    claims: ClassVar[Claims] = Claims(rate="exact", cost="n d min(n, d)")
    citation: ClassVar[str] = "suykens1999lssvm"
    deviations: ClassVar[tuple[str, ...]] = ()

    lam: Positive | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights and the class means."""
        return State(np.zeros(problem.n_features), problem.mean_pos, problem.mean_neg, False)

    def step(self, state: State, batch: Batch) -> State:
        """Solve, unless it is done already."""
        if len(batch.rows) == 0 or state.solved:
            return state
        means = np.stack([state.mean_neg, state.mean_pos])
        n, d = batch.X.shape
        lam = 1.0 / n if self.lam is None else self.lam
        if min(n + 1, d) > LARGEST_FACTORED:
            w = _by_gradients(batch.X, batch.y, means, lam)
        elif d <= n + 1:
            w = _by_columns(batch.X, batch.y, means, lam)
        else:
            w = _by_rows(batch.X, batch.y, means, lam)
        return state._replace(w=w, solved=True)

    def done(self, state: State) -> bool:
        """Whether the solution is found."""
        return state.solved

    def weights(self, state: State) -> np.ndarray:
        """(d,) the solution; zero before."""
        return state.w.copy()

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ state.w


def _row_weights(y: np.ndarray) -> np.ndarray:
    """(n,) 1 / n_y of every row."""
    positive = y == 1
    n_pos = int(np.count_nonzero(positive))
    return np.where(positive, 1.0 / max(1, n_pos), 1.0 / max(1, y.size - n_pos))


def _centred(X: Any, y: np.ndarray, means: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of Z, dense blocks of them; the last is b^T."""
    root = np.sqrt(_row_weights(y))
    size = max(1, BLOCK_ENTRIES // X.shape[1])
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        block = X[part].toarray() if sparse.issparse(X) else X[part]
        yield (block - means[(y[part] == 1).astype(np.intp)]) * root[part, None]
    yield (means[0] - means[1])[None]


def _by_columns(X: Any, y: np.ndarray, means: np.ndarray, lam: float) -> np.ndarray:
    """Factor the (d, d) matrix Z^T Z + lam I."""
    matrix = lam * np.eye(X.shape[1])
    for block in _centred(X, y, means):
        matrix += block.T @ block
    return _solve(matrix, means[1] - means[0])


def _by_rows(X: Any, y: np.ndarray, means: np.ndarray, lam: float) -> np.ndarray:
    """Factor the (n + 1, n + 1) matrix Z Z^T + lam I, summed over blocks of columns."""
    n, d = X.shape
    matrix = lam * np.eye(n + 1)
    root = np.sqrt(_row_weights(y))
    positive = (y == 1).astype(np.intp)
    size = max(1, BLOCK_ENTRIES // n)
    columns = X.tocsc() if sparse.issparse(X) else X

    def blocks() -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, d, size):
            part = slice(start, start + size)
            block = columns[:, part].toarray() if sparse.issparse(columns) else columns[:, part]
            centred = (block - means[positive, part]) * root[:, None]
            yield part, np.vstack([centred, means[0, part] - means[1, part]])

    for _, block in blocks():
        matrix += block @ block.T
    target = np.zeros(n + 1)
    target[n] = -1.0  # m+ - m- = -Z^T e, e the last unit vector
    dual = _solve(matrix, target)
    w = np.empty(d)
    for part, block in blocks():
        w[part] = block.T @ dual
    return w


def _solve(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The solution of a positive definite system; NaN when the moments have overflowed."""
    if not np.all(np.isfinite(matrix)):
        return np.full(target.shape, np.nan)
    return linalg.solve(matrix, target, assume_a="pos")


def _by_gradients(X: Any, y: np.ndarray, means: np.ndarray, lam: float) -> np.ndarray:
    """Conjugate gradients on Z^T Z + lam I, with products by X and its transpose."""
    weights = _row_weights(y)
    positive = (y == 1).astype(np.intp)
    difference = means[1] - means[0]

    def multiply(w: np.ndarray) -> np.ndarray:
        centred = weights * (X @ w - (means @ w)[positive])
        totals = np.bincount(positive, centred, minlength=2)  # zero but for rounding
        return X.T @ centred - totals @ means + (difference @ w) * difference + lam * w

    return _conjugate_gradients(multiply, difference)


def _conjugate_gradients(multiply: Callable[[np.ndarray], np.ndarray], target: np.ndarray) -> np.ndarray:
    """Solve A w = target for a symmetric positive definite A."""
    w = np.zeros_like(target)
    residual, direction = target.copy(), target.copy()
    square = float(residual @ residual)
    goal = TOLERANCE**2 * square
    for _ in range(10 * target.size):
        if square <= goal:
            break
        image = multiply(direction)
        step = square / float(direction @ image)
        w += step * direction
        residual -= step * image
        last, square = square, float(residual @ residual)
        direction = residual + (square / last) * direction
    return w
