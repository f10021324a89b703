"""LS-SVM over pairs: the closed form every square-loss method aims at.

    w = argmin lam / 2 |w|^2 + 1/2 mean over pairs of (1 - w.(x+ - x-))^2
      = (S+ + S- + b b^T + lam I)^-1 (m+ - m-),    b = m- - m+

with the class means m and covariances S. With Z of the centred rows (x_i - m_y) / sqrt(n_y) and b^T below
them, the matrix is Z^T Z + lam I. It is factored by Cholesky where the smaller of n and d allows: of size
d, or of size n + 1 by the identity (Z^T Z + lam I)^-1 Z^T = Z^T (Z Z^T + lam I)^-1. Beyond that conjugate
gradients use products with X alone, which suits sparse data of high dimension.

Cost: O(n d min(n, d)) once, or O(nnz) per conjugate-gradient iteration. The settings of a grid share
Z^T Z (or Z Z^T) and differ in its factors, O(min(n, d)^3) each; conjugate gradients begin at the solution for
another lam.

Source: the pairwise least-squares classifier that Gao et al., ICML 2013, compare with.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields
from aucbench_algorithms import _newton

BLOCK_ENTRIES = 1 << 22  # entries of the rows that are centred at a time
TOLERANCE = 1e-14  # of the conjugate gradients, of the residual against the right-hand side


class State(NamedTuple):
    """The solution, and what it needs of the training data."""

    w: np.ndarray  # (d,)
    mean_pos: np.ndarray  # (d,)
    mean_neg: np.ndarray  # (d,)
    solved: bool
    gram: np.ndarray | None  # Z^T Z or Z Z^T, the smaller; in a grid only, where it is factored


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
        return State(np.zeros(problem.n_features), problem.mean_pos, problem.mean_neg, False, None)

    def init_from(self, problem: Problem, rng: np.random.Generator, state: State | None) -> State:
        """What does not depend on lam, and the solution for another."""
        if state is not None:
            return state._replace(solved=False)
        start = self.init(problem, rng)
        means = np.stack([start.mean_neg, start.mean_pos])
        return start._replace(gram=_gram(problem.X, problem.y, means))

    def step(self, state: State, batch: Batch) -> State:
        """Solve, unless it is done already."""
        if len(batch.rows) == 0 or state.solved:
            return state
        means = np.stack([state.mean_neg, state.mean_pos])
        X, y = batch.X, batch.y
        lam = 1.0 / len(y) if self.lam is None else self.lam
        gram = _gram(X, y, means) if state.gram is None else state.gram
        if gram is None:
            w = _by_gradients(X, y, means, lam, state.w)
        elif len(gram) == X.shape[1]:
            w = _by_columns(gram, means, lam)
        else:
            w = _by_rows(X, y, means, lam, gram)
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


def _gram(X: Any, y: np.ndarray, means: np.ndarray) -> np.ndarray | None:
    """Z^T Z of size d or Z Z^T of size n + 1, the smaller; None where that is too large to be factored."""
    n, d = X.shape
    if min(n + 1, d) > _newton.LARGEST_FACTORED:
        return None
    return _gram_of_columns(X, y, means) if d <= n + 1 else _gram_of_rows(X, y, means)


def _gram_of_columns(X: Any, y: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(d, d) Z^T Z, summed over blocks of rows."""
    gram = np.zeros((X.shape[1], X.shape[1]))
    for block in _centred(X, y, means):
        gram += block.T @ block
    return gram


def _gram_of_rows(X: Any, y: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(n + 1, n + 1) Z Z^T, summed over blocks of columns."""
    gram = np.zeros((X.shape[0] + 1, X.shape[0] + 1))
    for _, block in _column_blocks(X, y, means):
        gram += block @ block.T
    return gram


def _column_blocks(X: Any, y: np.ndarray, means: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The columns of Z, dense blocks of them; the last row is b^T."""
    n, d = X.shape
    root = np.sqrt(_row_weights(y))
    positive = (y == 1).astype(np.intp)
    size = max(1, BLOCK_ENTRIES // n)
    columns = X.tocsc() if sparse.issparse(X) else X
    for start in range(0, d, size):
        part = slice(start, start + size)
        block = columns[:, part].toarray() if sparse.issparse(columns) else columns[:, part]
        centred = (block - means[positive, part]) * root[:, None]
        yield part, np.vstack([centred, means[0, part] - means[1, part]])


def _by_columns(gram: np.ndarray, means: np.ndarray, lam: float) -> np.ndarray:
    """Factor the (d, d) matrix Z^T Z + lam I."""
    return _solve(gram, lam, means[1] - means[0])


def _by_rows(X: Any, y: np.ndarray, means: np.ndarray, lam: float, gram: np.ndarray) -> np.ndarray:
    """Factor the (n + 1, n + 1) matrix Z Z^T + lam I."""
    target = np.zeros(len(gram))
    target[-1] = -1.0  # m+ - m- = -Z^T e, e the last unit vector
    dual = _solve(gram, lam, target)
    w = np.empty(X.shape[1])
    for part, block in _column_blocks(X, y, means):
        w[part] = block.T @ dual
    return w


def _solve(gram: np.ndarray, lam: float, target: np.ndarray) -> np.ndarray:
    """The solution of (gram + lam I) x = target; NaN when the moments have overflowed."""
    if not np.all(np.isfinite(gram)):
        return np.full(target.shape, np.nan)
    matrix = gram.copy()
    matrix.flat[:: len(matrix) + 1] += lam
    return linalg.solve(matrix, target, assume_a="pos", overwrite_a=True)


def _by_gradients(X: Any, y: np.ndarray, means: np.ndarray, lam: float, start: np.ndarray) -> np.ndarray:
    """Conjugate gradients on Z^T Z + lam I, with products by X and its transpose."""
    weights = _row_weights(y)
    positive = (y == 1).astype(np.intp)
    difference = means[1] - means[0]

    def multiply(w: np.ndarray) -> np.ndarray:
        centred = weights * (X @ w - (means @ w)[positive])
        totals = np.bincount(positive, centred, minlength=2)  # zero but for rounding
        return X.T @ centred - totals @ means + (difference @ w) * difference + lam * w

    return _newton.conjugate_gradients(multiply, difference, TOLERANCE, 10 * len(difference), start)
