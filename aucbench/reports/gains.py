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

    The arguments are those of `gains_of` and `compared`. Slopes are the `meta_regression` of the gains of
    each setting; there are no slopes if the rows of no data set are known.
    """
    gains = gains_of(cells, data_sets, references, rope, measure)
    tables = [
        meta_regression(group, data_sets[data_sets["setting"] == setting]).assign(setting=setting)
        for setting, group in gains.groupby("setting")
        if "rows" in data_sets
    ]
    slopes = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=SLOPE_COLUMNS)
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

    The gain is the mean of method - reference over the common runs, with its interval and the verdict on the
    data set. The interval is that of `over_runs`, or DeLong's if there is one run, if all runs have one split
    or the same gain, or if the test part is larger than the training part. Runs with the same gain have no
    interval if test rows cannot give one. A data set on which a run of the method or the reference diverged,
    failed or is missing has no gain, because the finished runs are a biased selection.

    Parameters
    ----------
    cells, data_sets : DataFrame
        The frames of a report.
    references : mapping
        From each setting to the label of a reference, or to several labels for gains over each of them.
    rope : float or None
        Half the width of the region of practical equivalence; without a rope there are no verdicts.
    measure : str
        The column of `cells` that is compared.

    Returns
    -------
    DataFrame
        Columns `setting`, `data_set`, `family`, `method`, `reference`, `runs`, `gain`, `low`, `high` and
        `verdict`, a line for each method other than the reference if both have complete runs.
    """
    ratios = data_sets.set_index(["setting", "data_set"])["test_train_ratio"].to_dict()
    placed = cells[cells["method"].notna()]
    run_of = placed.groupby(list(SEEDS)).ngroup().to_numpy()
    parts = []
    boards: Any = placed.groupby(["setting", "data_set"], sort=False).indices
    for (setting, data_set), at in boards.items():
        board = placed.iloc[at]
        names, column = np.unique(board["method"].to_numpy(object), return_inverse=True)
        labels = np.atleast_1d(references.get(setting, ""))
        runs, row = np.unique(run_of[at], return_inverse=True)
        is_finished = board["status"] == "finished"
        values = np.full((len(runs), len(names)), np.nan)
        values[row, column] = board[measure].where(is_finished).astype(float)
        is_complete = ~np.isin(np.arange(len(names)), column[np.isnan(values[row, column])])
        chosen = [index for name in labels for index in np.flatnonzero((names == name) & is_complete)]
        if not chosen:
            continue
        first, second = (part.ravel() for part in np.meshgrid(np.flatnonzero(is_complete), chosen))
        first, second = first[first != second], second[first != second]
        ratio = ratios[setting, data_set]
        stats = over_runs(values[:, first] - values[:, second], ratio)
        # Equal gains of all runs, and test parts larger than the training parts, leave no evidence over runs.
        is_equal = stats.std == 0
        low, high = (np.where(is_equal, np.nan, end) for end in (stats.low, stats.high))
        by_rows = (stats.runs == 1) | is_equal | np.isnan(ratio) | (ratio > 1)
        if measure == "auc" and "placements" in board and by_rows.any():
            half = _over_test_rows(board, row, column, values, first, second)
            by_rows &= np.isfinite(half)
            low, high = np.where(by_rows, stats.mean - half, low), np.where(by_rows, stats.mean + half, high)
        arrays = (
            setting, data_set, board["family"].iloc[0], names[first], names[second], stats.runs.astype(int),
            stats.mean, low, high, verdict_of(stats.mean, low, high, rope).astype(str),
        )  # fmt: skip
        parts.append(pd.DataFrame(dict(zip(COLUMNS, arrays, strict=True)))[stats.runs > 0])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def _over_test_rows(
    cells: pd.DataFrame, row: Any, column: Any, values: Floats, first: Any, second: Any
) -> Floats:
    """(pairs,) half widths of 95 % intervals of mean gains if runs cannot give them; NaN if unknown.

    The variance is the sum of two terms: DeLong's variance, averaged over the runs because they have nearly
    the same test rows, and the variance of the mean over the runs, which have nearly independent training
    rows. `values` are (runs, methods); `row` and `column` are the indices of the cells in `values`. The gains
    are those of the columns `first` over the columns `second`.
    """
    mask = cells[["test_rows", "test_positives", "placements"]].notna().all(axis=1).to_numpy()
    if not mask.any():  # cells of earlier versions have no placements
        return np.full(len(first), np.nan)
    rows, positives, _ = cells.loc[mask, ["test_rows", "test_positives", "placements"]].iloc[0]
    matrix = np.stack([np.asarray(vector, float) for vector in cells["placements"][mask]])
    placements = np.full((*values.shape, matrix.shape[1]), np.nan)
    placements[row[mask], column[mask]] = matrix
    differences = values[:, first] - values[:, second]
    deviations = placements[:, first], placements[:, second]
    interval = difference_interval(differences, *deviations, int(positives), int(rows - positives))
    gains = over_runs(differences)
    between = np.nan_to_num(gains.std) ** 2 / gains.runs
    # Compact archives store placements of the first run only.
    tested = np.isfinite(differences) & np.isfinite(interval.error)
    with np.errstate(invalid="ignore"):
        within = np.where(tested, interval.error**2, 0.0).sum(axis=0) / tested.sum(axis=0)
    return np.asarray(t_quantile(0.95, interval.degrees) * np.sqrt(within + between))


def groups_of_data(data_sets: pd.DataFrame) -> dict[str, set[str]]:
    """From names of groups to their data sets: all, by share of positives, by rows, by collection."""
    names = data_sets["data_set"]
    collection = names.str.extract(r"^(keel|adbench)_", expand=False).fillna("other")
    kinds = [pd.Categorical("collection " + collection, ("collection " + collection).unique())]
    if "rows" in data_sets:
        share, rows = data_sets["positive_share"].to_numpy(float), data_sets["rows"].to_numpy(float)
        rare = np.minimum(share, 1.0 - share)
        kinds.insert(0, pd.cut(rows, LARGE, right=False, labels=LARGE_GROUPS))
        kinds.insert(0, pd.cut(rare, RARE, right=False, labels=RARE_GROUPS))
    groups = {str(group): set(names[kind == group]) for kind in kinds for group in kind.categories}
    return {ALL: set(names)} | {name: group for name, group in groups.items() if 0 < len(group) < len(names)}


def compared(
    gains: pd.DataFrame, results: pd.DataFrame, data_sets: pd.DataFrame, rope: float | None
) -> pd.DataFrame:
    """The verdict on each method against each reference of the gains, over each group of data sets.

    The columns are those of `compare_families`; `class_of_model`; `mean`, the mean of the measure over
    families; `mean_note`, the number of data sets with a mean, if some lack one; `time_ratio`, the geometric
    mean over data sets of training and tuning time relative to the reference, NaN if times are not
    comparable; `time_note`, why times are not those of one thread; `front`, whether the method is on the
    Pareto front of mean and time; and `gaps`, the number of data sets left out because a run gave no result.
    The reference, methods without gains, and all methods if the reference was not run have lines without
    gain. The best gain comes first, then the mean over most data sets, then the best mean.
    """
    parts: list[dict[str, Any]] = []
    with threadpool_limits(1):  # the matrices are too small for a second thread
        for setting, facts in data_sets.groupby("setting", sort=False):
            setting_gains = gains[gains["setting"] == setting]
            setting_results = results[results["setting"] == setting]
            log_seconds = _log_seconds(setting_results)
            tables = setting_gains.pivot(index="data_set", columns=["reference", "method"], values="gain")
            for name, members in groups_of_data(facts).items():
                families = facts[facts["data_set"].isin(members)].set_index("data_set")["family"]
                methods = _by_method(setting_results[setting_results["data_set"].isin(members)], families)
                seconds = log_seconds.reindex(index=families.index, columns=methods.index)
                columns = {key: methods[key].to_numpy() for key in methods} | {"method": methods.index}
                for reference in setting_gains["reference"].unique() if len(setting_gains) else [""]:
                    wide: Any = tables[reference] if reference else pd.DataFrame()
                    table = wide.reindex(index=families.index, columns=methods.index).to_numpy(float)
                    line = columns | compare_matrix(table, families.to_numpy(), rope)
                    is_empty = np.isnan(table).all(axis=0)
                    line |= {key: np.where(is_empty, np.nan, line[key]) for key in ("families", "data_sets")}
                    line |= {"setting": setting, "group": name, "reference": reference}
                    line["time_ratio"] = np.full(len(methods), np.nan)
                    if reference in seconds:
                        ratios = seconds.sub(seconds[reference], axis=0)
                        line["time_ratio"] = np.exp(ratios.mean()).to_numpy()
                    line["front"] = pareto_front(line["mean"], line["time_ratio"])
                    gain = np.where(methods.index == reference, 0.0, line["gain"])
                    sort_keys = (line["mean"], line["mean_sets"], gain)
                    order = np.lexsort([-np.nan_to_num(key, nan=-np.inf) for key in sort_keys])
                    parts.append(
                        {key: np.broadcast_to(line[key], len(methods))[order] for key in VERDICT_COLUMNS}
                    )
    return pd.DataFrame(
        {key: np.concatenate([part[key] for part in parts]) if parts else [] for key in VERDICT_COLUMNS}
    )


def _by_method(results: pd.DataFrame, families: "pd.Series[str]") -> pd.DataFrame:
    """Class, mean, time note and gaps of each method in a group of data sets, for all references."""
    complete = results[results["gaps"] == ""].assign(family=results["data_set"].map(families))
    methods = pd.DataFrame(
        {
            "class_of_model": results.groupby("method")["class_of_model"].first(),
            "mean": complete.groupby(["method", "family"])["mean"].mean().groupby("method").mean(),
            "time_note": complete.groupby("method")["time_note"].max(),
            "gaps": results[results["gaps"] != ""].groupby("method").size(),
        },
        index=pd.Index(results["method"].unique(), name="method"),
    )
    counts = complete["mean"].groupby(complete["method"]).count().reindex(methods.index, fill_value=0)
    notes = [f"{count} of {len(families)}" if 0 < count < len(families) else "" for count in counts]
    return methods.assign(gaps=methods["gaps"].fillna(0).astype(int), mean_note=notes, mean_sets=counts)


def _log_seconds(results: pd.DataFrame) -> pd.DataFrame:
    """Logarithm of training and tuning time by data set and method; NaN if not comparable."""
    comparable = results[(results["gaps"] == "") & (results["timing_mark"] == "")]
    seconds = (comparable["train_seconds"] + comparable["tuning_seconds"]).astype(float)
    with np.errstate(divide="ignore"):
        logs = comparable.assign(seconds=np.log(seconds.where(seconds > 0)))
    return logs.pivot(index="data_set", columns="method", values="seconds")
