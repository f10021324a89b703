"""What is recorded of a cell: the rows, the training, or how it failed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench import provenance
from aucbench.data.labels import shown
from aucbench.data.loader import Loaded
from aucbench.data.preprocess import Prepared, Rescaling
from aucbench.entry import Entry
from aucbench.runner.task import Outcome, StopReason
from aucbench.studies.units import CellUnit, Failure, FailureReason


def facts_of(prepared: Prepared, digests: tuple[str, ...], loaded: Loaded) -> dict[str, Any]:
    """What a record says of the rows, ready for JSON.

    Parameters
    ----------
    prepared : Prepared
        The rows that the method was given.
    digests : tuple of str
        Of the parts of the data set.
    loaded : Loaded
        A part of the data set; all of them agree which labels are positive.
    """
    X = prepared.X
    return {
        "sha256": list(digests),
        "train_rows": len(prepared.y),
        "test_rows": len(prepared.y_test),
        "features": int(X.shape[1]),
        "train_positives": int(np.count_nonzero(prepared.y == 1)),
        "test_positives": int(np.count_nonzero(prepared.y_test == 1)),
        "positive": [shown(label) for label in loaded.positive],
        "negative": [shown(label) for label in loaded.negative],
        "row_factor": 1.0 if prepared.rescaling is None else prepared.rescaling.factor,
        "max_norm": prepared.max_norm,
        "format": "csr" if sparse.issparse(X) else "dense",
        "nonzeros_per_row": X.nnz / len(prepared.y) if sparse.issparse(X) else float(X.shape[1]),
        "features_seconds": prepared.features_seconds,
    }


def measured(
    outcome: Outcome,
    advice: str | None = None,
    rescaling: Rescaling | None = None,
    converged: bool | None = None,
) -> dict[str, Any]:
    """What a record says of a training, ready for JSON.

    Parameters
    ----------
    outcome : Outcome
        Of the training.
    advice : str, optional
        What to change if it diverged.
    converged : bool, optional
        Whether a method that knows when it has converged had; None for other methods.
    rescaling : Rescaling, optional
        Of its rows; gives the score of a row that was zero before it, ``score_at_zero``.
    """
    diverged = outcome.stop_reason is StopReason.diverged
    per_iteration = 1e9 / max(1, outcome.iterations)
    return {
        # A diverged model has no score, whatever its last finite checkpoint was.
        "auc": None if diverged else float(outcome.auc[-1]),
        "iterations": outcome.iterations,
        "train_seconds": outcome.total_seconds,
        "train_cpu_seconds": outcome.total_cpu_seconds,
        "ns_per_iteration": outcome.total_seconds * per_iteration,
        "cpu_ns_per_iteration": outcome.total_cpu_seconds * per_iteration,
        "state_bytes": outcome.state_bytes,
        "layout": outcome.layout,
        "weights_norm": _norm(outcome.weights),
        "score_at_zero": _finite(
            0.0 if rescaling is None or outcome.weights is None else rescaling.raw(outcome.weights)[1]
        ),
        "stop_reason": str(outcome.stop_reason),
        "advice": advice if diverged else None,
        "converged": converged,
        "checkpoints": len(outcome.iteration),
    }


def advice(entry: Entry, algorithm: Any, max_norm: float | None) -> str:
    """What to change where a method diverges, in a sentence.

    Parameters
    ----------
    entry : Entry
        Says how rows were scaled and mapped.
    algorithm : Algorithm
        With the hyper-parameters of the run; its `step_size` names the field to lower.
    max_norm : float or None
        The largest norm of a row that it was given, if that is a number.
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
    """l2 norm, None when it is not a number that JSON knows."""
    if weights is None:
        return None
    with np.errstate(over="ignore"):
        return _finite(float(np.linalg.norm(weights)))


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def describe_failure(entry: Entry, unit: CellUnit, failure: Failure) -> dict[str, Any]:
    """What the store keeps of a cell that failed, ready for JSON."""
    return (
        entry.describe()
        | unit.seeds._asdict()
        | {
            "reason": str(failure.reason),
            "message": failure.message,
            "traceback": failure.traceback,
            "limits": {"seconds": entry.limits.seconds, "memory": entry.limits.memory},
            "environment": provenance.environment(),
        }
    )


def failures_by_word(failures: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many cells without a result diverged, with every setting of their tuning, and how many failed."""
    diverged = sum(failure["reason"] == FailureReason.diverged for failure in failures)
    return {"diverged": diverged, "failed": len(failures) - diverged}
