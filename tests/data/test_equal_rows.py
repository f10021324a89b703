"""Equal rows are found in dense and sparse data, and counted over the sides of a split."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from aucbench.data.equal_rows import blocks_of, equal_rows, repeats
from aucbench.data.splits.protocols import Side

VALUES = np.array([0.0, -0.0, 1.0, -1.0, np.nan, -np.nan, np.inf, 5e-324])


def drawn(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    return rng.choice(VALUES, (n, d), p=[0.4, 0.2, 0.2, 0.1, 0.03, 0.03, 0.02, 0.02]), rng


def contents(X):
    """Rows as tuples in which zeros are alike, and NaN equals itself."""
    return [tuple("nan" if np.isnan(v) else float(v) + 0.0 for v in row) for row in X]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_rows_have_one_number_if_and_only_if_they_are_equal_whatever_their_form(seed):
    X, rng = drawn(seed)
    stored = sparse.csr_matrix((X.ravel(), np.tile(np.arange(3), 60), np.arange(0, 181, 3)), (60, 3))
    sparse_rows = sparse.csr_matrix(X)
    number = dict(zip(contents(X), equal_rows(X), strict=True))
    assert len(set(number.values())) == len(number)
    for same in (X, stored, sparse_rows, np.asfortranarray(X)):
        assert [number[row] for row in contents(X)] == equal_rows(same).tolist()
    cut = rng.permutation(60)
    y = rng.choice(np.array([-1, 1], np.int8), 60)
    train, test = (Side(sparse_rows, y[rows], rows) for rows in (np.sort(cut[:40]), np.sort(cut[40:55])))
    rows, signs = contents(X), y.tolist()
    used = [*train.rows, *test.rows]
    labels = {row: {signs[i] for i in used if rows[i] == row} for row in rows}
    training = {rows[i] for i in train.rows}
    assert repeats(train, test) == (
        np.mean([rows[i] in training for i in test.rows]),
        np.mean([len(labels[rows[i]]) == 2 for i in used]),
    )


def test_blocks_keep_equal_rows_and_groups_together_and_are_filled_alike():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 60, (6_000, 2)).astype(float)
    plain = Side(X, np.ones(6_000, np.int8), None)
    groups = np.arange(6_000) // 3
    for side in (plain, plain._replace(groups=groups, X=rng.normal(size=(6_000, 2)))):
        blocks = blocks_of(side)
        units = equal_rows(side.X) if side.groups is None else side.groups
        pairs = np.unique(np.stack([units, blocks]), axis=1)
        assert pairs.shape[1] == len(np.unique(units))
        assert np.bincount(blocks, minlength=32).min() > 80
    # Groups that are equal rows and nothing more have the blocks that the rows have without groups.
    assert np.array_equal(blocks_of(plain._replace(groups=equal_rows(X))), blocks_of(plain))
