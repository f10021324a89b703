"""Many settings of one method trained over one order: the rows are drawn once and shared while in cache."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.contracts import Access, Batch, Lockstep, Problem
from aucbench.data import memory
from aucbench.runner.budget_and_checkpoints import make_budget
from aucbench.runner.cell import (
    VECTORS,
    check_memory,
    check_requirements,
    compile_kernels,
    is_asked_together,
    max_chunk,
    scorer_of,
    training_context,
    trains_together,
)
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.task import Outcome, StopReason, Task
from aucbench.runner.trainer import Clock, Trainer

CHUNK_BYTES = 1 << 22  # size of a chunk of rows that fits the processor's shared cache
CHUNK_VISITS = 1024  # least number of rows in a chunk, which makes the cost of a call negligible
STATE_FEATURES = 4096  # with more features, the weights would evict the rows from the cache
CHECK_CHUNKS = 16  # chunks between checks for NaN and infinity; checkpoints are always checked
SHARED = ("X", "y", "X_test", "y_test", "weights", "validation")
EQUAL = ("epochs", "iterations", "seconds", "checkpoints", "order", "seed", "order_seed", "fold", "measures")
Progress = Callable[[float], None]
ErrorEnds = Callable[..., contextlib.AbstractContextManager[None]]
Init = Callable[[Problem, np.random.Generator], Any]


def run_grid(tasks: Sequence[Task], progress: Progress = lambda fraction: None) -> list[Outcome | Exception]:
    """Train and measure many settings of one method over one order.

    Outcomes are those of `run_cell` for each task alone, to the last bit, but for the times and for what
    follows a divergence; those of a method with `together` agree up to rounding. A setting that diverges
    drops out where that is noticed: its curve up to there is the same, its `iterations` are an upper bound of
    the iteration at which it diverged, which is not looked for, and a model that would have been finite again
    at its next checkpoint counts as diverged too.

    All settings take one chunk of rows after the other in turn, as many rows as the processor's cache holds.
    The statistics of the problem are computed once, on the clock of the setting that asks first. With access
    `full` or a budget in seconds the settings run one after the other. Where a method of access `full` has
    `init_from` and runs until it has converged, each begins where the one before it on the path has ended,
    from the largest value of a hyperparameter to the smallest, and agrees with a run of its own up to the
    tolerance of the method; one that does not converge is run again by itself.

    Settings of another class, on other arrays, or with another budget, order, seed or fold have an order of
    their own. `progress` gets the fraction of all work done, from 0 to 1, after every chunk of every setting;
    what it raises ends all runs. An exception stands in the place of the outcome of a setting that it ended.
    """
    groups: dict[Any, list[int]] = {}
    for k, task in enumerate(tasks):
        arrays, equal = (id(getattr(task, name)) for name in SHARED), (getattr(task, name) for name in EQUAL)
        groups.setdefault((type(task.algorithm), *arrays, *equal), []).append(k)
    found: dict[int, Outcome | Exception] = {}
    for members in groups.values():
        d = tasks[members[0]].X.shape[1]
        check_memory(d)
        # A setting is held by itself and with the others.
        most = max(1, memory.available() // (2 * VECTORS * 8 * d))
        for start in range(0, len(members), most):
            part = members[start : start + most]
            own = _Grid([tasks[k] for k in part], _part_of(progress, len(found), len(part), len(tasks)))
            found |= zip(part, own.run(), strict=True)
    return [found[k] for k in range(len(tasks))]


def _part_of(progress: Progress, before: int, part: int, whole: int) -> Progress:
    return lambda fraction: progress((before + part * fraction) / whole)


class _Part:
    """Settings that their method trains at once, each for an equal share of the time, or one without."""

    def __init__(self, trainers: dict[int, Trainer], error_ends: ErrorEnds):
        self.trainers, self._error_ends = trainers, error_ends
        self._numbers = {k: number for number, k in enumerate(trainers)}
        self._lockstep: Lockstep | None = None

    def join(self) -> bool:
        """Train the settings at once from now on; False where their method trains them alone."""
        algorithms = [trainer.task.algorithm for trainer in self.trainers.values()]
        states = [trainer.state for trainer in self.trainers.values()]
        with self._shared_clock():
            self._lockstep = type(algorithms[0]).together(algorithms, states)
        return self._lockstep is not None

    def advance(self, batch: Batch, check: bool) -> None:
        """Train on a batch; an error of settings that are trained at once ends all."""
        with self._error_ends(*self.trainers):
            if self._lockstep is not None:
                with self._shared_clock():
                    self._lockstep.step(batch)
            for k, trainer in self.trainers.items():
                with self._error_ends(k):
                    if self._lockstep is None:
                        trainer.advance(batch, check)
                    else:
                        trainer.follow(batch, partial(self._lockstep.state, self._numbers[k]), check)

    def drop(self, k: int) -> None:
        """Stop training a setting."""
        del self.trainers[k]
        if self._lockstep is not None:
            self._lockstep.drop(self._numbers[k])

    @contextlib.contextmanager
    def _shared_clock(self) -> Iterator[None]:
        clock = Clock()
        with clock:
            yield
        share = clock // len(self.trainers)
        for trainer in self.trainers.values():
            trainer.clock += share


class _Grid:
    """The settings that run together, and the results of those that have ended."""

    def __init__(self, tasks: Sequence[Task], progress: Progress):
        self._tasks, self._progress = tasks, progress
        first = tasks[0]
        # Whether every iteration passes over all rows, or the budget is in seconds.
        self._one_by_one = first.seconds is not None or first.access is Access.full
        self._scorer = scorer_of(first)
        self._statistics = Problem(first.X, first.y, weights=first.weights)
        self._results: dict[int, Outcome | Exception] = {}
        self._together: dict[Any, bool] = {}  # which kinds of settings their method trains at once
        self._fractions = dict.fromkeys(range(len(tasks)), 0.0)  # of the budget of each

    def run(self) -> list[Outcome | Exception]:
        groups: dict[int, list[int]] = {}  # minibatches of another size are another order
        kinds: dict[Any, list[Task]] = {}
        for k, task in enumerate(self._tasks):
            with self._error_ends(k):
                check_requirements(task)
                groups.setdefault(task.rows_per_iteration, []).append(k)
            if k not in self._results:
                kinds.setdefault(_kind(task), []).append(task)
        with training_context():
            for kind, tasks in kinds.items():
                compile_kernels(tasks[0])
                if tasks[0].weights is None and not self._one_by_one:
                    self._together[kind] = trains_together(tasks[0], len(tasks))
            for group in groups.values():
                if self._one_by_one:
                    self._train_in_turn(group)
                else:
                    self._train(group)
        return [self._results[k] for k in range(len(self._tasks))]

    def _train_in_turn(self, members: list[int]) -> None:
        """One setting after the other, each from the end of its neighbour where the method knows how."""
        ends: dict[Any, Any] = {}  # the latest state in which a setting of a kind has converged
        for k in sorted(members, key=lambda k: _numbers(self._tasks[k]), reverse=True):
            task = self._tasks[k]
            if not _follows_path(task):
                self._train([k])
                continue
            kind = _kind(task)
            trainer = self._train([k], partial(task.algorithm.init_from, state=ends.get(kind)))
            result = self._results[k]
            if isinstance(result, Outcome) and result.stop_reason is StopReason.converged:
                ends[kind] = trainer[k].state
            elif kind in ends:
                del self._results[k]
                self._train([k])

    def _train(self, members: list[int], init: Init | None = None) -> dict[int, Trainer]:
        """Train settings until all have ended; returns those that have begun."""
        first, trainers = self._tasks[members[0]], {}
        with self._error_ends(*members):
            budget, next_batch = make_budget(first), batch_sampler(first)
        if members[0] in self._results:
            return {}
        for k in members:
            with self._error_ends(k):
                problem = _SharedProblem(self._statistics, self._tasks[k].problem(budget.iterations))
                trainers[k] = Trainer(self._tasks[k], budget, self._scorer, problem, init=init)
        begun = dict(trainers)
        parts = self._parts(trainers)
        trainers = {k: trainer for k, trainer in trainers.items() if k not in self._results}
        shared, alone, chunks = self._shared_chunk(first), max_chunk(first), 0
        # All trainers are at the same iteration: the first determines the next checkpoint.
        while trainers and (chunk := next(iter(trainers.values())).next_chunk()) is not None:
            longest = shared if len(trainers) > 1 else alone
            batch, chunks = next_batch(min(chunk, longest)), chunks + 1
            check = chunks % CHECK_CHUNKS == 0 or longest == alone
            for part in parts:
                part.advance(batch, check)
                for k in [k for k in part.trainers if k in self._results or trainers[k].stop_reason]:
                    part.drop(k)
                    self._finish(k, trainers.pop(k))
                    self._fractions[k] = 1.0
                for k, trainer in part.trainers.items():  # a repeated run does not reduce the progress
                    self._fractions[k] = max(self._fractions[k], trainer.fraction)
                self._progress(min(1.0, sum(self._fractions.values()) / len(self._tasks)))
        for k, trainer in trainers.items():
            self._finish(k, trainer)
        return begun

    def _parts(self, trainers: dict[int, Trainer]) -> list[_Part]:
        """The settings grouped into parts: trained at once if the method supports it, else alone."""
        kinds: dict[Any, dict[int, Trainer]] = {}
        for k, trainer in trainers.items():
            kinds.setdefault(_kind(self._tasks[k]), {})[k] = trainer
        parts: list[_Part] = []
        for kind, members in kinds.items():
            with self._error_ends(*members):
                algorithm = next(iter(members.values())).task.algorithm
                joined = _Part(members, self._error_ends)
                asked = self._together.get(kind) and is_asked_together(algorithm, len(members))
                if asked and joined.join():
                    parts.append(joined)
                else:
                    parts += [_Part({k: trainer}, self._error_ends) for k, trainer in members.items()]
        return parts

    def _finish(self, k: int, trainer: Trainer) -> None:
        if k not in self._results:
            with self._error_ends(k):
                self._results[k] = trainer.outcome()

    @contextlib.contextmanager
    def _error_ends(self, *members: int) -> Iterator[None]:
        """Make an error the result of these settings; a MemoryError ends all."""
        try:
            yield
        except MemoryError:
            raise
        except Exception as error:
            self._results |= dict.fromkeys(members, error)

    def _shared_chunk(self, task: Task) -> int:
        """Iterations of the chunks that the settings take in turn."""
        X = task.X
        if self._one_by_one or X.shape[1] > STATE_FEATURES:
            return max_chunk(task)
        value = X.dtype.itemsize
        row = (value + 4) * X.nnz / X.shape[0] if sparse.issparse(X) else value * X.shape[1]
        visits = 2 if task.access is Access.pairs else task.rows_per_iteration
        return int(max(CHUNK_BYTES / max(1.0, row), CHUNK_VISITS) / visits) or 1


class _SharedProblem(Problem):
    """The problem of a setting, with statistics that are computed once for all settings.

    Arrays are copies: what a method does to its own must not reach the others.
    """

    def __init__(self, statistics: Problem, own: Problem):
        vars(self).update(vars(own))
        self._statistics = statistics

    p = cached_property(lambda self: self._statistics.p)
    max_norm = cached_property(lambda self: self._statistics.max_norm)
    mean_pos = cached_property(lambda self: self._statistics.mean_pos.copy())
    mean_neg = cached_property(lambda self: self._statistics.mean_neg.copy())


def _follows_path(task: Task) -> bool:
    """Whether the solution does not depend on the start: with a budget of its own the run may end before."""
    has_budget = (task.epochs, task.iterations, task.seconds) != (None, None, None)
    return task.access is Access.full and hasattr(task.algorithm, "init_from") and not has_budget


def _numbers(task: Task) -> list[float]:
    """The numbers of a setting, which order the path; None counts as 0."""
    fields = sorted(getattr(task.algorithm, "__dict__", {}).items())
    return [float(value or 0.0) for _, value in fields if value is None or isinstance(value, int | float)]


def _kind(task: Task) -> tuple[Any, ...]:
    """Everything that may determine the kernels of a setting: all fields except numbers."""
    fields = sorted(getattr(task.algorithm, "__dict__", {}).items())
    chosen = [(name, value if isinstance(value, str | bool) else type(value)) for name, value in fields]
    return (type(task.loss), *chosen)
