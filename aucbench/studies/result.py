"""The results of a cell, an entry, a study and `aucbench.run`, and their descriptions in words."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from aucbench.errors import AucbenchError, TrackingError
from aucbench.evaluation.measures import RECORDED, Measure, TrainingObjective, restored
from aucbench.studies.codec import to_dict
from aucbench.studies.plugin_metadata import completed
from aucbench.studies.record import (
    CellRecord,
    CellStatus,
    FailureRecord,
    MeasureRecord,
    MinimumRecord,
    RulesetRecord,
    Seeds,
)

if TYPE_CHECKING:
    import pandas as pd

    from aucbench.studies.entry_and_keys import Entry

CURVE = ("iteration", "samples", "train_seconds", "auc")
SUBOPTIMALITY = "suboptimality"
TURNED_OFF = "no certified minimum was asked for (limits.optimum=0)"
SMALLEST = 1e-12  # least scale of a relative suboptimality
ROUNDING = 1e-15  # rounding error of an objective
# Arrays of a curve that are not measures.
COSTS = ("iteration", "samples", "passes", "train_seconds", "cpu_seconds")

T = TypeVar("T", bound=Any)  # a finished cell


@dataclass(frozen=True)
class CellResult:
    """A finished cell: its record, curve arrays, and weights or scores."""

    record: CellRecord
    # One value per checkpoint: costs, the AUC, and other measures by name; NaN if unknown.
    curve: dict[str, NDArray[Any]] = field(repr=False)
    weights: NDArray[np.float64] | None = field(repr=False)  # (d,) at the end, of a linear method
    checkpoint_weights: NDArray[np.float64] | None = field(default=None, repr=False)  # (checkpoints, d), kept
    # (n_test,) at the end, stored for a method that is not linear; float32 unless that changes the AUC
    scores: NDArray[np.floating[Any]] | None = field(default=None, repr=False)
    model: bytes | None = field(default=None, repr=False)  # final model as bytes, if the method provides it

    @property
    def auc(self) -> float:
        """Final test AUC, NaN for a run that diverged."""
        value = self.record.result.auc
        return math.nan if value is None else value

    @property
    def diverged(self) -> bool:
        """Whether the weights, or the scores, stopped being finite."""
        return self.record.diverged

    def with_measures(
        self, found: Mapping[str, MeasureRecord], curves: Mapping[str, NDArray[Any]] | None = None
    ) -> "CellResult":
        """The cell with more measures, and their curves."""
        result = structs.replace(self.record.result, measures=self.record.measures | dict(found))
        record = structs.replace(self.record, result=result)
        return replace(self, record=record, curve=self.curve | dict(curves or {}))


def takes_all_rows(record: CellRecord, curve: Mapping[str, NDArray[Any]]) -> bool:
    """Whether an iteration of a cell goes through all training rows, as a Newton step does."""
    steps = curve["iteration"]
    return bool(len(steps)) and bool(0 < steps[-1] * record.data.train_rows <= curve["samples"][-1])


class OptimumRecord(MinimumRecord, frozen=True, kw_only=True):
    """A certified minimum on the training rows of a split, and the AUC of its weights."""

    value: float
    relative_gap: float
    train_rows: int
    train_auc: float
    test_auc: float
    seeds: Seeds  # seeds of the split


@dataclass(frozen=True, eq=False)
class OptimumResult:
    """A certified minimum: its record, and its weights."""

    record: OptimumRecord
    weights: NDArray[np.float64]  # (d,)


@dataclass(frozen=True)
class Result:
    """The result of `aucbench.run`.

    Attributes
    ----------
    cells : tuple of CellResult
        One per run.
    scores_of, labels_of : callable
        Map a cell to the scores and labels of its test rows, which are available where the cell was run.

    Examples
    --------
    The AUC of a mean of two methods' ranks, without training anything again:

    >>> import aucbench
    >>> from aucbench.evaluation import exact_auc
    >>> from scipy.stats import rankdata
    >>> one, two = (aucbench.run(f"algo={name}", "dataset=wine") for name in ("ls_svm", "log_reg"))
    >>> both = rankdata(one.scores) + rankdata(two.scores)
    >>> exact_auc(both, one.y_test) > 0.9
    True
    """

    cells: tuple[CellResult, ...]
    scores_of: Callable[[CellResult], Any] = field(default=attrgetter("scores"), repr=False)
    labels_of: Callable[[CellResult], Any] = field(default=lambda cell: None, repr=False)

    @property
    def auc(self) -> float:
        """Final test AUC, the mean over the runs; NaN if a run diverged."""
        return float(np.mean([cell.auc for cell in self.cells]))

    @property
    def measures(self) -> dict[str, float]:
        """The AUC and the other measures by name, means over the runs; NaN if a run lacks the value."""
        records = [cell.record for cell in self.cells]
        means = {measure.name: float(np.mean(values_of(records, measure))) for measure in common(records)}
        return {"auc": self.auc} | means

    @property
    def curve(self) -> "pd.DataFrame":
        """One row per checkpoint, means over the runs: iteration, samples, train_seconds, measures."""
        import pandas as pd

        cells = with_whole_curves(self.cells)
        mean = mean_curve([with_suboptimality(cell.record, cell.curve) for cell in cells])
        names = dict.fromkeys((*CURVE, *self.measures, SUBOPTIMALITY))
        return pd.DataFrame(mean)[[name for name in names if name in mean]]

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """(d,) final weights of a linear method, (runs, d) for several runs, None for other methods."""
        arrays = [cell.weights for cell in self.cells if cell.weights is not None]
        return None if len(arrays) < len(self.cells) else arrays[0] if len(arrays) == 1 else np.stack(arrays)

    @property
    def scores(self) -> Any:
        """(n_test,) final scores of the test rows; a list of arrays for several runs.

        None for a run that diverged, or whose cell has neither scores (``store.scores=false``) nor weights.
        Scores of a linear method are computed from its weights.
        """
        return _one_or_all([self.scores_of(cell) for cell in self.cells])

    @property
    def y_test(self) -> Any:
        """(n_test,) labels -1 and 1 of the test rows, in the order of the scores; a list for several runs."""
        return _one_or_all([self.labels_of(cell) for cell in self.cells])

    @property
    def model(self) -> Any:
        """The model as bytes, if the method provides it, else None; a list for several runs."""
        return _one_or_all([cell.model for cell in self.cells])

    @property
    def record(self) -> Any:
        """Everything known about the run, as a dict of JSON values; a list of dicts for several runs."""
        return _one_or_all([to_dict(cell.record) for cell in self.cells])

    def __repr__(self) -> str:
        first = self.cells[0].record
        auc = diverged_in_words(self.cells) or f"AUC {self.auc:.4f}, runs {len(self.cells)}"
        return f"Result({first.algorithm.name} on {first.dataset.name}: {auc})"


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


@dataclass(frozen=True)
class FinishedEntry:
    """An entry without remaining work."""

    key: str  # key of the entry, followed by the number of cells if incomplete
    study: str | None  # name of the study
    cells: tuple[CellResult, ...]  # finished cells
    failures: tuple[FailureRecord, ...] = ()
    missing: int = 0  # cells that have not been run
    from_store: bool = False  # nothing was run
    entry: "Entry | None" = None  # None if known only from a store
    ruleset: RulesetRecord | None = None  # ruleset under which the entry was run

    @property
    def record(self) -> CellRecord:
        """The record of the first cell; its method, data and settings are the same for all cells."""
        return completed(self.cells[0].record)

    @property
    def title(self) -> str:
        """The title of the data set, which names the MLflow experiment."""
        return self.cells[0].record.dataset.title


@dataclass(frozen=True)
class Refused:
    """An entry that cannot be run as requested or lacks its data, and the reason."""

    entry: str
    error: AucbenchError

    @property
    def why(self) -> str:
        """The reason as a sentence."""
        return str(self.error)


@dataclass
class StudyResult:
    """The outcome of a study."""

    cells: int = 0
    stored: int = 0  # cells that the store had before
    finished: int = 0  # cells that were run
    failures: list[FailureRecord] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    unavailable: list[Refused] = field(default_factory=list)  # entries whose data cannot be obtained
    left: list[tuple["Entry", int]] = field(default_factory=list)  # entries whose cells `stop_after` left out
    untracked: TrackingError | None = None  # error that kept entries from MLflow
    page: Path | None = None  # page of the leaderboard; None without a store


def by_reason(refused: Iterable[Refused]) -> list[str]:
    """One sentence for each reason, with the entries."""
    entries: dict[str, list[str]] = {}
    for refusal in refused:
        entries.setdefault(refusal.why, []).append(refusal.entry)
    return [
        f"{', '.join(names) if len(names) < 4 else f'{names[0]} and {len(names) - 1} other entries'}: {cause}"
        for cause, names in entries.items()
    ]


def failures_by_word(failures: Sequence[FailureRecord]) -> dict[str, int]:
    """Numbers of cells that diverged, with every setting of their tuning, and of other failures."""
    diverged = sum(failure.reason is CellStatus.diverged for failure in failures)
    return {"diverged": diverged, "failed": len(failures) - diverged}


def diverged_in_words(cells: Sequence[CellResult]) -> str:
    """The number of diverged runs and the earliest iteration, in words; empty if no run diverged."""
    iterations = [cell.record.result.iterations for cell in cells if cell.diverged]
    if not iterations:
        return ""
    if len(cells) == 1:
        return f"diverged within {iterations[0]:,} iterations"
    return f"diverged in {len(iterations)} of {len(cells)} runs (within {min(iterations):,} iterations)"


def mean_in_words(values: Sequence[float], spec: str = ".4f") -> str:
    """The mean of a measure over runs, and the standard deviation of several runs."""
    spread = f" ± {np.std(values, ddof=1):{spec}} over {len(values)} runs" if len(values) > 1 else ""
    return f"{np.mean(values):{spec}}{spread}"


def objective_in_words(cells: Sequence[CellResult]) -> dict[str, str]:
    """The training objective and its certified minimum, or why they are not known; empty if not requested."""
    measured = [cell for cell in cells if TrainingObjective.name in cell.record.measures]
    if not measured:
        return {}
    records = [cell.record.measures[TrainingObjective.name] for cell in measured]
    values = [item.value for item in records if item.value is not None]
    if len(values) < len(records):
        return {"objective": f"not known: {next(item.reason for item in records if item.value is None)}"}
    texts = {"objective": "overflows" if any(map(math.isinf, values)) else mean_in_words(values, ".6g")}
    minima = [item.minimum or MinimumRecord(reason=TURNED_OFF) for item in records]
    least = [item.value for item in minima if item.value is not None]
    if len(least) < len(minima):
        return texts | {"minimum": f"not known: {next(item.reason for item in minima if item.value is None)}"}
    ratios = [with_suboptimality(cell.record, cell.curve)[SUBOPTIMALITY][-1] for cell in measured]
    certified = f"{np.mean(least):.6g}, certified to {max(item.gap for item in minima):.0e}"
    return texts | {"minimum": f"{certified}; relative suboptimality {np.mean(ratios):.1e}"}


def chosen_in_words(records: Iterable[CellRecord]) -> str:
    """The settings chosen in some runs, the most frequent first, with counts if the settings differ."""
    counts = Counter(_setting(record.tuned.parameters) for record in records if record.tuned)
    if len(counts) < 2:
        return "".join(counts)
    return "; ".join(f"{setting} ({count})" for setting, count in counts.most_common())


def edges_in_words(records: Iterable[CellRecord]) -> list[tuple[str, str]]:
    """Methods, and sentences on their fields whose chosen value is at an edge of the tried values."""
    tuned = [(record.algorithm.name, record.tuned.edges) for record in records if record.tuned]
    runs = Counter(name for name, _ in tuned)
    counts = Counter((name, *edge) for name, edges in tuned for edge in (edges or {}).items())
    return [
        (
            name,
            f"{chosen} at the {side} edge of its grid"
            f"{f' in {count} of {runs[name]} runs' if runs[name] > 1 else ''}: "
            "a wider tuning.grid goes on beyond it",
        )
        for (name, chosen, side), count in counts.most_common()
    ]


def _setting(parameters: Mapping[str, Any]) -> str:
    texts = {key: f"{value:g}" if isinstance(value, float) else value for key, value in parameters.items()}
    return " ".join(f"{key}={value}" for key, value in texts.items())


def with_suboptimality(record: CellRecord, curve: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The curve of a cell, with the relative suboptimality if the minimum of its objective is certified.

    It is (F(w) - F*) / max(F*, F(0) / 1000). A difference below the gap of the certificate is not known, and
    counts as the gap.
    """
    goal = record.measures.get(TrainingObjective.name)
    if not goal or not goal.minimum or goal.minimum.value is None or TrainingObjective.name not in curve:
        return curve
    minimum, size = goal.minimum.value, max(goal.minimum.size, goal.minimum.value, SMALLEST)
    least = max(goal.minimum.gap, ROUNDING * size)
    return curve | {SUBOPTIMALITY: np.maximum(curve[TrainingObjective.name] - minimum, least) / size}


def with_whole_curves(cells: Sequence[T]) -> Sequence[T]:
    """The cells with a whole curve, or else all cells: compact archives cut the curves of later runs."""
    return [cell for cell in cells if len(cell.curve["iteration"]) >= cell.record.result.checkpoints] or cells


def mean_curve(curves: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Mean of several curves at each checkpoint, up to the end of the shortest curve, and std of measures.

    Measures that a curve lacks are left out.
    """
    length = min(len(curve["iteration"]) for curve in curves)
    names = [name for name in curves[0] if all(name in curve for curve in curves)]
    stacks = {name: np.array([curve[name][:length] for curve in curves]) for name in names}
    with np.errstate(over="ignore", invalid="ignore"):  # objectives may be infinite, or nearly
        mean = {name: np.mean(values, axis=0) for name, values in stacks.items()}
        for name in names:
            if name not in COSTS:
                std = np.std(stacks[name], axis=0, ddof=1) if len(curves) > 1 else np.zeros(length)
                mean[f"{name}_std"] = std
    return mean | {name: np.rint(mean[name]).astype(np.int64) for name in ("iteration", "samples")}


def common(records: Sequence[CellRecord]) -> tuple[Measure, ...]:
    """The measures beside the AUC that all cells have, with equal parameters."""
    first, *others = (record.measures for record in records)
    return tuple(
        restored(name, measure.parameters)
        for name, measure in first.items()
        if name in RECORDED and all(name in o and o[name].parameters == measure.parameters for o in others)
    )


def values_of(records: Sequence[CellRecord], measure: Measure) -> list[float]:
    """The final values of a measure beside the AUC, which all cells have; NaN for an undefined value."""
    values = [record.measures[measure.name].value for record in records]
    return [math.nan if value is None else value for value in values]
