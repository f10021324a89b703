"""LS-SVM over pairs: the closed form every square-loss method aims at.

    w = argmin lam / 2 |w|^2 + 1/2 mean over pairs of (1 - w.(x+ - x-))^2
      = (S+ + S- + b b^T + lam I)^-1 (m+ - m-),    b = m- - m+

with the class means m and covariances S. Let Z have the centred rows (x_i - m_y) / sqrt(n_y) and b^T below
them; the matrix is then Z^T Z + lam I. It is factored by Cholesky if the smaller of n and d allows: with size
d, or with size n + 1 by the identity (Z^T Z + lam I)^-1 Z^T = Z^T (Z Z^T + lam I)^-1. Otherwise conjugate
gradients use products with X alone, which suits sparse data of high dimension. With row weights, the weight
of a row over the sum of its class replaces 1 / n_y.

With l1 > 0 the objective also contains l1 |w|_1, and the solution is found by proximal gradients and an
active set (see `ls_svm_l1`). With lam = l1 = 0 it is the solution of least norm.

Cost: O(n d min(n, d)) once, or O(nnz) per conjugate-gradient iteration. The settings of a grid share
Z^T Z (or Z Z^T) and differ in its factors, O(min(n, d)^3) each; conjugate gradients begin at the solution for
another lam.

Source: the pairwise least-squares classifier that Gao et al., ICML 2013, compare with.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from aucbench import Access, Batch, Claims, LinearMethod, NonNegative, Objective, Problem
from aucbench.kernels import loss_pieces
from aucbench.kernels.pair_loss import class_shares
from aucbench_algorithms import _ls_svm_l1, _newton
from aucbench_algorithms._linear_method import total

BLOCK_ENTRIES = 1 << 22  # entries of the rows that are centred at a time
SQUARE = (loss_pieces.Piece(-np.inf, np.inf, 1.0, -2.0, 1.0),)
TOLERANCE = 1e-14  # residual of conjugate gradients, relative to the right-hand side


class Centred(NamedTuple):
    """The rows, with the weights and means of their classes."""

    X: Any  # (n, d) ndarray or scipy CSR
    positive: np.ndarray  # (n,) intp, 1 or 0: row of the means
    share: np.ndarray  # (n,) 1 / n_y, or the row's part of the weight of its class
    means: np.ndarray  # (2, d) of negatives and positives


class State(NamedTuple):
    """The solution, and the statistics of the training data."""

    w: np.ndarray  # (d,)
    mean_pos: np.ndarray  # (d,)
    mean_neg: np.ndarray  # (d,)
    solved: bool
    gram: np.ndarray | None  # Z^T Z or Z Z^T, the smaller; in a grid only, where it is factored


@dataclass(frozen=True)
class LsSvm(LinearMethod):
    """Least-squares SVM over all pairs, in closed form; found by the first iteration.

    Parameters
    ----------
    lam : float >= 0 or None
        Weight of |w|^2 / 2. None means 1 / n for n rescaled training rows.
    l1 : float >= 0
        Weight of |w|_1.
    """

    name = "ls_svm"
    access = Access.full
    losses = ("square",)
    grid = {"lam": tuple(10.0**power for power in range(-8, 2))}
    claims = Claims(rate="exact", cost="n d min(n, d)")
    regularisation = {"lam": 2}
    citation = "suykens1999lssvm"
    deviations = ()
    weighted = True

    lam: NonNegative | None = None
    l1: NonNegative = 0.0

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights and the class means."""
        return State(np.zeros(problem.n_features), problem.mean_pos, problem.mean_neg, False, None)

    def init_from(self, problem: Problem, rng: np.random.Generator, state: State | None) -> State:
        """The statistics that do not depend on lam, and the solution for another lam as the start."""
        if state is not None:
            return state._replace(solved=False)
        start = self.init(problem, rng)
        means = np.stack([start.mean_neg, start.mean_pos])
        return start._replace(gram=_gram(_centred(problem, means)))

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0 or state.solved:
            return state
        means = np.stack([state.mean_neg, state.mean_pos])
        rows = _centred(batch, means)
        lam = 1.0 / total(batch) if self.lam is None else self.lam
        gram = _gram(rows) if state.gram is None else state.gram
        if self.l1 > 0.0:
            w = _with_l1(rows, lam, self.l1, gram, state.w)
        elif gram is None:
            w = _by_gradients(rows, lam, state.w)
        elif len(gram) == batch.X.shape[1]:
            w = _by_columns(gram, means, lam)
        else:
            w = _by_rows(rows, lam, gram)
        return state._replace(w=w, solved=True)

    def objective(self, problem: Problem) -> Objective:
        """The formula halves the mean over pairs."""
        lam = 1.0 / total(problem) if self.lam is None else self.lam
        return Objective(problem.loss, l2=2.0 * lam, l1=2.0 * self.l1)

    @classmethod
    def minimises(cls, objective: Objective, problem: Problem) -> "LsSvm | None":
        """The square loss without a ball."""
        if loss_pieces.pieces(objective.loss) != SQUARE or objective.radius is not None:
            return None
        return cls(lam=objective.l2 / 2.0, l1=objective.l1 / 2.0)

    def done(self, state: State) -> bool:
        return state.solved


def _centred(of: Problem | Batch, means: np.ndarray) -> Centred:
    return Centred(of.X, (of.y == 1).astype(np.intp), class_shares(of.y, of.weights), means)


def _row_blocks(rows: Centred) -> Iterator[np.ndarray]:
    """The rows of Z in dense blocks; the last row is b^T."""
    X, positive, share, means = rows
    root = np.sqrt(share)
    size = max(1, BLOCK_ENTRIES // X.shape[1])
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        block = X[part].toarray() if sparse.issparse(X) else X[part]
        yield (block - means[positive[part]]) * root[part, None]
    yield (means[0] - means[1])[None]


def _gram(rows: Centred) -> np.ndarray | None:
    """Z^T Z of size d or Z Z^T of size n + 1, the smaller; None where that is too large to be factored."""
    n, d = rows.X.shape
    if min(n + 1, d) > _newton.LARGEST_FACTORED:
        return None
    return _gram_of_columns(rows) if d <= n + 1 else _gram_of_rows(rows)


def _gram_of_columns(rows: Centred) -> np.ndarray:
    """(d, d) Z^T Z, summed over blocks of rows."""
    gram = np.zeros((rows.X.shape[1], rows.X.shape[1]))
    for block in _row_blocks(rows):
        gram += block.T @ block
    return gram


def _gram_of_rows(rows: Centred) -> np.ndarray:
    """(n + 1, n + 1) Z Z^T, summed over blocks of columns."""
    gram = np.zeros((rows.X.shape[0] + 1, rows.X.shape[0] + 1))
    for _, block in _column_blocks(rows):
        gram += block @ block.T
    return gram


def _column_blocks(rows: Centred) -> Iterator[tuple[slice, np.ndarray]]:
    """The columns of Z in dense blocks; the last row is b^T."""
    X, positive, share, means = rows
    n, d = X.shape
    root = np.sqrt(share)
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


def _by_rows(rows: Centred, lam: float, gram: np.ndarray) -> np.ndarray:
    """Factor the (n + 1, n + 1) matrix Z Z^T + lam I."""
    target = np.zeros(len(gram))
    target[-1] = -1.0  # m+ - m- = -Z^T e, e the last unit vector
    dual = _solve(gram, lam, target)
    w = np.empty(rows.X.shape[1])
    for part, block in _column_blocks(rows):
        w[part] = block.T @ dual
    return w


def _solve(gram: np.ndarray, lam: float, target: np.ndarray) -> np.ndarray:
    """The solution of (gram + lam I) x = target; NaN when the moments have overflowed."""
    if not np.all(np.isfinite(gram)):
        return np.full(target.shape, np.nan)
    if lam == 0.0:
        solution: np.ndarray = linalg.pinvh(gram) @ target
        return solution
    matrix = gram.copy()
    matrix.flat[:: len(matrix) + 1] += lam
    return _newton.inverse(matrix, lam)(target)


def _by_gradients(rows: Centred, lam: float, start: np.ndarray) -> np.ndarray:
    """Conjugate gradients on Z^T Z + lam I, with products by X and its transpose."""
    difference, multiply = rows.means[1] - rows.means[0], _multiply(rows, lam)
    return _newton.conjugate_gradients(multiply, difference, TOLERANCE, 10 * len(difference), start)


def _multiply(rows: Centred, lam: float) -> Callable[[np.ndarray], np.ndarray]:
    """Products with Z^T Z + lam I, by X and its transpose."""
    X, positive, weights, means = rows
    difference = means[1] - means[0]

    def multiply(w: np.ndarray) -> np.ndarray:
        centred = weights * (X @ w - (means @ w)[positive])
        totals = np.bincount(positive, centred, minlength=2)  # zero but for rounding
        return X.T @ centred - totals @ means + (difference @ w) * difference + lam * w

    return multiply


def _with_l1(rows: Centred, lam: float, l1: float, gram: np.ndarray | None, start: np.ndarray) -> np.ndarray:
    """Proximal gradients and an active set, with the Gram matrix of the columns where it is known."""
    X, means = rows.X, rows.means
    difference = means[1] - means[0]
    if gram is not None and len(gram) == X.shape[1]:
        matrix = gram + lam * np.eye(len(gram))
        problem = _ls_svm_l1.Quadratic(lambda w: matrix @ w, lambda S: matrix[np.ix_(S, S)], difference)
        return _ls_svm_l1.solve(problem, l1, start)
    columns = X.tocsc() if sparse.issparse(X) else X

    def block(S: np.ndarray) -> np.ndarray:
        part = columns[:, S].tocsr() if sparse.issparse(X) else X[:, S]
        A: np.ndarray = _gram_of_columns(rows._replace(X=part, means=means[:, S]))
        A.flat[:: S.size + 1] += lam
        return A

    problem = _ls_svm_l1.Quadratic(_multiply(rows, lam), block, difference)
    return _ls_svm_l1.solve(problem, l1, start)
