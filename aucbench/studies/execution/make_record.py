"""The records of finished and failed cells, and measures added to them from stored weights or scores."""

import math
import os
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from msgspec import UNSET, structs
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.blas import dnrm2

from aucbench.contracts import Access, MethodFacts, ModelClass, Problem, class_of_model
from aucbench.contracts.source_location import source_file
from aucbench.data.labels import shown
from aucbench.data.loader import Loaded
from aucbench.data.preprocess import Prepared
from aucbench.errors import DataError, ParameterError
from aucbench.evaluation.auc import exact_auc
from aucbench.evaluation.measures import Measure, TrainingObjective
from aucbench.evaluation.pair_objective import declared_objective, objective_value
from aucbench.humanize import sentence_of
from aucbench.runner.scorer import Scorer
from aucbench.runner.task import Outcome, StopReason, Task
from aucbench.studies import provenance
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.record import (
    CellRecord,
    DataRecord,
    Failure,
    FailureRecord,
    LimitsRecord,
    MeasureRecord,
    ResultRecord,
)
from aucbench.studies.result import CellResult

# Allowed difference of AUCs computed from equal weights on different machines, or from rounded scores.
SAME = 1e-6
DIVERGED = "the run diverged"


def cell_record(
    unit: Unit,
    loaded: Loaded,
    prepared: Prepared,
    task: Task,
    outcome: Outcome,
    concurrency: int,
    command: str | None,
) -> CellRecord:
    """Everything known about a finished cell except its curve and its weights.

    The task's method has the run's hyperparameters. `loaded` has the positive labels of all parts.
    """
    entry, X = unit.entry, prepared.X
    plugins = (entry.algorithm, entry.features, *([entry.loss] if entry.loss else []))
    packages = provenance.packages_of(task.algorithm, [plugin.distribution for plugin in plugins])
    described = entry.describe()
    is_sparse = sparse.issparse(X)
    nonzeros = X.nnz / X.shape[0] if is_sparse else float(X.shape[1])
    return CellRecord(
        key=unit.key,
        **structs.asdict(described)
        | {"dataset": structs.replace(described.dataset, family=entry.dataset.family)},
        **structs.asdict(unit.seeds),
        data=DataRecord(
            sha256=unit.digests,
            train_rows=len(prepared.y),
            test_rows=len(prepared.y_test),
            features=int(X.shape[1]),
            train_positives=int(np.count_nonzero(prepared.y == 1)),
            test_positives=int(np.count_nonzero(prepared.y_test == 1)),
            positive=tuple(map(shown, loaded.positive)),
            negative=tuple(map(shown, loaded.negative)),
            row_factor=1.0 if prepared.rescaling is None else prepared.rescaling.factor,
            max_norm=prepared.max_norm,
            format="csr" if is_sparse else "dense",
            nonzeros_per_row=nonzeros,
            features_seconds=prepared.features_seconds,
            validation_rows=UNSET if task.validation is None else len(task.validation.y),
            **({} if prepared.repeats is None else prepared.repeats._asdict()),
        ),
        tuned=unit.tuned,
        result=_result(entry, task, prepared, outcome, nonzeros),
        class_of_model=class_of_model(task.algorithm, entry.features.instance),
        source=entry.source_digest,
        git_commit=provenance.git_commit(source_file(entry.algorithm.cls)),
        environment=structs.replace(
            provenance.environment(concurrency, command, packages),
            finished_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        ),
    )


def failure_record(unit: Unit, failure: Failure) -> FailureRecord:
    """The failure of a cell, with its limits."""
    limits = unit.entry.limits
    return FailureRecord(
        key=unit.key,
        **structs.asdict(unit.entry.describe()),
        **structs.asdict(unit.seeds),
        reason=failure.reason,
        message=failure.message,
        traceback=failure.traceback,
        limits=LimitsRecord(seconds=limits.seconds, memory=limits.memory),
        environment=provenance.environment(),
    )


def _result(entry: Entry, task: Task, prepared: Prepared, outcome: Outcome, nonzeros: float) -> ResultRecord:
    algorithm, facts = task.algorithm, MethodFacts(task.algorithm)
    diverged = outcome.stop_reason is StopReason.diverged
    per_iteration = 1e9 / max(1, outcome.iterations)
    # Rows passed to an iteration; rows in a method's buffer do not count.
    visited = task.rows_per_iteration * (2 if Access(algorithm.access) is Access.pairs else 1)
    # JAX chooses the number of threads unless the environment sets it.
    nproc = os.environ.get("PJRT_NPROC", "") if facts.threads == 0 and "jax" in facts.packages else ""
    weights, rescaling = outcome.weights, prepared.rescaling
    norm = None if weights is None else float(dnrm2(weights))  # squares do not overflow
    score = 0.0 if rescaling is None or weights is None else rescaling.raw(weights)[1]
    finals = {name: None if diverged else values[-1] for name, values in outcome.measures.items()}
    return ResultRecord(
        # A diverged model has no score, whatever its last finite checkpoint was.
        auc=None if diverged else float(outcome.auc[-1]),
        iterations=outcome.iterations,
        train_seconds=outcome.total_seconds,
        train_cpu_seconds=outcome.total_cpu_seconds,
        process_cpu_seconds=outcome.process_cpu_seconds,
        threads=int(nproc) if nproc.isdecimal() else facts.threads,
        device=entry.algorithm.device,
        ns_per_iteration=outcome.total_seconds * per_iteration,
        cpu_ns_per_iteration=outcome.total_cpu_seconds * per_iteration,
        nonzeros_per_iteration=nonzeros * visited,
        state_bytes=outcome.state_bytes,
        layout=outcome.layout,
        warm_up=outcome.warm_up or UNSET,
        weights_norm=norm if norm is None or math.isfinite(norm) else math.inf,
        score_at_zero=score if np.isfinite(score) else None,  # JSON has no NaN
        stop_reason=str(outcome.stop_reason),
        advice=_advice(entry, algorithm, prepared.max_norm) if diverged else None,
        converged=None if facts.done is None else outcome.stop_reason is StopReason.converged,
        checkpoints=len(outcome.iteration),
        measures={item.name: measure_record(item, finals[item.name]) for item in task.measures} or UNSET,
        placements=UNSET
        if outcome.placements is None
        else tuple(float(f"{value:.5g}") for value in outcome.placements),
    )


def _advice(entry: Entry, algorithm: Any, max_norm: float | None) -> str:
    """A sentence with the change to make after a divergence; `step_size` names the field to lower."""
    name = MethodFacts(algorithm).step_size
    if name is None and class_of_model(algorithm) is not ModelClass.linear:
        return "its scores are NaN or infinite"
    norms = "infinite norms" if max_norm is None else f"norms up to {max_norm:.3g}"
    lower = f"lower algo.{name}, now {getattr(algorithm, name):g}" if name else "take smaller steps"
    # If rows are already rescaled, only the step can be changed.
    return f"rows have {norms}; {lower}" + ("" if entry.settings.rescale else ", or set rescale=true")


def measure_record(measure: Measure, value: float | None) -> MeasureRecord:
    """The record of a measure; a value of None means a diverged run."""
    if value is None:
        return MeasureRecord(parameters=measure.parameters, value=None, reason=DIVERGED)
    return MeasureRecord(parameters=measure.parameters, value=float(value))


def missing_measures(record: CellRecord, measures: Sequence[Measure]) -> list[Measure]:
    """The measures that a finished cell lacks, or has with other parameters."""
    records = record.measures
    return [
        measure
        for measure in measures
        if measure.name not in records or records[measure.name].parameters != measure.parameters
    ]


def lacks_minimum(record: CellRecord, entry: Entry) -> bool:
    """Whether a finished cell has an objective but lacks the certified minimum that its entry requests.

    A search that reached its time limit is repeated under a larger limit.
    """
    objective = record.measures.get(TrainingObjective.name)
    limit = any(isinstance(measure, TrainingObjective) for measure in entry.measures) and entry.limits.optimum
    if objective is None or objective.value is None or not limit:
        return False
    return not objective.minimum or (
        objective.minimum.value is None and 0.0 < objective.minimum.seconds < entry.limits.optimum
    )


def can_be_scored(record: CellRecord, arrays: Collection[str], measures: Sequence[Measure]) -> bool:
    """Whether missing measures of a finished cell can be computed without training or losing a curve.

    Final weights cannot replace the curve of a measure with other parameters.
    """
    missing = missing_measures(record, measures)
    if "checkpoint_weights" in arrays or not missing:
        return True
    replaced = any(measure.name in record.measures for measure in missing)
    return not replaced and ("weights" in arrays or "scores" in arrays or record.diverged)


def compact(scores: NDArray[np.float64], y: NDArray[np.int8], auc: float) -> NDArray[np.floating[Any]]:
    """Scores in single precision, unless rounding overflows or its ties change the AUC."""
    with np.errstate(over="ignore"):
        short = scores.astype(np.float32)
    is_finite = np.array_equal(np.isfinite(short), np.isfinite(scores))
    return short if is_finite and abs(exact_auc(short, y) - auc) <= SAME else scores


def scored(
    cell: CellResult, X_test: Any, y_test: NDArray[np.int8], measures: Sequence[Measure]
) -> CellResult:
    """A cell with its missing measures, from its weights or scores and its prepared test rows.

    The curve of a measure covers what is stored: the weights of all checkpoints, or only the last weights or
    scores, with NaN before them. Raises a `DataError` if these do not reproduce the recorded AUC.
    """
    missing = missing_measures(cell.record, measures)
    points = len(cell.curve["auc"])
    curves = np.full((len(missing), points), np.nan)
    models, scorer = _models(cell), Scorer(X_test, y_test, missing)
    numbers = [scorer.add_weights(weights) for weights in models]
    if not models and cell.scores is not None:
        check_scores(cell, y_test)
        numbers = [scorer.add_scores(np.asarray(cell.scores, np.float64))]
    if numbers and points:
        values = np.array([scorer.values(number) for number in numbers])
        _check_auc(cell, "weights", values[-1, 0])
        curves[:, points - len(numbers) :] = values.T[1:]
    by_name = {measure.name: curve for measure, curve in zip(missing, curves, strict=True)}
    finals = {name: None if cell.diverged else float(curve[-1]) for name, curve in by_name.items()}
    records = {measure.name: measure_record(measure, finals[measure.name]) for measure in missing}
    return cell.with_measures(records, by_name)


def check_scores(cell: CellResult, y_test: NDArray[np.int8]) -> None:
    """Raise a `DataError` if the scores of a cell do not reproduce its AUC with these labels."""
    scores = cell.scores
    assert scores is not None
    is_usable = scores.shape == y_test.shape and not np.isnan(scores).any()
    _check_auc(cell, "scores", exact_auc(scores, y_test) if is_usable else np.nan)


def _check_auc(cell: CellResult, kind: str, auc: float) -> None:
    record, recorded = cell.record, cell.curve["auc"][-1]
    if not abs(auc - recorded) <= SAME:
        raise DataError(
            f"{record.algorithm.name} on {record.dataset.title} (seed {record.seed}): its stored {kind} have "
            f"AUC {auc:.6f} here, expected {recorded:.6f} as recorded; rows are prepared in another way by "
            "now, so run the cell again."
        )


def with_objective(cell: CellResult, algorithm: Any, problem: Problem) -> CellResult:
    """A cell with the objective of its method over all pairs of the training rows, at its weights.

    If the objective cannot be computed, the record has the reason: the method declares none or has no
    weights, its `objective` fails, or too many pairs are near kinks that the loss does not declare.
    """
    points, models, reason = len(cell.curve["auc"]), _models(cell), ""
    curve = np.full(points, np.nan)
    try:
        objective = declared_objective(algorithm, problem)
        with np.errstate(over="ignore", invalid="ignore"):
            values = [objective_value(objective, w, problem.X @ w, problem.y) for w in models]
        curve[points - len(models) :] = values
        reason = DIVERGED if cell.diverged else "" if models else "the method has no weights"
    except ParameterError as error:
        reason = str(error)
    except MemoryError:
        raise
    except Exception as error:  # the plugin failed: the result stays valid without this measure
        reason = f"`objective` of {algorithm.name} failed: {sentence_of(error)}"
    record = MeasureRecord(value=None if reason else float(curve[-1]), reason=reason)
    name = TrainingObjective.name
    return cell.with_measures({name: record}, {name: curve})


def _models(cell: CellResult) -> list[NDArray[np.float64]]:
    """The stored weights: at all checkpoints, or at the last one unless the run diverged later."""
    if cell.checkpoint_weights is not None:
        return list(cell.checkpoint_weights)
    return [] if cell.weights is None or cell.diverged else [cell.weights]
