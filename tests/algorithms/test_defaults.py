"""At its defaults no method diverges or reverses the order, however the features are scaled."""

from functools import cache

import numpy as np
import pytest

import aucbench
from aucbench import data
from aucbench.contracts import for_rows
from aucbench.data.loader import Part
from aucbench.data.preprocess import prepare
from aucbench.data.scaler import Scaling
from aucbench.data.splits.protocols import Holdout
from aucbench.runner.cell import run_cell
from aucbench.runner.task import StopReason, Task

pytestmark = pytest.mark.slow

DATASETS = ("breast_cancer", "digits", "wine")
TREES = ("sklearn", "boosting")
METHODS = sorted(
    name
    for name, plugin in aucbench.catalog().plugins["algorithms"].items()
    if plugin.distribution == "aucbench"
)


@cache
def prepared(dataset, scaling):
    loaded = data.load(aucbench.catalog().dataset(dataset)())
    split = Holdout().split(lambda part: loaded, Part.train, 0)
    return prepare(split, scaling, aucbench.catalog().features("identity")(), "float64", 0, rescale=True)


@cache
def trained(name, dataset, scaling, epochs=None):
    """The outcome of a method at its defaults; one that a single iteration ends has one for all budgets."""
    if epochs and trained(name, dataset, scaling).iterations == 1:
        return trained(name, dataset, scaling)
    algorithm = aucbench.catalog().algorithm(name)()
    losses = getattr(algorithm, "losses", ())
    loss = aucbench.catalog().loss(losses[0])() if losses else None
    rows = prepared(dataset, scaling)
    factor = rows.rescaling.factor
    task = Task(
        for_rows(algorithm, factor), loss, rows.X, rows.y, rows.X_test, rows.y_test, epochs,
        checkpoints=1, row_factor=factor,
    )  # fmt: skip
    return run_cell(task)


@pytest.mark.parametrize("name", METHODS)
def test_no_default_diverges_or_ends_below_one_half_on_any_scaling(name):
    # On dense rows auto is standard. Trees do not see how a column is scaled.
    scalings = (Scaling.none, Scaling.unit) if name in TREES else set(Scaling) - {Scaling.standard}
    for dataset in DATASETS:
        for scaling in scalings:
            for epochs in (1.0, None):
                outcome = trained(name, dataset, scaling, epochs)
                assert outcome.stop_reason is not StopReason.diverged, (dataset, scaling, epochs)
                # One pass over 142 rows of wine need not be enough.
                assert epochs == 1.0 or outcome.auc[-1] >= 0.5, (dataset, scaling, epochs)


@pytest.mark.parametrize("name", METHODS)
def test_defaults_on_the_default_scaling_are_close_to_the_best_linear_method(name):
    gaps = [
        trained("log_reg", dataset, Scaling.auto).auc[-1] - trained(name, dataset, Scaling.auto).auc[-1]
        for dataset in DATASETS
    ]
    assert np.mean(gaps) < 0.03
