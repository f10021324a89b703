"""At its defaults no method diverges or reverses the order, whatever the scaling, the rows and the budget."""

from functools import cache

import numpy as np
import pytest

import aucbench
from aucbench import data
from aucbench.data.loader import Part
from aucbench.data.scaler import Scaling
from aucbench.data.splits.protocols import Holdout, Side, Split
from aucbench.runner.task import StopReason
from tests.helpers import training

DATASETS = ("breast_cancer", "digits", "wine")
TREES = ("sklearn", "boosting")
SCALED = [  # without standard: auto equals it on dense rows
    *(("breast_cancer", scaling) for scaling in (Scaling.none, Scaling.unit)),
    ("wine", Scaling.none),
]
METHODS = sorted(
    name
    for name, plugin in aucbench.catalog().plugins["algorithms"].items()
    if plugin.distribution == "aucbench"
)


@cache
def prepared(dataset, scaling):
    loaded = data.load(aucbench.catalog().dataset(dataset)())
    return training.prepared(Holdout().split(lambda part: loaded, Part.train, 0), scaling)


@cache
def trained(name, dataset, scaling):
    """The outcome of a method at its defaults."""
    return training.outcome_on(aucbench.catalog().algorithm(name)(), prepared(dataset, scaling))


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_no_default_diverges_or_ends_below_one_half_on_any_scaling(name):
    for dataset, scaling in SCALED:
        if name not in TREES or scaling in (Scaling.none, Scaling.unit):  # trees do not see other scalings
            outcome = trained(name, dataset, scaling)
            assert outcome.stop_reason is not StopReason.diverged, (dataset, scaling)
            assert outcome.auc[-1] >= 0.5, (dataset, scaling)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_defaults_on_the_default_scaling_are_close_to_the_best_linear_method(name):
    gaps = [
        trained("log_reg", dataset, Scaling.auto).auc[-1] - trained(name, dataset, Scaling.auto).auc[-1]
        for dataset in DATASETS
    ]
    assert np.mean(gaps) < 0.03


# Steps bounded by the curvature survive rows that are far longer than the others, however long the run.

BOUNDED = ("opauc", "solam", "solam_l1", "regsolam", "fsauc", "spam", "spauc", "sht_auc", "pesg")
KINDS = ("heavy_tails", "rare_columns", "dominant_direction", "few_positives", "wide_rare_class")


@cache
def made(kind, seed):
    """1,200 rows of 12 columns whose classes a linear model ranks well, two thirds for training."""
    rng = np.random.default_rng(seed)
    n, d = 1200, 12
    share = 0.012 if kind in ("few_positives", "wide_rare_class") else 0.05
    y = np.where(rng.random(n) < share, 1, -1).astype(np.int8)
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
    aucs = training.outcome_on(method, made(kind, seed), epochs).auc
    return float(aucs[-1]) if len(aucs) else np.nan  # diverged before the first checkpoint


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BOUNDED)
def test_no_kind_of_rows_makes_a_default_lose_the_order(name, kind):
    for seed in range(3):
        assert auc(name, kind, seed) > auc("ls_svm", kind, seed) - 0.03, seed


@pytest.mark.parametrize("kind", KINDS)
def test_one_pass_more_does_not_change_the_auc_of_opauc_by_much(kind):
    for seed in range(3):
        aucs = [auc("opauc", kind, seed, float(passes)) for passes in range(1, 21)]
        assert np.abs(np.diff(aucs)).max() < 0.1, seed
        assert max(aucs) - aucs[-1] < 0.1, seed
