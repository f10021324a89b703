"""At its defaults no method diverges or reverses the order, whatever the scaling, the rows and the budget."""

from functools import cache

import numpy as np
import pytest

import aucbench
from aucbench import data
from aucbench.data.loader import Part
from aucbench.data.scaler import Scaling
from aucbench.data.splits.protocols import Holdout
from aucbench.runner.task import StopReason
from tests.helpers import training

DATASETS = ("breast_cancer", "wine")
TREES = ("sklearn", "boosting")
SCALED = [  # without standard, which auto is on dense rows
    ("breast_cancer", Scaling.none),
    *(("wine", Scaling(each)) for each in ("minmax", "unit")),
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
