import numpy as np
import pytest

from aucbench import Access, ParameterError
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.runner.sampler import BLOCK_ROWS, RowSampler
from aucbench.runner.task import Order

Y = np.where(np.arange(300) % 3 == 0, 1, -1).astype(np.int8)


def taken(cuts, access, order=Order.shuffled, y=Y, **options):
    source = RowSampler(access, y, order, 5, **options)
    return np.concatenate([source.take(cut) for cut in cuts])


@pytest.mark.parametrize("access", list(Access))
def test_how_a_run_is_cut_does_not_change_its_rows(access):
    size = {Access.minibatch: 7, Access.balanced: 6}.get(access, 1)
    single = taken([1000], access, batch_size=size)
    pieces = taken([1, 0, 299, 1, 2, 697], access, batch_size=size)
    assert len(single) == 1000
    np.testing.assert_array_equal(single, pieces)


@pytest.mark.parametrize("order", list(Order))
def test_an_epoch_visits_every_row_once_and_only_the_stored_order_repeats(order):
    n = 3 * BLOCK_ROWS + 11
    first, second = np.split(taken([2 * n], Access.stream, order, np.ones(n, np.int8)), 2)
    for epoch in (first, second):
        np.testing.assert_array_equal(np.sort(epoch), np.arange(n))
        assert (np.count_nonzero(np.diff(epoch // BLOCK_ROWS)) == 3) == (order is not Order.shuffled)
        assert np.array_equal(epoch, np.arange(n)) == np.array_equal(first, second) == (order is Order.stored)


def test_the_positives_of_a_block_of_pairs_are_drawn_before_its_negatives():
    rng, draws = generator(5, RandomStream.order, 0), []
    for _ in range(2):
        for label in (1, -1):
            rows = np.flatnonzero(label == Y)
            draws.append(rows[rng.integers(0, len(rows), BLOCK_ROWS)])
    expected = np.stack([np.concatenate(draws[side::2]) for side in (0, 1)], axis=1)
    np.testing.assert_array_equal(taken([7, 100_000], Access.pairs), expected[:100_007])


def test_pairs_are_a_positive_and_a_negative_drawn_uniformly():
    rows = taken([200_000], Access.pairs)
    assert np.all(Y[rows[:, 0]] == 1)
    assert np.all(Y[rows[:, 1]] == -1)
    counts = np.bincount(rows[:, 0], minlength=300)[Y == 1]
    assert abs(counts - 2000).max() < 6 * np.sqrt(2000)


@pytest.mark.parametrize("order", list(Order))
def test_a_minibatch_repeats_no_row(order):
    rows = taken([500], Access.minibatch, order, batch_size=70)
    assert rows.shape == (500, 70)
    assert all(len(np.unique(batch)) == 70 for batch in rows)


@pytest.mark.parametrize("seed", [0, 5, 2**40])
def test_fold_0_visits_what_the_order_seed_alone_gives_and_every_other_fold_something_else(seed):
    expected = np.random.default_rng([seed, RandomStream.order]).permutation(300)
    np.testing.assert_array_equal(RowSampler(Access.stream, Y, seed=seed).take(300), expected)
    visits = [RowSampler(Access.stream, Y, seed=seed, fold=fold).take(300).tobytes() for fold in range(5)]
    assert visits[0] == expected.tobytes()
    assert len(set(visits)) == 5


@pytest.mark.parametrize(("positives", "negatives", "m"), [(1, 5, 4), (7, 3, 2), (30, 200, 64), (2, 2, 10)])
def test_a_balanced_batch_has_half_of_each_class_and_visits_a_class_evenly(positives, negatives, m):
    y = np.random.default_rng(0).permutation(np.repeat([1, -1], [positives, negatives]).astype(np.int8))
    sampler = RowSampler(Access.balanced, y, seed=3, batch_size=m)
    rows = np.concatenate([sampler.take(count) for count in (1, 5, 200)])
    assert np.all(y[rows[:, : m // 2]] == 1)
    assert np.all(y[rows[:, m // 2 :]] == -1)
    for label, half in ((1, rows[:, : m // 2]), (-1, rows[:, m // 2 :])):
        visits = np.bincount(half.ravel(), minlength=len(y))[y == label]
        assert visits.max() - visits.min() <= 1
    assert np.array_equal(rows, RowSampler(Access.balanced, y, seed=3, batch_size=m).take(206))


@pytest.mark.parametrize(
    ("access", "m", "order"),
    [(Access.pairs, 1, Order.stored), (Access.minibatch, 4, Order.shuffled)]
    + [(Access.balanced, m, Order.shuffled) for m in (0, 3, 1026)]
    + [(Access.balanced, 2, Order.stored)],
)
def test_what_does_not_apply_to_the_access_or_the_rows_is_refused(access, m, order):
    with pytest.raises(ParameterError):
        RowSampler(access, np.array([1, -1, 1], np.int8), order, batch_size=m)
