"""Groups of rows stay on one side of every split, and the classes are in proportion as far as possible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucbench.data.loader import Loaded, Part
from aucbench.data.splits.grouped import deal
from aucbench.data.splits.inner import inner_count, inner_split, limited
from aucbench.data.splits.protocols import Given, Holdout, KFold, TrainValidTest

TOGETHER = [
    Holdout(0.25, duplicates="together"),
    Holdout(0.3, stratified=False, duplicates="together"),
    TrainValidTest(duplicates="together"),
    KFold(3, repeats=2, duplicates="together"),
    Given(duplicates="together"),
    Given(halved=True, duplicates="together"),
]


def drawn_groups(seed, n=300):
    """Groups of very different sizes and labels that depend on them, or do not."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, rng.integers(60, 200), n) ** 2 // rng.integers(1, 100)
    rate = rng.beta(0.3, 0.9, groups.max() + 1)
    y = np.where(rng.random(n) < rate[groups], 1, -1).astype(np.int8)
    return y, groups, rng


def loading(seed):
    y, groups, _ = drawn_groups(seed)
    X = groups[:, None] * np.array([1.0, -2.0])
    return {part: Loaded(X.copy(), y, str(part), "here", (1,)) for part in Part}.__getitem__


def contents(side):
    return set(side.X[slice(None) if side.rows is None else side.rows, 0])


@pytest.mark.parametrize("protocol", TOGETHER, ids=str)
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_equal_rows_are_on_one_side_of_outer_and_inner_splits_and_every_row_is_used(protocol, seed):
    load = loading(seed)
    for fold in range(protocol.splits):
        split = protocol.split(load, Part.train, seed, fold)
        pairs = [(split.train, split.test)] if protocol.name != "given" else []
        if split.validation is not None:
            pairs += [(split.validation, split.test)]
            pairs += [(split.train, split.validation)] if protocol.name != "given" else []
        of_train = [side for side in split if side is not None and side.X is split.train.X]
        assert sum(len(side.y) for side in of_train) == 300
        inner = limited(split, 120, seed)
        outer = len(pairs)
        if split.validation is None:
            for number in range(inner_count(inner, 4)):
                pairs.append(tuple(inner_split(inner, 4, seed, number)[:2]))
                assert len(pairs[-1][0].y) + len(pairs[-1][1].y) == len(inner.train.y)
            assert len(pairs) >= outer + 2
        assert not any(contents(left) & contents(right) for left, right in pairs)


WEIGHTS = st.lists(st.integers(1, 9), min_size=2, max_size=6).map(lambda w: np.array(w) / sum(w))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), WEIGHTS, st.booleans())
def test_parts_have_their_share_of_either_class_up_to_the_sizes_of_groups(seed, weights, is_single):
    y, groups, rng = drawn_groups(seed)
    if is_single:
        groups = rng.permutation(300)
    part = deal(y, groups, weights, rng)
    assert set(part) <= set(range(len(weights)))
    for mask in (y == 1, y == -1):
        sizes = np.bincount(groups[mask])
        counts = np.bincount(part[mask], minlength=len(weights))
        assert all(len(set(part[groups == group])) == 1 for group in np.unique(groups))
        moved = 1 if len(np.unique(groups[mask])) >= len(weights) else 0  # so that each part has both classes
        assert (counts >= moved).all()
        if is_single:
            assert (abs(counts - weights * mask.sum()) < 1 + moved * (counts.min() == 1) + 1e-9).all()
        else:
            assert (counts - weights * mask.sum() <= 2 * sizes.max() + 1).all()
