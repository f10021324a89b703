"""Groups of methods between which no significant difference was found."""

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucbench.boards.statistics.cells import share
from aucbench.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from aucbench.boards.statistics.friedman import Nemenyi

Groups = tuple[tuple[Hashable, ...], ...]


def maximal_groups(methods: Sequence[Hashable], differs: NDArray[np.bool_]) -> Groups:
    """Maximal runs of neighbouring methods of which no two differ.

    A group is what one bar joins in a critical-difference diagram (Demsar 2006, figure 1). Groups may
    overlap; none contains another; every method is in at least one, alone if it differs from both
    neighbours.

    Within a group nobody differs. The converse fails where a method between two others differs from one of
    them and the two do not (differences may be steadier over a small distance than over a large one): then
    no group holds both, and only the pair's own test says that they do not differ.

    Parameters
    ----------
    methods : sequence (k,)
        Best first.
    differs : ndarray (k, k)
        Symmetric; whether two methods differ significantly.
    """
    k = len(methods)
    if differs.shape != (k, k) or (differs != differs.T).any():
        raise ParameterError(f"differs must be a symmetric {k} x {k} matrix, got shape {differs.shape}.")
    groups: list[tuple[Hashable, ...]] = []
    reached = 0
    for start in range(k):
        end = start + 1
        while end < k and not differs[start:end, end].any():
            end += 1
        if end > reached:
            groups.append(tuple(methods[start:end]))
            reached = end
    return tuple(groups)


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
    """Groups over all data sets, in order of the average rank, by the critical difference."""
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
    share("confidence", confidence)
    methods = list(ranks.index[np.argsort(ranks.to_numpy(), kind="stable")])
    at = {method: position for position, method in enumerate(methods)}
    differs = np.zeros((len(methods), len(methods)), dtype=bool)
    for row in comparisons.to_dict("records"):
        if row["first"] in at and row["second"] in at:
            one, other = at[row["first"]], at[row["second"]]
            differs[one, other] = differs[other, one] = row["p_holm"] < 1.0 - confidence
    return maximal_groups(methods, differs)
