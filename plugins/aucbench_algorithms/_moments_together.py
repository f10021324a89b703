"""Settings in training that differ in their weights only: the moments of the classes are kept once for all.

A product of the moments with the weights of all settings is one matrix product, several times faster than
one product for each. The moments of a class are the sum A of v v^T over its samples, v being x or its
deviation from the mean. Adding v v^T passes over all of A, so the last samples wait for each other
and take part in products as they are:

    W (A + V'V) = W A + (W V') V

Sums are in the order of BLAS. Where v was zero in all samples, rows and columns of A are exactly zero, and so
are the products. Infinity and NaN stay in the row of W that has them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  np.dot of compiled code calls it; loaded before its threads are limited

from aucbench import Batch, require_memory
from aucbench.kernels import fast_kernel, kernel

FEATURES_EACH = 16  # for each sample that waits: products with those that wait must not take long either
MOST_WAITING = 32
EXTRA = 3  # rows behind those that wait, for vectors of the step; `settle` takes four at a time
VECTORS = 5  # (d,) arrays of each setting: at most two of its own, and the scratch of a step


# Matrices before the first step: of the many settings of a grid only one needs them.
EMPTY = np.zeros((2, 0, 0))


class MomentsTogether:
    """The settings of a method, whose state is that of the first setting but for some vectors.

    Parameters
    ----------
    run : callable
        Kernel of ``(X, y, order, *shared, *own)``.
    shared : sequence of arrays
        Means, moments and counts of the state that all settings share.
    own : sequence of arrays
        Vectors and hyper-parameters; a row for each setting.
    state : callable
        Makes the state of a setting of its rows of `own`.
    """

    def __init__(
        self,
        run: Callable[..., None],
        shared: Sequence[np.ndarray],
        own: Sequence[np.ndarray],
        state: Callable[..., Any],
    ):
        self._run, self._shared, self._own, self._state = run, shared, list(own), state
        self._numbers = list(range(len(own[0])))  # of the settings in the rows

    def step(self, batch: Batch) -> None:
        """Consume the rows of a chunk, in order."""
        if len(batch.rows):
            self._run(batch.rows_view, batch.y, batch.rows, *self._shared, *self._own)

    def state(self, number: int) -> Any:
        """The state of a setting; all but its vectors is shared."""
        row = self._numbers.index(number)
        return self._state(*(array[row].copy() for array in self._own))

    def drop(self, number: int) -> None:
        """Take a setting out of the products."""
        row = self._numbers.index(number)
        del self._numbers[row]
        self._own = [np.delete(array, row, axis=0) for array in self._own]


def zeros(name: str, settings: int, d: int) -> np.ndarray:
    """(settings, d) weights; refuses moments and vectors of all settings for which there is no memory."""
    require_memory(name, (2 * d + VECTORS * settings, d), "use algo=opauc_r, or features=projection")
    return np.zeros((settings, d))


def square(matrices: np.ndarray, d: int) -> np.ndarray:
    """(2, d, d) the matrices of a state, zeros before its first step."""
    return matrices if matrices.size else np.zeros((2, d, d))


def column(algorithms: Sequence[Any], field: str) -> np.ndarray:
    """(settings,) a hyper-parameter of all settings."""
    return np.array([getattr(algorithm, field) for algorithm in algorithms], np.float64)


@kernel
def room(d):
    """Zeros for the samples of both classes that wait, and for `EXTRA` vectors of the step."""
    return np.zeros((2, min(max(d // FEATURES_EACH, 1), MOST_WAITING) + EXTRA, d))


@kernel
def wait(V, waiting, A):
    """Let the sample behind those that wait, the rows of V, wait too; returns their number."""
    waiting += 1
    if waiting < V.shape[0] - EXTRA:
        return waiting
    settle(V, waiting, A)
    return 0


@fast_kernel
def settle(V, waiting, A):
    """Add V'V of the rows that wait to A."""
    V[waiting : waiting + 3] = 0.0
    for j in range(A.shape[0]):
        for r in range(0, waiting, 4):
            a, b, c, e = V[r, j], V[r + 1, j], V[r + 2, j], V[r + 3, j]
            if a != 0.0 or b != 0.0 or c != 0.0 or e != 0.0:
                for k in range(A.shape[1]):
                    A[j, k] += a * V[r, k] + b * V[r + 1, k] + c * V[r + 2, k] + e * V[r + 3, k]
