"""What a leaderboard says, before it takes a form: boards, rows, comparisons. Every view is made from it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Interval:
    """A value with a confidence interval; NaN where it is not known."""

    value: float
    low: float = float("nan")
    high: float = float("nan")


@dataclass(frozen=True)
class Curve:
    """Mean test AUC of a method on a board at common checkpoints, over the runs that reached them.

    Parameters
    ----------
    samples, seconds, auc, low, high : (k,) ndarray
        Mean samples seen and training seconds; mean AUC and the band around it.
    """

    samples: NDArray[np.float64]
    seconds: NDArray[np.float64]
    auc: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True)
class Look:
    """How a method is drawn: its colour as ``#rrggbb``, and the names of a marker and of dashes."""

    colour: str
    marker: str
    dashes: str


@dataclass(frozen=True)
class Row:
    """One method on one board.

    Parameters
    ----------
    method : str
        Label, unique on the board.
    algorithm : str
        Name of the plugin, which gives the colour.
    rank : float
        By mean test AUC, 1 is best, ties share the mean; NaN with a gap.
    auc : Interval
        Mean over the runs and its confidence interval.
    std : float
        Over the runs.
    runs, diverged, failed, missing : int
        Numbers of cells.
    groups : str
        Letters; methods that share one do not differ significantly.
    wins, ties, losses : int
        Against the other methods of the board, by the paired t-test.
    train_seconds, ns_per_iteration, state_bytes, tuning_seconds, tuning_passes : float
        Means over the finished runs.
    timing_mark : str
        Empty, or why its times are not comparable with the others'.
    target_seconds, target_samples, target_share : float
        Medians to the target AUC, and the share of runs that reached it.
    anytime_samples, anytime_seconds : float
        Area under the AUC curve against log samples and log seconds, from 0 to 1.
    parameters, command : str
        What belongs to the method, and the words that run the entry again.
    curve : Curve or None
    aucs : tuple of float
        Final test AUC of every run, NaN where there is none; in the order of the board's runs.
    exempt : str
        Checks the method is exempt from, and why.
    """

    method: str
    algorithm: str
    rank: float
    auc: Interval
    std: float
    runs: int
    diverged: int
    failed: int
    missing: int
    groups: str
    wins: int
    ties: int
    losses: int
    train_seconds: float
    ns_per_iteration: float
    state_bytes: float
    tuning_seconds: float
    tuning_passes: float
    timing_mark: str
    target_seconds: float
    target_samples: float
    target_share: float
    anytime_samples: float
    anytime_seconds: float
    parameters: str
    command: str
    curve: Curve | None
    aucs: tuple[float, ...]
    exempt: str = ""


@dataclass(frozen=True)
class Board:
    """All methods on one data set under one setting, best first.

    Parameters
    ----------
    number : int
        From 1.
    dataset, setting : str
        What they have in common.
    facts : mapping
        Of the data: rows, features, share of positives, licence, citation.
    tuned : bool
        Tuned and untuned results never share a board.
    target : float
        The AUC to be reached, and `target_text` says what it is.
    pairwise : mapping
        (method, other) to the p-value of the paired test.
    trials : mapping
        Method to its tuning trials: a list of {parameters, auc}, the mean over inner folds.
    """

    number: int
    dataset: str
    setting: str
    facts: dict[str, Any]
    tuned: bool
    target: float
    target_text: str
    rows: tuple[Row, ...]
    pairwise: dict[tuple[str, str], float] = field(default_factory=dict)
    trials: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Overall:
    """The methods across the boards of one kind (tuned, or not).

    Parameters
    ----------
    tuned : bool
        Which kind.
    methods : tuple of str
        Labels.
    boards : int
        Number of boards.
    ranked_boards : int
        Of them, those on which all ranked methods have all runs.
    ranks : mapping
        Method to its average rank over the boards on which all complete methods have all runs.
    ranks_with_gaps : mapping
        Method to its average rank over the boards that it is on.
    incomplete : mapping
        Method to the data sets on which it has gaps.
    groups : mapping
        Method to letters.
    wins, ties, losses : mapping
        Method to its totals over boards and rivals.
    pairwise : mapping
        (method, other) to Holm's adjusted p-value of Wilcoxon's test across boards.
    friedman : mapping or None
        Statistic, p-value and critical difference from ten boards on.
    friedman_text : str
        The result in words, or why there is none.
    profile : mapping
        Method to its performance profile: (ratio, share) arrays.
    pareto : tuple of str
        Methods that no other beats in mean AUC and mean cost at once.
    """

    tuned: bool
    methods: tuple[str, ...]
    boards: int
    ranks: dict[str, Interval]
    ranks_with_gaps: dict[str, Interval]
    incomplete: dict[str, list[str]]
    groups: dict[str, str]
    wins: dict[str, int]
    ties: dict[str, int]
    losses: dict[str, int]
    pairwise: dict[tuple[str, str], float]
    friedman: dict[str, float] | None
    friedman_text: str
    profile: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    pareto: tuple[str, ...]
    ranked_boards: int = 0


@dataclass(frozen=True)
class MethodInfo:
    """What is known of a plugin, for its section."""

    name: str
    summary: str
    citation: str
    claims: str
    deviations: tuple[str, ...]
    source: str  # address or file of its code
    distribution: str


@dataclass(frozen=True)
class Report:
    """A whole leaderboard.

    Parameters
    ----------
    title : str
        Name of the study, or of the store.
    version, machines, made : str
        Of aucbench; processors the cells ran on; date.
    done, failed, missing : int
        Numbers of cells.
    boards, overall, methods
        The content.
    looks : mapping
        Label of a method to how it is drawn.
    notes : tuple of str
        How numbers were made: intervals, tests, targets.
    one_study : bool
        Whether a data set is one board, whatever the setting.
    """

    title: str
    version: str
    machines: str
    made: str
    done: int
    failed: int
    missing: int
    boards: tuple[Board, ...]
    overall: tuple[Overall, ...]
    methods: dict[str, MethodInfo]
    looks: dict[str, Look]
    notes: tuple[str, ...] = ()
    one_study: bool = False

    def groups(self) -> "list[tuple[Overall, tuple[Board, ...]]]":
        """Each overall result with its boards, which are the next ones in the order of the report."""
        found, first = [], 0
        for overall in self.overall:
            found.append((overall, self.boards[first : first + overall.boards]))
            first += overall.boards
        return found


def plain(report: Report) -> dict[str, Any]:
    """The report as JSON knows it: pairs of names become nested mappings, NaN and infinity null."""
    found = _plain(asdict(report))
    assert isinstance(found, dict)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _nested(value)
    if isinstance(value, np.ndarray):
        return [_plain(each) for each in value.tolist()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value


def _nested(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in mapping.items():
        if isinstance(key, tuple):
            found.setdefault(str(key[0]), {})[str(key[1])] = _plain(value)
        else:
            found[str(key)] = _plain(value)
    return found
