"""An algorithm under test: training it on small problems, and looking at its model."""

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, Batch, Problem
from aucbench.registry import Family
from aucbench.runner.sampler import RowSampler
from aucbench.runner.state import arrays
from aucbench.testing import problems, shrinking
from aucbench.testing.calling import Calls
from aucbench.testing.findings import Broken, instance_of
from aucbench.testing.firstuse import FirstUse, affordable, first_use
from aucbench.testing.patience import Patience
from aucbench.testing.problems import STANDARD, Size, Toy
from aucbench.wording import counted

SOME = 5  # rows of a minibatch for a method that takes none


class Trainee:
    """An algorithm, its loss, and the size of the problems it is tried on.

    Parameters
    ----------
    plugin : class or instance
        The algorithm.
    loss : Loss, optional
        An instance; the first registered one that the method accepts when left out.
    size : Size, optional
        Of the problems; the standard size, or what there is patience for, when left out.
    patience : Patience, optional
        How long its checks may take.
    access : Access, optional
        What an iteration consumes, where that is to be another than declared.
    """

    def __init__(
        self,
        plugin: Any,
        loss: Any = None,
        size: Size | None = None,
        patience: Patience | None = None,
        access: Access | None = None,
    ):
        self.plugin = instance_of(plugin)
        self.patience = patience or Patience()
        self.calls = Calls(self.plugin, self.patience)
        self.was_scaled = size is None
        self.tries_other_access = access is not None
        self._size = size
        self._loss = loss
        self._access = access
        self.begin()

    def begin(self) -> None:
        """Forget the last input."""
        self.where = self.shown = ""
        self._sized = False  # whether the size of the problems was asked for
        self._used: tuple[Toy, str] | None = None  # the last problem, and how it was shown

    @property
    def size(self) -> Size:
        """How large its problems are."""
        self._sized = True
        return self._settled()

    def _settled(self) -> Size:
        if self._size is None:
            seconds = self.first_use.seconds
            self._size = affordable(self, seconds, self.patience)
            if self.first_use.error is None:
                self.patience.measured(seconds)
        return self._size

    @property
    def seconds(self) -> float:
        """That an iteration takes, about."""
        self._settled()
        return self.first_use.seconds

    @cached_property
    def first_use(self) -> FirstUse:
        """What its first calls showed."""
        return first_use(self, self._size or STANDARD)

    def smaller(self) -> Iterator["Trainee"]:
        """The same method on smaller problems; none where their size was never asked for."""
        sizes = shrinking.smaller_sizes(self.size) if self._sized else ()
        return (Trainee(self.plugin, self._loss, size, self.patience, self._access) for size in sizes)

    def with_access(self, access: Access) -> "Trainee":
        """The same method, given what another access gives."""
        return Trainee(self.plugin, self._loss, self._size, self.patience, access)

    def tuned(self, setting: Mapping[str, Any]) -> "Trainee":
        """The method with other parameters."""
        return Trainee(replace(self.plugin, **setting), self.loss, self._size, self.patience, self._access)

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
        return self._access or Access(self.plugin.access)

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
        self._used = (toy, self.shown)  # as it is now: the method may change it
        return toy

    def iterations(self, n: int, epochs: float) -> int:
        """How many there are in a number of passes over n rows."""
        return max(1, round(epochs * (1.0 if self.access is Access.full else n / self._batch_size(n))))

    def rows(self, toy: Toy, epochs: float | None = None, iterations: int | None = None) -> NDArray[np.int64]:
        """The rows of a run, as the runner draws them."""
        n = len(toy.y)
        if iterations is None:
            iterations = self.iterations(n, epochs or self.size.epochs)
        self.where = f"{toy.words}, {counted(iterations, 'iteration')}"
        if self.access is Access.minibatch:
            # The runner draws a million row numbers at a time, which takes a second for every short run.
            rng, size = np.random.default_rng(0), self._batch_size(n)
            rows = np.stack([rng.choice(n, size, replace=False) for _ in range(iterations)])
        else:
            rows = RowSampler(self.access, toy.y).take(iterations)
        words = self._used[1] if self._used and self._used[0] is toy else shrinking.shown(toy)
        self.shown = words and words + shrinking.shown_rows(rows)
        return rows

    def _batch_size(self, n: int) -> int:
        if self.access is not Access.minibatch:
            return 1
        return min(n, SOME) if self.tries_other_access else int(self.plugin.batch_size(n))

    def posed(self, toy: Toy, iterations: int) -> Problem:
        """The problem as `init` takes it."""
        return Problem(toy.X, toy.y, iterations, self.loss)

    def generator(self) -> np.random.Generator:
        """The randomness that `init` gets."""
        return np.random.default_rng(0)

    def start(self, toy: Toy, iterations: int) -> Any:
        """The first state."""
        return self.calls.init(self.posed(toy, iterations), self.generator())

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
            state = self.calls.step(state, batch.take(rows[done : done + length]))
            done += length
        return self.calls.step(state, batch.take(rows[done:])) if done < len(rows) else state

    def scores(self, state: Any, X: Any) -> NDArray[np.float64]:
        """(n,) decision values, after `finalize`."""
        return self.calls.score(self.calls.final(state), X)


def snapshot(state: Any) -> tuple[Any, ...]:
    """All that is in a state, as bytes; equal for equal states."""
    parts = sorted((array.dtype.str, array.shape, array.tobytes()) for array in arrays(state))
    try:
        whole = pickle.dumps(state)
    except Exception:  # that it cannot be pickled is the finding of another check
        whole = b""
    return (whole, *parts)


def first_difference(left: NDArray[Any], right: NDArray[Any], allowed: float = 0.0) -> str | None:
    """Words for the first entries that differ by more than `allowed`, None when none does.

    NaN equals NaN: that a score is none is the finding of another check.
    """
    if left.shape != right.shape:
        return f"shape {left.shape} against {right.shape}"
    one, other = np.isnan(left), np.isnan(right)
    with np.errstate(invalid="ignore"):
        close = (left == right) | (np.abs(left - right) <= allowed) | (one & other)
    if close.all():
        return None
    if (one != other).any():
        i = int(np.argmax(one != other))
        count = np.count_nonzero(one != other)
        return (
            f"entry {i} is {left[i]:.3g} against {right[i]:.3g}, {count} of {left.size} are NaN on one side"
        )
    i = int(np.argmin(close))
    return f"entry {i} is {left[i]!r} against {right[i]!r}, {np.count_nonzero(~close)} of {left.size} differ"


def scale_of(scores: NDArray[np.float64]) -> float:
    """The largest finite magnitude."""
    return float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))


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
