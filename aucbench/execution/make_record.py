"""The records of cells, finished or failed, from what a worker or the scheduler knows of them."""

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
from msgspec import UNSET, structs
from scipy import sparse

from aucbench.contracts import Access, MethodFacts
from aucbench.contracts.source_location import source_file
from aucbench.data.labels import shown
from aucbench.data.loader import Loaded
from aucbench.data.preprocess import Prepared
from aucbench.execution.calibration import calibration
from aucbench.execution.stored_models import measure_record
from aucbench.execution.work_units import CellUnit
from aucbench.runner.task import Outcome, StopReason, Task, rows_per_iteration
from aucbench.studies import provenance
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import CellRecord, DataRecord, Failure, FailureRecord, LimitsRecord, ResultRecord


def cell_record(
    unit: CellUnit,
    loaded: Loaded,
    prepared: Prepared,
    task: Task,
    outcome: Outcome,
    concurrency: int,
    command: str | None,
) -> CellRecord:
    """Everything known about a finished cell but its curve and its weights.

    The task has the method with the hyperparameters of the run. All parts of the data set agree with the
    `loaded` one on which labels are positive.
    """
    entry = unit.entry
    environment = structs.replace(
        provenance.environment(concurrency, command),
        finished_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        calibration=calibration() or UNSET,
    )
    return CellRecord(
        key=unit.key,
        **structs.asdict(entry.describe()),
        **structs.asdict(unit.seeds),
        data=_data(prepared, unit.digests, loaded),
        tuned=unit.tuned,
        result=_result(entry, task, prepared, outcome),
        source=entry.source_digest,
        git_commit=provenance.git_commit(source_file(entry.algorithm.cls)),
        environment=environment,
    )


def failure_record(unit: CellUnit, failure: Failure) -> FailureRecord:
    """How a cell failed, and under which limits."""
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


def _data(prepared: Prepared, digests: tuple[str, ...], loaded: Loaded) -> DataRecord:
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
        nonzeros_per_row=_nonzeros(prepared),
        features_seconds=prepared.features_seconds,
    )


def _result(entry: Entry, task: Task, prepared: Prepared, outcome: Outcome) -> ResultRecord:
    algorithm = task.algorithm
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
        nonzeros_per_iteration=_nonzeros(prepared) * _visited(algorithm, len(prepared.y)),
        state_bytes=outcome.state_bytes,
        layout=outcome.layout,
        weights_norm=None if weights is None else _norm(weights),
        score_at_zero=_finite(0.0 if rescaling is None or weights is None else rescaling.raw(weights)[1]),
        stop_reason=str(outcome.stop_reason),
        advice=_advice(entry, algorithm, prepared.max_norm) if diverged else None,
        converged=None
        if MethodFacts(algorithm).done is None
        else outcome.stop_reason is StopReason.converged,
        checkpoints=len(outcome.iteration),
        measures={
            measure.name: measure_record(measure, None if diverged else outcome.measures[measure.name][-1])
            for measure in task.measures
        }
        or UNSET,
    )


def _nonzeros(prepared: Prepared) -> float:
    """Mean number of non-zeros of a training row; of dense rows all count."""
    X = prepared.X
    return X.nnz / X.shape[0] if sparse.issparse(X) else float(X.shape[1])


def _visited(algorithm: Any, rows: int) -> int:
    """Rows that an iteration is given; those that a method remembers, in a buffer, do not count."""
    return rows_per_iteration(algorithm, rows) * (2 if Access(algorithm.access) is Access.pairs else 1)


def _advice(entry: Entry, algorithm: Any, max_norm: float | None) -> str:
    """What to change where a method diverges, in a sentence; its `step_size` names the field to lower."""
    rows = "mapped rows have" if entry.features.name != "identity" else "rows have"
    known = f"{rows} norms up to {max_norm:.3g}; " if max_norm is not None else f"{rows} infinite norms; "
    name = MethodFacts(algorithm).step_size
    if name is None:
        smaller = "take smaller steps"
    else:
        value = getattr(algorithm, name)
        smaller = f"lower algo.{name}, now {f'{value:g}' if isinstance(value, float) else value}"
    # Where rows are rescaled already, only the step is left to be changed.
    return known + smaller + ("" if entry.settings.rescale else ", or set rescale=true and leave it out")


def _norm(weights: np.ndarray) -> float:
    """Of weights whose squares may overflow; inf of those that are not finite themselves."""
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(np.linalg.norm(weights))
        if norm == math.inf:
            largest = float(np.abs(weights).max())
            norm = largest * float(np.linalg.norm(weights / largest))
    return norm if norm < math.inf else math.inf


def _finite(value: float) -> float | None:
    """The value, None where JSON has no number for it."""
    return value if np.isfinite(value) else None
