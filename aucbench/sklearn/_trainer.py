"""Training without test rows, at once or in parts, with the functions of the runner."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Batch, MethodFacts
from aucbench.errors import ParameterError
from aucbench.runner.budget_and_checkpoints import Budget, IterationBudget
from aucbench.runner.cell import (
    check_memory,
    check_requirements,
    first_diverged_iteration,
    max_chunk,
    training_context,
)
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.scorer import Scorer, linear_scores
from aucbench.runner.task import Order, StopReason, Task
from aucbench.runner.trainer import Trainer, finalize

PARTIAL_FIT = "partial_fit", "fit, or "  # the call that goes on with other rows, and what may stand for it


class Model:
    """A trained method: its weights or, where it has none, the final state."""

    def __init__(self, algorithm: Any, state: Any):
        linear = MethodFacts(algorithm).weights is not None
        self.weights = np.array(algorithm.weights(state), np.float64) if linear else None
        self._algorithm, self._state = algorithm, None if linear else state

    def scores(self, X: Any) -> NDArray[np.float64]:
        """(n,) decision values of rows as the method takes them."""
        if self.weights is not None:
            return linear_scores(self.weights[None], X)[0]
        return np.asarray(self._algorithm.score(self._state, X), np.float64)


class ModelTrainer(Trainer):
    """A training that keeps the last model, and may go on with other rows.

    `diverged` says at which iteration the model ceased to be finite; it is empty as long as it is finite. The
    method is told `planned` iterations.
    """

    model: Model
    diverged = ""

    def __init__(self, task: Task, budget: Budget, planned: int | None):
        problem = task.problem(planned)
        super().__init__(task, budget, Scorer(task.X_test, task.y_test), problem)
        self._calls, self._planned = 0, planned

    def _measure(self) -> None:
        algorithm = self.task.algorithm
        self.model = Model(algorithm, finalize(algorithm, self.state))

    def run(self, next_batch: Callable[[int], Batch]) -> None:
        """Train until the budget ends, then let go of the rows."""
        task = self.task
        while (due := self.next_chunk()) is not None:
            start, batch = self.iteration, next_batch(min(due, max_chunk(task)))
            self.advance(batch)
            if self.stop_reason is not StopReason.diverged:
                continue
            self.diverged = f"within {self.iteration:,} iterations"
            if not self._calls and self._planned == self._budget.iterations:  # it can be repeated
                self.iteration = first_diverged_iteration(task, self._budget, start, len(batch))
                self.diverged = f"at iteration {self.iteration:,}"
        self._calls += 1
        none, no_labels = task.X[:0].copy(), task.y[:0].copy()
        self.task = replace(task, X=none, y=no_labels, X_test=none, y_test=no_labels, weights=None)

    def go_on(self, X: Any, y: NDArray[np.int8]) -> None:
        """Take each of some other rows once, in an order that differs from call to call."""
        end, task = self.iteration + len(y), self.task
        if MethodFacts(task.algorithm).plans and end > (self._planned or 0):
            raise ParameterError(
                f"{task.algorithm.name} planned {self._planned} iterations, has done {self.iteration} and "
                f"got {len(y)} more rows: set iterations to the number of rows of all calls of partial_fit."
            )
        self.task = replace(task, X=X, y=y)
        self._budget = IterationBudget(end, [end])
        with training_context():
            self.run(batch_sampler(replace(self.task, fold=self._calls)))


def task_of(
    algorithm: Any, loss: Any, X: Any, y: NDArray[np.int8], order: Any, seed: int, **more: Any
) -> Task:
    """The task of a training without test rows; a ParameterError when the method cannot take such rows."""
    if order not in list(Order):
        raise ParameterError(f"order must be one of {', '.join(Order)}, got {order!r}.")
    task = Task(
        algorithm, loss, X, y, X[:0], y[:0],
        checkpoints=1, order=Order(order), seed=seed, order_seed=seed, **more,
    )  # fmt: skip
    check_requirements(task)
    check_memory(X.shape[1])
    return task
