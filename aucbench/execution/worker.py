"""Performing one unit of work in whatever process it reached: prepare, train, measure, report."""

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts.source_location import line_in, package_of, source_file
from aucbench.data.labels import shown
from aucbench.data.loader import Loaded
from aucbench.data.preprocess import Prepared
from aucbench.errors import AucbenchError, CellError, PluginError
from aucbench.execution.prepared_data import PreparedData, blaming, sentence_of
from aucbench.execution.work_units import CellUnit, ProposalUnit, Report, TrialsUnit, Unit
from aucbench.processes import limited_memory
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Outcome, StopReason, Task, rows_per_iteration
from aucbench.studies import provenance
from aucbench.studies.entry import Entry
from aucbench.studies.record import CellRecord, CellStatus, DataRecord, Failure, ResultRecord, Trial
from aucbench.studies.result import CellResult
from aucbench.studies.study import Observer
from aucbench.studies.tuners import Point

INNER_FOLDS = 1 << 16  # apart lie the orders of inner folds, beyond any number of folds


@dataclass(frozen=True)
class Conditions:
    """Under what a unit runs.

    Parameters
    ----------
    concurrency : int
        Units that run at the same time on this machine.
    worker : bool
        Whether this process is a worker, whose memory may be limited.
    command : str, optional
        That started the study, where it is not this process's own.
    """

    concurrency: int = 1
    worker: bool = False
    command: str | None = None


class _TimeLimitError(CellError):
    """The unit's time is up; no fault of the plugin that was running."""


_prepared_data = PreparedData()  # of this process


def prepared_data() -> PreparedData:
    """What this process has loaded and prepared."""
    return _prepared_data


def run_unit(unit: Unit, conditions: Conditions, observer: Observer | None = None) -> Report:
    """Do a unit of work; whatever goes wrong becomes part of the report.

    Parameters
    ----------
    unit : CellUnit, TrialsUnit or ProposalUnit
        What to do.
    conditions : Conditions
        Under what.
    observer : Observer
        Told about stages and progress; of this process.
    """
    observer = observer or Observer()
    try:
        # A proposal prepares one inner fold after the other; the test rows are nothing to it.
        prepared = None if isinstance(unit, ProposalUnit) else _prepared_data.prepared(unit, observer.stage)
        with limited_memory(unit.entry.limits.memory, conditions.concurrency, conditions.worker):
            try:
                return Report(_WORK[type(unit)](unit, prepared, conditions, observer))
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
    except Exception as error:
        return _failure(CellStatus.failed, sentence_of(error), traceback.format_exc())
    except (SystemExit, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) and not conditions.worker:
            raise  # a user's
        return _failure(CellStatus.failed, sentence_of(error), traceback.format_exc())


def run_pickled(pickled: bytes, conditions: Conditions) -> Report:
    """Do a unit that came from another process; one that cannot be read here fails alone."""
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


def _failure(reason: CellStatus, message: str, trace: str = "") -> Report:
    return Report(failure=Failure(reason, message, trace))


def _cell(unit: CellUnit, prepared: Prepared, conditions: Conditions, observer: Observer) -> CellResult:
    entry, cell = unit.entry, unit.cell
    observer.stage(f"training {entry.algorithm.name} (seed {cell.seeds.seed})")
    task = _task(unit, prepared, unit.chosen, entry.budget.checkpoints)
    with blaming(entry.algorithm):
        outcome = run_cell(task, _within(unit, observer))
    environment = provenance.environment(conditions.concurrency, conditions.command)
    record = CellRecord(
        key=unit.key,
        **structs.asdict(entry.describe()),
        **structs.asdict(cell.seeds),
        data=_data(prepared, unit.digests, _prepared_data.load(entry)(entry.part)),
        tuned=unit.tuned,
        result=_result(entry, task.algorithm, prepared, outcome),
        source=entry.source_digest,
        git_commit=provenance.git_commit(source_file(entry.algorithm.cls)),
        environment=structs.replace(
            environment, finished_at=datetime.now(UTC).isoformat(timespec="microseconds")
        ),
    )
    curve = {
        name: getattr(outcome, name)
        for name in ("iteration", "samples", "train_seconds", "cpu_seconds", "auc")
    }
    return CellResult(record, curve, outcome.weights)


def _data(prepared: Prepared, digests: tuple[str, ...], loaded: Loaded) -> DataRecord:
    """What a record says of the rows; all parts of the data set agree which labels are positive."""
    X, rows = prepared.X, len(prepared.y)
    return DataRecord(
        sha256=digests,
        train_rows=rows,
        test_rows=len(prepared.y_test),
        features=int(X.shape[1]),
        train_positives=int(np.count_nonzero(prepared.y == 1)),
        test_positives=int(np.count_nonzero(prepared.y_test == 1)),
        positive=tuple(map(shown, loaded.positive)),
        negative=tuple(map(shown, loaded.negative)),
        row_factor=1.0 if prepared.rescaling is None else prepared.rescaling.factor,
        max_norm=prepared.max_norm,
        format="csr" if sparse.issparse(X) else "dense",
        nonzeros_per_row=X.nnz / rows if sparse.issparse(X) else float(X.shape[1]),
        features_seconds=prepared.features_seconds,
    )


def _result(entry: Entry, algorithm: Any, prepared: Prepared, outcome: Outcome) -> ResultRecord:
    diverged = outcome.stop_reason is StopReason.diverged
    per_iteration = 1e9 / max(1, outcome.iterations)
    weights, rescaling = outcome.weights, prepared.rescaling
    return ResultRecord(
        # A diverged model has no score, whatever its last finite checkpoint was.
        auc=None if diverged else float(outcome.auc[-1]),
        iterations=outcome.iterations,
        train_seconds=outcome.total_seconds,
        train_cpu_seconds=outcome.total_cpu_seconds,
        ns_per_iteration=outcome.total_seconds * per_iteration,
        cpu_ns_per_iteration=outcome.total_cpu_seconds * per_iteration,
        state_bytes=outcome.state_bytes,
        layout=outcome.layout,
        weights_norm=_norm(weights),
        score_at_zero=_finite(0.0 if rescaling is None or weights is None else rescaling.raw(weights)[1]),
        stop_reason=str(outcome.stop_reason),
        advice=_advice(entry, algorithm, prepared.max_norm) if diverged else None,
        converged=outcome.stop_reason is StopReason.converged if hasattr(algorithm, "done") else None,
        checkpoints=len(outcome.iteration),
    )


def _advice(entry: Entry, algorithm: Any, max_norm: float | None) -> str:
    """What to change where a method diverges, in a sentence.

    Parameters
    ----------
    entry : Entry
        Says how rows were scaled and mapped.
    algorithm : Algorithm
        With the hyper-parameters of the run; its `step_size` names the field to lower.
    max_norm : float or None
        The largest norm of a row that it was given, None where it is infinite.
    """
    rows = "mapped rows have" if entry.features.name != "identity" else "rows have"
    known = f"{rows} norms up to {max_norm:.3g}; " if max_norm is not None else f"{rows} infinite norms; "
    name = getattr(algorithm, "step_size", None)
    if name is None:
        smaller = "take smaller steps"
    else:
        value = getattr(algorithm, name)
        smaller = f"lower algo.{name}, now {f'{value:g}' if isinstance(value, float) else value}"
    # Where rows are rescaled already, only the step is left to be changed.
    return known + smaller + ("" if entry.settings.rescale else ", or set rescale=true and leave it out")


def _norm(weights: NDArray[np.float64] | None) -> float | None:
    """The l2 norm, None where it is not finite."""
    if weights is None:
        return None
    with np.errstate(over="ignore"):
        return _finite(float(np.linalg.norm(weights)))


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _trials(unit: TrialsUnit, prepared: Prepared, conditions: Conditions, observer: Observer) -> list[Trial]:
    observer.stage(f"tuning {unit.entry.algorithm.name} ({len(unit.points)} settings, fold {unit.fold})")
    tasks, trials = [], []
    for number, point in unit.points:
        try:
            tasks.append((number, point, _task(unit, prepared, point, unit.search.checkpoints)))
        except MemoryError:
            raise
        except Exception as error:  # values that do not go together
            trials.append(_trial(unit, unit.fold, number, point, error, len(prepared.y)))
    outcomes = run_grid([task for _, _, task in tasks], _within(unit, observer)) if tasks else []
    for (number, point, _), outcome in zip(tasks, outcomes, strict=True):
        trials.append(_trial(unit, unit.fold, number, point, outcome, len(prepared.y)))
    return trials


def _proposal(unit: ProposalUnit, _: Any, conditions: Conditions, observer: Observer) -> list[Trial]:
    from aucbench.execution import _optuna

    tuning, name = unit.entry.tuning, unit.entry.algorithm.name
    seed = unit.seeds.split_seed
    observer.stage(f"tuning {name} (setting {unit.number + 1} of {tuning.choice.trials})")
    algorithm = unit.entry.algorithm.instance
    proposal = _optuna.propose(tuning.choice, tuning.space, unit.history, unit.number, seed, algorithm)
    progress = _within(unit, observer)
    trials: list[Trial] = []
    for fold in range(unit.folds):
        inner = TrialsUnit(unit.key, unit.digests, unit.search, fold, ((unit.number, proposal.point),))
        watch = _optuna.Watch(proposal, fold, [trial.auc for trial in trials if trial.auc is not None])
        try:
            prepared = _prepared_data.prepared(inner)
            task = _task(inner, prepared, proposal.point, unit.search.checkpoints)
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


_WORK: dict[type, Callable[..., Any]] = {
    CellUnit: _cell,
    TrialsUnit: _trials,
    ProposalUnit: _proposal,
}


def _task(unit: Unit, prepared: Prepared, point: Point, checkpoints: int) -> Task:
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


def _within(unit: Unit, observer: Observer) -> Callable[[float], None]:
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
