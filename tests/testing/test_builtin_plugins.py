"""Every built-in plugin passes every check; other settings are trained in tests/algorithms."""

import pickle
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench import kernels
from aucbench.contracts.validation import Family
from aucbench.testing import ALGORITHM_CHECKS, DATASET_CHECKS, Status, check_features, check_loss
from aucbench.testing.checks import learned_model
from aucbench.testing.examine import conclude, examine
from tests.helpers.training import is_like_other_rules, random_pairs, random_problem, train, weights

pytestmark = pytest.mark.slow

PATIENCE = 600.0  # seconds, also where nothing is compiled yet
X, Y = random_problem(6, 250, 120, density=0.04)
STREAM = np.concatenate([np.random.default_rng(seed).permutation(250) for seed in range(4)])
ROWS = {
    "stream": STREAM,
    "pairs": random_pairs(7, Y, 500),
    "minibatch": STREAM.reshape(-1, 25),
    "full": np.zeros((3, 0), np.int64),
}


def built_in(family):
    plugins = aucbench.catalog().plugins[family].values()
    return [plugin for plugin in plugins if plugin.distribution == "aucbench"]


def for_each(family):
    return pytest.mark.parametrize("plugin", built_in(family), ids=lambda plugin: plugin.name)


for_each_linear_method = pytest.mark.parametrize(
    "method",
    [method for method in (item.cls() for item in built_in(Family.algorithms)) if hasattr(method, "weights")],
    ids=str,
)


def everything_tried(findings):
    assert [finding.check for finding in findings if finding.status is Status.untried] == []


def examined(plugin, checks):
    findings = examine(checks, checks[0].prepare(plugin, PATIENCE))
    everything_tried(conclude(plugin, findings, True))


def variants(cls):
    """Checks that compile the loops of a method once more: float32 rows and, of most rules, lockstep."""
    return ("float32_rows", "together")[: 1 + is_like_other_rules(cls)]


@for_each(Family.algorithms)
def test_a_method_passes_every_check(plugin):
    examined(plugin.cls, [check for check in ALGORITHM_CHECKS if check.name not in variants(plugin.cls)])


@pytest.mark.variants
@for_each(Family.algorithms)
def test_a_method_passes_the_checks_that_compile_it_again(plugin, monkeypatch):
    monkeypatch.setattr(learned_model, "SINGLE", 1e-9)  # ours compute with float64; others may not
    examined(plugin.cls, [check for check in ALGORITHM_CHECKS if check.name in variants(plugin.cls)])


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@for_each_linear_method
def test_features_that_are_not_finite_show_in_the_weights(method):
    rows = ROWS[method.access]
    if hasattr(method, "kappa"):
        method = replace(method, kappa=1.0)
    for bad in (np.nan, np.inf):
        broken = X.copy()
        broken[np.ravel(rows)[rows.size // 4] if rows.size else 0] = bad  # a full method visits every row
        for layout in (np.asarray, sparse.csr_array):
            with suppress(ValueError, np.linalg.LinAlgError):  # shows as well
                assert not np.isfinite(weights(method, layout(broken), Y, rows)).all(), (bad, layout)


@for_each_linear_method
def test_weights_are_no_part_of_the_state(method):
    state = train(method, X, Y, ROWS[method.access])
    before = pickle.dumps(state)
    weights = method.weights(state)
    weights += 1.0
    assert pickle.dumps(state) == before


@for_each(Family.losses)
def test_a_loss_passes_every_check(plugin):
    everything_tried(check_loss(plugin.cls, patience=PATIENCE))
    loss = plugin.cls()
    assert np.isnan(loss.value(np.nan, kernels.theta(loss)))


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")  # equal rows of a small sparse problem
@for_each(Family.features)
def test_a_feature_map_passes_every_check(plugin):
    everything_tried(check_features(plugin.cls, patience=PATIENCE))


OF_FILES = [check for check in DATASET_CHECKS if check.name != "same_twice"]  # one reader reads all of them
DATASETS = [
    pytest.param(plugin.cls, OF_FILES, marks=pytest.mark.mirror, id=plugin.name)
    if hasattr(plugin.cls, "files")
    else pytest.param(plugin.cls, DATASET_CHECKS, id=plugin.name)
    for number, plugin in enumerate(built_in(Family.datasets))
    # test_catalogue.py reads all of these collections.
    if number % 20 == 0 or not plugin.name.startswith(("keel_", "adbench_"))
]


@pytest.mark.parametrize(("dataset", "checks"), DATASETS)
def test_a_data_set_passes_every_check(dataset, checks, monkeypatch):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")  # data sets missing in the mirror are exempt
    examined(dataset, checks)
