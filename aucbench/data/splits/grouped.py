"""Splits that keep each group of rows on one side: equal rows, rows of one patient, or any others.

Groups with the same numbers of rows of either class are interchangeable. The kinds of groups are dealt out to
the parts one after the other, the largest first, so that

    sum over parts k and classes c of (share of the rows of c that k has)^2 / (weight of k)

is as small as it can be after each kind: parts get both classes in proportion to their weights, and the small
groups make up for the large ones. The minimum has fractions of groups, which are rounded at random, so that
a large group is in a part with about the probability of the part's weight.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def deal(
    y: NDArray[Any], groups: Rows, weights: Any, rng: np.random.Generator, stratified: bool = True
) -> Rows:
    """The part of each row, (n,), where the rows of a group are in one part.

    `y` (n,) are labels in {-1, 1}, `groups` (n,) any integers, and `weights` the shares of the rows that the
    parts are to have, > 0, with sum 1. If `stratified`, the parts are to have the classes in the same
    proportion, and both wherever there are enough groups; otherwise labels do not count.
    """
    _, group = np.unique(groups, return_inverse=True)
    classes = [y == 1, y != 1] if stratified else [np.ones(len(y), np.bool_)]
    rows = np.stack([np.bincount(group[mask], minlength=group.max() + 1) for mask in classes])  # (c, groups)
    total, weights = rows.sum(axis=1, keepdims=True), np.asarray(weights, np.float64)
    share, room = rows / total, np.ceil(weights * total - 1e-9) / total  # (c, groups) and (c, k)
    order = rng.permutation(rows.shape[1])
    kind = (rows[0] * (rows.max() + 1) + rows[-1])[order]
    order = order[np.lexsort((kind, -share.sum(axis=0)[order]))]  # stable: random within a kind
    changes = np.flatnonzero(np.any(np.diff(rows[:, order]), axis=0)) + 1
    part, load = np.empty(rows.shape[1], np.int64), np.zeros((len(rows), len(weights)))
    for members in np.split(order, changes):
        group_load = share[:, members[0]]
        counts = _rounded(_water_level(group_load, load, weights, room, len(members)), rng)
        part[members] = np.repeat(np.arange(len(weights)), counts)
        load += np.outer(group_load, counts)
    if stratified:
        _complete(part, rows > 0, rows.sum(axis=0), len(weights))
    return part[group]


def joined(first: NDArray[Any], second: NDArray[Any]) -> Rows:
    """The smallest groups (n,) that keep together the rows of each group of `first` and of `second`."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    (_, a), (_, b) = (np.unique(ids, return_inverse=True) for ids in (first, second))
    size = int(a.max()) + 1
    links = sparse.coo_array((np.ones(len(a), np.bool_), (a, size + b)), shape=(size + int(b.max()) + 1,) * 2)
    return np.asarray(connected_components(links, directed=False)[1][a], np.int64)


def _water_level(
    group_load: NDArray[np.float64],
    load: NDArray[np.float64],
    weights: NDArray[np.float64],
    room: NDArray[np.float64],
    groups: int,
) -> NDArray[np.float64]:
    """The fractional numbers of groups of a kind per part, (k,); a group adds `group_load` (c,) to a load.

    The parts with the smallest loads are filled to one level. Parts without `room` (c, k) for a group get
    no group, unless no part has room.
    """
    fits = np.all((load + group_load[:, None] <= room + 1e-9) | (group_load[:, None] == 0.0), axis=0)
    cost = group_load @ load / weights
    slope = group_load @ group_load / weights
    open_parts = np.flatnonzero(fits) if fits.any() else np.arange(len(weights))
    by_cost = open_parts[np.argsort(cost[open_parts], kind="stable")]
    widths = np.cumsum(1.0 / slope[by_cost])
    levels = (groups + np.cumsum(cost[by_cost] / slope[by_cost])) / widths  # of the 1, 2, ... cheapest parts
    filled = np.flatnonzero(levels >= cost[by_cost])[-1]
    counts = np.zeros(len(weights))
    chosen = by_cost[: filled + 1]
    counts[chosen] = np.maximum(0.0, levels[filled] - cost[chosen]) / slope[chosen]
    return counts * (groups / counts.sum())


def _rounded(counts: NDArray[np.float64], rng: np.random.Generator) -> Rows:
    """Counts rounded up or down, each up with the probability of its fraction; the sum stays the same."""
    ends = np.floor(np.cumsum(counts) + rng.random()).astype(np.int64)
    ends[-1] = round(counts.sum())
    return np.diff(np.minimum(ends, ends[-1]), prepend=0)


def _complete(part: Rows, has: NDArray[np.bool_], sizes: Rows, parts: int) -> None:
    """Move small groups to the parts that lack a class, from parts that have both classes without them."""
    for side, number in np.argwhere(_groups_with_a_class(part, has, parts) == 0):
        enough = _groups_with_a_class(part, has, parts) > 1
        spare = np.flatnonzero(has[side] & np.all(~has | enough[:, part], axis=0))
        if len(spare) and not np.any(has[side] & (part == number)):
            part[spare[np.argmin(sizes[spare])]] = number


def _groups_with_a_class(part: Rows, has: NDArray[np.bool_], parts: int) -> Rows:
    return np.stack([np.bincount(part[mask], minlength=parts) for mask in has])
