"""The methods across the boards of a group: ranks, tests, profiles, costs, gains."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.evaluation.measures import AUC, Measure
from aucbench.reports.baseline import baseline_of
from aucbench.reports.build_suboptimality import minima_reached, reached_over
from aucbench.reports.cells import Group
from aucbench.reports.labels import letters_of
from aucbench.reports.render.display import trouble
from aucbench.reports.report import Board, Cost, Estimate, Overall, Pairwise, Row
from aucbench.reports.statistics.friedman import friedman, nemenyi
from aucbench.reports.statistics.inputs import RefusedError, dataset_means, level_of
from aucbench.reports.statistics.multiple_comparisons import groups_by_rank, groups_by_wilcoxon
from aucbench.reports.statistics.pareto import pareto_front
from aucbench.reports.statistics.performance_profile import auc_gaps, performance_profile
from aucbench.reports.statistics.ranks import average_ranks, complete_rectangle
from aucbench.reports.statistics.summary import gains_over_datasets
from aucbench.reports.statistics.wilcoxon import compare_datasets

if TYPE_CHECKING:
    import pandas as pd


def overall_of(group: Group, boards: Sequence[Board], baseline: str, confidence: float) -> Overall:
    """Ranks, wins, significance, fronts and gains over all boards of a group."""
    frame = group.frame()
    ranking = average_ranks(frame, confidence)
    complete, with_gaps = ranking.complete.set_index("method"), ranking.with_gaps.set_index("method")
    comparisons = compare_datasets(frame)
    letters = groups_by_wilcoxon(complete["rank"], comparisons, confidence)
    tested = comparisons["p_holm"].notna().any()
    numbers, text, cliques = _friedman(frame, confidence)
    order = list(complete.index) if len(complete) else []
    methods = order + [method for method in with_gaps.index if method not in order]
    methods += [label for label in dict.fromkeys(group.labels.values()) if label not in methods]
    rows: dict[str, list[Row]] = {}
    for row in (row for board in boards for row in board.rows):
        rows.setdefault(row.method, []).append(row)
    against = baseline_of(group, baseline)
    gains = gains_over_datasets(frame, against, confidence)
    return Overall(
        tuned=group.tuned,
        methods=tuple(str(method) for method in methods),
        boards=len(group.boards),
        ranked_boards=len(ranking.datasets),
        ranks=_intervals(complete),
        ranks_with_gaps=_intervals(with_gaps),
        incomplete=_gaps(ranking.missing),
        groups=letters_of(letters) if tested else {},
        wins={method: sum(row.wins for row in own) for method, own in rows.items()},
        ties={method: sum(row.ties for row in own) for method, own in rows.items()},
        losses={method: sum(row.losses for row in own) for method, own in rows.items()},
        pairwise=pairwise(comparisons),
        procedure=_procedure(comparisons, level_of(confidence), group.measure),
        friedman=numbers,
        friedman_text=text,
        cliques=cliques,
        profile=_profile(frame),
        costs=_costs(rows, len(boards)),
        reached=minima_reached(boards),
        reached_auc=reached_over(boards, lambda row, cost: row.to_targets.get(cost, ())),
        baseline=against or "",
        baseline_reason="" if against else f"{baseline} was not run",
        gains={
            str(method): Estimate(float(row["gain"]), float(row["gain_low"]), float(row["gain_high"]))
            for method, row in gains.iterrows()
            if row["datasets"]
        },
        gain_boards={str(method): int(count) for method, count in gains["datasets"].items() if count},
    )


def _procedure(comparisons: "pd.DataFrame", level: float, measure: Measure) -> str:
    """The test between methods in words, empty where no pair could be tested."""
    tested = comparisons[comparisons["p_holm"].notna()]
    if not len(tested):
        return ""
    datasets = int(tested["datasets"].max())
    pairs = "1 pair" if len(tested) == 1 else f"{len(tested)} pairs"
    what = "" if isinstance(measure, AUC) else f" of the {measure.title}"
    text = (
        f"Wilcoxon's signed-rank test{what} over {datasets} data sets, Holm over {pairs}, {100 * level:g} %"
    )
    if len(tested) * 2.0 ** (1 - datasets) >= level:  # the smallest p-value that the first of them can have
        text += "; with so few data sets, no pair can differ significantly"
    return text


def _friedman(
    frame: "pd.DataFrame", confidence: float
) -> tuple[dict[str, float] | None, str, tuple[tuple[str, ...], ...]]:
    """Friedman's and Nemenyi's tests with the bars of their diagram, or why there are none."""
    table = complete_rectangle(dataset_means(frame))
    try:
        test = friedman(table)
        pairs = nemenyi(table, confidence)
    except RefusedError as refusal:
        return None, str(refusal), ()
    numbers = {
        "chi2": test.chi2,
        "p": test.p_f,
        "f": test.f,
        "critical_difference": pairs.critical_difference,
        "datasets": float(test.datasets),
        "methods": float(test.methods),
    }
    text = (
        f"Friedman's test over {test.datasets} data sets and {test.methods} methods: F = {test.f:.2f}, "
        f"p = {test.p_f:.2g} (Iman and Davenport). By Nemenyi's test mean ranks differ when they are at "
        f"least {pairs.critical_difference:.2f} apart."
    )
    bars = [group for group in groups_by_rank(pairs) if len(group) > 1]
    return numbers, text, tuple(tuple(str(method) for method in group) for group in bars)


def _intervals(ranks: "pd.DataFrame") -> dict[str, Estimate]:
    return {
        str(method): Estimate(float(row["rank"]), float(row["low"]), float(row["high"]))
        for method, row in ranks.iterrows()
        if not np.isnan(row["rank"])
    }


def _gaps(missing: "pd.DataFrame") -> dict[str, list[str]]:
    """The data sets on which each method has gaps."""
    by_method = missing.drop_duplicates(["method", "dataset"]).groupby("method", sort=False)
    return {str(method): list(map(str, datasets)) for method, datasets in by_method["dataset"]}


def pairwise(comparisons: "pd.DataFrame") -> Pairwise:
    """The corrected p-values, both ways."""
    found = {}
    for first, second, p in comparisons[["first", "second", "p_holm"]].itertuples(index=False):
        found[str(first), str(second)] = found[str(second), str(first)] = float(p)
    return found


def _profile(frame: "pd.DataFrame") -> dict[str, tuple[Any, Any]]:
    """Of the AUC gap; none where a method was not run on a data set."""
    try:
        profile = performance_profile(auc_gaps(frame))
    except RefusedError:
        return {}
    taus = profile.index.to_numpy(float)
    return {str(method): (taus, profile[method].to_numpy(float)) for method in profile.columns}


def _costs(rows: Mapping[str, Sequence[Row]], boards: int) -> dict[str, Cost]:
    """AUC and cost of the methods that have all runs on all boards."""
    whole = {
        method: own
        for method, own in rows.items()
        if len(own) == boards and not any(map(trouble, own)) and min(r.train_seconds for r in own) > 0
    }
    aucs = [float(np.mean([row.auc.value for row in own])) for own in whole.values()]
    seconds = [float(np.exp(np.mean(np.log([row.train_seconds for row in own])))) for own in whole.values()]
    marked = [any(row.timing_mark for row in own) for own in whole.values()]
    paid = [float("nan") if mark else cost for mark, cost in zip(marked, seconds, strict=True)]
    fronts = pareto_front(aucs, paid)
    return {
        method: Cost(auc, cost, mark, bool(front))
        for method, auc, cost, mark, front in zip(whole, aucs, seconds, marked, fronts, strict=True)
    }
