"""Generated click logs: sparse rows of categories whose levels have Zipf-like frequencies.

A row is an impression: a user, an item and a few columns of context, each one-hot or hashed into a table of
columns, and the crossing of item and first context. Clicks follow a logistic model with an effect of every
level and a low-rank interaction of users and items, which linear methods cannot see.
"""

from collections.abc import Sequence
from dataclasses import make_dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit

from aucbench import Samples

# Rows, and levels of user, item and context. The levels that occur make 5, 20, 57 and 162 thousand columns.
SHAPES = {
    "clicks_20k": (20_000, (500, 200, 24, 7, 50)),
    "clicks_50k": (50_000, (5_000, 1_000, 24, 7, 200)),
    "clicks_100k": (100_000, (60_000, 3_000, 24, 7, 500)),
    "clicks_200k": (200_000, (800_000, 20_000, 24, 7, 2_000)),
}


def click_logs(
    rows: int,
    levels: Sequence[int],
    seed: int,
    hashed: int | None = None,
    numeric: int = 0,
    positives: float = 0.04,
    exponent: float = 1.05,
) -> tuple[sparse.csr_matrix, NDArray[np.int8]]:
    """X, (rows, d) CSR, and y in {-1, 1} with the share `positives` of positives in expectation.

    `levels` counts the levels of user, item and the columns of context; level k of a column has a frequency
    proportional to (k + 10)^-exponent. Only levels that occur have a column; with `hashed`, all levels share
    `hashed` columns. `numeric` columns of log-normal values, of very different sizes, come first.
    """
    rng = np.random.default_rng(seed)
    drawn, logit = [], np.zeros(rows)
    for count in levels:
        frequency = (np.arange(count) + 10.0) ** -exponent
        level = rng.choice(count, rows, p=frequency / frequency.sum())
        drawn.append(level)
        logit += rng.normal(0.0, 0.5, count)[level]
    (user, item, context), rank = drawn[:3], 4
    pairs = rng.normal(0.0, 0.5, (levels[0], rank))[user] * rng.normal(0.0, 0.5, (levels[1], rank))[item]
    crossed = item * levels[2] + context
    logit += pairs.sum(axis=1) + rng.normal(0.0, 0.5, levels[1] * levels[2])[crossed]
    values = rng.normal(size=(rows, numeric))
    logit += values @ rng.normal(0.0, 0.3, numeric)
    y = np.where(rng.random(rows) < expit(logit + _intercept(logit, positives)), 1, -1).astype(np.int8)
    sizes = [*levels, levels[1] * levels[2]]
    columns = np.stack([*drawn, crossed], axis=1) + np.cumsum([0, *sizes[:-1]])
    if hashed is None:
        unique, columns = np.unique(columns, return_inverse=True)
        columns, width = columns.reshape(rows, -1), len(unique)
    else:
        columns, width = rng.integers(hashed, size=sum(sizes))[columns], hashed
    ends = np.arange(rows + 1) * columns.shape[1]
    X = sparse.csr_matrix((np.ones(columns.size), columns.ravel(), ends), shape=(rows, width))
    X.sum_duplicates()
    sizes_of_values = 10.0 ** np.arange(numeric)
    return sparse.hstack([np.exp(values) * sizes_of_values, X], format="csr") if numeric else X, y


def _intercept(logit: NDArray[np.float64], positives: float) -> float:
    """The intercept at which the mean probability is `positives`."""
    return float(brentq(lambda b: float(expit(logit + b).mean()) - positives, -50.0, 50.0))


class _Clicks:
    """The click log of a name in `SHAPES`, with seed 0."""

    name: str
    family = "clicks"

    def load(self) -> Samples:
        return Samples(*click_logs(*SHAPES[self.name], seed=0))


CLICKS = tuple(
    make_dataclass(name, [], bases=(_Clicks,), namespace={"name": name}, frozen=True) for name in SHAPES
)
