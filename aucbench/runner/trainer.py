"""One setting of a method in training: its state, its clock, and how far it has come."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, Batch, Problem
from aucbench.errors import PluginError
from aucbench.kernels import layout
from aucbench.runner.budget import Pace
from aucbench.runner.clock import Clock
from aucbench.runner.returns import NO_STATE
from aucbench.runner.scorer import Scorer
from aucbench.runner.state import is_finite, state_bytes
from aucbench.runner.task import Outcome, StopReason, Task

Watch = Callable[[int, float], bool]


class Training:
    """A setting in training; the clock runs in init, step and finalize only.

    Parameters
    ----------
    task : Task
        What is trained.
    pace : Pace
        Says where the checkpoints are.
    scorer : Scorer
        Measures the AUC at the checkpoints; several trainings on the same test rows may share one.
    problem : Problem
        What the method is asked to solve.
    watch : callable, optional
        Told the number of a checkpoint, from 0, and its AUC; the run ends when it returns True. It is not
        told of an AUC that is NaN.

    Attributes
    ----------
    iteration : int
        Iterations done.
    reason : StopReason or None
        Why the run ended before its budget did; None as long as it has not.
    """

    def __init__(
        self, task: Task, pace: Pace, scorer: Scorer, problem: Problem, watch: Watch | None = None
    ) -> None:
        self.task = task
        self.iteration = 0
        self.reason: StopReason | None = None
        self._pace, self._scorer, self._watch = pace, scorer, watch
        self._curve: list[tuple[int, float, float]] = []  # iterations, wall and thread-CPU seconds
        self._models: list[int] = []  # numbers at the scorer
        self._weights: NDArray[np.float64] | None = None  # of the last checkpoint
        self._samples = 1  # an iteration consumes
        self.clock = self._here = Clock()
        generator = method_generator(task)
        with self.clock:
            self._state = task.algorithm.init(problem, generator)

    def next_chunk(self) -> int | None:
        """Iterations to the next checkpoint; None when the run is over."""
        if self.reason is not None:
            return None
        return self._pace.next_chunk(self.iteration, self.clock.seconds)

    @property
    def share(self) -> float:
        """Share of the budget spent, from 0 to 1."""
        return self._pace.share(self.iteration, self.clock.seconds)

    def advance(self, chunk: Batch, check: bool = True) -> None:
        """Consume a chunk, which must not reach beyond the next checkpoint.

        With `check`, and at a checkpoint in any case, the model is searched for NaN and infinity.
        """
        algorithm = self.task.algorithm
        with self.clock:
            state = algorithm.step(self._state, chunk)
        if state is None and self._state is not None:
            raise PluginError(f"{algorithm.name}: `step` {NO_STATE}")
        self._state = state
        self.iteration += len(chunk)
        if chunk.access is not Access.stream:
            self._samples = len(chunk.y) if chunk.access is Access.full else chunk.rows.shape[-1]
        due = self._pace.is_checkpoint(self.iteration, self.clock.seconds)
        if (check or due) and not is_finite(algorithm, self._state):
            self.reason = StopReason.diverged
            return
        if hasattr(algorithm, "done") and algorithm.done(self._state):
            self.reason, due = StopReason.converged, True
        if due:
            self._measure()

    def _measure(self) -> None:
        # A checkpoint's own finalize counts for that checkpoint, not for the ones after it.
        self._here = self.clock.copy()
        final = finalized(self.task.algorithm, self._state, self._here)
        model, self._weights = self._scorer.add(self.task.algorithm, final)
        self._models.append(model)
        self._curve.append((self.iteration, self._here.seconds, self._here.cpu_seconds))
        if self._watch is not None:
            auc = self._scorer.auc(model)
            if not np.isnan(auc) and self._watch(len(self._models) - 1, auc):
                self.reason = StopReason.pruned

    def outcome(self) -> Outcome:
        """What has come of it so far."""
        curve, iteration, reason = self._curve, self.iteration, self.reason or StopReason.budget
        aucs = np.array([self._scorer.auc(model) for model in self._models], np.float64)
        unknown = np.flatnonzero(np.isnan(aucs))
        if len(unknown):  # the model is finite but its scores are not numbers: it has no AUC from there on
            reason, iteration = StopReason.diverged, curve[unknown[0]][0]
            curve, aucs = curve[: unknown[0]], aucs[: unknown[0]]
        marks = np.array([mark[0] for mark in curve], np.int64)
        end = self.clock if reason is StopReason.diverged else self._here
        return Outcome(
            iteration=marks,
            samples=marks * self._samples,
            # A slow finalize of one checkpoint must not make the next one seem earlier.
            train_seconds=np.maximum.accumulate(np.array([mark[1] for mark in curve], np.float64)),
            cpu_seconds=np.maximum.accumulate(np.array([mark[2] for mark in curve], np.float64)),
            auc=aucs,
            weights=self._weights,
            iterations=iteration,
            total_seconds=end.seconds,
            total_cpu_seconds=end.cpu_seconds,
            state_bytes=state_bytes(self._state),
            layout=str(getattr(self._state, "layout", None) or layout(self.task.X)),
            stop_reason=reason,
        )


def method_generator(task: Task) -> np.random.Generator:
    """The method's own randomness; a seed sequence pads with zeros, so that fold 0 is the seed alone.

    The zero before the fold is the purpose of a method's generator: others have other numbers there.
    """
    return np.random.default_rng([task.seed, 0, task.fold])


def finalized(algorithm: Any, state: Any, clock: Clock) -> Any:
    """The state that is scored."""
    if not hasattr(algorithm, "finalize"):
        return state
    with clock:
        return algorithm.finalize(state)
