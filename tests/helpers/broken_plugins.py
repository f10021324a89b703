"""A healthy method in plain NumPy, and methods that break one rule each, with what is found in them."""

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np
from scipy import sparse

from aucbench import Claims, Objective, Positive, check_fields

MARK = "# the mistake"  # at the line that a finding names


class State(NamedTuple):
    w: np.ndarray  # (d,)
    total: np.ndarray  # (d,) sum of w
    counts: np.ndarray  # (3,) steps, positives, whatever a broken method counts
    note: Any = None


@dataclass(frozen=True)
class Healthy:
    """Averaged stochastic gradient of the logistic loss."""

    name: ClassVar[str] = "healthy"
    access: ClassVar[str] = "stream"
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"eta": (0.1, 1.0)}
    eta: Positive = 0.5

    __post_init__ = check_fields

    def init(self, problem, rng):
        return State(np.zeros(problem.n_features), np.zeros(problem.n_features), np.zeros(3, np.int64))

    def step(self, state, batch):
        w, total, counts, _ = state
        for x, label in batch:
            w += self.eta * label / (1.0 + np.exp(label * (x @ w))) * x
            total += w
            counts[0] += 1
            counts[1] += label > 0
        return state

    def finalize(self, state):
        return state._replace(w=state.total / max(1, state.counts[0]))

    def weights(self, state):
        return state.w.copy()

    def score(self, state, X):
        return X @ state.w


@dataclass(frozen=True)
class Plain:
    """The same without an average, as short as it can be."""

    name: ClassVar[str] = "plain"
    access: ClassVar[str] = "stream"
    eta: float = 0.5

    def init(self, problem, rng):
        return np.zeros(problem.n_features)

    def step(self, w, batch):
        for x, label in batch:
            w = w + self.eta * label / (1.0 + np.exp(label * (x @ w))) * x
        return w

    def score(self, w, X):
        return X @ w


def broken(base=Healthy, **attributes):
    return type("Broken", (base,), attributes)


def plain(**attributes):
    return broken(Plain, **attributes)


def noting(note):
    """The first state of Healthy, with a note."""
    return lambda self, problem, rng: Healthy.init(self, problem, rng)._replace(note=note)


def stepping(factor, by_row=False):
    """The step of Healthy with a step size that is multiplied by a function of the state and some rows."""

    def step(self, state, batch):
        size = 1 if by_row else max(1, len(batch))
        for start in range(0, len(batch), size):
            rows = batch.take(batch.rows[start : start + size])
            state = Healthy.step(Healthy(self.eta * factor(state, rows)), state, rows)
        return state

    return step


def per_call(state, batch):
    state.counts[2] += 1
    return 1.0 / np.sqrt(state.counts[2])


class StepPerChunk(Healthy):
    step = stepping(per_call)


class LargeBatch(Healthy):
    access: ClassVar[str] = "minibatch"

    def batch_size(self, n_samples):
        return 16

    def step(self, state, batch):
        for X, y in batch:
            state.w[:] += self.eta * ((y / (1.0 + np.exp(y * (X @ state.w)))) @ X) / len(y)
            state.total[:] += state.w
            state.counts[0] += 1
        return state


@numba.njit
def _twice(number):
    return 2 * number


class Recompiling(Healthy):
    init = noting(0)

    def step(self, state, batch):
        super().step(state, batch)
        return state._replace(note=_twice(state.note) + 0.5) if len(batch) else state  # whole only at first


class Random(Healthy):
    def init(self, problem, rng):
        state = super().init(problem, rng)
        state.w[:] = 0.01 * np.random.default_rng().standard_normal(len(state.w))
        return state


class Forgetful:
    """It loses what it knows when it is pickled."""

    def __init__(self):
        self.steps = 0

    def __getstate__(self):
        return {"steps": 0}

    def count(self):
        self.steps += 1
        return self.steps


class LosesState(Healthy):
    step = stepping(lambda state, rows: 1.0 / state.note.count() ** 0.1, by_row=True)

    def init(self, problem, rng):
        return super().init(problem, rng)._replace(note=Forgetful())


class BorrowsInput(Healthy):
    """It works on the rows themselves, and leaves them as they were."""

    def init(self, problem, rng):
        values = problem.X.data if sparse.issparse(problem.X) else problem.X
        np.negative(values, out=values)
        np.negative(values, out=values)
        return super().init(problem, rng)


class _Promised(np.ndarray):
    """An array that may not have been computed yet."""

    def block_until_ready(self):
        return self


class NoWait(Healthy):
    def init(self, problem, rng):
        state = super().init(problem, rng)
        return state._replace(counts=state.counts.view(_Promised))


class CountsScores(Healthy):
    def score(self, state, X):
        state.counts[2] += 1
        return X @ state.w


class FinalInPlace(Healthy):
    def finalize(self, state):
        state.w[:] = state.total / max(1, state.counts[0])
        return state


class FailsOnFive(Healthy):
    """It fails on five rows and more, of three features and more."""

    requires: ClassVar = {"dense": "so that the number of features is that of the problem"}

    def score(self, state, X):
        if len(state.w) >= 3 and X.shape[0] >= 5:
            raise RuntimeError("five")
        return X @ state.w


class NeedsBoth(Healthy):
    def step(self, state, batch):
        for k in range(len(batch)):
            super().step(state, batch.take(batch.rows[k : k + 1]))
            steps, positives, _ = state.counts
            if steps == 30 and positives in (0, 30):
                state.total[:] = np.nan
        return state


class SquaresWeights(Healthy):
    """The pairwise ridge in closed form, where a row of weight k counts as k * k rows."""

    access: ClassVar[str] = "full"
    weighted: ClassVar[bool] = True
    finalize: ClassVar = None
    _power: ClassVar[int] = 2

    def step(self, state, batch):
        if not len(batch):
            return state
        X = batch.X.toarray() if sparse.issparse(batch.X) else batch.X
        counts = np.ones(len(X)) if batch.weights is None else batch.weights**self._power
        means, matrix = [], 1e-2 * np.eye(X.shape[1])
        for label in (1, -1):
            own = np.where(batch.y == label, counts, 0.0) / counts[batch.y == label].sum()
            means.append(own @ X)
            matrix += (X - means[-1]).T * own @ (X - means[-1])
        b = means[0] - means[1]
        return state._replace(w=np.linalg.solve(matrix + np.outer(b, b), b))


class CountsWeights(SquaresWeights):
    """As it should be."""

    _power: ClassVar[int] = 1


class _StepsOfTheFirst:
    def __init__(self, algorithms, states):
        self.algorithm, self.states = algorithms[0], dict(enumerate(states))
        self.state, self.drop = self.states.__getitem__, self.states.pop

    def step(self, batch):
        for number, state in self.states.items():
            self.states[number] = self.algorithm.step(state, batch)


class Centring(Plain):
    """It works on the rows themselves."""

    def step(self, w, batch):
        X = batch.X.data if sparse.issparse(batch.X) else batch.X
        X += 1.0
        return super().step(w, batch)


class InitReturnsNothing(Plain):
    def init(self, problem, rng):  # the mistake
        np.zeros(problem.n_features)


class Column(Plain):
    def score(self, w, X):  # the mistake
        return (X @ w)[:, None]


class DenseOnly(Plain):
    def score(self, w, X):
        return np.einsum("ij,j->i", X, w)  # the mistake


@dataclass(frozen=True)
class NumberOfRows(Plain):
    access: ClassVar[str] = "minibatch"
    batch_size: int = 5


class Exiting(Plain):
    def step(self, w, batch):
        sys.exit(3)  # the mistake


class NotANumber(Plain):
    def score(self, w, X):
        return np.full(X.shape[0], np.nan)


class Generating(Plain):
    def init(self, problem, rng):
        return np.zeros(problem.n_features), (k for k in range(9))

    def step(self, state, batch):
        return super().step(state[0], batch), state[1]

    def score(self, state, X):
        return X @ state[0]


@numba.njit
def _strange(w, word):
    return w + word


class Untypable(Plain):
    def step(self, w, batch):
        return _strange(w, "a")  # the mistake


class Slow(Healthy):
    """An iteration takes 2 ms."""

    def step(self, state, batch):
        time.sleep(0.002 * len(batch))
        return super().step(state, batch)


# Methods that need a process of their own.


class Endless(Plain):
    def step(self, w, batch):
        while True:
            w = w + 0.0


@numba.njit
def _forever(x):
    while x >= 0.0:
        x = x + 1.0 if x < 1e9 else 0.0
    return x


class EndlessCompiled(Plain):
    def step(self, w, batch):
        return w * _forever(1.0)


class Crashing(Plain):
    def step(self, w, batch):
        os.abort()


class Leaving(Plain):
    def step(self, w, batch):
        os._exit(7)


class Interrupting(Plain):
    def step(self, w, batch):
        raise KeyboardInterrupt


PARTS = {name: getattr(Healthy, name) for name in ("name", "access", "init", "step", "score", "eta")}
NeverDone = broken(LargeBatch, access="full", done=lambda self, state: False)


def centred(self, state, X):
    scores = X @ state.w
    return scores - scores.mean()


CULPRITS = {  # the checks that find each of them, and a pattern of the first message
    "thawed": (dataclass(type("Thawed", (), PARTS)), {"declared"}, ""),
    "access": (
        broken(access="streams"),
        {"declared"},
        "one of stream, pairs, minibatch, balanced, full, got 'streams'",
    ),
    "batch size": (NumberOfRows, {"declared"}, "`batch_size`"),
    "fails on five": (FailsOnFive, {"runs"}, "5 x 3 dense rows of float64, seed 0, 5 iterations"),
    "init without return": (InitReturnsNothing, {"runs"}, "`init` returned None: .*`return`"),
    "dense only": (DenseOnly, {"runs"}, r"`score` raised .*CSR.*X @ w.*requires:.* 2 x 1 CSR rows"),
    "exiting": (Exiting, {"runs"}, r"`step` .*sys.exit, 3"),
    "untypable": (Untypable, {"runs"}, r"TypingError: No implementation of .*add\(array\(float64"),
    "wrong grid": (broken(grid={"eta": (0.1, -1.0)}), {"grid"}, ""),
    "unknown grid": (broken(grid={"etta": (0.1,)}), {"grid"}, ""),
    "large batch": (
        LargeBatch,
        {"batch_size"},
        r"batch_size\(2\) must be a whole number from 1 to 2, got 16\.",
    ),
    "recompiling": (Recompiling, {"compiled_once"}, ""),
    "random": (Random, {"same_seed", "chunks", "pickling", "sparse_rows", "float32_rows"}, ""),
    "step per chunk": (StepPerChunk, {"chunks"}, ""),
    "loses state": (LosesState, {"pickling"}, ""),
    "generating": (Generating, {"pickling"}, r"pickled \(TypeError: .*generators"),
    "knows places": (
        broken(step=stepping(lambda state, rows: 1 + rows.rows[0] % 2, by_row=True), resumable=True),
        {"resumable"},
        "",
    ),
    "one step size": (broken(together=_StepsOfTheFirst), {"together"}, ""),
    "borrows input": (BorrowsInput, {"inputs_untouched"}, ""),
    "centring rows": (
        Centring,
        {"inputs_untouched"},
        "^`step` changes X, which is not its own; work on a copy.",
    ),
    "no scores": (plain(score=lambda self, w, X: None), {"scores"}, "`score` of 2 rows returned None"),
    "column of scores": (Column, {"scores"}, r"ndarray of shape \(2, 1\); .*\(2,\)"),
    "whole scores": (
        plain(score=lambda self, w, X: (1e6 * (X @ w)).astype(np.int64)),
        {"scores"},
        r"returned int64: .*\.astype\(float\)",
    ),
    "not a number": (NotANumber, {"scores"}, "2 of 2 scores are NaN; the state is finite.*`score`"),
    "overflow": (
        plain(step=lambda self, w, batch: w / 0.0 if len(batch) else w),
        {"scores"},
        "scores are NaN; the state is not finite",
    ),
    "no wait": (NoWait, {"waits"}, ""),
    "centring": (broken(score=centred), {"companions"}, ""),
    "counts scores": (CountsScores, {"reading"}, ""),
    "other weights": (broken(weights=lambda self, state: 2.0 * state.w), {"weights"}, ""),
    "final in place": (FinalInPlace, {"finalize"}, ""),
    "other on sparse": (
        broken(step=stepping(lambda state, rows: 1.0 + sparse.issparse(rows.X))),
        {"sparse_rows"},
        "",
    ),
    "other on single": (
        broken(step=stepping(lambda state, rows: 1.1 if rows.X.dtype == np.float32 else 1.0)),
        {"float32_rows"},
        "",
    ),
    "needs both": (NeedsBoth, {"one_class_first"}, ""),
    "ignores weights": (broken(weighted=True), {"weighted"}, ""),
    "squares weights": (SquaresWeights, {"weighted"}, ""),
    "never done": (NeverDone, {"converges"}, "not done after 1,000 iterations"),
    "worst": (broken(finalize=lambda self, state: state._replace(w=-state.total)), {"auc"}, ""),
    "reversed": (plain(score=lambda self, w, X: -(X @ w)), {"auc"}, r"opposite order.*\+1"),
    "claims sparse": (broken(claims=Claims("1/sqrt(t)", "nnz")), {"cost"}, "1.0-fold by the claim 'nnz'"),
    "number as objective": (broken(objective=lambda self, problem: 0.5), {"objective"}, ""),
    "without loss": (broken(objective=lambda self, problem: Objective(None, l2=1.0)), {"objective"}, ""),
    "unknown exemption": (broken(exempt={"chunk": "it is hard"}), {"exempt"}, ""),
}
