"""A report: data frames made from stored cells, one line per observation, which every view prints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aucbench.evaluation.measures import Measure

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"  # the group of all data sets
DEFAULTS, TUNED = "defaults", "tuned"  # settings
OF_METHODS = ("cells", "curves", "methods", "results", "gains", "verdicts", "slopes")  # frames
FEWEST = 10  # least number of families for a verdict over data sets
ROPE = 0.005  # largest difference in AUC that does not matter in practice


@dataclass(frozen=True)
class Report:
    """The results of a study, a store or an archive, as data frames.

    `setting` is the first column of each frame: methods are compared only if protocol, budget and everything
    except method and data set are equal, or if they belong to one study; most reports have one setting.

    Attributes
    ----------
    cells : DataFrame
        One line per run: `data_set`, `family`, `method`, seeds, `status`, measures, times, the facts of the
        rows, and the `key` of the cell. Measures are missing unless the `status` is ``finished``.
    curves : DataFrame
        One line per checkpoint of a method on a data set: means over the runs of `samples`, `passes`,
        `seconds` and the measure (`mean`, with `std` over the runs), and of the relative `suboptimality`.
        Compact archives have whole curves of first runs only, and the means are over these.
    data_sets : DataFrame
        One line per data set: family, rows, columns, share of positives, target, licence.
    methods : DataFrame
        One line per method: the plugin `algorithm` with its metadata, its `class_of_model`, its
        colour, marker and dashes.
    results : DataFrame
        One line per method and data set: mean, deviation and interval over the runs, gaps, times.
    gains : DataFrame
        One line per method and data set: the mean difference to the reference over the common runs, with the
        interval and the verdict on that data set.
    verdicts : DataFrame
        One line per method and group of data sets: the mean gain over families of data sets, with its
        interval, verdict, shares of families, and cost relative to the reference.
    slopes : DataFrame
        One line per method and property of data (imbalance, rows, columns): the change of the gain if the
        property is ten times as large, by `meta_regression`.
    """

    title: str  # name of the study, or of the store
    version: str  # version of aucbench
    machines: str  # processors of the cells
    made: str  # when the last cell finished
    measure: Measure
    others: tuple[Measure, ...]  # measures shown beside `measure`
    rope: float | None
    references: dict[str, str]  # from setting to the label of its reference; "" if it was not run
    cells: "pd.DataFrame" = field(repr=False)
    curves: "pd.DataFrame" = field(repr=False)
    data_sets: "pd.DataFrame" = field(repr=False)
    methods: "pd.DataFrame" = field(repr=False)
    results: "pd.DataFrame" = field(repr=False)
    gains: "pd.DataFrame" = field(repr=False)
    verdicts: "pd.DataFrame" = field(repr=False)
    slopes: "pd.DataFrame" = field(repr=False)
    remarks: tuple[str, ...] = ()  # on data that are left out, and on a rope that was not planned
    notes: tuple[str, ...] = field(default=(), repr=False)  # the remarks, and how numbers were computed

    @property
    def settings(self) -> list[str]:
        """The settings, in the order of the frames."""
        return list(self.references)

    def part(self, frame: str, setting: str, data_set: str = "") -> "pd.DataFrame":
        """The lines of one of the frames that belong to a setting, or to a data set in it."""
        table: pd.DataFrame = getattr(self, frame)
        table = table[table["setting"] == setting]
        return table[table["data_set"] == data_set] if data_set else table

    def over_all(self, setting: str) -> "pd.DataFrame":
        """The verdicts over all data sets of a setting."""
        table = self.part("verdicts", setting)
        return table[table["group"] == ALL]

    def ranking(self, setting: str) -> "pd.DataFrame":
        """`over_all`; on a single data set, with the intervals and verdicts over its runs."""
        table, gains = self.over_all(setting), self.part("gains", setting)
        if gains["data_set"].nunique() == len(self.part("data_sets", setting)) == 1:
            by_method = gains.set_index("method")
            table = table.assign(
                **{name: table["method"].map(by_method[name]) for name in ("low", "high", "verdict")}
            )
        return table.astype(dict.fromkeys(("gain", "low", "high", "mean", "time_ratio"), float))

    @property
    def counts(self) -> dict[str, int]:
        """The number of cells of each status."""
        return {str(status): int(count) for status, count in self.cells["status"].value_counts().items()}

    def only(self, methods: Sequence[str]) -> "Report":
        """The report with some methods, selected by labels or plugins, and the references.

        The numbers are still those of the comparison of all methods.
        """
        table = self.methods
        is_chosen = table["method"].isin(methods) | table["algorithm"].isin(methods)
        chosen = table[is_chosen | (table["method"] == table["setting"].map(self.references))]
        keys = ["setting", "method"]
        index = chosen.set_index(keys).index
        return self.changed(lambda frame: frame[frame.set_index(keys).index.isin(index)])

    def changed(self, change: "Callable[[pd.DataFrame], pd.DataFrame]", **fields: Any) -> "Report":
        """The report with `change` applied to each frame that has methods, and with other fields."""
        frames: dict[str, Any] = {name: change(getattr(self, name)) for name in OF_METHODS}
        return replace(self, **frames, **fields)
