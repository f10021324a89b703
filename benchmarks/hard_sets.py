"""Generated data that are hard for steps along single rows: collinear columns, unusual units, outliers."""

from collections.abc import Callable
from dataclasses import make_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from aucbench import Samples

ROWS = 1_200


def collinear(rng: np.random.Generator) -> Samples:
    """30 columns with a common part; the labels follow the individual part of the first column."""
    parts = rng.normal(size=(ROWS, 30))
    return _labelled(rng, rng.normal(size=(ROWS, 1)) + 0.095 * parts, 8.0 * parts[:, 0])


def large_units(rng: np.random.Generator) -> Samples:
    """20 columns whose values are 100,000 times as large as usual."""
    X = rng.normal(size=(ROWS, 20))
    return _labelled(rng, 1e5 * X, X @ rng.normal(size=20))


def rows_far_out(rng: np.random.Generator) -> Samples:
    """20 columns; one row in 200 is 100,000 times as long as the others."""
    X = rng.normal(size=(ROWS, 20))
    scores = X @ rng.normal(size=20)
    return _labelled(rng, X * np.where(np.arange(ROWS) % 200, 1.0, 1e5)[:, None], scores)


def tiny_units(rng: np.random.Generator) -> Samples:
    """2,000 sparse columns whose values are a millionth of their usual size."""
    X = _sparse(rng)
    return _labelled(rng, 1e-6 * X, X @ rng.normal(0.0, 2.0, X.shape[1]))


def mixed_units(rng: np.random.Generator) -> Samples:
    """2,000 sparse columns; values of the informative ones are a millionth of their usual size."""
    X = _sparse(rng)
    informative = np.arange(X.shape[1]) % 2 == 0
    weights = np.where(informative, rng.normal(0.0, 2.0, X.shape[1]), 0.0)
    return _labelled(rng, X @ sparse.diags(np.where(informative, 1e-6, 1.0)), X @ weights)


def _sparse(rng: np.random.Generator) -> Any:
    """4,000 rows of 20 values; the first columns are the most frequent."""
    rows, d, nonzeros = 4_000, 2_000, 20
    columns = np.minimum(rng.exponential(200.0, (rows, nonzeros)).astype(int), d - 1)
    ends = np.arange(rows + 1) * nonzeros
    X = sparse.csr_array((rng.lognormal(size=columns.size), columns.ravel(), ends), shape=(rows, d))
    X.sum_duplicates()
    return X


def _labelled(rng: np.random.Generator, X: Any, scores: Any) -> Samples:
    y = np.where(rng.random(len(scores)) < expit(scores), 1, -1).astype(np.int8)
    return Samples(sparse.csr_array(X) if sparse.issparse(X) else X, y)


class _Hard:
    """The data set of a function, with seed 0."""

    name: str
    make: Callable[[np.random.Generator], Samples]

    def load(self) -> Samples:
        return type(self).make(np.random.default_rng(0))


HARD = tuple(
    make_dataclass(
        f"hard_{function.__name__}",
        [],
        bases=(_Hard,),
        namespace={"name": f"hard_{function.__name__}", "make": staticmethod(function)},
        frozen=True,
    )
    for function in (collinear, large_units, rows_far_out, tiny_units, mixed_units)
)
"""Made hard data of the benchmarks."""
