"""A method under test: its functions called within the time limit, and its training on small problems."""

import pickle
from collections.abc import Iterable, Iterator
from functools import cached_property
from time import monotonic
from typing import Any, NamedTuple, Self

import numpy as np
from numba.core import event
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Access, Batch, MethodFacts, Problem, ValidationRows
from aucbench.contracts.validation import Family, wrong_scores
from aucbench.humanize import counted
from aucbench.registry import catalog
from aucbench.runner.sampler import RowSampler
from aucbench.runner.task import validation_share
from aucbench.runner.trainer import arrays
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken
from aucbench.testing.problems import STANDARD, Size, Toy, small

FEW = 3  # iterations of the first call
MORE = 7  # iterations by the end of the second call
RUNS = 100  # runs that take about as long as all checks together
SMALLER = (Size(110, 8, 1), Size(28, 8, 1))  # tried in this order if the standard size takes too long
RETURN_STATE = ("init", "step", "finalize")  # functions that return a state
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
    loss that it accepts.
    """

    family = Family.algorithms
    companions = 1e-12, 1e-5

    @property
    def facts(self) -> Any:
        """The declarations and optional functions of the method."""
        return MethodFacts(self.plugin)

    @property
    def size(self) -> Size:
        """The largest that leaves time for all checks."""
        if self._size is None:
            seconds, sizes = self.first_use.seconds, (STANDARD, *SMALLER)
            fit = (s for s in sizes if RUNS * seconds * self.iterations(s.n, s.epochs) <= self.limit.seconds)
            self._size = next(fit, sizes[-1])
            if self.first_use.error is None:
                self.limit.restart()
        return self._size

    def again(self, **changes: Any) -> Self:
        """The same method with some other attributes; the first calls are made again."""
        other = super().again(**changes)
        vars(other).pop("first_use", None)
        return other

    @property
    def seconds(self) -> float:
        """Seconds per iteration, roughly."""
        _ = self.size
        return self.first_use.seconds

    @cached_property
    def first_use(self) -> FirstUse:
        """Results of two calls of every function on each kind of rows; errors are recorded, not raised."""
        slowest, recompiled = 0.0, None
        try:
            for layout in self.layouts:
                seconds, again = _first_calls(self, self._size or STANDARD, layout)
                slowest = max(slowest, seconds)
                recompiled = recompiled or (again and (again, self.where))
        except (Exception, SystemExit) as error:
            return FirstUse(error, self.where)
        return FirstUse(recompiled=recompiled or None, seconds=slowest)

    @cached_property
    def loss(self) -> Any:
        """The loss to train with, None for a method that takes none."""
        accepted = self.facts.losses
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
        return Access(self.plugin.access)

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
            return np.stack([rng.choice(n, size, replace=False) for _ in range(iterations)])
        return RowSampler(self.access, toy.y, batch_size=self._batch_size(n)).take(iterations)

    def _batch_size(self, n: int) -> int:
        is_batch = self.access in (Access.minibatch, Access.balanced)
        return int(self.plugin.batch_size(n)) if is_batch else 1

    def start(self, toy: Toy, iterations: int) -> Any:
        """The first state."""
        asks = validation_share(self.plugin)  # the training rows serve as well as others
        validation = ValidationRows(toy.X, toy.y, toy.weights) if asks else None
        problem = Problem(toy.X, toy.y, iterations, self.loss, toy.weights, validation=validation)
        return self.call("init", problem, np.random.default_rng(0))

    def batch(self, toy: Toy, rows: NDArray[np.int64]) -> Batch:
        """The rows as `step` takes them."""
        return Batch(toy.X, toy.y, rows, self.access, toy.weights)

    def step(self, state: Any, batch: Batch) -> Any:
        """The state after the batch."""
        return self.call("step", state, batch)

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

    def first_and_last(self, toy: Toy) -> dict[str, Any]:
        """The states before and after training, keyed "first" and "last"."""
        rows = self.rows(toy)
        return {"first": self.start(toy, len(rows)), "last": self.train(toy, rows)}

    def uses(self, toy: Toy, rows: NDArray[np.int64]) -> Iterator[str]:
        """Train and score; yields the function that was called."""
        state = self.start(toy, len(rows))
        yield "init"
        state = self.step(state, self.batch(toy, rows))
        yield "step"
        self.read(self.final(state), toy.X)
        yield "score"

    def final(self, state: Any) -> Any:
        """The state to score, after `finalize`."""
        return state if self.facts.finalize is None else self.call("finalize", state)

    def read(self, final: Any, X: Any) -> None:
        """Score rows, and read the weights."""
        self.score(final, X)
        if self.facts.weights is not None:
            self.call("weights", final)

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

    def call(self, method: str, *arguments: Any) -> Any:
        """The result of a function of the method, if there is time left; all work on a state is done."""
        self.limit.require()
        result = getattr(self.plugin, method)(*arguments)
        if method in RETURN_STATE and result is None:
            raise self.broken(method, "returned None: end it with `return` and the state.")
        if method in RETURN_STATE and self.facts.wait is not None:
            self.plugin.wait(result)
        return result


def _first_calls(trainee: Trainee, size: Size, layout: str) -> tuple[float, str | None]:
    """Seconds per iteration on rows of a layout, and the method that compiled again."""
    toy = trainee.use(small(size, layout))
    rows = trainee.rows(toy, size.epochs)
    few, more = (FEW, MORE) if len(rows) >= MORE else (1, len(rows))
    batch = trainee.batch(toy, rows)
    state = trainee.start(toy, len(rows))
    try:
        state = trainee.step(state, batch.take(rows[:few]))
        final = trainee.final(state)
        trainee.call("score", final, toy.X)
        if trainee.facts.weights is not None:
            trainee.call("weights", final)
        with event.install_recorder("numba:compiler_lock") as stepping:
            began = monotonic()
            state = trainee.step(state, batch.take(rows[few:more]))
            seconds = (monotonic() - began) / max(1, more - few)
        with event.install_recorder("numba:compiler_lock") as scoring:
            trainee.call("score", trainee.final(state), toy.X[::-1].copy())
    except Exception as error:
        if "CSR" in toy.words and not isinstance(error, Broken):  # dense rows were tried before
            error.add_note(f"Dense rows work. {CSR_ROWS}")
        raise
    if stepping.buffer:
        return 0.0, "step"
    return seconds, "score" if scoring.buffer else None


def snapshot(state: Any) -> tuple[Any, ...]:
    """The content of a state as bytes; equal for equal states."""
    parts = sorted((array.dtype.str, array.shape, array.tobytes()) for array in arrays(state))
    try:
        return pickle.dumps(state), *parts
    except Exception:  # another check reports states that cannot be pickled
        return tuple(parts)


def require_close(
    found: NDArray[Any], expected: NDArray[Any], words: str, double: float = 0.0, single: float | None = None
) -> None:
    """Raise `Broken` with the words and the first entries that differ by more than is allowed.

    That is `double`, or `single` if all entries have single precision, of the largest finite entry. NaN
    equals NaN: another check reports scores that are not finite.
    """
    if found.shape != expected.shape:
        raise Broken(f"{words}: shape {found.shape} against {expected.shape}.")
    with np.errstate(over="ignore"):
        is_single = np.array_equal(expected.astype(np.float32), expected, equal_nan=True)
    is_single &= bool(np.any(expected != np.rint(expected)))
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    allowed = (double if single is None or not is_single else single) * largest
    left, right = found.ravel(), expected.ravel()
    differs = ~((left == right) | (np.abs(left - right) <= allowed) | (np.isnan(left) & np.isnan(right)))
    if differs.any():
        i = int(np.argmax(differs))
        told = f"{left[i].item()!r} against {right[i].item()!r}, {np.count_nonzero(differs)} of {left.size}"
        raise Broken(f"{words}: entry {i} is {told} differ.")
