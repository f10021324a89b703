"""A healthy method in plain NumPy, methods that break one rule each, and the checks that find them."""

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


@dataclass(frozen=True)
class Plain:
    """Stochastic gradient of the logistic loss, as short as it can be."""

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


def recompiling(self, state, batch):  # whole only at first
    Healthy.step(self, state, batch)
    return state._replace(note=_twice(state.note) + 0.5) if len(batch) else state


def begun(change, **attributes):
    """Healthy with other fields of its first state, by a function of the problem."""

    def init(self, problem, rng):
        return Healthy.init(self, problem, rng)._replace(**change(problem))

    return broken(init=init, **attributes)


def stepping(factor, by_row=False):
    """The step of Healthy with a step size that is multiplied by a function of the state and some rows."""

    def step(self, state, batch):
        size = 1 if by_row else max(1, len(batch))
        for start in range(0, len(batch), size):
            rows = batch.take(batch.rows[start : start + size])
            state = Healthy.step(Healthy(self.eta * factor(state, rows)), state, rows)
        return state

    return step


def scattered(self, state, batch):
    """Also reads every weight, out of order: this grows by more than d, above what a noisy clock hides."""
    order = np.arange(len(state.w)) * 7919 % len(state.w)
    for _ in range(len(batch)):
        state.w.take(order)
    return Healthy.step(self, state, batch)


def per_call(state, rows):
    state.counts[2] += 1
    return 1.0 / np.sqrt(state.counts[2])


StepPerChunk = broken(step=stepping(per_call))


class Forgetful:
    """A counter that pickling resets."""

    def __init__(self):
        self.steps = 0

    def __getstate__(self):
        return {"steps": 0}

    def count(self):
        self.steps += 1
        return self.steps


class Promised(np.ndarray):
    """An array that may not have been computed yet."""

    def block_until_ready(self):
        return self


def borrowing(self, problem, rng):  # restores the rows
    values = problem.X.data if sparse.issparse(problem.X) else problem.X
    for _ in range(2):
        np.negative(values, out=values)
    return Healthy.init(self, problem, rng)


def centring_rows(self, w, batch):
    X = batch.X.data if sparse.issparse(batch.X) else batch.X
    X += 1.0
    return Plain.step(self, w, batch)


def counting(self, state, X):
    state.counts[2] += 1
    return X @ state.w


def finalizing_in_place(self, state):
    state.w[:] = state.total / max(1, state.counts[0])
    return state


def failing_on_five(self, state, X):  # rows and more, of three features and more
    if len(state.w) >= 3 and X.shape[0] >= 5:
        raise RuntimeError("five")
    return X @ state.w


def needing_both(self, state, batch):
    for k in range(len(batch)):
        Healthy.step(self, state, batch.take(batch.rows[k : k + 1]))
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


CountsWeights = broken(SquaresWeights, _power=1)  # correct weights


class StepsOfTheFirst:
    """Settings that train together all have the step size of the first."""

    def __init__(self, algorithms, states):
        self.algorithm, self.states = algorithms[0], dict(enumerate(states))
        self.state, self.drop = self.states.__getitem__, self.states.pop

    def step(self, batch):
        for number, state in self.states.items():
            self.states[number] = self.algorithm.step(state, batch)


def centred(self, state, X):
    scores = X @ state.w
    return scores - scores.mean()


def random_weights(problem):
    return {"w": 0.01 * np.random.default_rng().standard_normal(problem.n_features)}


def by_place(state, rows):
    return 1 + rows.rows[0] % 2


def by_layout(state, rows):
    return 2.0 if sparse.issparse(rows.X) else 1.0


def by_dtype(state, rows):
    return 1.1 if rows.X.dtype == np.float32 else 1.0


def by_count(state, rows):
    return 1.0 / state.note.count() ** 0.1


DENSE = {"dense": "so that the number of features is that of the problem"}
GENERATING = {
    "init": lambda self, problem, rng: (np.zeros(problem.n_features), (k for k in range(9))),
    "step": lambda self, state, batch: (Plain.step(self, state[0], batch), state[1]),
    "score": lambda self, state, X: X @ state[0],
}
NUMBER_OF_ROWS = {"access": "minibatch", "batch_size": 5, "__annotations__": {"batch_size": int}}
NOT_A_NUMBER = broken(Plain, score=lambda self, w, X: np.full(X.shape[0], np.nan))

CULPRITS = [  # the checks that find each of them, and words of the first message
    ("declared", dataclass(type("Thawed", (), PARTS)), ""),
    ("declared", broken(access="streams"), "stream, pairs, minibatch, balanced, full, got 'streams'"),
    ("declared", dataclass(frozen=True)(broken(Plain, **NUMBER_OF_ROWS)), "`batch_size`"),
    ("runs", broken(score=failing_on_five, requires=DENSE), "5 x 3 dense rows of float64, seed 0, 5 iter"),
    ("runs", broken(init=lambda *_: None), "`init` returned None: .*`return`"),
    ("grid", broken(grid={"eta": (0.1, -1.0)}), ""),
    ("batch_size", LargeBatch, r"batch_size\(2\) must be a whole number from 1 to 2, got 16"),
    ("compiled_once", begun(lambda _: {"note": 0}, step=recompiling), ""),
    ("same_seed chunks pickling sparse_rows float32_rows", begun(random_weights), ""),
    ("chunks", StepPerChunk, ""),
    ("pickling", begun(lambda _: {"note": Forgetful()}, step=stepping(by_count, by_row=True)), ""),
    ("pickling", broken(Plain, **GENERATING), r"pickled \(TypeError: .*generators"),
    ("resumable", broken(step=stepping(by_place, by_row=True), resumable=True), ""),
    ("together", broken(together=StepsOfTheFirst), ""),
    ("inputs_untouched", broken(init=borrowing), ""),
    ("inputs_untouched", broken(Plain, step=centring_rows), "^`step` changes X, which is not its own"),
    ("scores", broken(score=lambda self, state, X: (X @ state.w).tolist()), ""),
    ("scores", broken(Plain, score=lambda self, w, X: None), "`score` of 2 rows returned None"),
    ("scores", broken(Plain, score=lambda self, w, X: np.rint(X @ w).astype(int)), r"\.astype\(float\)"),
    ("scores", NOT_A_NUMBER, "2 of 2 scores are NaN; the state is finite.*`score`"),
    ("scores", broken(Plain, step=lambda self, w, batch: w / 0.0), "the state is not finite"),
    ("waits", begun(lambda _: {"counts": np.zeros(3, np.int64).view(Promised)}), ""),
    ("companions", broken(score=centred), ""),
    ("reading", broken(score=counting), ""),
    ("reading", broken(finalize=finalizing_in_place), "`finalize` changes"),
    ("weights", broken(weights=lambda self, state: 2.0 * state.w), ""),
    ("sparse_rows", broken(requires={"dense": ""}), "^`requires` names 'dense' without a reason"),
    ("sparse_rows", broken(step=stepping(by_layout)), ""),
    ("float32_rows", broken(step=stepping(by_dtype)), ""),
    ("one_class_first", broken(step=needing_both), ""),
    ("weighted", broken(weighted=True), ""),
    ("weighted", SquaresWeights, ""),
    (
        "converges",
        broken(LargeBatch, access="full", done=lambda *_: False),
        "not done after 1,000 iterations",
    ),
    ("auc", broken(Plain, score=lambda self, w, X: -(X @ w)), r"opposite order.*\+1"),
    ("cost", broken(step=scattered, claims=Claims("1/sqrt(t)", "nnz")), "1.0-fold by the claim 'nnz'"),
    ("objective", broken(objective=lambda self, problem: Objective(None, l2=1.0)), ""),
    ("exempt", broken(exempt={"chunk": "it is hard"}), ""),
]
