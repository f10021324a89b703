"""The problem that a method solves, with statistics computed on demand, and the objective it minimises."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts.batch import Matrix
from aucbench.contracts.hyperparameters import NonNegative, Positive, check_fields

BLOCK_ROWS = 8192  # statistics are summed in float64 over blocks of this many rows
BLOCK_VALUES = 1 << 15  # values of CSR rows squared at a time


class ValidationRows(NamedTuple):
    """Rows held out of the training rows for a method that declares `validation`."""

    X: Matrix  # (v, d)
    y: NDArray[np.int8]  # (v,) labels in {-1, 1}
    weights: NDArray[np.float64] | None = None  # (v,) > 0, None without weights


@dataclass(eq=False, repr=False)
class Problem:
    """Training data, loss and planned length of one run.

    Statistics are computed on first use, count as training time, and are not kept between runs.

    Parameters
    ----------
    X : (n, d) ndarray or scipy CSR
        Training rows.
    y : (n,) int8 array
        Labels in {-1, 1}.
    iterations : int or None
        Planned number of iterations; None when the budget is in seconds.
    loss : Loss or None
        The surrogate loss, an instance of a loss plugin; None for a method that takes none.
    weights : (n,) float64 array, optional
        Weights > 0 of the rows, for a method that declares `weighted`; in statistics, a row of weight k
        counts as k rows.
    row_factor : float
        The factor f of the rescaled rows f (x - c). It converts a default of regularisation for the scaled
        columns to these rows (see `Method.regularisation`); 1 if regularisation refers to the rows as they
        are.
    validation : ValidationRows, optional
        Other rows, with `X`, `y` and `weights`, for a method that declares `validation`.
    """

    X: Matrix
    y: NDArray[np.int8]
    iterations: int | None = None
    loss: Any = None
    weights: NDArray[np.float64] | None = None
    row_factor: float = 1.0
    validation: ValidationRows | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns d."""
        return int(self.X.shape[1])

    @cached_property
    def p(self) -> float:
        """Share of positives, n+ / n."""
        if self.weights is not None:
            return float(self.weights[self.y == 1].sum() / self.weights.sum())
        return float(np.mean(self.y == 1))

    @cached_property
    def max_norm(self) -> float:
        """Largest l2 norm of a row, kappa."""
        if sparse.issparse(self.X):
            return float(np.sqrt(_largest_square(self.X.indptr, self.X.data)))
        largest = 0.0
        for block, _ in self._blocks():
            largest = max(largest, float(np.einsum("ij,ij->i", block, block).max(initial=0.0)))
        return float(np.sqrt(largest))

    @cached_property
    def mean_pos(self) -> NDArray[np.float64]:
        """(d,) mean of the positive rows, m+; zero when there is none."""
        return self._mean(1)

    @cached_property
    def mean_neg(self) -> NDArray[np.float64]:
        """(d,) mean of the negative rows, m-; zero when there is none."""
        return self._mean(-1)

    def _mean(self, label: int) -> NDArray[np.float64]:
        # Row by row: the last bits of a matrix product depend on the library.
        total, chosen = np.zeros(self.n_features), self.y == label
        if self.weights is not None:
            share = np.where(chosen, self.weights, 0.0) / (self.weights[chosen].sum() or 1.0)
            return np.asarray(self.X.T @ share, np.float64)
        for block, labels in self._blocks():
            total += np.asarray(block[labels == label].sum(axis=0)).ravel()
        return total / max(1, int(np.count_nonzero(chosen)))

    def _blocks(self) -> Iterator[tuple[Any, NDArray[np.int8]]]:
        for start in range(0, self.n_samples, BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            yield self.X[part].astype(np.float64, copy=False), self.y[part]


def _largest_square(indptr: NDArray[Any], data: NDArray[Any]) -> float:
    """Largest squared norm of a CSR row, in blocks that stay in the processor's cache."""
    largest, n = 0.0, len(indptr) - 1
    rows = max(1, BLOCK_VALUES * n // max(1, len(data)))
    for start in range(0, n, rows):
        bounds = indptr[start : start + rows + 1]
        block = data[bounds[0] : bounds[-1]].astype(np.float64)
        block *= block
        # Skip empty rows: reduceat would assign them their neighbour's value.
        filled = bounds[:-1][np.diff(bounds) > 0] - bounds[0]
        if len(filled):
            largest = max(largest, float(np.add.reduceat(block, filled).max()))
    return largest


class Norm(StrEnum):
    """The norm of a ball of weights."""

    l2 = "l2"
    l1 = "l1"


@dataclass(frozen=True)
class Objective:
    """The function of the weights that a method minimises.

        mean over all pairs of loss(w.(x+ - x-)) + l2 / 2 |w|^2 + l1 |w|_1,  subject to |w| <= radius

    The mean over pairs has no factor: a method that halves the mean, or weights it by p (1 - p), declares its
    regulariser divided by this factor.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin, convex and non-negative.
    l2 : float >= 0
        Weight of |w|^2 / 2.
    l1 : float >= 0
        Weight of |w|_1.
    radius : float > 0 or None
        Radius of the ball of weights; None for no constraint.
    norm : l2 or l1
        The norm of the ball.
    """

    loss: Any
    l2: NonNegative = 0.0
    l1: NonNegative = 0.0
    radius: Positive | None = None
    norm: Norm = Norm.l2

    def __post_init__(self) -> None:
        check_fields(self)

    def __str__(self) -> str:
        theta = ", ".join(f"{value:g}" for value in vars(self.loss).values())
        terms = [f"mean over pairs of {self.loss.name}({theta + '; ' if theta else ''}w.(x+ - x-))"]
        terms += [f"{self.l2 / 2:.6g} |w|^2"] if self.l2 else []
        terms += [f"{self.l1:.6g} |w|_1"] if self.l1 else []
        ball = (
            "" if self.radius is None else f", |w|{'_1' if self.norm is Norm.l1 else ''} <= {self.radius:g}"
        )
        return " + ".join(terms) + ball

    @property
    def is_bounded(self) -> bool:
        """Whether a regulariser or a ball keeps the weights bounded."""
        return self.l2 > 0.0 or self.l1 > 0.0 or self.radius is not None
