"""Contents of a leaderboard, before they are rendered: boards, rows, comparisons. Every view renders them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.studies.method_look import Look

Pairwise = dict[tuple[str, str], float]  # (method, other), both ways, to a p-value after Holm's correction


@dataclass(frozen=True)
class Estimate:
    """A value with a confidence interval; NaN where it is not known."""

    value: float
    low: float = float("nan")
    high: float = float("nan")


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over the runs; NaN where they are not known."""

    mean: float
    std: float


class MeasureText(NamedTuple):
    """A measure in words."""

    name: str  # in settings, and before the names of its columns in CSV and Parquet
    title: str  # in sentences
    symbol: str  # at the head of a column
    parameters: tuple[tuple[str, float], ...] = ()

    @property
    def columns(self) -> dict[str, float]:
        """Its parameters by the names of their columns in CSV and Parquet."""
        return {f"{self.name}_{key}": value for key, value in self.parameters}


RANKED_BY = MeasureText("auc", "AUC", "AUC")


@dataclass(frozen=True)
class Curve:
    """Mean test AUC of a method at common checkpoints over the runs that reached them; (k,) arrays.

    Like all that is called AUC in a report, it is the measure that the report ranks by.
    """

    samples: NDArray[np.float64]  # mean samples seen
    seconds: NDArray[np.float64]  # mean training seconds
    auc: NDArray[np.float64]
    low: NDArray[np.float64]  # of the band around it
    high: NDArray[np.float64]
    others: dict[str, NDArray[np.float64]] = field(default_factory=dict)  # means of other measures, by name
    passes: NDArray[np.float64] | None = None  # mean samples seen, over the training rows
    suboptimality: NDArray[np.float64] | None = None  # relative, mean; None where no minimum is certified
    gap: NDArray[np.float64] | None = None  # of the AUC to the best of the board, see `Board.best`


@dataclass(frozen=True)
class Suboptimality:
    """How near a method came to the certified minimum of its objective, and at what cost."""

    objective: str = ""  # in words; of the first run where those of the runs differ
    differs: bool = False  # whether the objectives of the runs differ
    minimum: float = float("nan")  # means over the runs, these four
    gap: float = float("nan")  # of the certificate
    size: float = float("nan")  # what the suboptimality is relative to
    final: float = float("nan")  # relative suboptimality at the end of training
    passes: tuple[float, ...] = ()  # medians until each of the targets, inf where it was not reached
    seconds: tuple[float, ...] = ()
    budget_passes: float = float("nan")  # medians of the whole runs
    budget_seconds: float = float("nan")
    reason: str = ""  # why there are no numbers


@dataclass(frozen=True)
class Row:
    """One method on one board; NaN where a number is not known."""

    method: str  # label, unique on the board
    algorithm: str  # name of the plugin, which gives the colour
    rank: float  # by mean test AUC, 1 is best, ties share the mean; NaN with a gap
    auc: Estimate  # mean over the runs
    std: float  # over the runs
    runs: int  # numbers of cells, these four
    diverged: int
    failed: int
    missing: int
    groups: str  # letters; methods that share one do not differ significantly, by `Board.procedure`
    wins: int  # against the other methods of the board, by the same tests
    ties: int
    losses: int
    gain: Estimate  # mean of AUC - AUC of the board's baseline over the runs that both have
    train_seconds: float  # means over the finished runs, these five
    ns_per_iteration: float
    state_bytes: float
    tuning_seconds: float
    tuning_passes: float
    timing_mark: str  # empty, or why its times are not comparable with the others'
    target_seconds: float  # medians to the target AUC, and the share of runs that reached it
    target_samples: float
    target_share: float
    anytime_samples: float  # area under the AUC curve against log samples, or log seconds, from 0 to 1
    anytime_seconds: float
    parameters: str  # what belongs to the method
    command: str  # the words that run the entry again
    curve: Curve | None
    aucs: tuple[float, ...]  # final test AUC of every run of the board, NaN where there is none
    linear: bool = True  # False where it has no weights: a reference that no linear method need reach
    exempt: str = ""  # checks the method is exempt from, and why
    chosen: str = ""  # values that the tunings chose, and how often
    edges: str = ""  # chosen values at an edge of the values tried, and how often
    unconverged: int = 0  # runs that ended before a method that knows when it has converged had
    advice: str = ""  # what to change, for a method that diverged
    # Whether no other method of the board is at least as good in mean AUC and mean training time and better
    # in one. A method with gaps or a timing mark is not on the front and beats nobody.
    on_front: bool = False
    others: dict[str, Spread] = field(default_factory=dict)  # other measures that all finished runs have
    reported: str = ""  # self-reported, replicated on how many machines, confirmed by which author
    # Training time in units of its machine, as `origins.calibrated` has it; NaN where they are not known.
    calibrated: float = float("nan")
    unplanned: int = 0  # runs that other methods of the board have, and that were not planned for this one
    suboptimality: Suboptimality | None = None  # None where the objective was not measured
    # Medians until each of the target AUCs by cost, passes or seconds: inf where it was not reached.
    to_targets: dict[str, tuple[float, ...]] = field(default_factory=dict)

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
    auc: float | None  # or the measure that settings are judged by


@dataclass(frozen=True)
class DataFacts:
    """The data of a board; None or empty where it is not known."""

    rows: int | None = None  # training and test rows of a run together; of the largest run where they differ
    train_rows: int | None = None
    test_rows: int | None = None
    features: int | None = None  # columns of the rows as the methods see them, after a feature map
    positives: int | None = None  # among `rows`
    positive_share: float | None = None  # of the training rows where the test rows are not recorded
    positive: tuple[str, ...] = ()  # labels that count as positive
    negative: tuple[str, ...] = ()
    format: str = ""  # dense or csr
    licence: str = ""
    citation: str = ""
    summary: str = ""  # what the plugin says of itself
    links: tuple[tuple[str, str], ...] = ()  # what is linked (paper, page, source), and its address


@dataclass(frozen=True)
class Cost:
    """Mean AUC against cost of a method over all boards of a group."""

    auc: float  # mean over the boards of the mean test AUC
    seconds: float  # geometric mean over the boards of the training seconds of a run
    marked: bool  # whether its times are not comparable with the others' on some board
    on_front: bool  # whether no other is at least as good in both and better in one; False where `marked`


@dataclass(frozen=True)
class Board:
    """All methods on one data set under one setting, best first."""

    number: int  # from 1
    dataset: str
    setting: str
    facts: DataFacts
    tuned: bool  # tuned and untuned results never share a board
    target: float  # the AUC to be reached
    target_text: str  # what it is
    rows: tuple[Row, ...]
    pairwise: Pairwise = field(default_factory=dict)  # by the paired test
    trials: dict[str, list[TriedSetting]] = field(default_factory=dict)  # by method, what its tuning tried
    procedure: str = ""  # the test behind letters, wins and `pairwise`; empty where no pair could be tested
    baseline: str = ""  # label of the method that gains are relative to; empty where it is not on the board
    baseline_reason: str = ""  # why there are no gains; empty where there are
    measure: MeasureText = RANKED_BY
    tuned_by: str = "AUC"  # the measure by which its tunings judge settings
    several_machines: bool = False  # whether its times were measured on several
    best: float = float("nan")  # largest AUC on the mean curve of a linear method without gaps

    def only(self, methods: Sequence[str]) -> "Board":
        """The board with the rows of some methods."""
        trials = {method: tried for method, tried in self.trials.items() if method in methods}
        rows = tuple(row for row in self.rows if row.method in methods)
        return replace(self, rows=rows, trials=trials)


@dataclass(frozen=True)
class Overall:
    """The methods across the boards of one kind (tuned, or not); mappings are by the label of a method."""

    tuned: bool
    methods: tuple[str, ...]
    boards: int  # number of boards
    ranks: dict[str, Estimate]  # average, over the boards on which all complete methods have all runs
    ranks_with_gaps: dict[str, Estimate]  # average, over the boards that the method is on
    incomplete: dict[str, list[str]]  # data sets on which the method has gaps
    groups: dict[str, str]  # letters; methods that share one do not differ significantly, by `procedure`
    wins: dict[str, int]  # sums of the outcomes on the boards
    ties: dict[str, int]
    losses: dict[str, int]
    pairwise: Pairwise  # by Wilcoxon's test across boards
    procedure: str  # the test behind letters and `pairwise`; empty where no pair could be tested
    friedman: dict[str, float] | None  # statistic, p-value and critical difference from ten boards on
    friedman_text: str  # Friedman's and Nemenyi's tests in words, or why there are none
    cliques: tuple[tuple[str, ...], ...]  # two or more methods that Nemenyi's test does not tell apart
    profile: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]  # performance profile: ratio, share
    costs: dict[str, Cost]  # of methods without gaps
    baseline: str  # label of the method that gains are relative to
    baseline_reason: str  # why there are none
    gains: dict[str, Estimate]  # mean over the boards on which neither it nor the baseline has gaps
    gain_boards: dict[str, int]  # number of these boards, over which the interval of the gain is
    ranked_boards: int = 0  # boards on which all ranked methods have all runs
    # Share of the pairs of data set and target suboptimality that a method reached within so many passes, or
    # seconds, by method; the last number is how many data sets its share is over.
    reached: dict[str, dict[str, tuple[NDArray[np.float64], NDArray[np.float64], int]]] = field(
        default_factory=dict
    )
    reached_auc: dict[str, dict[str, tuple[NDArray[np.float64], NDArray[np.float64], int]]] = field(
        default_factory=dict
    )  # the same of the pairs of data set and target AUC
    measure: MeasureText = RANKED_BY

    def only(self, methods: Sequence[str]) -> "Overall":
        """The ranking with some methods."""

        def chosen(own: dict[str, Any]) -> dict[str, Any]:
            return {method: value for method, value in own.items() if method in methods}

        names = (
            "ranks", "ranks_with_gaps", "incomplete", "groups", "wins", "ties", "losses", "profile", "costs",
            "gains", "gain_boards",
        )  # fmt: skip
        cliques = [tuple(method for method in clique if method in methods) for clique in self.cliques]
        kept: dict[str, Any] = {name: chosen(getattr(self, name)) for name in names}
        kept |= {"methods": tuple(methods), "cliques": tuple(clique for clique in cliques if len(clique) > 1)}
        for name in ("reached", "reached_auc"):
            kept[name] = {cost: chosen(own) for cost, own in getattr(self, name).items()}
        return replace(self, **kept)


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
    links: tuple[tuple[str, str], ...] = ()  # what is linked (paper, page, source), and its address


@dataclass(frozen=True)
class Report:
    """A whole leaderboard."""

    title: str  # name of the study, or of the store
    version: str  # of aucbench
    machines: str  # processors the cells ran on
    made: str  # date
    done: int  # cells with a result; these four add up to all cells
    diverged: int  # with weights that stopped being finite
    failed: int  # ended by an error or a limit
    missing: int  # not run
    baseline: str  # name of the method that gains are relative to
    level: float  # of all tests
    boards: tuple[Board, ...]
    overall: tuple[Overall, ...]
    methods: dict[str, MethodInfo]
    looks: dict[str, Look]  # by the label of a method
    notes: tuple[str, ...] = ()  # how numbers were made: intervals, tests, targets
    one_study: bool = False  # whether a data set is one board, whatever the setting
    measure: MeasureText = RANKED_BY
    others: tuple[MeasureText, ...] = ()  # that are shown beside it

    @property
    def has_suboptimality(self) -> bool:
        """Whether the objective was measured on some board."""
        return any(row.suboptimality for board in self.boards for row in board.rows)

    def only(self, methods: Sequence[str] = (), top: int | None = None) -> "Report":
        """The report with some of its methods, whose numbers and tests stay those of the comparison of all.

        Parameters
        ----------
        methods : sequence of str
            Labels, or names of plugins; all where empty.
        top : int, optional
            At most so many of them in each group of boards, the best by mean rank.

        Returns
        -------
        Report
            A copy whose boards and rankings have these methods only.
        """
        overall, boards = [], []
        for own, members in self.groups():
            rows = [row for board in members for row in board.rows]
            wanted = {row.method for row in rows if {row.method, row.algorithm} & set(methods)}
            kept = [each for each in own.methods if each in wanted or not methods][:top]
            overall.append(own.only(kept))
            boards += [board.only(kept) for board in members]
        return replace(self, boards=tuple(boards), overall=tuple(overall))

    def groups(self) -> "list[tuple[Overall, tuple[Board, ...]]]":
        """Each overall result with its boards, which are the next ones in the order of the report."""
        found, first = [], 0
        for overall in self.overall:
            found.append((overall, self.boards[first : first + overall.boards]))
            first += overall.boards
        return found
