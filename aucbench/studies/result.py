"""The results of a cell, an entry, a study and of `aucbench.run`, and what is said of them in words."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import AucbenchError, TrackingError
from aucbench.studies.plugin_metadata import completed
from aucbench.studies.record import CellRecord, CellStatus, FailureRecord, TuningRecord, to_dict

if TYPE_CHECKING:
    import pandas as pd

    from aucbench.studies.entry_and_keys import Entry

CURVE = ("iteration", "samples", "train_seconds", "auc")


@dataclass(frozen=True)
class CellResult:
    """A finished cell: its record, curve arrays and final weights."""

    record: CellRecord
    curve: dict[str, NDArray[Any]] = field(repr=False)
    weights: NDArray[np.float64] | None = field(repr=False)

    @property
    def auc(self) -> float:
        """Final test AUC, NaN for a run that diverged."""
        value = self.record.result.auc
        return float("nan") if value is None else value

    @property
    def diverged(self) -> bool:
        """Whether the weights, or the scores, stopped being finite."""
        return self.record.diverged


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
        """Everything known about the run, a plain dict as JSON has it; a list of them for several runs."""
        records = [to_dict(cell.record) for cell in self.cells]
        return records[0] if len(records) == 1 else records

    def __repr__(self) -> str:
        first = self.cells[0].record
        auc = diverged_in_words(self.cells) or f"AUC {self.auc:.4f}, runs {len(self.cells)}"
        return f"Result({first.algorithm.name} on {first.dataset.name}: {auc})"


@dataclass(frozen=True)
class FinishedEntry:
    """An entry of which nothing is left to be run."""

    key: str  # of the entry; followed by the number of its cells where it is not complete
    study: str | None  # name of the study it belongs to
    cells: tuple[CellResult, ...]  # the finished ones
    failures: tuple[FailureRecord, ...] = ()
    missing: int = 0  # cells that have not been run
    from_store: bool = False  # whether nothing was run
    entry: "Entry | None" = None  # None where it is known from a store alone

    @property
    def record(self) -> CellRecord:
        """The record of the first cell; what it says of method, data and setting holds for all."""
        return completed(self.cells[0].record)

    @property
    def title(self) -> str:
        """The data set, under which the runs of an experiment lie."""
        return self.cells[0].record.dataset.title


@dataclass(frozen=True)
class Refused:
    """An entry that cannot be run as it was asked for, or whose data cannot be had, and why."""

    entry: str
    error: AucbenchError

    @property
    def why(self) -> str:
        """The sentence."""
        return str(self.error)


@dataclass
class StudyResult:
    """The outcome of a study."""

    cells: int = 0
    stored: int = 0  # cells that the store had before
    finished: int = 0  # cells that were run
    failures: list[FailureRecord] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    unavailable: list[Refused] = field(default_factory=list)  # left out, as their data cannot be obtained
    left: list[tuple["Entry", int]] = field(default_factory=list)  # with cells that `stop_after` left out
    untracked: TrackingError | None = None  # why entries could not be sent to MLflow


def by_reason(refused: Iterable[Refused]) -> list[str]:
    """One sentence for each reason, with the entries that it is the reason for."""
    entries: dict[str, list[str]] = {}
    for each in refused:
        entries.setdefault(each.why, []).append(each.entry)
    return [
        f"{', '.join(names) if len(names) < 4 else f'{names[0]} and {len(names) - 1} other entries'}: {why}"
        for why, names in entries.items()
    ]


def failures_by_word(failures: Sequence[FailureRecord]) -> dict[str, int]:
    """How many cells without a result diverged, with every setting of their tuning, and how many failed."""
    diverged = sum(failure.reason is CellStatus.diverged for failure in failures)
    return {"diverged": diverged, "failed": len(failures) - diverged}


def diverged_in_words(cells: Sequence[CellResult]) -> str:
    """In how many runs a method diverged, and where first; empty where it diverged in none."""
    found = [cell.record.result.iterations for cell in cells if cell.diverged]
    if not found:
        return ""
    if len(cells) == 1:
        return f"diverged at iteration {found[0]:,}"
    return f"diverged in {len(found)} of {len(cells)} runs (first at iteration {min(found):,})"


def chosen_in_words(records: Iterable[CellRecord]) -> str:
    """The settings chosen in some runs, the most frequent first; how often each, where they differ."""
    counts = Counter(_setting(record.tuned.parameters) for record in records if record.tuned)
    if len(counts) < 2:
        return "".join(counts)
    return "; ".join(f"{setting} ({count})" for setting, count in counts.most_common())


def edges_in_words(records: Iterable[CellRecord]) -> list[tuple[str, str]]:
    """Methods, and sentences that say which of their fields were chosen on an edge of the values tried."""
    found: dict[str, Counter[tuple[str, str]]] = {}
    runs: Counter[str] = Counter()
    advice = {}
    for record in records:
        if record.tuned:
            name = record.algorithm.name
            runs[name] += 1
            advice[name] = _advice(record.tuning)
            found.setdefault(name, Counter()).update((record.tuned.edges or {}).items())
    sentences = []
    for name, counts in found.items():
        for (field_name, side), count in counts.most_common():
            often = "" if runs[name] == 1 else f" in {count} of {runs[name]} runs"
            sentences.append((name, f"{field_name} at the {side} edge of its grid{often}: {advice[name]}"))
    return sentences


def _advice(tuning: TuningRecord) -> str:
    if tuning.name != "grid":
        return "a wider tuning.grid goes on beyond it"
    if tuning.parameters.get("extend"):
        return "tuning.extend=true ended there"
    return "tuning.extend=true goes on beyond it"


def _setting(parameters: Mapping[str, Any]) -> str:
    return " ".join(
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in parameters.items()
    )


def mean_curve(curves: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Checkpoint by checkpoint mean of several curves, as far as all of them reach, and the AUC's std."""
    length = min(len(curve["iteration"]) for curve in curves)
    mean = {name: np.mean([c[name][:length] for c in curves], axis=0) for name in curves[0]}
    for name in ("iteration", "samples"):
        mean[name] = np.rint(mean[name]).astype(np.int64)
    aucs = np.array([curve["auc"][:length] for curve in curves])
    mean["auc_std"] = np.std(aucs, axis=0, ddof=1) if len(curves) > 1 else np.zeros(length)
    return mean
