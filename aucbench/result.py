"""The result of a run as Python callers get it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

CURVE = ("iteration", "samples", "train_seconds", "auc")


@dataclass(frozen=True)
class CellResult:
    """A finished cell: its record (ready for JSON), curve arrays and final weights."""

    record: dict[str, Any]
    curve: dict[str, NDArray[Any]] = field(repr=False)
    weights: NDArray[np.float64] | None = field(repr=False)

    @property
    def outcome(self) -> dict[str, Any]:
        """The measured part of the record."""
        result: dict[str, Any] = self.record["result"]
        return result

    @property
    def auc(self) -> float:
        """Final test AUC, NaN for a run that diverged."""
        value = self.outcome["auc"]
        return float("nan") if value is None else float(value)

    @property
    def diverged(self) -> bool:
        """Whether the weights, or the scores, stopped being finite."""
        return bool(self.outcome["stop_reason"] == "diverged")


@dataclass(frozen=True)
class Result:
    """The result of `aucbench.run`.

    Attributes
    ----------
    cells : tuple of CellResult
        One per run.
    """

    cells: tuple[CellResult, ...]

    @property
    def auc(self) -> float:
        """Final test AUC, the mean over the runs; NaN when one of them diverged."""
        return float(np.mean([cell.auc for cell in self.cells]))

    @property
    def curve(self) -> "pd.DataFrame":
        """One row a checkpoint: iteration, samples, train_seconds, auc; averaged over the runs."""
        import pandas as pd

        return pd.DataFrame(mean_curve([cell.curve for cell in self.cells]))[list(CURVE)]

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """(d,) final weights of a linear method, (runs, d) for several runs, None for other methods."""
        found = [cell.weights for cell in self.cells if cell.weights is not None]
        if len(found) < len(self.cells):
            return None
        return found[0] if len(found) == 1 else np.stack(found)

    @property
    def record(self) -> Any:
        """Everything known about the run, a dict ready for JSON; a list of them for several runs."""
        records = [cell.record for cell in self.cells]
        return records[0] if len(records) == 1 else records

    def __repr__(self) -> str:
        first = self.cells[0].record
        auc = diverged_in_words(self.cells) or f"AUC {self.auc:.4f}, runs {len(self.cells)}"
        return f"Result({first['algorithm']['name']} on {first['dataset']['name']}: {auc})"


def diverged_in_words(cells: Sequence[CellResult]) -> str:
    """In how many runs a method diverged, and where first; empty where it diverged in none."""
    found = [cell.outcome["iterations"] for cell in cells if cell.diverged]
    if not found:
        return ""
    if len(cells) == 1:
        return f"diverged at iteration {found[0]:,}"
    return f"diverged in {len(found)} of {len(cells)} runs (first at iteration {min(found):,})"


def mean_curve(curves: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Checkpoint by checkpoint mean of several curves, as far as all of them reach, and the AUC's std."""
    length = min(len(curve["iteration"]) for curve in curves)
    mean = {name: np.mean([c[name][:length] for c in curves], axis=0) for name in curves[0]}
    for name in ("iteration", "samples"):
        mean[name] = np.rint(mean[name]).astype(np.int64)
    aucs = np.array([curve["auc"][:length] for curve in curves])
    mean["auc_std"] = np.std(aucs, axis=0, ddof=1) if len(curves) > 1 else np.zeros(length)
    return mean
