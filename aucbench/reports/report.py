"""A report: data frames made of stored cells, one line an observation. Every view prints them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aucbench.evaluation.measures import Measure

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"  # the group of all data sets
DEFAULTS, TUNED = "defaults", "tuned"  # settings
OF_METHODS = ("cells", "curves", "methods", "results", "gains", "verdicts", "slopes")  # frames
FEWEST = 10  # families; with fewer there is no verdict over data sets
ROPE = 0.005  # differences in AUC that do not matter in practice


@dataclass(frozen=True)
class Report:
    """The results of a study, a store or an archive, as data frames.

    `setting` is the first column of each frame: methods are compared only where protocol, budget and all
    else but method and data set are equal, or where one study says so; most reports have one setting.

    Attributes
    ----------
    cells : DataFrame
        One line a run: `data_set`, `family`, `method`, seeds, `status`, measures, times, the facts of the
        rows, and the `key` of the cell. Measures are missing unless `status` is ``finished``.
    curves : DataFrame
        One line a checkpoint of a method on a data set: means over the runs of `samples`, `passes`,
        `seconds` and the measure (`mean`, with `std` over the runs), and of the relative `suboptimality`.
        Compact archives have whole curves of first runs alone, and only these are averaged.
    data_sets : DataFrame
        One line a data set: family, rows, columns, share of positives, target, licence.
    methods : DataFrame
        One line a method: the plugin `algorithm` and what it says of itself, its `class_of_model`, its
        colour, marker and dashes.
    results : DataFrame
        One line a method and data set: mean, deviation and interval over the runs, gaps, times.
    gains : DataFrame
        One line a method and data set: the mean difference to the reference over the common runs, with the
        interval and the verdict on that data set.
    verdicts : DataFrame
        One line a method and group of data sets: the mean gain over families of data sets, with its
        interval, verdict, shares of families, and cost relative to the reference.
    slopes : DataFrame
        One line a method and property of data (imbalance, rows, columns): how the gain changes when it is ten
        times as large, by `meta_regression`.
    """

    title: str  # name of the study, or of the store
    version: str  # version of aucbench
    machines: str  # processors that the cells ran on
    made: str  # when the last cell finished
    measure: Measure
    others: tuple[Measure, ...]  # measures shown beside it
    rope: float | None
    references: dict[str, str]  # setting to the label of its reference; "" where it was not run
    cells: "pd.DataFrame" = field(repr=False)
    curves: "pd.DataFrame" = field(repr=False)
    data_sets: "pd.DataFrame" = field(repr=False)
    methods: "pd.DataFrame" = field(repr=False)
    results: "pd.DataFrame" = field(repr=False)
    gains: "pd.DataFrame" = field(repr=False)
    verdicts: "pd.DataFrame" = field(repr=False)
    slopes: "pd.DataFrame" = field(repr=False)
    remarks: tuple[str, ...] = ()  # data that are left out, and a rope that was not fixed beforehand
    notes: tuple[str, ...] = field(default=(), repr=False)  # the remarks, and how numbers were made

    @property
    def settings(self) -> list[str]:
        """The settings, in the order of the frames."""
        return list(self.references)

    def part(self, frame: str, setting: str, data_set: str = "") -> "pd.DataFrame":
        """The lines of one of the frames that belong to a setting, or to a data set in it."""
        found: pd.DataFrame = getattr(self, frame)
        found = found[found["setting"] == setting]
        return found[found["data_set"] == data_set] if data_set else found

    def over_all(self, setting: str) -> "pd.DataFrame":
        """The verdicts over all data sets of a setting."""
        found = self.part("verdicts", setting)
        return found[found["group"] == ALL]

    def ranking(self, setting: str) -> "pd.DataFrame":
        """`over_all`; on a single data set, with the intervals and verdicts over its runs."""
        table, own = self.over_all(setting), self.part("gains", setting)
        if own["data_set"].nunique() == len(self.part("data_sets", setting)) == 1:
            known = own.set_index("method")
            table = table.assign(
                **{name: table["method"].map(known[name]) for name in ("low", "high", "verdict")}
            )
        return table.astype(dict.fromkeys(("gain", "low", "high", "mean", "time_ratio"), float))

    @property
    def counts(self) -> dict[str, int]:
        """The number of cells of each status."""
        return {str(status): int(count) for status, count in self.cells["status"].value_counts().items()}

    def only(self, methods: Sequence[str]) -> "Report":
        """The report with some methods, given by labels or plugins, and the references.

        Their numbers stay those of the comparison of all.
        """
        own = self.methods
        wanted = own["method"].isin(methods) | own["algorithm"].isin(methods)
        chosen = own[wanted | (own["method"] == own["setting"].map(self.references))]
        keys = ["setting", "method"]
        places = chosen.set_index(keys).index
        return self.changed(lambda frame: frame[frame.set_index(keys).index.isin(places)])

    def changed(self, change: "Callable[[pd.DataFrame], pd.DataFrame]", **fields: Any) -> "Report":
        """The report with another form of each frame that has methods, and other fields."""
        frames: dict[str, Any] = {name: change(getattr(self, name)) for name in OF_METHODS}
        return replace(self, **frames, **fields)
