"""A healthy method in plain NumPy, methods that break one rule each, and what is found in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np
from scipy import sparse

from aucbench import Claims, Objective, Positive, check_fields


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


def broken(base=Healthy, **attributes):
    return type("Broken", (base,), attributes)


PARTS = {name: getattr(Healthy, name) for name in ("name", "access", "init", "step", "score", "eta")}


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
    def init(self, problem, rng):
        return super().init(problem, rng)._replace(note=0)

    def step(self, state, batch):
        super().step(state, batch)
        return state._replace(note=_twice(state.note) + 0.5) if len(batch) else state  # whole only at first


class Random(Healthy):
    def init(self, problem, rng):
        state = super().init(problem, rng)
        state.w[:] = 0.01 * np.random.default_rng().standard_normal(len(state.w))
        return state


def stepping(factor, by_row=False):
    """The step of Healthy with a step size that is multiplied by a function of the state and some rows."""

    def step(self, state, batch):
        size = 1 if by_row else max(1, len(batch))
        for start in range(0, len(batch), size):
            rows = batch.take(batch.rows[start : start + size])
            state = Healthy.step(Healthy(self.eta * factor(state, rows)), state, rows)
        return state

    return step


def per_call(state, rows):
    state.counts[2] += 1
    return 1.0 / np.sqrt(state.counts[2])


StepPerChunk = broken(step=stepping(per_call))
KnowsPlaces = broken(step=stepping(lambda state, rows: 1 + rows.rows[0] % 2, by_row=True), resumable=True)
OtherOnSparse = broken(step=stepping(lambda state, rows: 2.0 if sparse.issparse(rows.X) else 1.0))
OtherOnSingle = broken(step=stepping(lambda state, rows: 1.1 if rows.X.dtype == np.float32 else 1.0))


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
    _power: ClassVar[int] = 2

    def step(self, state, batch):
        if not len(batch):
            return state
        X = batch.X.toarray() if sparse.issparse(batch.X) else batch.X
        counts = np.ones(len(X)) if batch.weights is None else batch.weights**self._power
        means, matrix = [], 1e-2 * np.eye(X.shape[1])
        for label in (1, -1):
            shares = np.where(batch.y == label, counts, 0.0) / counts[batch.y == label].sum()
            means.append(shares @ X)
            matrix += (X - means[-1]).T * shares @ (X - means[-1])
        b = means[0] - means[1]
        return state._replace(w=np.linalg.solve(matrix + np.outer(b, b), b))

    def finalize(self, state):
        return state


class CountsWeights(SquaresWeights):
    """As it should be."""

    _power: ClassVar[int] = 1


class _StepsOfTheFirst:
    """Settings that train together all have the step size of the first."""

    def __init__(self, algorithms, states):
        self.algorithm, self.states = algorithms[0], dict(enumerate(states))
        self.state, self.drop = self.states.__getitem__, self.states.pop

    def step(self, batch):
        for number, state in self.states.items():
            self.states[number] = self.algorithm.step(state, batch)


NeverDone = broken(LargeBatch, access="full", done=lambda self, state: False)


def centred(self, state, X):
    scores = X @ state.w
    return scores - scores.mean()


CULPRITS = {  # the checks that find each of them, and words of the first message
    "thawed": (dataclass(type("Thawed", (), PARTS)), {"declared"}, ""),
    "access": (
        broken(access="streams"),
        {"declared"},
        "one of stream, pairs, minibatch, balanced, full, got 'streams'",
    ),
    "fails on five": (FailsOnFive, {"runs"}, "5 x 3 dense rows of float64, seed 0, 5 iter"),
    "without return": (broken(step=lambda self, state, batch: None), {"runs"}, "returned None"),
    "wrong grid": (broken(grid={"eta": (0.1, -1.0)}), {"grid"}, ""),
    "unknown grid": (broken(grid={"etta": (0.1,)}), {"grid"}, ""),
    "large batch": (
        LargeBatch,
        {"batch_size"},
        r"batch_size\(2\) must be a whole number from 1 to 2, got 16",
    ),
    "recompiling": (Recompiling, {"compiled_once"}, ""),
    "random": (Random, {"same_seed", "chunks", "pickling", "sparse_rows", "float32_rows"}, ""),
    "step per chunk": (StepPerChunk, {"chunks"}, ""),
    "loses state": (LosesState, {"pickling"}, ""),
    "knows places": (KnowsPlaces, {"resumable"}, ""),
    "one step size": (broken(together=_StepsOfTheFirst), {"together"}, ""),
    "borrows input": (BorrowsInput, {"inputs_untouched"}, ""),
    "list of scores": (broken(score=lambda self, state, X: (X @ state.w).tolist()), {"scores"}, ""),
    "no wait": (NoWait, {"waits"}, ""),
    "centring": (broken(score=centred), {"companions"}, ""),
    "counts scores": (CountsScores, {"reading"}, ""),
    "other weights": (broken(weights=lambda self, state: 2.0 * state.w), {"weights"}, ""),
    "final in place": (FinalInPlace, {"reading"}, "`finalize` changes"),
    "no reason": (
        broken(requires={"dense": ""}),
        {"sparse_rows"},
        "^`requires` names 'dense' without a reason",
    ),
    "other on sparse": (OtherOnSparse, {"sparse_rows"}, ""),
    "other on single": (OtherOnSingle, {"float32_rows"}, ""),
    "needs both": (NeedsBoth, {"one_class_first"}, ""),
    "ignores weights": (broken(weighted=True), {"weighted"}, ""),
    "squares weights": (SquaresWeights, {"weighted"}, ""),
    "never done": (NeverDone, {"converges"}, "not done after 1,000 iterations"),
    "worst": (broken(finalize=lambda self, state: state._replace(w=-state.total)), {"auc"}, ""),
    "claims sparse": (broken(claims=Claims("1/sqrt(t)", "nnz")), {"cost"}, "1.0-fold by the claim 'nnz'"),
    "number as objective": (broken(objective=lambda self, problem: 0.5), {"objective"}, ""),
    "without loss": (broken(objective=lambda self, problem: Objective(None, l2=1.0)), {"objective"}, ""),
    "unknown exemption": (broken(exempt={"chunk": "it is hard"}), {"exempt"}, ""),
}
