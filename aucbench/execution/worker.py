"""A worker performs one unit at a time: it prepares the rows, trains, measures and reports."""

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from msgspec import structs

from aucbench.contracts.source_location import line_in, package_of
from aucbench.data.preprocess import Prepared
from aucbench.errors import AucbenchError, CellError, PluginError
from aucbench.execution.make_record import cell_record
from aucbench.execution.prepared_data import PreparedData, blaming, sentence_of
from aucbench.execution.work_units import CellUnit, ProposalUnit, Report, TrialsUnit, Unit
from aucbench.processes import limited_memory
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Outcome, StopReason, Task, rows_per_iteration
from aucbench.studies.record import CellStatus, Failure, Trial
from aucbench.studies.result import CellResult
from aucbench.studies.study import Observer
from aucbench.studies.tuners import Point

INNER_FOLDS = 1 << 16  # apart lie the orders of inner folds, beyond any number of folds
CURVE = ("iteration", "samples", "train_seconds", "cpu_seconds", "auc")


@dataclass(frozen=True)
class Conditions:
    """The conditions under which a unit runs."""

    concurrency: int = 1  # units that run at the same time on this machine
    worker: bool = False  # whether this process is a worker, whose memory may be limited
    command: str | None = None  # that started the study, where it is not this process's own


class _TimeLimitError(CellError):
    """The unit's time is up; no fault of the plugin that was running."""


_prepared_data = PreparedData()  # of this process


def prepared_data() -> PreparedData:
    """Data sets and splits that this process has loaded and prepared."""
    return _prepared_data


def run_pickled(pickled: bytes, conditions: Conditions) -> Report:
    """Run a unit that came from another process; one that cannot be read here fails alone."""
    try:
        unit: Unit = pickle.loads(pickled)
    except Exception as error:
        why = f"a worker cannot read it, its plugins may be missing there ({type(error).__name__}: {error})"
        return _failure(CellStatus.failed, why, traceback.format_exc())
    if unit.entry.source_digest != unit.entry.digest_sources():
        name = unit.entry.algorithm.name
        return Report(
            refusal=PluginError(
                f"{name}: a worker has other source code (of the plugin, its helpers or the kernels) than "
                f"the process that planned the study; install the same there."
            )
        )
    return run_unit(unit, conditions)


def run_unit(unit: Unit, conditions: Conditions, observer: Observer | None = None) -> Report:
    """Run a unit; whatever goes wrong becomes part of the report.

    The observer, of this process, is told about stages and progress.
    """
    observer = observer or Observer()
    try:
        # A proposal prepares one inner fold after the other; the test rows are nothing to it.
        is_proposal = isinstance(unit, ProposalUnit)
        prepared: Any = None if is_proposal else _prepared_data.prepared(unit, observer.stage)
        with limited_memory(unit.entry.limits.memory, conditions.concurrency, conditions.worker):
            try:
                match unit:
                    case CellUnit():
                        result: Any = _run_cell_unit(unit, prepared, conditions, observer)
                    case TrialsUnit():
                        result = _run_trials(unit, prepared, observer)
                    case ProposalUnit():
                        result = _run_proposal(unit, observer)
                return Report(result)
            finally:
                _prepared_data.check_untouched(unit)
    except _TimeLimitError:
        seconds = unit.entry.limits.seconds
        return _failure(CellStatus.timeout, f"it ran for more than limits.seconds={seconds:g}")
    except MemoryError as error:
        what = f" ({error})" if str(error) else ""
        return _failure(CellStatus.out_of_memory, f"it asked for more memory than it may have{what}")
    except PluginError as error:
        return _failure(CellStatus.failed, str(error), traceback.format_exc())
    except AucbenchError as error:
        return Report(refusal=error)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) and not conditions.worker:
            raise  # a user's
        return _failure(CellStatus.failed, sentence_of(error), traceback.format_exc())


def _failure(reason: CellStatus, message: str, trace: str = "") -> Report:
    return Report(failure=Failure(reason, message, trace))


def _run_cell_unit(
    unit: CellUnit, prepared: Prepared, conditions: Conditions, observer: Observer
) -> CellResult:
    entry = unit.entry
    observer.stage(f"training {entry.algorithm.name} (seed {unit.seeds.seed})")
    task = task_of(unit, prepared, unit.tuned.parameters if unit.tuned else {}, entry.budget.checkpoints)
    with blaming(entry.algorithm):
        outcome = run_cell(task, _within_time(unit, observer))
    loaded = _prepared_data.load(entry)(entry.part)
    record = cell_record(
        unit, loaded, prepared, task.algorithm, outcome, conditions.concurrency, conditions.command
    )
    return CellResult(record, {name: getattr(outcome, name) for name in CURVE}, outcome.weights)


def _run_trials(unit: TrialsUnit, prepared: Prepared, observer: Observer) -> list[Trial]:
    observer.stage(f"tuning {unit.entry.algorithm.name} ({len(unit.points)} settings, fold {unit.fold})")
    tasks, trials = [], []
    for number, point in unit.points:
        try:
            tasks.append((number, point, task_of(unit, prepared, point, unit.entry.trial_checkpoints)))
        except MemoryError:
            raise
        except Exception as error:  # values that do not go together
            trials.append(_trial(unit, unit.fold, number, point, error, len(prepared.y)))
    outcomes = run_grid([task for _, _, task in tasks], _within_time(unit, observer)) if tasks else []
    for (number, point, _), outcome in zip(tasks, outcomes, strict=True):
        trials.append(_trial(unit, unit.fold, number, point, outcome, len(prepared.y)))
    return trials


def _run_proposal(unit: ProposalUnit, observer: Observer) -> list[Trial]:
    from aucbench.execution import _optuna

    entry, seed = unit.entry, unit.seeds.split_seed
    choice, algorithm = entry.tuning.choice, entry.algorithm.instance
    observer.stage(f"tuning {entry.algorithm.name} (setting {unit.number + 1} of {choice.trials})")
    proposal = _optuna.propose(choice, entry.tuning.space, unit.history, unit.number, seed, algorithm)
    progress = _within_time(unit, observer)
    trials: list[Trial] = []
    for fold in range(unit.folds):
        inner = TrialsUnit(unit.key, unit.digests, entry, unit.seeds, fold, ((unit.number, proposal.point),))
        watch = _optuna.Watch(proposal, fold, [trial.auc for trial in trials if trial.auc is not None])
        try:
            prepared = _prepared_data.prepared(inner)
            task = task_of(inner, prepared, proposal.point, entry.trial_checkpoints)
            outcome: Outcome | Exception = run_cell(task, progress, watch)
            rows = len(prepared.y)
        except (_TimeLimitError, MemoryError):
            raise
        except Exception as error:
            outcome, rows = error, 1
        _prepared_data.check_untouched(inner)
        trial = _trial(unit, fold, unit.number, proposal.point, outcome, rows)
        trials.append(structs.replace(trial, seen=tuple(watch.seen)))
        if trial.auc is None:
            break
    return trials


def task_of(unit: Unit, prepared: Prepared, point: Point, checkpoints: int) -> Task:
    """What a unit trains with one setting on its prepared rows."""
    entry, seeds = unit.entry, unit.seeds
    return Task(
        algorithm=replace(entry.algorithm.instance, **point),
        loss=entry.loss.instance if entry.loss else None,
        X=prepared.X,
        y=prepared.y,
        X_test=prepared.X_test,
        y_test=prepared.y_test,
        epochs=entry.budget.epochs,
        iterations=entry.budget.iterations,
        seconds=entry.budget.seconds,
        checkpoints=checkpoints,
        order=entry.settings.order,
        seed=seeds.seed,
        order_seed=seeds.order_seed,
        # Each inner fold has an order of its own; the first, and the validation part, that of the run itself.
        fold=seeds.fold + (unit.inner or 0) * INNER_FOLDS,
    )


def _within_time(unit: Unit, observer: Observer) -> Callable[[float], None]:
    """Passes progress on until the unit's time is up; the clock starts here."""
    limit = unit.entry.limits.seconds
    end = None if limit is None else perf_counter() + limit * unit.trainings

    def progress(share: float) -> None:
        if end is not None and perf_counter() > end:
            raise _TimeLimitError
        observer.progress(share)

    return progress


def _trial(
    unit: Unit, fold: int, number: int, point: Point, outcome: Outcome | Exception, rows: int
) -> Trial:
    if isinstance(outcome, Exception):
        error = sentence_of(outcome) + line_in(outcome, package_of(unit.entry.algorithm.cls))
        return Trial(number=number, fold=fold, parameters=point, auc=None, stop_reason="failed", error=error)
    usable = outcome.stop_reason not in (StopReason.diverged, StopReason.pruned)
    # A pass of pairs is as many of them as there are rows.
    per_iteration = rows_per_iteration(replace(unit.entry.algorithm.instance, **point), rows)
    return Trial(
        number=number,
        fold=fold,
        parameters=point,
        auc=float(outcome.auc[-1]) if usable else None,
        stop_reason=str(outcome.stop_reason),
        passes=float(outcome.iterations * per_iteration / rows),
        train_seconds=outcome.total_seconds,
    )
