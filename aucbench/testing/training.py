"""An algorithm under test: training it on small problems, and looking at its model."""

import pickle
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, Batch, Problem
from aucbench.registry import Family
from aucbench.runner.order import RowSource
from aucbench.runner.states import arrays
from aucbench.testing import problems, shrinking
from aucbench.testing.findings import Broken, instance_of
from aucbench.testing.problems import STANDARD, Size, Toy


class Trainee:
    """An algorithm, its loss, and the size of the problems it is tried on.

    Parameters
    ----------
    plugin : class or instance
        The algorithm.
    loss : Loss, optional
        An instance; the first registered one that the method accepts when left out.
    size : Size
        Of the problems.
    """

    def __init__(self, plugin: Any, loss: Any = None, size: Size = STANDARD):
        self.plugin = instance_of(plugin)
        self._size = size
        self._loss = loss
        self.begin()

    def begin(self) -> None:
        """Forget the last input."""
        self.where = self.shown = ""
        self._sized = False  # whether the size of the problems was asked for

    @property
    def size(self) -> Size:
        """How large its problems are."""
        self._sized = True
        return self._size

    def smaller(self) -> Iterator["Trainee"]:
        """The same method on smaller problems; none where their size was never asked for."""
        sizes = shrinking.smaller_sizes(self._size) if self._sized else ()
        return (Trainee(self.plugin, self._loss, size) for size in sizes)

    def line(self, check: str) -> str:
        """Python that tries a check on the same input."""
        return shrinking.line_for(check, self.plugin, self._size if self._sized else None, self._loss)

    @cached_property
    def loss(self) -> Any:
        """The loss it is trained with, None for a method that takes none."""
        return self._loss if self._loss is not None else _default_loss(self.plugin)

    @property
    def access(self) -> Access:
        """What an iteration consumes."""
        return Access(self.plugin.access)

    def requirement(self, name: str) -> str | None:
        """The reason why it needs `name` ("dense", "float64"), None when it does not."""
        reasons = getattr(self.plugin, "requires", {})
        if name not in reasons:
            return None
        if not str(reasons[name]).strip():
            raise Broken(f"`requires` names {name!r} without a reason.")
        return f"requires {name}: {reasons[name]}"

    @property
    def layouts(self) -> tuple[str, ...]:
        """The kinds of rows it takes, as `problems.small` names them."""
        return ("dense",) if self.requirement("dense") else ("dense", "csr", "wide")

    def problem(self, layout: str = "dense", dtype: Any = np.float64, seed: int = 0) -> Toy:
        """A small problem, remembered in `where`."""
        return self.use(problems.small(self.size, layout, dtype, seed))

    def use(self, toy: Toy) -> Toy:
        """The problem, remembered in `where`."""
        self.where, self.shown = toy.words, shrinking.shown(toy)
        return toy

    def rows(self, toy: Toy, epochs: float | None = None, iterations: int | None = None) -> NDArray[np.int64]:
        """The rows of a run, as the runner draws them."""
        n = len(toy.y)
        size = int(self.plugin.batch_size(n)) if self.access is Access.minibatch else 1
        per_epoch = 1.0 if self.access is Access.full else n / size
        if iterations is None:
            iterations = max(1, round((epochs or self.size.epochs) * per_epoch))
        self.where = f"{toy.words}, {iterations:,} iteration{'s' if iterations > 1 else ''}"
        if self.access is Access.minibatch:
            # The runner draws a million row numbers at a time, which takes a second for every short run.
            rng = np.random.default_rng(0)
            rows = np.stack([rng.choice(n, size, replace=False) for _ in range(iterations)])
        else:
            rows = RowSource(self.access, toy.y).take(iterations)
        self.shown = shrinking.shown(toy, rows)
        return rows

    def start(self, toy: Toy, iterations: int) -> Any:
        """The first state."""
        problem = Problem(toy.X, toy.y, iterations, self.loss)
        return self.plugin.init(problem, np.random.default_rng(0))

    def batch(self, toy: Toy, rows: NDArray[np.int64]) -> Batch:
        """The rows as `step` takes them."""
        return Batch(toy.X, toy.y, rows, self.access)

    def train(
        self, toy: Toy, rows: NDArray[np.int64] | None = None, lengths: Iterable[int] | None = None
    ) -> Any:
        """The state after all rows, given at once or in chunks of these lengths and what is left."""
        rows = self.rows(toy) if rows is None else rows
        state, batch, done = self.start(toy, len(rows)), self.batch(toy, rows), 0
        for length in lengths or ():
            state = self.plugin.step(state, batch.take(rows[done : done + length]))
            done += length
        return self.plugin.step(state, batch.take(rows[done:])) if done < len(rows) else state

    def final(self, state: Any) -> Any:
        """The state that is scored."""
        return self.plugin.finalize(state) if hasattr(self.plugin, "finalize") else state

    def scores(self, state: Any, X: Any) -> NDArray[np.float64]:
        """(n,) decision values, after `finalize`."""
        return np.asarray(self.plugin.score(self.final(state), X), np.float64)


def snapshot(state: Any) -> tuple[Any, ...]:
    """All that is in a state, as bytes; equal for equal states."""
    parts = sorted((array.dtype.str, array.shape, array.tobytes()) for array in arrays(state))
    try:
        whole = pickle.dumps(state)
    except Exception:  # that it cannot be pickled is the finding of another check
        whole = b""
    return (whole, *parts)


def first_difference(left: NDArray[Any], right: NDArray[Any], allowed: float = 0.0) -> str | None:
    """Words for the first entries that differ by more than `allowed`, None when none does."""
    if left.shape != right.shape:
        return f"shape {left.shape} against {right.shape}"
    with np.errstate(invalid="ignore"):
        close = (left == right) | (np.abs(left - right) <= allowed) | (np.isnan(left) & np.isnan(right))
    if close.all():
        return None
    i = int(np.argmin(close))
    return f"entry {i} is {left[i]!r} against {right[i]!r}, {np.count_nonzero(~close)} of {left.size} differ"


def scale_of(scores: NDArray[np.float64]) -> float:
    """The largest magnitude."""
    return float(np.abs(scores).max(initial=0.0))


def _default_loss(algorithm: Any) -> Any:
    accepted = tuple(getattr(algorithm, "losses", ()))
    if not accepted:
        return None
    from aucbench.api import catalog

    known = catalog().plugins[Family.losses]
    for name in accepted:
        if name in known:
            return known[name].cls()
    if "*" in accepted:
        return problems.Softplus()
    raise Broken(f"None of the losses it accepts is registered: {', '.join(accepted)}.")
