"""One setting of a method in training: its state, its clock, and its progress."""

import contextlib
import copy
from collections.abc import Callable, Mapping
from enum import Enum
from time import perf_counter, process_time, thread_time
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Access, Batch, MethodFacts, Problem
from aucbench.contracts.validation import NO_STATE
from aucbench.errors import PluginError
from aucbench.kernels import layout
from aucbench.runner.scorer import Scorer
from aucbench.runner.task import Budget, Outcome, StopReason, Task


class Clock:
    """Seconds of training so far; ``with clock:`` runs it."""

    def __init__(self) -> None:
        self.seconds = 0.0  # wall time
        self.cpu_seconds = 0.0  # CPU time of the training thread
        self.process_cpu_seconds = 0.0  # CPU time of all threads of the process

    def __enter__(self) -> "Clock":
        self._start = process_time(), thread_time(), perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        wall, thread, process = perf_counter(), thread_time(), process_time()
        started, thread_started, wall_started = self._start
        self._add(wall - wall_started, thread - thread_started, process - started)

    def _add(self, wall: float, thread: float, process: float) -> None:
        self.seconds += wall
        self.cpu_seconds += thread
        self.process_cpu_seconds += process

    def add_share(self, other: "Clock", count: int) -> None:
        """Add an equal share of another clock's time, which `count` clocks share."""
        self._add(other.seconds / count, other.cpu_seconds / count, other.process_cpu_seconds / count)


class Trainer:
    """Trains one setting; the clock runs in init, step and finalize only, and in `wait` after each of them.

    Several trainers on the same test rows may share one scorer; without a scorer, nothing is measured. `init`
    replaces the function `init` of the method.
    """

    def __init__(
        self,
        task: Task,
        budget: Budget,
        scorer: Scorer | None,
        problem: Problem,
        init: Callable[[Problem, np.random.Generator], Any] | None = None,
    ) -> None:
        self.task = task
        self.iteration = 0  # iterations done
        self.stop_reason: StopReason | None = None  # why the run ended before its budget did
        self.budget, self._scorer = budget, scorer
        self._points: list[tuple[int, int, Clock]] = []  # iterations, number of the model, clock
        self.final: Any = None  # the state that was scored at the last checkpoint
        self._weights: NDArray[np.float64] | None = None  # weights at the last checkpoint
        self._all_weights: list[NDArray[np.float64]] = []  # weights at all checkpoints, if they are kept
        self.clock, generator = Clock(), task.generator()
        with self.clock:
            self.state = (init or task.algorithm.init)(problem, generator)
            _wait(task.algorithm, self.state)

    def next_chunk(self) -> int | None:
        """Iterations to the next checkpoint; None when the run is over."""
        if self.stop_reason is not None:
            return None
        return self.budget.next_chunk(self.iteration, self.clock.seconds)

    def advance(self, batch: Batch, check: bool = True) -> None:
        """Train on a batch, which must not reach beyond the next checkpoint, and measure if it reaches it.

        With `check`, and at a checkpoint in any case, the model is checked for NaN and infinity.
        """
        algorithm = self.task.algorithm
        with self.clock:
            state = algorithm.step(self.state, batch)
            if state is not None:
                _wait(algorithm, state)
        if state is None and self.state is not None:
            raise PluginError(f"{algorithm.name}: `step` {NO_STATE}")
        self.state = state
        self._count(batch, check)

    def follow(self, batch: Batch, state: Callable[[], Any], check: bool) -> None:
        """As `advance` for a batch on which this setting has been trained together with others.

        `state` returns the state of this setting; it is called only when the model is checked.
        """
        if check or self.budget.is_checkpoint(self.iteration + len(batch), self.clock.seconds):
            self.state = state()
        self._count(batch, check)

    def _count(self, batch: Batch, check: bool) -> None:
        algorithm = self.task.algorithm
        self.iteration += len(batch)
        due = self.budget.is_checkpoint(self.iteration, self.clock.seconds)
        if (check or due) and not is_finite(algorithm, self.state):
            self.stop_reason = StopReason.diverged
            return
        if MethodFacts(algorithm).done is not None and algorithm.done(self.state):
            self.stop_reason, due = StopReason.converged, True
        if due:
            self._measure()

    @property
    def fraction(self) -> float:
        """Fraction of the budget spent, from 0 to 1."""
        return self.budget.fraction(self.iteration, self.clock.seconds)

    def outcome(self) -> Outcome:
        """The curve and the costs so far."""
        points, iteration, reason = self._points, self.iteration, self.stop_reason or StopReason.budget
        task, measures, scorer = self.task, self.task.measures, self._scorer
        values = np.array([scorer.values(model) for _, model, _ in points if scorer], np.float64)
        values = values.reshape(len(points), 1 + len(measures))
        unknown = np.flatnonzero(np.isnan(values[:, 0]))
        if len(unknown):  # the model is finite but its scores are not numbers: it has no AUC from there on
            reason, iteration = StopReason.diverged, points[unknown[0]][0]
            points, values = points[: unknown[0]], values[: unknown[0]]
        weights = self._all_weights[: len(points)]
        iterations = np.array([count for count, _, _ in points], np.int64)
        clocks = [clock for _, _, clock in points]
        end = self.clock if reason is StopReason.diverged else clocks[-1]
        return Outcome(
            iteration=iterations,
            samples=iterations * (2 if task.access is Access.pairs else task.rows_per_iteration),
            # A slow finalize of one checkpoint must not make the next one seem earlier.
            train_seconds=np.maximum.accumulate(np.array([clock.seconds for clock in clocks], np.float64)),
            cpu_seconds=np.maximum.accumulate(np.array([clock.cpu_seconds for clock in clocks], np.float64)),
            auc=values[:, 0],
            measures={measure.name: column for measure, column in zip(measures, values.T[1:], strict=True)},
            weights=self._weights,
            checkpoint_weights=np.array(weights) if weights else None,
            iterations=iteration,
            total_seconds=end.seconds,
            total_cpu_seconds=end.cpu_seconds,
            process_cpu_seconds=end.process_cpu_seconds,
            state_bytes=state_bytes(task.algorithm, self.state),
            layout=str(getattr(self.state, "layout", None) or layout(task.X)),
            stop_reason=reason,
        )

    def _measure(self) -> None:
        # The time of `finalize` counts for this checkpoint, not for later ones.
        clock = copy.copy(self.clock)
        self.final = final = finalize(self.task.algorithm, self.state, clock)
        if self._scorer is None:
            return
        model, self._weights = self._scorer.add(self.task.algorithm, final)
        self._points.append((self.iteration, model, clock))
        if self.task.keep_weights and self._weights is not None:
            self._all_weights.append(self._weights)


def finalize(algorithm: Any, state: Any, clock: Clock | None = None) -> Any:
    """The state that is scored; the clock, which takes time itself, runs in code of the method only."""
    if MethodFacts(algorithm).finalize is None:
        return state
    with clock or contextlib.nullcontext():
        final = algorithm.finalize(state)
        _wait(algorithm, final)
        return final


def _wait(algorithm: Any, state: Any) -> None:
    """Wait for work on the state that still runs after a function has returned."""
    if MethodFacts(algorithm).wait is not None:
        algorithm.wait(state)


def arrays(state: Any) -> list[NDArray[Any]]:
    """All arrays in a state, as NumPy arrays; see `arrays_of_any_library`."""
    return [leaf if isinstance(leaf, np.ndarray) else _on_host(leaf) for leaf in arrays_of_any_library(state)]


def arrays_of_any_library(state: Any) -> list[Any]:
    """All arrays in a state of nested tuples, lists, mappings and objects, each once.

    Those of JAX, torch and other libraries count if they have ``nbytes`` and ``__array__``.
    """
    leaves: list[Any] = []
    seen: dict[int, Any] = {}  # parts by identity; holding them keeps identities unique
    stack = [state]
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part
        if isinstance(part, np.ndarray) or _is_foreign_array(part):
            leaves.append(part)
        elif sparse.issparse(part):
            stack.append(part.data)
        elif isinstance(part, Mapping):
            stack.extend(part.values())
        elif isinstance(part, tuple | list):
            stack.extend(part)
        elif hasattr(part, "__dict__") and not isinstance(part, type | Enum | FunctionType):
            stack.extend(vars(part).values())
    return leaves


def _is_foreign_array(part: Any) -> bool:
    """Whether a part is an array of another library; numbers of NumPy and classes are not."""
    is_array = hasattr(part, "nbytes") and hasattr(part, "__array__")
    return is_array and not isinstance(part, np.generic | type)


def _on_host(array: Any) -> NDArray[Any]:
    """An array of another library in NumPy; bytes if NumPy lacks the type, as for keys of JAX."""
    try:
        return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)
    except TypeError:
        return np.zeros(array.nbytes, np.uint8)


def state_bytes(algorithm: Any, state: Any) -> int:
    """Bytes held by the arrays of a state, plus the bytes that the method reports."""
    counter = MethodFacts(algorithm).state_bytes
    size = sum(array.nbytes for array in arrays(state))
    return size if counter is None else size + int(algorithm.state_bytes(state))


def is_finite(algorithm: Any, state: Any) -> bool:
    """Whether the model is free of NaN and infinity: the weights of a linear method, else all arrays.

    Other parts of a linear method's state, and single numbers, may be infinite by design, such as a radius or
    a best value that is not yet known.
    """
    if MethodFacts(algorithm).weights is not None:
        with np.errstate(all="ignore"):  # an overflow makes the check fail, as intended
            return bool(np.all(np.isfinite(algorithm.weights(state))))
    return all(bool(np.all(np.isfinite(array))) for array in arrays(state) if array.ndim and _is_real(array))


def _is_real(array: NDArray[Any]) -> bool:
    """Whether values are real numbers, of types such as JAX's bfloat16 too."""
    return array.dtype.kind == "f" or (array.dtype.kind == "V" and array.dtype.type is not np.void)
