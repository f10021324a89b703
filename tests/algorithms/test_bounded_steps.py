"""Steps bounded by the curvature survive rows that are far longer than the others, however long the run."""

from functools import cache

import numpy as np
import pytest

import aucbench
from aucbench.data.scaler import Scaling
from aucbench.data.splits.protocols import Side, Split
from tests.helpers import training

METHODS = ("opauc", "solam", "solam_l1", "regsolam", "fsauc", "spam", "spauc", "sht_auc", "pesg")
KINDS = ("heavy_tails", "rare_columns", "dominant_direction", "few_positives", "wide_rare_class")


@cache
def prepared(kind, seed):
    """1,200 rows of 12 columns whose classes a linear model ranks well, two thirds for training."""
    rng = np.random.default_rng(seed)
    n, d = 1200, 12
    y = np.where(
        rng.random(n) < (0.012 if kind in ("few_positives", "wide_rare_class") else 0.05), 1, -1
    ).astype(np.int8)
    X = rng.normal(size=(n, d))
    X[:, 0] += 2.5 * (y == 1)
    X[:, d - 1] = 3.0  # constant
    if kind == "heavy_tails":
        X *= np.exp(1.2 * rng.normal(size=(n, d)))
    elif kind == "rare_columns":  # standardised, their few ones are long rows
        X[:, 2:8] = rng.random((n, 6)) < 0.003
        X[y == 1, 2:8] = 0.0
    elif kind == "dominant_direction":
        X[:, 1:8] = 10.0 * X[:, 1:2] * np.exp(2.0 * rng.normal(size=(n, 1))) + 0.1 * X[:, 1:8]
    elif kind == "wide_rare_class":  # its few rows are long, have nearly all of the variance, and differ
        X[:, 1:8] = np.where(y == 1, 5.0, 0.0)[:, None] * rng.exponential(size=(n, 7)) + 0.5 * X[:, 1:8]
    sides = [Side(X[part], y[part], None) for part in (slice(800), slice(800, None))]
    return training.prepared(Split(*sides), Scaling.standard)


@cache
def auc(name, kind, seed, epochs=None, **fields):
    method = aucbench.catalog().algorithm(name)(**fields)
    found = training.outcome_on(method, prepared(kind, seed), epochs).auc
    return float(found[-1]) if len(found) else np.nan  # diverged before the first checkpoint


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METHODS)
def test_no_kind_of_rows_makes_a_default_lose_the_order(name, kind):
    for seed in range(3):
        assert auc(name, kind, seed) > auc("ls_svm", kind, seed) - 0.03, seed


@pytest.mark.parametrize("kind", KINDS)
def test_one_pass_more_does_not_change_the_auc_of_opauc_by_much(kind):
    for seed in range(3):
        found = [auc("opauc", kind, seed, float(passes)) for passes in range(1, 21)]
        assert np.abs(np.diff(found)).max() < 0.1, seed
        assert max(found) - found[-1] < 0.1, seed
