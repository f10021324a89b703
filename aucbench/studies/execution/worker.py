"""A worker performs one unit at a time: it prepares the rows, trains, measures and reports."""

import contextlib
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from msgspec import UNSET, structs
from numpy.typing import NDArray

from aucbench.contracts import for_rows
from aucbench.contracts.source_location import line_in, package_of
from aucbench.data.preprocess import Prepared
from aucbench.errors import FAULTS, AucbenchError, CellError, MachineError, PluginError
from aucbench.evaluation.measures import AUC, TrainingObjective
from aucbench.evaluation.pair_objective import declared_objective
from aucbench.humanize import sentence_of
from aucbench.pool import ProcessEnded, tell
from aucbench.registry import catalog
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.scorer import linear_scores
from aucbench.runner.task import Outcome, StopReason, Task, hold_out, rows_per_iteration
from aucbench.studies.codec import subset
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.make_record import (
    cell_record,
    compact,
    lacks_minimum,
    missing_measures,
    scored,
    with_objective,
)
from aucbench.studies.execution.optimum import known_or_found
from aucbench.studies.execution.prepared_data import blaming, prepared_data, row_factor
from aucbench.studies.execution.work_units import Report, Unit
from aucbench.studies.import_paths import check_choice
from aucbench.studies.record import CellStatus, Failure, MinimumRecord, Trial
from aucbench.studies.result import CellResult, common
from aucbench.studies.study import Observer
from aucbench.studies.tuners import Point, with_budget, with_setting

INNER_FOLDS = 1 << 16  # offset between the orders of inner folds, above any number of folds
FRAMES = 100  # innermost frames in a stored traceback; formatting a million takes seconds
PROGRESS_SECONDS = 0.05  # least time between progress messages
MEMORY_SHARE = 0.8  # share of the available memory for all workers together
CURVE = ("iteration", "samples", "train_seconds", "cpu_seconds", "auc")


class _TimeLimitError(CellError):
    """The time limit of the unit is reached; not an error of the running plugin."""


def labels_of(entry: Entry, cell: CellResult) -> NDArray[np.int8]:
    """(n_test,) labels -1 and 1 of the test rows of a cell."""
    return prepared_data().split(entry.imported, cell.record.seeds).test.y


def scores_of(entry: Entry, cell: CellResult) -> NDArray[np.floating[Any]] | None:
    """(n_test,) final scores of a cell, stored or computed from its weights; None without either."""
    if cell.scores is not None or cell.weights is None or cell.diverged:
        return cell.scores
    return linear_scores(
        cell.weights[None], prepared_data().rows_of(entry.imported, cell.record.seeds).X_test
    )[0]


def run_unit(
    unit: Unit, observer: Observer | None = None, concurrency: int | None = None, command: str | None = None
) -> Report:
    """Run a unit; errors become its report.

    The observer, in this process, receives stages and progress. `concurrency` and `command` are set in a
    process of the pool, whose memory is limited: the number of units that run at the same time on this
    machine, and the command that started the study, if the study was started on another machine.
    """
    observer = observer or Observer()
    try:
        if concurrency is None:
            unit = replace(unit, entry=unit.entry.imported)
        prepared = prepared_data().prepared(unit, observer.stage)
        with limited_memory(unit.entry.limits.memory, concurrency):
            try:
                if unit.points:
                    return _run_trials(unit, prepared, observer)
                return _run_cell_unit(unit, prepared, observer, concurrency or 1, command)
            finally:
                prepared_data().check_untouched(unit)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and concurrency is None:
            raise  # Ctrl-C
        return report_of(error, unit)


@contextlib.contextmanager
def limited_memory(limit: int | None, concurrency: int | None) -> Iterator[None]:
    """Let allocations of more than `limit` bytes raise MemoryError within the block.

    The default limit is a share of the available memory, divided by `concurrency`. Nothing is limited if
    `concurrency` is None, or if the system cannot measure the private memory of a process.
    """
    if concurrency is None:
        yield
        return
    import psutil

    used = getattr(psutil.Process().memory_info(), "data", None)  # None except on Linux
    if used is None:
        yield
        return
    import resource

    limit = limit or int(MEMORY_SHARE * psutil.virtual_memory().available / concurrency)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = used + limit if hard == resource.RLIM_INFINITY else min(used + limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def report_of(error: BaseException, unit: Unit) -> Report:
    """The report of an error that a limit, the machine, the user, a plugin or an unknown cause raised.

    None if the process of the unit has ended, or Dask has lost it with its scheduler.
    """
    if isinstance(error, CancelledError) or (isinstance(error, ProcessEnded) and not error.is_late):
        return None
    if isinstance(error, ProcessEnded):
        limits = unit.entry.limits
        reason = f"it did not end {limits.grace:g} s after limits.seconds={limits.seconds:g}"
        return Failure(CellStatus.timeout, f"{reason}, and its process was ended")
    if isinstance(error, _TimeLimitError):
        seconds = unit.entry.limits.seconds
        return Failure(CellStatus.timeout, f"it ran for more than limits.seconds={seconds:g}")
    if isinstance(error, MemoryError):
        detail = f" ({error})" if str(error) else ""
        return Failure(CellStatus.out_of_memory, f"it asked for more memory than it may have{detail}")
    if (fault := _fault_of_the_machine(error)) is not None:
        return fault
    if isinstance(error, AucbenchError) and not isinstance(error, PluginError):
        return error
    text = str(error) if isinstance(error, PluginError) else sentence_of(error)
    return Failure(CellStatus.failed, text, "".join(traceback.format_exception(error, limit=-FRAMES)))


def _fault_of_the_machine(error: BaseException | None) -> MachineError | None:
    """A MachineError if a fault of the machine caused the error, in whatever plugin; else None."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FAULTS:
            where = f" ({error.filename})" if error.filename else ""
            return MachineError(
                f"The machine, and no method, failed: {error.strerror}{where}; nothing of this cell is kept, "
                "and the same command goes on from there once that is mended."
            )
        error = error.__cause__
    return None


class _RemoteObserver(Observer):
    """Sends stages and progress to the process that started this process."""

    _sent_at = 0.0

    def stage(self, text: str) -> None:
        tell(("stage", text))

    def progress(self, share: float) -> None:
        if monotonic() - self._sent_at > PROGRESS_SECONDS:
            self._sent_at = monotonic()
            tell(("progress", share))


def run_in_process(unit: Unit, concurrency: int, command: str | None = None) -> Report:
    """Run a unit in this process of the pool; the unit is refused if its source code differs here."""
    entry, name = unit.entry, unit.entry.algorithm.name
    is_sent_whole = entry.algorithm.cls.__module__ == "__main__"  # the worker could not import it
    if not is_sent_whole and entry.source_digest != entry.digest_sources():
        return PluginError(
            f"{name}: a worker has other source code (of the plugin, its helpers or the kernels) than the "
            f"process that planned the study; install the same there."
        )
    return run_unit(unit, _RemoteObserver(), concurrency, command)


def _run_cell_unit(
    unit: Unit, prepared: Prepared, observer: Observer, concurrency: int, command: str | None
) -> CellResult:
    entry, stored = unit.entry, unit.stored
    if unit.tuned is not None:
        check_choice(entry.algorithm.instance, unit.tuned.parameters, entry.tuning.space)
    task = task_of(unit, prepared, unit.tuned.parameters if unit.tuned else {}, entry.budget.checkpoints)
    (task,) = hold_out([task], unit.seeds.split_seed)
    existing = common([stored.record]) if stored else ()
    measures = {measure.name: measure for measure in (*existing, *entry.measures)}
    objective = measures.pop(TrainingObjective.name, None)
    if stored is not None and unit.scored:
        result = scored(stored, prepared.X_test, prepared.y_test, tuple(measures.values()))
        if objective is not None and not missing_measures(stored.record, [objective]):
            objective = None
    else:
        observer.stage(f"training {entry.algorithm.name} (seed {unit.seeds.seed})")
        task = replace(
            task,
            measures=tuple(measures.values()),
            keep_weights=entry.keep_weights or objective is not None,
            keep_model=entry.keep_model,
        )
        with blaming(entry.algorithm):
            outcome = run_cell(task, _within_time(unit, observer))
        loaded = prepared_data().load(entry)(entry.part)
        record = cell_record(unit, loaded, prepared, task, outcome, concurrency, command)
        curve = {name: getattr(outcome, name) for name in CURVE} | outcome.measures
        scores = None
        if outcome.scores is not None and entry.keep_scores:
            scores = compact(outcome.scores, task.y_test, outcome.auc[-1])
        result = CellResult(record, curve, outcome.weights, outcome.checkpoint_weights, scores, outcome.model)
    if objective is not None:  # computed after the run from the weights at checkpoints; not timed
        result = with_objective(result, task.algorithm, task.problem(None))
    if not unit.scored and not entry.keep_weights:
        result = replace(result, checkpoint_weights=None)
    if not lacks_minimum(result.record, entry):
        return result
    observer.stage(f"minimising the objective of {entry.algorithm.name}")
    try:
        target = declared_objective(task.algorithm, task.problem(None))
        optimum = known_or_found(catalog(), target, unit, prepared).record
        minimum = MinimumRecord(**subset(optimum, MinimumRecord.__struct_fields__))
    except (AucbenchError, MemoryError) as error:  # a failed solver must not fail the run
        reason = str(error) if isinstance(error, AucbenchError) else sentence_of(error)
        minimum = MinimumRecord(reason=reason, seconds=getattr(error, "seconds", 0.0))
    updated = structs.replace(result.record.measures[TrainingObjective.name], minimum=minimum)
    return result.with_measures({TrainingObjective.name: updated})


def _run_trials(unit: Unit, prepared: Prepared, observer: Observer) -> list[Trial]:
    observer.stage(f"tuning {unit.entry.algorithm.name} ({len(unit.points)} settings, fold {unit.inner})")
    settings, tasks, trials = [], [], []
    measure = unit.entry.tuning.measure
    judged_by = () if isinstance(measure, AUC) else (measure,)
    for number, point in unit.points:
        try:
            tasks.append(replace(task_of(unit, prepared, point, checkpoints=1), measures=judged_by))
            settings.append((number, point))
        except MemoryError:
            raise
        except Exception as error:  # values that do not go together
            trials.append(_failed(unit, number, point, error))
    tasks = hold_out(tasks, unit.seeds.split_seed)
    outcomes = run_grid(tasks, _within_time(unit, observer))
    for (number, point), task, outcome in zip(settings, tasks, outcomes, strict=True):
        if not isinstance(outcome, Exception):
            trials.append(_trial(unit, number, point, outcome, len(task.y)))
        elif _fault_of_the_machine(outcome) is None:
            trials.append(_failed(unit, number, point, outcome))
        else:
            raise outcome
    return trials


def _failed(unit: Unit, number: int, point: Point, error: Exception) -> Trial:
    message = sentence_of(error) + line_in(error, package_of(unit.entry.algorithm.cls))
    return unit.failed_trial(number, point, "failed", message)


def task_of(unit: Unit, prepared: Prepared, point: Point, checkpoints: int) -> Task:
    """The task of one setting of a unit, on its prepared rows."""
    entry, seeds = unit.entry, unit.seeds
    factor, budget = row_factor(entry, prepared), with_budget(entry.budget, point)
    return Task(
        algorithm=for_rows(with_setting(entry.algorithm.instance, point), factor),
        loss=entry.loss.instance if entry.loss else None,
        X=prepared.X,
        y=prepared.y,
        X_test=prepared.X_test,
        y_test=prepared.y_test,
        epochs=budget.epochs,
        iterations=budget.iterations,
        seconds=budget.seconds,
        checkpoints=checkpoints,
        order=entry.settings.order,
        seed=seeds.seed,
        order_seed=seeds.order_seed,
        # Each inner fold has a separate order; the first fold and the validation part use the run's order.
        fold=seeds.fold + (unit.inner or 0) * INNER_FOLDS,
        row_factor=factor,
        blocks=prepared.blocks,
        groups=prepared.groups,
    )


def _within_time(unit: Unit, observer: Observer) -> Callable[[float], None]:
    """A callback that passes progress on until the unit's time limit; the clock starts at this call."""
    limit = unit.entry.limits.seconds
    end = None if limit is None else perf_counter() + limit * unit.trainings

    def progress(share: float) -> None:
        if end is not None and perf_counter() > end:
            raise _TimeLimitError
        observer.progress(share)

    return progress


def _trial(unit: Unit, number: int, point: Point, outcome: Outcome, rows: int) -> Trial:
    is_usable = outcome.stop_reason is not StopReason.diverged
    # One pass of a pairs method is as many pairs as there are rows.
    per_iteration = rows_per_iteration(with_setting(unit.entry.algorithm.instance, point), rows)
    return Trial(
        number=number,
        fold=unit.inner or 0,
        parameters=point,
        auc=float(outcome.auc[-1]) if is_usable else None,
        value=next((float(values[-1]) for values in outcome.measures.values() if is_usable), UNSET),
        stop_reason=str(outcome.stop_reason),
        passes=float(outcome.iterations * per_iteration / rows),
        train_seconds=outcome.total_seconds,
    )
