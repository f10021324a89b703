"""A method under test: its functions called within the time limit, and its training on small problems."""

import pickle
from collections.abc import Iterable, Iterator
from functools import cached_property
from time import monotonic
from typing import Any, Self

import numpy as np
from numba.core import event
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Access, Batch, MethodFacts, ValidationRows
from aucbench.contracts.validation import Family, wrong_scores
from aucbench.humanize import counted
from aucbench.registry import catalog
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.task import Task, make_budget, validation_share
from aucbench.runner.trainer import arrays
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken
from aucbench.testing.problems import STANDARD, Size, Toy, small

FEW, MORE = 3, 7  # iterations by the end of the first and of the second call of `step`
RUNS = 100  # runs that take about as long as all checks together
SIZES = (STANDARD, Size(110, 8, 1), Size(28, 8, 1))  # the first with time for all checks is used
RETURN_STATE = ("init", "step", "finalize")  # functions that return a state
CSR_ROWS = (
    "These rows are CSR (scipy.sparse), and X @ w takes both kinds; a method that cannot take them declares "
    'requires: ClassVar = {"dense": "the reason"}.'
)


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
        """The largest size with time for all checks; passes on errors of the method's first calls."""
        if self._size is None:
            self._size = STANDARD
            limit = self.patience / RUNS / max(self.first_use[0], 1e-9)  # iterations of a run
            self._size = next((size for size in SIZES if self._iterations(size) <= limit), SIZES[-1])
            self.began = monotonic()  # compiling does not count
        return self._size

    def changed(self, **changes: Any) -> Self:
        """The same method with some other attributes; the first calls are made again."""
        clone = super().changed(**changes)
        vars(clone).pop("first_use", None)
        return clone

    @property
    def seconds(self) -> float:
        """Seconds per iteration, roughly."""
        return self.first_use[0] if self.size else 0.0

    @cached_property
    def first_use(self) -> tuple[float, str, str]:
        """Two calls of every function on each kind of rows.

        Returns the seconds per iteration, the function that compiled again, or "", and its input.
        """
        slowest, recompiled, where = 0.0, "", ""
        for layout in self.layouts:
            seconds, function = _first_calls(self, layout)
            slowest = max(slowest, seconds)
            if function and not recompiled:
                recompiled, where = function, self.where
        return slowest, recompiled, where

    @cached_property
    def loss(self) -> Any:
        """The loss to train with, None for a method that takes none."""
        accepted = self.facts.losses
        if self._loss is not None or not accepted:
            return self._loss
        losses = catalog().plugins[Family.losses]
        names = [name for name in accepted if name in losses] or ([*losses] if "*" in accepted else [])
        if not names:
            raise Broken(f"None of the losses it accepts is registered: {', '.join(accepted)}.")
        return losses[names[0]].imported()

    @property
    def access(self) -> Access:
        """The rows or pairs that an iteration consumes."""
        return Access(self.plugin.access)

    def task(self, toy: Toy, **budget: Any) -> Task:
        """The task of a run; the training rows also serve as validation rows."""
        share = validation_share(self.plugin)
        return Task(
            self.plugin, self.loss, toy.X, toy.y, toy.X[:0], toy.y[:0], weights=toy.weights,
            validation=ValidationRows(toy.X, toy.y, toy.weights) if share else None, **budget,
        )  # fmt: skip

    def _iterations(self, size: Size) -> int:
        return make_budget(self.task(small(size), epochs=size.epochs)).iterations or 1

    def rows(self, toy: Toy, **budget: float) -> NDArray[np.int64]:
        """The rows of a run, as the runner draws them, with the epochs of the size by default."""
        task = self.task(toy, **(budget or {"epochs": self.size.epochs}))
        count = make_budget(task).iterations or 1
        self.where = f"{toy.words}, {counted(count, 'iteration')}"
        return batch_sampler(task)(count).rows

    def start(self, toy: Toy, iterations: int) -> Any:
        """The first state."""
        task = self.task(toy)
        return self.call("init", task.problem(iterations), task.generator())

    def batch(self, toy: Toy, rows: NDArray[np.int64]) -> Batch:
        """The rows as a batch for `step`."""
        return Batch(toy.X, toy.y, rows, self.access, toy.weights)

    def train(
        self, toy: Toy, rows: NDArray[np.int64] | None = None, lengths: Iterable[int] | None = None
    ) -> Any:
        """The state after all rows, in one chunk, or in chunks of some lengths and then the rest."""
        rows = self.rows(toy) if rows is None else rows
        state, batch, position = self.start(toy, len(rows)), self.batch(toy, rows), 0
        for length in lengths or ():
            state = self.call("step", state, batch.take(rows[position : position + length]))
            position += length
        return self.call("step", state, batch.take(rows[position:])) if position < len(rows) else state

    def first_and_last(self, toy: Toy) -> tuple[Any, Any]:
        """The states before and after training."""
        rows = self.rows(toy)
        return self.start(toy, len(rows)), self.train(toy, rows)

    def uses(self, toy: Toy, rows: NDArray[np.int64]) -> Iterator[str]:
        """Train and score; yields the function that was called."""
        state = self.start(toy, len(rows))
        yield "init"
        state = self.call("step", state, self.batch(toy, rows))
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

    def scores(self, state: Any, X: Any) -> NDArray[np.float64]:
        """(n,) decision values of a state that may be trained further."""
        return self.score(self.final(state), X)

    def score(self, final: Any, X: Any) -> NDArray[np.float64]:
        """(n,) decision values of a final state."""
        scores = self.call("score", final, X)
        wrong = wrong_scores(scores, X.shape[0])
        if not wrong and not isinstance(scores, np.ndarray):
            wrong = f"returned a {type(scores).__name__}: make it np.asarray(...)."
        elif not wrong and scores.dtype.kind != "f":
            wrong = f"returned {scores.dtype}: add .astype(float)."
        if wrong:
            hint = f" {CSR_ROWS}" if sparse.issparse(X) else ""
            raise self.broken("score", f"of {X.shape[0]} rows {wrong}{hint}")
        return np.asarray(scores, np.float64)

    def call(self, method: str, *arguments: Any) -> Any:
        """The result of a function of the method, if time is left; waits for all work on a state."""
        self.require_time()
        result = getattr(self.plugin, method)(*arguments)
        if method in RETURN_STATE and result is None:
            raise self.broken(method, "returned None: end it with `return` and the state.")
        if method in RETURN_STATE and self.facts.wait is not None:
            self.plugin.wait(result)
        return result


def _first_calls(trainee: Trainee, layout: str) -> tuple[float, str]:
    """Seconds per iteration on rows of a layout, and the function that compiled at its second call."""
    toy = trainee.use(small(trainee.size, layout))
    rows = trainee.rows(toy)
    few, more = (FEW, MORE) if len(rows) >= MORE else (1, len(rows))
    batch = trainee.batch(toy, rows)
    try:
        state = trainee.call("step", trainee.start(toy, len(rows)), batch.take(rows[:few]))
        final = trainee.final(state)
        trainee.call("score", final, toy.X)
        if trainee.facts.weights is not None:
            trainee.call("weights", final)
        with event.install_recorder("numba:compiler_lock") as stepping:
            began = monotonic()
            state = trainee.call("step", state, batch.take(rows[few:more]))
            seconds = (monotonic() - began) / max(1, more - few)
        with event.install_recorder("numba:compiler_lock") as scoring:
            trainee.call("score", trainee.final(state), toy.X[::-1].copy())
    except Exception as error:
        if "CSR" in toy.words and not isinstance(error, Broken):  # dense rows were tried before
            error.add_note(f"Dense rows work. {CSR_ROWS}")
        raise
    return (0.0, "step") if stepping.buffer else (seconds, "score" if scoring.buffer else "")


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
    """Raise `Broken` with `words` and the first entries that differ by more than the tolerance.

    The tolerance is `double`, or `single` if all entries have single precision, times the largest finite
    entry. NaN equals NaN: another check reports scores that are not finite.
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
        text = f"{left[i].item()!r} against {right[i].item()!r}, {np.count_nonzero(differs)} of {left.size}"
        raise Broken(f"{words}: entry {i} is {text} differ.")
