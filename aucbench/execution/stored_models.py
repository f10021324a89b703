"""Measures from the weights of a cell: of test rows without training it again, and the training objective."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from aucbench.contracts import Problem
from aucbench.errors import DataError, ParameterError
from aucbench.evaluation.measures import Measure, TrainingObjective
from aucbench.evaluation.pair_objective import declared_objective, objective_value
from aucbench.runner.scorer import Scorer
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import CellRecord, MeasureRecord, MinimumRecord
from aucbench.studies.result import CellResult

SAME = 1e-6  # that an AUC may differ by which another machine computes from the same weights
DIVERGED = "the run diverged"


def measure_record(measure: Measure, value: float | None) -> MeasureRecord:
    """The record of a measure; without a value, of a run that diverged."""
    if value is None:
        return MeasureRecord(parameters=measure.parameters, value=None, reason=DIVERGED)
    return MeasureRecord(parameters=measure.parameters, value=float(value))


def lacking(record: CellRecord, measures: Sequence[Measure]) -> list[Measure]:
    """Those of some measures that a finished cell does not have, or has with other parameters."""
    known = record.measures
    return [
        measure
        for measure in measures
        if measure.name not in known or known[measure.name].parameters != measure.parameters
    ]


def lacks_weights(record: CellRecord, arrays: Collection[str]) -> bool:
    """Whether a finished cell, of which the store has those arrays, was to keep its final weights alone."""
    every = "checkpoint_weights" in arrays or record.result.checkpoints == 0
    return "weights" in arrays and not every


def lacks_minimum(record: CellRecord, entry: Entry) -> bool:
    """Whether a finished cell has an objective without the certified minimum that its entry asks for.

    One that was given up because of its time limit is looked for again with a larger one.
    """
    own = record.measures.get(TrainingObjective.name)
    asked = any(isinstance(measure, TrainingObjective) for measure in entry.measures) and entry.limits.optimum
    if own is None or own.value is None or not asked:
        return False
    return not own.minimum or (own.minimum.value is None and 0.0 < own.minimum.seconds < entry.limits.optimum)


def can_be_scored(record: CellRecord, arrays: Collection[str], measures: Sequence[Measure]) -> bool:
    """Whether the measures that a finished cell lacks can be computed without training or losing a curve.

    Final weights do not give the curve again that a measure has with other parameters.
    """
    new = lacking(record, measures)
    if "checkpoint_weights" in arrays or not new:
        return True
    replaced = any(measure.name in record.measures for measure in new)
    return not replaced and ("weights" in arrays or record.diverged)


def scored(
    cell: CellResult, X_test: Any, y_test: NDArray[np.int8], measures: Sequence[Measure]
) -> CellResult:
    """A cell with the measures that it lacked, from its weights and its test rows as they were prepared.

    The curve of a measure is that of the weights kept: all of it, or its end, with NaN before. Weights whose
    AUC on these rows is not the one recorded are a `DataError`.
    """
    record, new = cell.record, lacking(cell.record, measures)
    points = len(cell.curve["auc"])
    curves = np.full((len(new), points), np.nan)
    models = _models(cell)
    if models and points:
        scorer = Scorer(X_test, y_test, new)
        values = np.array([scorer.values(number) for number in map(scorer.add_weights, models)])
        if not abs(values[-1, 0] - cell.curve["auc"][-1]) <= SAME:
            raise DataError(
                f"{record.algorithm.name} on {record.dataset.title} (seed {record.seed}): the stored weights "
                f"have the AUC {values[-1, 0]:.6f} on these test rows, expected {cell.curve['auc'][-1]:.6f} "
                f"as recorded; rows are prepared in another way by now, so run the cell again."
            )
        curves[:, points - len(models) :] = values.T[1:]
    found = {
        measure.name: measure_record(measure, None if cell.diverged else float(own[-1]))
        for measure, own in zip(new, curves, strict=True)
    }
    return cell.with_measures(found, {measure.name: own for measure, own in zip(new, curves, strict=True)})


def with_objective(cell: CellResult, algorithm: Any, problem: Problem) -> CellResult:
    """A cell with the objective of its method over all pairs of the training rows, at its weights.

    Where there is none to compute the record says why: the method declares none, has no weights, or the
    loss has no structure and there are too many pairs.
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
    own = MeasureRecord(value=None if reason else float(curve[-1]), reason=reason)
    name = TrainingObjective.name
    return cell.with_measures({name: own}, {name: curve})


def with_minimum(cell: CellResult, found: MinimumRecord) -> CellResult:
    """A cell with the certified minimum of its objective."""
    own = structs.replace(cell.record.measures[TrainingObjective.name], minimum=found)
    return cell.with_measures({TrainingObjective.name: own})


def _models(cell: CellResult) -> list[NDArray[np.float64]]:
    """The weights that there are: of all checkpoints, or of the last one unless the run diverged after it."""
    if cell.checkpoint_weights is not None:
        return list(cell.checkpoint_weights)
    return [] if cell.weights is None or cell.diverged else [cell.weights]
