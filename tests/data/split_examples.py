"""Data sets and protocols that the tests of protocols share."""

import numpy as np
from scipy import sparse

from aucbench.data.loader import Loaded, Part
from aucbench.data.splits.protocols import Given, Holdout, KFold, TrainValidTest

PROTOCOLS = [
    Holdout(),
    Holdout(stratified=False),
    Given(),
    Given(halved=True),
    TrainValidTest(),
    TrainValidTest(stratified=False),
    KFold(),
    KFold(folds=3, repeats=2),
    KFold(folds=4, stratified=False),
]


def labels(positives, negatives, seed=0):
    y = np.repeat(np.array([1, -1], np.int8), [positives, negatives])
    return np.random.default_rng(seed).permutation(y)


def loading(**parts):
    """A loader of parts with these labels; every row holds its own number."""
    made = {
        Part(name): Loaded(np.arange(len(y), dtype=float)[:, None], y, f"digest of {name}", "here", (1,))
        for name, y in parts.items()
    }
    return made.__getitem__


def example():
    return loading(train=labels(23, 80), test=labels(9, 32, seed=1))


def rows_of(side):
    return np.arange(side.X.shape[0]) if side.rows is None else side.rows


def counts(side):
    return np.count_nonzero(side.y == 1), np.count_nonzero(side.y == -1)


def drawn(protocol, seed=0, fold=0, load=None):
    return protocol.split(load or example(), Part.train, seed, fold)


def sides(split):
    return [side for side in split if side is not None]


def check_labels_and_order(side, load):
    """Labels are those of the rows, and rows ascend."""
    y = next(load(part).y for part in (Part.train, Part.test) if side.X is load(part).X)
    np.testing.assert_array_equal(side.y, y[rows_of(side)])
    assert (np.diff(rows_of(side)) > 0).all()
    assert side.rows is None or side.rows.dtype == np.int64


def as_sparse(side):
    return side._replace(X=sparse.csr_matrix(side.X))
