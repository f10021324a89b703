"""A method under test: its functions called within the time limit, and its training on small problems."""

import pickle
from collections.abc import Iterable
from functools import cached_property
from time import monotonic
from typing import Any, NamedTuple, Self

import numpy as np
from numba.core import event
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Access, Batch, MethodFacts, Problem, ValidationRows
from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import Family, wrong_scores
from aucbench.humanize import counted
from aucbench.registry import catalog
from aucbench.runner.sampler import RowSampler
from aucbench.runner.state import arrays
from aucbench.runner.task import validation_share
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken, Exempted
from aucbench.testing.problems import STANDARD, Size, Toy, small
from aucbench.testing.time_limit import TimeLimit

SOME = 5  # minibatch size for a method without `batch_size`
FEW = 3  # iterations of the first call
MORE = 7  # iterations by the end of the second call
RUNS = 100  # runs that take about as long as all checks together
# Sizes tried in this order if the standard size takes too long; fewer rows would show too little.
SMALLER = (Size(220, 8, 1), Size(110, 8, 1), Size(55, 8, 1), Size(28, 8, 1), Size(20, 8, 1))
ITEMS = {
    Access.stream: "(x, label), an example",
    Access.pairs: "(x_pos, x_neg), two rows",
    Access.minibatch: "(X, y), some rows",
    Access.balanced: "(X, y), as many positives as negatives",
    Access.full: "(X, y), all rows",
}
RETURNED = {  # what must end the functions that return a state
    "init": "`return` and the first state",
    "step": "`return state`",
    "finalize": "`return` and the state to be scored",
}
CSR_ROWS = (
    "These rows are CSR (scipy.sparse), and X @ w takes both kinds; a method that cannot take them declares "
    'requires: ClassVar = {"dense": "the reason"}.'
)


class FirstUse(NamedTuple):
    """Results of the first calls."""

    error: BaseException | None = None  # the error that ended the calls
    where: str = ""  # description of the last input
    recompiled: tuple[str, str] | None = None  # the method that compiled again, and the input
    seconds: float = 0.0  # per iteration


class Trainee(Subject):
    """A method under test.

    By default its problems are as large as the time limit allows, and it trains with the first registered
    loss that it accepts. `access` replaces the declared access.
    """

    family = Family.algorithms

    def __init__(
        self,
        plugin: Any,
        limit: TimeLimit | None = None,
        size: Size | None = None,
        loss: Any = None,
        access: Access | None = None,
    ):
        super().__init__(plugin, limit, size, loss)
        self.was_scaled = size is None
        self._access = access

    def again(self, **changes: Any) -> Self:
        """The same method with some other arguments."""
        return super().again(**{"access": self._access} | changes)

    def _settled_size(self) -> Size:
        """The size from the constructor, or the largest that leaves time for all checks."""
        if self._size is None:
            seconds, sizes = self.first_use.seconds, (STANDARD, *SMALLER)
            fits = (
                size
                for size in sizes
                if RUNS * seconds * self.iterations(size.n, size.epochs) <= self.limit.seconds
            )
            self._size = next(fits, sizes[-1])
            if self.first_use.error is None:
                self.limit.measured(seconds)
        return self._size

    @property
    def seconds(self) -> float:
        """Seconds per iteration, roughly."""
        self._settled_size()
        return self.first_use.seconds

    @cached_property
    def first_use(self) -> FirstUse:
        """Results of the first calls of the method."""
        return first_use(self, self._size or STANDARD)

    @cached_property
    def loss(self) -> Any:
        """The loss to train with, None for a method that takes none."""
        accepted = MethodFacts(self.plugin).losses
        if self._loss is not None or not accepted:
            return self._loss
        known = catalog().plugins[Family.losses]
        names = [name for name in accepted if name in known] or ([*known] if "*" in accepted else [])
        if not names:
            raise Broken(f"None of the losses it accepts is registered: {', '.join(accepted)}.")
        return known[names[0]].imported()

    @property
    def access(self) -> Access:
        """The rows or pairs that an iteration consumes."""
        return self._access or Access(self.plugin.access)

    def iterations(self, n: int, epochs: float) -> int:
        """Number of iterations in some passes over n rows."""
        return max(1, round(epochs * (1.0 if self.access is Access.full else n / self._batch_size(n))))

    def rows(self, toy: Toy, epochs: float | None = None, iterations: int | None = None) -> NDArray[np.int64]:
        """The rows of a run, as the runner draws them."""
        n = len(toy.y)
        if iterations is None:
            iterations = self.iterations(n, epochs or self.size.epochs)
        self.where = f"{toy.words}, {counted(iterations, 'iteration')}"
        if self.access is Access.minibatch:
            # The runner draws a million row numbers at a time, a second for each short run.
            rng, size = np.random.default_rng(0), self._batch_size(n)
            rows = np.stack([rng.choice(n, size, replace=False) for _ in range(iterations)])
        else:
            rows = RowSampler(self.access, toy.y, batch_size=self._batch_size(n)).take(iterations)
        return rows

    def _batch_size(self, n: int) -> int:
        if self.access not in (Access.minibatch, Access.balanced):
            return 1
        some = min(n, SOME) if self.access is Access.minibatch else 2 * FEW
        return int(self.plugin.batch_size(n)) if self._access is None else some

    def start(self, toy: Toy, iterations: int) -> Any:
        """The first state."""
        asks = validation_share(self.plugin)  # the training rows serve as well as others
        validation = ValidationRows(toy.X, toy.y, toy.weights) if asks else None
        problem = Problem(toy.X, toy.y, iterations, self.loss, toy.weights, validation=validation)
        return self.done(self.call("init", problem, np.random.default_rng(0)))

    def batch(self, toy: Toy, rows: NDArray[np.int64]) -> Batch:
        """The rows as `step` takes them."""
        return Batch(toy.X, toy.y, rows, self.access, toy.weights)

    def step(self, state: Any, batch: Batch) -> Any:
        """The state after the batch."""
        return self.done(self.call("step", state, batch, iterations=len(batch)))

    def done(self, state: Any) -> Any:
        """The state, when no work on it runs any more."""
        if MethodFacts(self.plugin).wait is not None:
            self.call("wait", state)
        return state

    def train(
        self, toy: Toy, rows: NDArray[np.int64] | None = None, lengths: Iterable[int] | None = None
    ) -> Any:
        """The state after all rows, in one chunk, or in chunks of some lengths and then the rest."""
        rows = self.rows(toy) if rows is None else rows
        state, batch, done = self.start(toy, len(rows)), self.batch(toy, rows), 0
        for length in lengths or ():
            state = self.step(state, batch.take(rows[done : done + length]))
            done += length
        return self.step(state, batch.take(rows[done:])) if done < len(rows) else state

    def first_and_last(self, toy: Toy, rows: NDArray[np.int64]) -> dict[str, Any]:
        """The states before and after training, keyed "first" and "last"."""
        return {"first": self.start(toy, len(rows)), "last": self.train(toy, rows)}

    def final(self, state: Any) -> Any:
        """The state to score, after `finalize`."""
        if MethodFacts(self.plugin).finalize is None:
            return state
        return self.done(self.call("finalize", state))

    def scores(self, state: Any, X: Any) -> NDArray[np.float64]:
        """(n,) decision values, after `finalize`."""
        return self.score(self.final(state), X)

    def score(self, final: Any, X: Any) -> NDArray[np.float64]:
        """(n,) decision values of a final state."""
        found = self.call("score", final, X)
        wrong = wrong_scores(found, X.shape[0])
        if not wrong and not isinstance(found, np.ndarray):
            wrong = f"returned a {type(found).__name__}: make it np.asarray(...)."
        elif not wrong and found.dtype.kind != "f":
            wrong = f"returned {found.dtype}: add .astype(float)."
        if wrong:
            hint = f" {CSR_ROWS}" if sparse.issparse(X) else ""
            raise self.broken("score", f"of {X.shape[0]} rows {wrong}{hint}")
        return np.asarray(found, np.float64)

    def weights(self, state: Any) -> NDArray[Any]:
        """(d,) weights, after `finalize`."""
        return np.asarray(self.call("weights", self.final(state)))

    def call(self, method: str, *arguments: Any, iterations: int = 0) -> Any:
        """Call a function of the method within the time limit; returns its result."""
        self.limit.begin(method, iterations)
        result = getattr(self.plugin, method)(*arguments)
        self.limit.end()
        if result is None and method in RETURNED:
            raise self.broken(method, f"returned None: end it with {RETURNED[method]}.")
        return result

    def broken(self, method: str, words: str) -> Broken:
        """The error for a function, with its place."""
        return Broken(f"`{method}` {words}", place_of(getattr(type(self.plugin), method)))


def first_use(trainee: Trainee, size: Size) -> FirstUse:
    """Call every function twice on each kind of rows; errors are recorded, not raised."""
    slowest, recompiled = 0.0, None
    try:
        for layout in trainee.layouts:
            seconds, again = _first_calls(trainee, size, layout)
            slowest = max(slowest, seconds)
            if again and recompiled is None:
                recompiled = (again, trainee.where)
    except BaseException as error:  # an interruption too, so as not to wait twice
        if isinstance(error, KeyboardInterrupt | GeneratorExit):
            raise
        return FirstUse(error, trainee.where)
    return FirstUse(recompiled=recompiled, seconds=slowest)


def _first_calls(trainee: Trainee, size: Size, layout: str) -> tuple[float, str | None]:
    """Seconds per iteration on rows of a layout, and the method that compiled again."""
    toy = trainee.use(small(size, layout))
    rows = trainee.rows(toy, size.epochs)
    few, more = (FEW, MORE) if len(rows) >= MORE else (1, len(rows))
    batch = trainee.batch(toy, rows)
    first = state = trainee.start(toy, len(rows))
    try:
        state = trainee.step(state, batch.take(rows[:few]))
        trainee.call("score", trainee.final(state), toy.X)
        if MethodFacts(trainee.plugin).weights is not None:
            trainee.weights(state)
        with event.install_recorder("numba:compiler_lock") as stepping:
            began = monotonic()
            state = trainee.step(state, batch.take(rows[few:more]))
            seconds = (monotonic() - began) / max(1, more - few)
        with event.install_recorder("numba:compiler_lock") as scoring:
            trainee.call("score", trainee.final(state), toy.X[::-1].copy())
    except (Broken, Exempted):
        raise
    except Exception as error:
        if "CSR" in toy.words:  # dense rows were tried before
            hint = f"Dense rows work. {CSR_ROWS}"
        elif type(first) is not type(state):
            hint = (
                f"`init` returned a {type(first).__name__} and `step` a {type(state).__name__}: "
                f"both must return the same kind of state."
            )
        else:
            hint = _other_access(trainee, size)
        if hint:
            error.add_note(hint)
        raise
    if stepping.buffer:
        return 0.0, "step"
    return seconds, "score" if scoring.buffer else None


def _other_access(trainee: Trainee, size: Size) -> str:
    """The access with which the same code runs."""
    declared = trainee.access
    if declared != trainee.plugin.access:  # already a trial with another access
        return ""
    for other in Access:
        if other is not declared and first_use(trainee.again(access=other), size).error is None:
            return (
                f"With access {declared.value!r} an item of the batch is {ITEMS[declared]}; the same code "
                f"runs with access {other.value!r}, where it is {ITEMS[other]}: change `access`, or what "
                f"`step` unpacks."
            )
    return ""


def snapshot(state: Any) -> tuple[Any, ...]:
    """The content of a state as bytes; equal for equal states."""
    parts = sorted((array.dtype.str, array.shape, array.tobytes()) for array in arrays(state))
    try:
        whole = pickle.dumps(state)
    except Exception:  # another check reports states that cannot be pickled
        whole = b""
    return (whole, *parts)


def require_equal(found: NDArray[Any], expected: NDArray[Any], words: str, allowed: float = 0.0) -> None:
    """Raise `Broken` with the words and the first entries that differ by more than `allowed`.

    NaN equals NaN: another check reports scores that are not finite.
    """
    if found.shape != expected.shape:
        raise Broken(f"{words}: shape {found.shape} against {expected.shape}.")
    left, right = found.ravel(), expected.ravel()
    one, other = np.isnan(left), np.isnan(right)
    close = (left == right) | (np.abs(left - right) <= allowed) | (one & other)
    if close.all():
        return
    if (one != other).any():
        i = int(np.argmax(one != other))
        told = (
            f"{left[i]:.3g} against {right[i]:.3g}, {np.count_nonzero(one != other)} of {left.size} are NaN"
        )
        raise Broken(f"{words}: entry {i} is {told} on one side.")
    i, count = int(np.argmin(close)), np.count_nonzero(~close)
    told = f"{left[i].item()!r} against {right[i].item()!r}, {count} of {left.size}"
    raise Broken(f"{words}: entry {i} is {told} differ.")


def tolerance(scores: NDArray[np.float64], double: float, single: float) -> float:
    """The allowed difference of scores, relative to the largest; `single` if all have single precision."""
    with np.errstate(over="ignore"):
        is_single = np.array_equal(scores.astype(np.float32), scores, equal_nan=True)
    return (single if is_single and np.any(scores != np.rint(scores)) else double) * scale_of(scores)


def scale_of(scores: NDArray[np.float64]) -> float:
    """The largest finite magnitude."""
    return float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
