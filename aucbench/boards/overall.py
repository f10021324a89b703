"""The methods across the boards of a group: ranks, tests, profiles."""

from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards import statistics
from aucbench.boards.framing import Group
from aucbench.boards.labelling import letters_of
from aucbench.boards.report import Interval, Overall

if TYPE_CHECKING:
    import pandas as pd


def overall_of(group: Group, confidence: float) -> Overall:
    """Ranks, wins, significance and fronts over all boards of a group."""
    frame = group.frame()
    ranking = statistics.average_ranks(frame, confidence)
    complete, with_gaps = ranking.complete.set_index("method"), ranking.with_gaps.set_index("method")
    comparisons = statistics.compare_datasets(frame)
    friedman, text, groups = _significance(frame, complete, comparisons, confidence)
    order = list(complete.index) if len(complete) else []
    methods = order + [method for method in with_gaps.index if method not in order]
    methods += [label for label in dict.fromkeys(group.labels.values()) if label not in methods]
    wins = statistics.win_tie_loss(statistics.compare_runs(frame, confidence))
    totals = wins.groupby("first")[["win", "tie", "loss"]].sum() if len(wins) else wins
    return Overall(
        tuned=group.tuned,
        methods=tuple(str(method) for method in methods),
        boards=len(group.boards),
        ranked_boards=len(ranking.datasets),
        ranks=_intervals(complete),
        ranks_with_gaps=_intervals(with_gaps),
        incomplete=_gaps(ranking.missing),
        groups=groups,
        wins=_total(totals, "win"),
        ties=_total(totals, "tie"),
        losses=_total(totals, "loss"),
        pairwise=_pairs(comparisons),
        friedman=friedman,
        friedman_text=text,
        profile=_profile(frame),
        pareto=_front(frame),
    )


def _significance(
    frame: "pd.DataFrame", complete: "pd.DataFrame", comparisons: "pd.DataFrame", confidence: float
) -> tuple[dict[str, float] | None, str, dict[str, str]]:
    """Friedman and Nemenyi where there are data sets enough, else Wilcoxon's groups and why."""
    table = statistics.complete_rectangle(statistics.dataset_means(frame)).table
    try:
        test = statistics.friedman(table)
        nemenyi = statistics.nemenyi(table, confidence)
    except statistics.RefusedError as refusal:
        if not len(complete):
            return None, str(refusal), {}
        found = statistics.groups_by_wilcoxon(complete["rank"], comparisons, confidence)
        text = f"{refusal} Letters are from Wilcoxon's signed-rank tests with Holm's correction."
        return None, text, letters_of(found)
    numbers = {
        "chi2": test.chi2,
        "p": test.p_f,
        "f": test.f,
        "critical_difference": nemenyi.critical_difference,
        "datasets": float(test.datasets),
        "methods": float(test.methods),
    }
    text = (
        f"Friedman's test over {test.datasets} data sets and {test.methods} methods: F = {test.f:.2f}, "
        f"p = {test.p_f:.2g} (Iman and Davenport). By Nemenyi's test mean ranks differ when they are at "
        f"least {nemenyi.critical_difference:.2f} apart."
    )
    return numbers, text, letters_of(statistics.groups_by_rank(nemenyi))


def _intervals(ranks: "pd.DataFrame") -> dict[str, Interval]:
    return {
        str(method): Interval(float(row["rank"]), float(row["low"]), float(row["high"]))
        for method, row in ranks.iterrows()
        if not np.isnan(row["rank"])
    }


def _gaps(missing: "pd.DataFrame") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for method, dataset in missing[["method", "dataset"]].itertuples(index=False):
        where = found.setdefault(str(method), [])
        if str(dataset) not in where:
            where.append(str(dataset))
    return found


def _total(totals: "pd.DataFrame", column: str) -> dict[str, int]:
    if column not in totals:
        return {}
    return {str(method): int(count) for method, count in totals[column].items()}


def _pairs(comparisons: "pd.DataFrame") -> dict[tuple[str, str], float]:
    found = {}
    for first, second, p in comparisons[["first", "second", "p_holm"]].itertuples(index=False):
        found[str(first), str(second)] = found[str(second), str(first)] = float(p)
    return found


def _profile(frame: "pd.DataFrame") -> dict[str, tuple[Any, Any]]:
    """Of the AUC gap; none where a method was not run on a data set."""
    try:
        profile = statistics.performance_profile(statistics.measure_table(frame))
    except statistics.RefusedError:
        return {}
    taus = profile.index.to_numpy(float)
    return {str(method): (taus, profile[method].to_numpy(float)) for method in profile.columns}


def _front(frame: "pd.DataFrame") -> tuple[str, ...]:
    """Methods not beaten in mean AUC and (geometric) mean cost at once, over the data sets."""
    points = statistics.auc_and_cost(frame)
    methods = list(dict.fromkeys(points["method"]))
    own = [points[points["method"] == method] for method in methods]
    aucs = [float(each["auc"].mean(skipna=False)) for each in own]
    costs = [float(np.exp(np.mean(np.log(each["cost"].to_numpy(float))))) for each in own]
    front = statistics.pareto_front(aucs, costs)
    return tuple(str(method) for method, on_front in zip(methods, front, strict=True) if on_front)
