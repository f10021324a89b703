"""What a leaderboard says, before it takes a form: boards, rows, comparisons. Every view is made from it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
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
    auc : Estimate
        Mean over the runs and its confidence interval.
    std : float
        Over the runs.
    runs, diverged, failed, missing : int
        Numbers of cells.
    groups : str
        Letters; methods that share one do not differ significantly, by `Board.procedure`.
    wins, ties, losses : int
        Against the other methods of the board, by the same tests.
    gain : Estimate
        Mean of AUC - AUC of the board's baseline over the runs that both have, with its interval; NaN where
        the baseline has no result.
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
    chosen : str
        Values that the tunings of the runs chose, and how often; empty without a tuning.
    edges : str
        Chosen values at an edge of the values tried, and how often.
    unconverged : int
        Runs that ended before a method that knows when it has converged had.
    advice : str
        What to change, for a method that diverged.
    on_front : bool
        Whether no other method of the board is at least as good in mean AUC and mean training time and
        better in one. A method with gaps or a timing mark is not on the front and beats nobody.
    unplanned : int
        Runs that other methods of the board have, and that were not planned for this one.
    """

    method: str
    algorithm: str
    rank: float
    auc: Estimate
    std: float
    runs: int
    diverged: int
    failed: int
    missing: int
    groups: str
    wins: int
    ties: int
    losses: int
    gain: Estimate
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
    chosen: str = ""
    edges: str = ""
    unconverged: int = 0
    advice: str = ""
    on_front: bool = False
    unplanned: int = 0

    @property
    def gaps(self) -> list[tuple[int, str]]:
        """How many of the board's runs have no AUC of the method, and why."""
        kinds = (
            (self.diverged, "diverged"),
            (self.failed, "failed"),
            (self.missing, "missing"),
            (self.unplanned, "not planned"),
        )
        return [(count, why) for count, why in kinds if count]


@dataclass(frozen=True)
class TriedSetting:
    """A setting that a tuning tried, and its mean AUC over the inner folds; None where it dropped out."""

    parameters: dict[str, Any]
    auc: float | None


@dataclass(frozen=True)
class DataFacts:
    """The data of a board; None or empty where it is not known.

    Parameters
    ----------
    rows, train_rows, test_rows : int or None
        Training and test rows of a run together, and each alone; of the largest run where they differ.
    features : int or None
        Columns of the rows as the methods see them, after a feature map.
    positives : int or None
        Positive rows among `rows`.
    positive_share : float or None
        Share of the positives, among the training rows where those of the test rows are not recorded.
    positive, negative : tuple of str
        Labels that count as positive and as negative.
    format, licence, citation : str
        ``dense`` or ``csr``; terms and source of the data set.
    """

    rows: int | None = None
    train_rows: int | None = None
    test_rows: int | None = None
    features: int | None = None
    positives: int | None = None
    positive_share: float | None = None
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    format: str = ""
    licence: str = ""
    citation: str = ""


@dataclass(frozen=True)
class Cost:
    """Mean AUC against cost of a method over all boards of a group.

    Parameters
    ----------
    auc : float
        Mean over the boards of the mean test AUC.
    seconds : float
        Geometric mean over the boards of the training seconds of a run.
    marked : bool
        Whether its times are not comparable with the others' on some board.
    on_front : bool
        Whether no other method is at least as good in both and better in one; False where `marked`.
    """

    auc: float
    seconds: float
    marked: bool
    on_front: bool


@dataclass(frozen=True)
class Board:
    """All methods on one data set under one setting, best first.

    Parameters
    ----------
    number : int
        From 1.
    dataset, setting : str
        What they have in common.
    facts : DataFacts
        Of the data.
    tuned : bool
        Tuned and untuned results never share a board.
    target : float
        The AUC to be reached, and `target_text` says what it is.
    pairwise : mapping
        (method, other) to the p-value of the paired test, after Holm's correction.
    trials : mapping
        Method to the settings that its tuning tried.
    procedure : str
        The test behind letters, wins and `pairwise`; empty where no pair could be tested.
    baseline : str
        Label of the method that gains are relative to; empty where it is not on the board.
    baseline_reason : str
        Why there are no gains; empty where there are.
    """

    number: int
    dataset: str
    setting: str
    facts: DataFacts
    tuned: bool
    target: float
    target_text: str
    rows: tuple[Row, ...]
    pairwise: dict[tuple[str, str], float] = field(default_factory=dict)
    trials: dict[str, list[TriedSetting]] = field(default_factory=dict)
    procedure: str = ""
    baseline: str = ""
    baseline_reason: str = ""


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
        Method to letters; methods that share one do not differ significantly, by `procedure`.
    wins, ties, losses : mapping
        Method to the sums of its outcomes on the boards.
    pairwise : mapping
        (method, other) to the p-value of Wilcoxon's test across boards, after Holm's correction.
    procedure : str
        The test behind letters and `pairwise`; empty where no pair could be tested.
    friedman : mapping or None
        Statistic, p-value and critical difference from ten boards on.
    friedman_text : str
        Friedman's and Nemenyi's tests in words, for the critical-difference diagram, or why there is none.
    cliques : tuple of tuple of str
        Bars of that diagram: methods that Nemenyi's test does not tell apart, at least two.
    profile : mapping
        Method to its performance profile: (ratio, share) arrays.
    costs : mapping
        Method without gaps to its mean AUC and cost.
    baseline, baseline_reason : str
        Label of the method that gains are relative to; and why there are none.
    gains : mapping
        Method to its mean gain over the boards on which neither it nor the baseline has gaps; the interval
        is over these boards.
    gain_boards : mapping
        Method to the number of these boards.
    """

    tuned: bool
    methods: tuple[str, ...]
    boards: int
    ranks: dict[str, Estimate]
    ranks_with_gaps: dict[str, Estimate]
    incomplete: dict[str, list[str]]
    groups: dict[str, str]
    wins: dict[str, int]
    ties: dict[str, int]
    losses: dict[str, int]
    pairwise: dict[tuple[str, str], float]
    procedure: str
    friedman: dict[str, float] | None
    friedman_text: str
    cliques: tuple[tuple[str, ...], ...]
    profile: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    costs: dict[str, Cost]
    baseline: str
    baseline_reason: str
    gains: dict[str, Estimate]
    gain_boards: dict[str, int]
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
    done, diverged, failed, missing : int
        Numbers of cells: with a result, with weights that stopped being finite, ended by an error or a
        limit, and not run. They add up to all cells.
    baseline : str
        Name of the method that gains are relative to.
    level : float
        Of all tests.
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
    diverged: int
    failed: int
    missing: int
    baseline: str
    level: float
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
