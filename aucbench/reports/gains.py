"""Gains over a reference on each data set, and verdicts over families of data sets."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from aucbench.evaluation import difference_interval
from aucbench.evaluation.delong import t_quantile
from aucbench.reports.report import ALL
from aucbench.reports.statistics.cost import pareto_front
from aucbench.reports.statistics.meta_regression import meta_regression
from aucbench.reports.statistics.over_runs import over_runs
from aucbench.reports.statistics.verdicts import Floats, compare_matrix, verdict_of
from aucbench.studies.record import SEEDS

# Edges of groups of data sets, by the share of the rarer class and by rows, and their names.
RARE, LARGE = (-np.inf, 0.05, 0.15, np.inf), (-np.inf, 1_000, 10_000, np.inf)
RARE_GROUPS = ("rare class below 5 %", "rare class 5 to 15 %", "rare class above 15 %")
LARGE_GROUPS = ("below 1,000 rows", "1,000 to 10,000 rows", "10,000 rows and more")
COLUMNS = ["setting", "data_set", "family", "method", "reference", "runs", "gain", "low", "high", "verdict"]
SLOPE_COLUMNS = ["setting", "reference", "method", "covariate", "slope", "low", "high", "families"]
VERDICT_COLUMNS = (
    "setting", "group", "method", "class_of_model", "reference", "families", "data_sets", "gain", "low",
    "high", "median", "verdict", "more_families", "worse", "same", "better", "without", "mean",
    "mean_note", "time_ratio", "time_note", "front", "gaps",
)  # fmt: skip


def comparison(
    cells: pd.DataFrame,
    data_sets: pd.DataFrame,
    results: pd.DataFrame,
    references: Mapping[str, str | Sequence[str]],
    rope: float | None,
    measure: str,
) -> dict[str, Any]:
    """The frames `gains`, `verdicts` and `slopes` of a report over some references, by a measure.

    The other frames and the arguments are those of `gains_of` and `compared`; slopes are `meta_regression` of
    the gains of each setting, and there are none where the rows of no data set are known.
    """
    gains = gains_of(cells, data_sets, references, rope, measure)
    found = [
        meta_regression(own, data_sets[data_sets["setting"] == setting]).assign(setting=setting)
        for setting, own in gains.groupby("setting")
        if "rows" in data_sets
    ]
    slopes = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=SLOPE_COLUMNS)
    verdicts = compared(gains, results, data_sets, rope)
    return {"gains": gains, "verdicts": verdicts, "slopes": slopes[SLOPE_COLUMNS]}


def gains_of(
    cells: pd.DataFrame,
    data_sets: pd.DataFrame,
    references: Mapping[str, str | Sequence[str]],
    rope: float | None,
    measure: str = "auc",
) -> pd.DataFrame:
    """The gain of each method over the reference of its setting, on each data set.

    The gain is the mean of method - reference over the runs that both have, with the interval of
    `over_runs`, or of DeLong where there is one run, all runs have one split or the same gain, or the test
    part is larger than the training part, and the verdict on that data set. Runs with the same gain have no
    interval where test rows cannot give one. A data set on which a run of either diverged, failed or is
    missing has no gain: the runs that finished are a selection, and would flatter.

    Parameters
    ----------
    cells, data_sets : DataFrame
        Those of a report.
    references : mapping
        Settings to labels of methods: one, or several for gains over each of them.
    rope : float or None
        Half the width of the region of practical equivalence; no verdicts without it.
    measure : str
        The column of `cells` that is compared.

    Returns
    -------
    DataFrame
        Columns `setting`, `data_set`, `family`, `method`, `reference`, `runs`, `gain`, `low`, `high` and
        `verdict`, a line for each method other than the reference where both have a gain.
    """
    ratios = data_sets.set_index(["setting", "data_set"])["test_train_ratio"].to_dict()
    placed = cells[cells["method"].notna()]
    run_of = placed.groupby(list(SEEDS)).ngroup().to_numpy()
    parts = []
    places: Any = placed.groupby(["setting", "data_set"], sort=False).indices
    for (setting, data_set), at in places.items():
        own = placed.iloc[at]
        names, column = np.unique(own["method"].to_numpy(object), return_inverse=True)
        wanted = np.atleast_1d(references.get(setting, ""))
        runs, row = np.unique(run_of[at], return_inverse=True)
        done = own["status"] == "finished"
        values = np.full((len(runs), len(names)), np.nan)
        values[row, column] = own[measure].where(done).astype(float)
        whole = ~np.isin(np.arange(len(names)), column[np.isnan(values[row, column])])
        chosen = [place for name in wanted for place in np.flatnonzero((names == name) & whole)]
        if not chosen:
            continue
        first, second = (part.ravel() for part in np.meshgrid(np.flatnonzero(whole), chosen))
        first, second = first[first != second], second[first != second]
        ratio = ratios[setting, data_set]
        found = over_runs(values[:, first] - values[:, second], ratio)
        # Equal gains of all runs, and test parts larger than the training parts, leave no evidence over runs.
        is_equal = found.std == 0
        low, high = (np.where(is_equal, np.nan, end) for end in (found.low, found.high))
        by_rows = (found.runs == 1) | is_equal | np.isnan(ratio) | (ratio > 1)
        if measure == "auc" and "placements" in own and by_rows.any():
            half = _over_test_rows(own, row, column, values, first, second)
            by_rows &= np.isfinite(half)
            low, high = np.where(by_rows, found.mean - half, low), np.where(by_rows, found.mean + half, high)
        values_of = (
            setting, data_set, own["family"].iloc[0], names[first], names[second], found.runs.astype(int),
            found.mean, low, high, verdict_of(found.mean, low, high, rope).astype(str),
        )  # fmt: skip
        parts.append(pd.DataFrame(dict(zip(COLUMNS, values_of, strict=True)))[found.runs > 0])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def _over_test_rows(
    cells: pd.DataFrame, row: Any, column: Any, values: Floats, first: Any, second: Any
) -> Floats:
    """(pairs,) half widths of 95 % intervals of mean gains where runs cannot give them; NaN if unknown.

    The variance is DeLong's, the mean over the runs, for all of them have nearly the same test rows, plus
    that of the mean over the runs, which have nearly independent training rows. `values` are (runs, methods),
    `row` and `column` the places of the cells in them; the gains are those of the methods `first` over
    `second`, places of columns.
    """
    known = cells[["test_rows", "test_positives", "placements"]].notna().all(axis=1).to_numpy()
    if not known.any():  # cells of earlier versions
        return np.full(len(first), np.nan)
    rows, positives, _ = cells.loc[known, ["test_rows", "test_positives", "placements"]].iloc[0]
    kept = np.stack([np.asarray(own, float) for own in cells["placements"][known]])
    placements = np.full((*values.shape, kept.shape[1]), np.nan)
    placements[row[known], column[known]] = kept
    differences = values[:, first] - values[:, second]
    deviations = placements[:, first], placements[:, second]
    own = difference_interval(differences, *deviations, int(positives), int(rows - positives))
    gains = over_runs(differences)
    between = np.nan_to_num(gains.std) ** 2 / gains.runs
    # Compact archives have placements of the first run alone.
    tested = np.isfinite(differences) & np.isfinite(own.error)
    with np.errstate(invalid="ignore"):
        within = np.where(tested, own.error**2, 0.0).sum(axis=0) / tested.sum(axis=0)
    return np.asarray(t_quantile(0.95, own.degrees) * np.sqrt(within + between))


def groups_of_data(data_sets: pd.DataFrame) -> dict[str, set[str]]:
    """Names of groups to their data sets: all, by share of positives, by rows, by collection."""
    names = data_sets["data_set"]
    collection = names.str.extract(r"^(keel|adbench)_", expand=False).fillna("other")
    kinds = [pd.Categorical("collection " + collection, ("collection " + collection).unique())]
    if "rows" in data_sets:
        share, rows = data_sets["positive_share"].to_numpy(float), data_sets["rows"].to_numpy(float)
        rare = np.minimum(share, 1.0 - share)
        kinds.insert(0, pd.cut(rows, LARGE, right=False, labels=LARGE_GROUPS))
        kinds.insert(0, pd.cut(rare, RARE, right=False, labels=RARE_GROUPS))
    found = {str(group): set(names[kind == group]) for kind in kinds for group in kind.categories}
    return {ALL: set(names)} | {name: own for name, own in found.items() if 0 < len(own) < len(names)}


def compared(
    gains: pd.DataFrame, results: pd.DataFrame, data_sets: pd.DataFrame, rope: float | None
) -> pd.DataFrame:
    """The verdict on each method against each reference of the gains, over each group of data sets.

    To the columns of `compare_families` come `class_of_model`; `mean`, the mean of the measure over families;
    `mean_note`, on how many of the data sets the method has a mean, where that is not on all; `time_ratio`,
    the geometric mean over data sets of training and tuning time relative to the reference, NaN where times
    do not compare; `time_note`, why times are not those of one thread; `front`, whether the method is on the
    Pareto front of mean and time; and `gaps`, the data sets that are left out because a run gave no result.
    The reference and methods without any gain have lines without gain; where the reference was not run all
    methods have. The best gain comes first, then the mean over most data sets, then the best mean.
    """
    parts: list[dict[str, Any]] = []
    with threadpool_limits(1):  # a second thread would only wait: the matrices are small
        for setting, facts in data_sets.groupby("setting", sort=False):
            own = gains[gains["setting"] == setting]
            shown = results[results["setting"] == setting]
            every = _log_seconds(shown)
            tables = own.pivot(index="data_set", columns=["reference", "method"], values="gain")
            for name, members in groups_of_data(facts).items():
                there = facts[facts["data_set"].isin(members)].set_index("data_set")["family"]
                known = _by_method(shown[shown["data_set"].isin(members)], there)
                seconds = every.reindex(index=there.index, columns=known.index)
                columns = {each: known[each].to_numpy() for each in known} | {"method": known.index}
                for reference in own["reference"].unique() if len(own) else [""]:
                    wide: Any = tables[reference] if reference else pd.DataFrame()
                    table = wide.reindex(index=there.index, columns=known.index).to_numpy(float)
                    line = columns | compare_matrix(table, there.to_numpy(), rope)
                    none = np.isnan(table).all(axis=0)
                    line |= {each: np.where(none, np.nan, line[each]) for each in ("families", "data_sets")}
                    line |= {"setting": setting, "group": name, "reference": reference}
                    line["time_ratio"] = np.full(len(known), np.nan)
                    if reference in seconds:
                        ratios = seconds.sub(seconds[reference], axis=0)
                        line["time_ratio"] = np.exp(ratios.mean()).to_numpy()
                    line["front"] = pareto_front(line["mean"], line["time_ratio"])
                    gain = np.where(known.index == reference, 0.0, line["gain"])
                    orders = (line["mean"], line["mean_sets"], gain)
                    best = np.lexsort([-np.nan_to_num(each, nan=-np.inf) for each in orders])
                    parts.append(
                        {each: np.broadcast_to(line[each], len(known))[best] for each in VERDICT_COLUMNS}
                    )
    return pd.DataFrame(
        {each: np.concatenate([part[each] for part in parts]) if parts else [] for each in VERDICT_COLUMNS}
    )


def _by_method(results: pd.DataFrame, families: "pd.Series[str]") -> pd.DataFrame:
    """What is known of each method in a group of data sets, whatever the reference."""
    whole = results[results["gaps"] == ""].assign(family=results["data_set"].map(families))
    found = pd.DataFrame(
        {
            "class_of_model": results.groupby("method")["class_of_model"].first(),
            "mean": whole.groupby(["method", "family"])["mean"].mean().groupby("method").mean(),
            "time_note": whole.groupby("method")["time_note"].max(),
            "gaps": results[results["gaps"] != ""].groupby("method").size(),
        },
        index=pd.Index(results["method"].unique(), name="method"),
    )
    counts = whole["mean"].groupby(whole["method"]).count().reindex(found.index, fill_value=0)
    notes = [f"{count} of {len(families)}" if 0 < count < len(families) else "" for count in counts]
    return found.assign(gaps=found["gaps"].fillna(0).astype(int), mean_note=notes, mean_sets=counts)


def _log_seconds(results: pd.DataFrame) -> pd.DataFrame:
    """Logarithm of training and tuning time by data set and method; NaN where times do not compare."""
    known = results[(results["gaps"] == "") & (results["timing_mark"] == "")]
    seconds = (known["train_seconds"] + known["tuning_seconds"]).astype(float)
    with np.errstate(divide="ignore"):
        logs = known.assign(seconds=np.log(seconds.where(seconds > 0)))
    return logs.pivot(index="data_set", columns="method", values="seconds")
