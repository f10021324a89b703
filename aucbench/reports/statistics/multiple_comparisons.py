"""Many tests at once: Holm's correction, and groups of methods that do not differ significantly."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from aucbench.reports.statistics.friedman import Nemenyi
from aucbench.reports.statistics.inputs import Floats, level_of

Groups = tuple[tuple[Hashable, ...], ...]


def holm(p: Floats) -> Floats:
    """P-values corrected for their number.

    With p sorted ascendingly, the i-th of m becomes max over j <= i of min(1, (m - j + 1) p_(j)). Rejecting
    where this is below a level keeps the chance of any false rejection below that level, whatever the
    dependence between the tests. NaN in `p`, (m,), stands for a test that could not be done: it stays NaN and
    is not counted.

    S. Holm: A simple sequentially rejective multiple test procedure. Scand. J. Statistics 6 (1979) 65-70.
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    corrected = np.full(p.shape, np.nan)
    scaled = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return corrected


def maximal_groups(methods: Sequence[Hashable], differs: NDArray[np.bool_]) -> Groups:
    """The largest groups of methods of which no two differ, in the order of their best members.

    Two methods share a group exactly when they do not differ, so that letters for the groups say what the
    tests say. Groups may overlap and none contains another. A method between two others in rank may differ
    from both although those do not differ from each other: then a group skips it. Where the tests follow the
    distance in rank, as Nemenyi's does, groups are what the bars of a critical-difference diagram join
    (Demsar 2006, figure 1). They are the maximal cliques of the graph of pairs that do not differ (C. Bron,
    J. Kerbosch: Algorithm 457, CACM 16 (1973)). `methods`, (k,), come best first, and `differs`, (k, k), is
    symmetric.
    """
    k = len(methods)
    alike = [{other for other in range(k) if other != one and not differs[one, other]} for one in range(k)]
    found: list[list[int]] = []

    def extend(group: list[int], candidates: set[int], done: set[int]) -> None:
        if not candidates and not done:
            found.append(sorted(group))
            return
        pivot = max(candidates | done, key=lambda each: len(candidates & alike[each]))
        for one in sorted(candidates - alike[pivot]):
            extend([*group, one], candidates & alike[one], done & alike[one])
            candidates = candidates - {one}
            done = done | {one}

    if k:
        extend([], set(range(k)), set())
    return tuple(tuple(methods[member] for member in group) for group in sorted(found))


def groups_of_runs(summary: pd.DataFrame, comparisons: pd.DataFrame) -> Groups:
    """Groups on one data set, in order of the mean AUC, from `summarise` and `compare_runs`.

    Methods with gaps are in no group. With a single run there are no groups: nothing was tested.
    """
    tested = summary[(summary["gaps"] == 0) & (summary["runs"] > 1)]
    order = np.argsort(-np.round(tested["mean"].to_numpy(float), 12), kind="stable")
    different = comparisons[comparisons["outcome"].isin(["win", "loss"])]
    pairs = zip(different["first"], different["second"], strict=True)
    return _groups_without(tested["method"].iloc[order].tolist(), pairs)


def groups_by_rank(test: Nemenyi) -> Groups:
    """Groups over all data sets, in order of the average rank, by Nemenyi's critical difference: the bars of
    a critical-difference diagram."""
    order = np.argsort(test.ranks.to_numpy(), kind="stable")
    return maximal_groups(list(test.ranks.index[order]), test.differs.to_numpy()[np.ix_(order, order)])


def groups_by_wilcoxon(
    ranks: "pd.Series[float]", comparisons: pd.DataFrame, confidence: float = 0.95
) -> Groups:
    """Groups over all data sets, in order of the average rank, from `compare_datasets`.

    It needs no minimum of data sets: with few of them nothing is significant, and the one group says so. A
    pair that could not be tested does not differ. Only methods with a rank are grouped.
    """
    methods = list(ranks.index[np.argsort(ranks.to_numpy(), kind="stable")])
    different = comparisons[comparisons["p_holm"] < level_of(confidence)]
    pairs = zip(different["first"], different["second"], strict=True)
    return _groups_without(methods, (pair for pair in pairs if set(pair) <= set(methods)))


def _groups_without(methods: Sequence[Hashable], pairs: Iterable[tuple[Hashable, Hashable]]) -> Groups:
    """The largest groups that hold none of these pairs."""
    differs = np.zeros((len(methods), len(methods)), dtype=bool)
    for pair in pairs:
        one, other = map(methods.index, pair)
        differs[one, other] = differs[other, one] = True
    return maximal_groups(methods, differs)
