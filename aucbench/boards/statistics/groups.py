"""Groups of methods between which no significant difference was found."""

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucbench.boards.statistics.cells import level_of
from aucbench.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from aucbench.boards.statistics.friedman import Nemenyi

Groups = tuple[tuple[Hashable, ...], ...]


def maximal_groups(methods: Sequence[Hashable], differs: NDArray[np.bool_]) -> Groups:
    """The largest groups of methods of which no two differ.

    Two methods share a group exactly when they do not differ, so that letters for the groups say what the
    tests say. Groups may overlap and none contains another. A method between two others in rank may differ
    from both although those do not differ from each other: then a group skips it. Where the tests follow the
    distance in rank, as Nemenyi's does, groups are what the bars of a critical-difference diagram join
    (Demsar 2006, figure 1). They are the maximal cliques of the graph of pairs that do not differ (C. Bron,
    J. Kerbosch: Algorithm 457, CACM 16 (1973)).

    Parameters
    ----------
    methods : sequence (k,)
        Best first; groups come in the order of their best members.
    differs : ndarray (k, k)
        Symmetric; whether two methods differ significantly.
    """
    k = len(methods)
    if differs.shape != (k, k) or (differs != differs.T).any():
        raise ParameterError(f"differs must be a symmetric {k} x {k} matrix, got shape {differs.shape}.")
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


def groups_of_runs(
    summary: "pd.DataFrame", comparisons: "pd.DataFrame"
) -> dict[tuple[Hashable, Hashable], Groups]:
    """Groups on every board and data set, in order of the mean AUC, from the paired tests.

    Methods with gaps are in no group. With a single run there are no groups: nothing was tested.

    Parameters
    ----------
    summary, comparisons : DataFrame
        From `summarise` and `compare_runs` of the same cells.

    Returns
    -------
    dict
        (board, dataset) to groups.
    """
    outcomes: dict[tuple[Hashable, Hashable], dict[frozenset[Hashable], str]] = {}
    for row in comparisons.to_dict("records"):
        own = outcomes.setdefault((row["board"], row["dataset"]), {})
        own[frozenset((row["first"], row["second"]))] = row["outcome"]
    members: dict[tuple[Hashable, Hashable], list[dict[Hashable, Any]]] = {}
    for line in summary.to_dict("records"):
        members.setdefault((line["board"], line["dataset"]), []).append(line)
    found: dict[tuple[Hashable, Hashable], Groups] = {}
    for key, lines in members.items():
        ranked = sorted(
            (line for line in lines if not line["gaps"]), key=lambda line: -round(line["mean"], 12)
        )
        methods = [line["method"] for line in ranked if line["runs"] > 1]
        differs = np.zeros((len(methods), len(methods)), dtype=bool)
        for one, other in combinations(range(len(methods)), 2):
            outcome = outcomes[key][frozenset((methods[one], methods[other]))]
            differs[one, other] = differs[other, one] = outcome in ("win", "loss")
        found[key] = maximal_groups(methods, differs)
    return found


def groups_by_rank(test: "Nemenyi") -> Groups:
    """Groups over all data sets, in order of the average rank, by Nemenyi's critical difference: the bars of
    a critical-difference diagram."""
    order = np.argsort(test.ranks.to_numpy(), kind="stable")
    return maximal_groups(list(test.ranks.index[order]), test.differs.to_numpy()[np.ix_(order, order)])


def groups_by_wilcoxon(
    ranks: "pd.Series[float]", comparisons: "pd.DataFrame", confidence: float = 0.95
) -> Groups:
    """Groups over all data sets, in order of the average rank, by Holm-corrected Wilcoxon tests.

    It needs no minimum of data sets: with few of them nothing is significant, and the one group says so. A
    pair that could not be tested does not differ.

    Parameters
    ----------
    ranks : Series
        Average ranks by method, 1 is best; only these methods are grouped.
    comparisons : DataFrame
        From `compare_datasets`.
    confidence : float
        One minus the level of the tests.
    """
    level = level_of(confidence)
    methods = list(ranks.index[np.argsort(ranks.to_numpy(), kind="stable")])
    at = {method: position for position, method in enumerate(methods)}
    differs = np.zeros((len(methods), len(methods)), dtype=bool)
    for row in comparisons.to_dict("records"):
        if row["first"] in at and row["second"] in at:
            one, other = at[row["first"]], at[row["second"]]
            differs[one, other] = differs[other, one] = row["p_holm"] < level
    return maximal_groups(methods, differs)
