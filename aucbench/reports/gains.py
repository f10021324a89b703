"""Gains over a reference on each data set, and verdicts over families of data sets."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aucbench.evaluation import difference_interval
from aucbench.evaluation.delong import t_quantile
from aucbench.reports.report import ALL
from aucbench.reports.statistics.over_runs import over_runs
from aucbench.reports.statistics.verdicts import Floats, compare_families, verdict_of
from aucbench.studies.record import SEEDS

if TYPE_CHECKING:
    import pandas as pd

RARE = (0.05, 0.15)  # shares of positives between groups of data sets
LARGE = (1_000, 10_000)  # rows between groups of data sets


def gains_of(
    cells: "pd.DataFrame",
    data_sets: "pd.DataFrame",
    references: Mapping[str, str | Sequence[str]],
    rope: float | None,
    measure: str = "auc",
) -> "pd.DataFrame":
    """The gain of each method over the reference of its setting, on each data set.

    The gain is the mean of method - reference over the runs that both have, with the interval of
    `over_runs`, or of DeLong where there is one run, all runs have one split or the same gain (no spread is
    no evidence), or the test part is larger than the training part, and the verdict on that data set. A
    data set on which a run of either diverged, failed or is missing has no gain: the runs that finished are
    a selection, and would flatter.

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
    import pandas as pd

    ratios = data_sets.set_index(["setting", "data_set"])["test_train_ratio"].to_dict()
    rows = []
    placed = cells[cells["method"].notna()]
    for (setting, data_set), own in placed.groupby(["setting", "data_set"], sort=False):
        wanted = references.get(str(setting), "")
        values = own.assign(value=own[measure].where(own["status"] == "finished")).pivot(
            index=list(SEEDS), columns="method", values="value"
        )
        planned = own.pivot(index=list(SEEDS), columns="method", values="status").notna()
        whole = [name for name in values if values[name].notna()[planned[name]].all()]
        ratio = ratios[str(setting), str(data_set)]
        family = own["family"].iloc[0]
        tested = own.loc[own["status"] == "finished", ["test_rows", "test_positives"]]
        placements, one_test_part = None, False
        if measure == "auc" and "placements" in own and tested["test_positives"].notna().any():
            one_test_part = np.isnan(ratio) or ratio > 1
            placements = _placements(own, values) if one_test_part or _has_equal_gains(values) else None
        for reference in [wanted] if isinstance(wanted, str) else wanted:
            if reference not in whole:
                continue
            others = [name for name in whole if name != reference]
            table = values[others].to_numpy(float) - values[[reference]].to_numpy(float)
            found = over_runs(table, None if np.isnan(ratio) else float(ratio))
            low, high = found.low, found.high
            if placements is not None:
                places = values.columns.get_indexer(pd.Index([*others, reference]))
                first, second = placements[:, places[:-1]], placements[:, places[-1:]]
                half = _over_test_rows(table, first, second, tested.iloc[0])
                repeated = (found.runs == 1) | (found.std == 0)
                known = (repeated | one_test_part) & np.isfinite(half)
                low, high = np.where(known, found.mean - half, low), np.where(known, found.mean + half, high)
            verdicts = verdict_of(found.mean, low, high, rope)
            for at, method in enumerate(others):
                if found.runs[at]:
                    rows.append((setting, data_set, family, method, reference, int(found.runs[at]),
                                 float(found.mean[at]), float(low[at]), float(high[at]),
                                 str(verdicts[at])))  # fmt: skip
    columns = "setting data_set family method reference runs gain low high verdict"
    return pd.DataFrame(rows, columns=columns.split())


def _has_equal_gains(values: "pd.DataFrame") -> bool:
    """Whether the runs of two methods differ by a constant, so that runs give their gain no deviation."""
    return bool((values - values.iloc[0]).round(12).T.duplicated().any())


def _placements(cells: "pd.DataFrame", values: "pd.DataFrame") -> Floats:
    """(runs, methods, blocks) the placements of the cells of a data set, NaN where a record has none."""
    table = cells.pivot(index=list(SEEDS), columns="method", values="placements")
    lists = table.reindex(index=values.index, columns=values.columns).to_numpy()
    known = [own for own in lists.flat if isinstance(own, (list, tuple, np.ndarray))]
    none = np.full(len(known[0]) if known else 1, np.nan)
    found = [own if isinstance(own, (list, tuple, np.ndarray)) else none for own in lists.flat]
    return np.array(found, float).reshape(*lists.shape, -1)


def _over_test_rows(differences: Floats, first: Floats, second: Floats, facts: "pd.Series") -> Floats:
    """(methods,) half widths of 95 % intervals of mean gains where runs cannot give them; NaN if unknown.

    The variance is DeLong's, the mean over the runs, for all of them have nearly the same test rows, plus
    that of the mean over the runs, which have nearly independent training rows. `differences` are
    (runs, methods), `first` and `second` the placements of methods and reference.
    """
    positives, rows = int(facts["test_positives"]), int(facts["test_rows"])
    known = np.isfinite(differences)
    n = known.sum(axis=0)
    own = difference_interval(differences, first, second, positives, rows - positives)
    mean = np.where(known, differences, 0.0).sum(axis=0) / n
    between = np.where(known, (differences - mean) ** 2, 0.0).sum(axis=0) / (np.maximum(n - 1, 1) * n)
    within = np.where(known, own.error**2, 0.0).sum(axis=0) / n
    return np.asarray(t_quantile(0.95, own.degrees) * np.sqrt(within + between))


def groups_of_data(data_sets: "pd.DataFrame") -> dict[str, set[str]]:
    """Names of groups to their data sets: all, by share of positives, by rows, by collection."""
    names, share, rows = data_sets["data_set"], data_sets.get("positive_share"), data_sets.get("rows")
    found = {ALL: set(names)}
    if share is not None:
        rare = np.minimum(share, 1.0 - share)
        found["rare class below 5 %"] = set(names[rare < RARE[0]])
        found["rare class 5 to 15 %"] = set(names[(rare >= RARE[0]) & (rare < RARE[1])])
        found["rare class above 15 %"] = set(names[rare >= RARE[1]])
    if rows is not None:
        found["below 1,000 rows"] = set(names[rows < LARGE[0]])
        found["1,000 to 10,000 rows"] = set(names[(rows >= LARGE[0]) & (rows < LARGE[1])])
        found["10,000 rows and more"] = set(names[rows >= LARGE[1]])
    collection = names.str.extract(r"^(keel|adbench)_", expand=False).fillna("other")
    if collection.nunique() > 1:
        found |= {f"collection {name}": set(names[collection == name]) for name in collection.unique()}
    return {name: own for name, own in found.items() if own and (name == ALL or own != found[ALL])}


def compared(
    gains: "pd.DataFrame", results: "pd.DataFrame", data_sets: "pd.DataFrame", rope: float | None
) -> "pd.DataFrame":
    """The verdict on each method against each reference of the gains, over each group of data sets.

    To the columns of `compare_families` come `mean`, the mean of the measure over families; `time_ratio`,
    the geometric mean over data sets of training and tuning time relative to the reference, NaN where times
    do not compare; and `gaps`, the data sets that are left out because a run gave no result. The reference
    and methods without any gain have lines without gain; where the reference was not run all methods have.
    The best gain comes first, then the best mean.
    """
    import pandas as pd

    parts = []
    for setting, facts in data_sets.groupby("setting", sort=False):
        by_setting = gains[gains["setting"] == setting]
        family = facts.set_index("data_set")["family"]
        shown = results[results["setting"] == setting].assign(
            family=results.loc[results["setting"] == setting, "data_set"].map(family)
        )
        every = _log_seconds(shown)
        for name, members in groups_of_data(facts).items():
            within = shown[shown["data_set"].isin(members)]
            whole = within[within["gaps"] == ""]
            means = whole.groupby(["method", "family"])["mean"].mean().groupby("method").mean()
            gaps = within[within["gaps"] != ""].groupby("method").size()
            seconds = every[every.index.isin(members)]
            inside = by_setting[by_setting["data_set"].isin(members)]
            for reference in list(by_setting["reference"].unique()) or [""]:
                table = compare_families(inside[inside["reference"] == reference], rope)
                lacking = [each for each in within["method"].unique() if each not in table.index]
                table = table.reindex([*table.index, *lacking]).rename_axis("method").reset_index()
                ratio = means * np.nan
                if reference in seconds:
                    ratio = np.exp(seconds.sub(seconds[reference], axis=0).mean())
                table = table.assign(
                    setting=setting,
                    group=name,
                    reference=reference,
                    mean=table["method"].map(means),
                    time_ratio=table["method"].map(ratio),
                    gaps=table["method"].map(gaps).fillna(0).astype(int),
                )
                order = table["gain"].astype(float).where(table["method"] != reference, 0.0)
                parts.append(table.assign(order=order).sort_values(["order", "mean"], ascending=False))
    columns = [
        "setting", "group", "method", "reference", "families", "data_sets", "gain", "low", "high", "median",
        "verdict", "more_families", "worse", "same", "better", "without", "mean", "time_ratio", "gaps",
    ]  # fmt: skip
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)[columns]


def _log_seconds(results: "pd.DataFrame") -> "pd.DataFrame":
    """Logarithm of training and tuning time by data set and method; NaN where times do not compare."""
    known = results[(results["gaps"] == "") & (results["timing_mark"] == "")]
    seconds = (known["train_seconds"] + known["tuning_seconds"]).astype(float)
    with np.errstate(divide="ignore"):
        logs = known.assign(seconds=np.log(seconds.where(seconds > 0)))
    return logs.pivot(index="data_set", columns="method", values="seconds")
