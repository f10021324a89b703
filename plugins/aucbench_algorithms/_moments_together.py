"""Descent on the square loss by the moments of the classes, which the settings of a grid share.

During training, settings differ in their weights only. Multiplying the moments by the weights of all settings
is one matrix product, several times faster than a product for each setting. The moments of a class are the
sum A of v v^T over its samples, where v is x or its deviation from the mean. Adding v v^T passes over all of
A, so the last samples are buffered as the rows of V, which enter products directly:

    W (A + V'V) = W A + (W V') V

Sums are in the order of BLAS. Where v was zero in all samples, rows and columns of A are exactly zero, and so
are the products. Infinity and NaN stay in the row of W that has them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  np.dot of compiled code calls it; loaded before its threads are limited

from aucbench import Access, Batch, LinearMethod, NonNegative, Objective, Positive, Problem, require_memory
from aucbench.kernels import fast_helper, helper

FEATURES_EACH = 16  # features needed for each waiting sample, so that products between them stay cheap
MOST_WAITING = 32
EXTRA = 2  # rows after the waiting samples, scratch for a step
SCRATCH = 3  # (d,) arrays that a step needs for each setting
LIVELY = 256  # rows between two searches for settings that have diverged
ADVICE = "use algo=opauc_r, or features=projection"
STRIP = 64  # rows of A updated at once, few enough to stay in the processor's cache


@dataclass(frozen=True)
class MomentsMethod(LinearMethod):
    """Base class of `opauc`, `adaoam` and `opauc_r`.

    Parameters
    ----------
    eta : float > 0
        Step size.
    lam : float >= 0
        Weight of |w|^2 / 2.
    """

    access = Access.stream
    resumable = True
    losses = ("square",)
    step_size = "eta"
    regularisation = {"lam": 2}

    eta: Positive
    lam: NonNegative = 1e-4


class State(NamedTuple):
    """Vectors of a setting, and the first two moments of each class, positives first."""

    vectors: np.ndarray  # (k, d) the weights, and other numbers for each of them
    first: np.ndarray  # (2, d) sums or means
    second: np.ndarray  # (2, d, d) lower triangles; empty before the first step, since many settings share it
    counts: np.ndarray  # (2,) samples seen


class SecondMoments(MomentsMethod):
    """Base class of `opauc` and `adaoam`, whose kernels take the fields of the method as numbers."""

    min_together = 6
    _vectors: ClassVar[int] = 1

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero; raises `ParameterError` when two d x d matrices exceed the available memory."""
        d = problem.n_features
        require_memory(self.name, (2, d, d), ADVICE)
        first = np.zeros((2, d))
        return State(np.zeros((self._vectors, d)), first, np.zeros((2, 0, 0)), np.zeros(2, np.int64))

    def objective(self, problem: Problem) -> Objective:
        """The gradient is that of half the mean over pairs."""
        return Objective(problem.loss, l2=2.0 * self.lam)

    def weights(self, state: State) -> np.ndarray:
        return state.vectors[0].copy()

    def _stepped(self, run: Callable[..., None], state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        state = _with_matrices(state)
        run(batch.rows_view, batch.y, batch.rows, *state, *_numbers(self))
        return state

    @classmethod
    def _together(
        cls, run: Callable[..., None], algorithms: Sequence[Any], states: Sequence[State]
    ) -> "MomentsTogether":
        """Settings that share the moments; full matrices are stored, not only lower triangles."""
        (k, d), count = states[0].vectors.shape, len(states)
        require_memory(cls.name, (2 * d + (k + SCRATCH) * count, d), ADVICE)
        start = _with_matrices(states[0])
        return MomentsTogether(
            run,
            start[1:],
            [
                *np.zeros((k, count, d)),
                # Contiguous, as after packing: for other strides the kernels would compile once more.
                *np.array([_numbers(algorithm) for algorithm in algorithms], np.float64).T.copy(),
            ],
            lambda *arrays: start._replace(vectors=np.concatenate(arrays[:k])),
        )


def _with_matrices(state: State) -> State:
    d = state.first.shape[1]
    return state if state.second.size else state._replace(second=np.zeros((2, d, d)))


def _numbers(algorithm: Any) -> tuple[Any, ...]:
    return tuple(getattr(algorithm, field.name) for field in fields(algorithm))


class MomentsTogether:
    """Settings of a method whose states differ in some vectors only.

    Weights that are no longer finite never recover, so their setting is left out of further products. A wide
    grid of step sizes has many such settings.

    Parameters
    ----------
    run : callable
        Kernel of ``(X, y, order, *shared, *arrays)``.
    shared : sequence
        Means, moments and counts of the state that all settings share, and flags.
    arrays : sequence of arrays
        Vectors and hyperparameters, with one entry for each setting along `axis`. NaN or infinity in the
        first array means that the setting has diverged.
    state : callable
        Makes the state of a setting from its slices of `arrays`, of length one along the axis.
    axis : int
        0 or -1.
    """

    def __init__(
        self,
        run: Callable[..., None],
        shared: Sequence[Any],
        arrays: Sequence[np.ndarray],
        state: Callable[..., Any],
        axis: int = 0,
    ):
        self._run, self._shared, self._arrays, self._state = run, shared, list(arrays), state
        self._axis = axis
        self._numbers = list(range(arrays[0].shape[axis]))  # numbers of the settings along the axis
        self._diverged: dict[int, list[np.ndarray]] = {}
        self._dropped: set[int] = set()

    def step(self, batch: Batch) -> None:
        for start in range(0, len(batch.rows), LIVELY):
            self._pack()
            if self._numbers:
                part = batch.rows[start : start + LIVELY]
                self._run(batch.rows_view, batch.y, part, *self._shared, *self._arrays)

    def state(self, number: int) -> Any:
        """The state of a setting; all but its vectors is shared."""
        return self._state(*(self._diverged.get(number) or self._of(self._numbers.index(number))))

    def drop(self, number: int) -> None:
        self._dropped.add(number)

    def _of(self, index: int) -> list[np.ndarray]:
        return [array.take([index], self._axis) for array in self._arrays]

    def _pack(self) -> None:
        """Leave out the settings that have diverged or were dropped."""
        first = np.moveaxis(self._arrays[0], self._axis, 0)
        finite = np.isfinite(first).all(axis=tuple(range(1, first.ndim)))
        dropped = np.isin(self._numbers, list(self._dropped))
        stay = np.flatnonzero(finite & ~dropped)
        if len(stay) == len(self._numbers):
            return
        for index in np.flatnonzero(~finite & ~dropped).tolist():
            self._diverged[self._numbers[index]] = self._of(index)
        self._numbers = [self._numbers[index] for index in stay]
        self._arrays = [array.take(stay, self._axis) for array in self._arrays]


def column(algorithms: Sequence[Any], field: str) -> np.ndarray:
    """(settings,) a hyperparameter of all settings."""
    return np.array([getattr(algorithm, field) for algorithm in algorithms], np.float64)


@helper
def room(d):
    """Zeros for the waiting samples of both classes, and for `EXTRA` vectors of the step."""
    return np.zeros((2, min(max(d // FEATURES_EACH, 1), MOST_WAITING) + EXTRA, d))


@helper
def wait(V, waiting, A):
    """Count the sample behind the waiting rows of V as waiting, too; returns the new number."""
    waiting += 1
    if waiting < V.shape[0] - EXTRA:
        return waiting
    flush(V, waiting, A)
    return 0


@helper
def flush(V, waiting, A):
    """Add V'V of the waiting rows to A."""
    if waiting == 0:
        return
    columns, change = V[:waiting].T.copy(), np.empty((STRIP, A.shape[0]))
    for j in range(0, A.shape[0], STRIP):
        count = min(STRIP, A.shape[0] - j)
        np.dot(columns[j : j + count], V[:waiting], change[:count])
        _add(change[:count], A[j : j + count])


@fast_helper
def _add(change, out):
    for j in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[j, k] += change[j, k]
