"""Every built-in plugin passes every check."""

import pytest

import aucbench
from aucbench.contracts.validation import Family
from aucbench.testing import Status, check_algorithm, check_dataset, check_features, check_loss

pytestmark = pytest.mark.slow

PATIENCE = 600.0  # seconds, also where nothing is compiled yet


def built_in(family):
    plugins = aucbench.catalog().plugins[family].values()
    return [plugin for plugin in plugins if plugin.distribution == "aucbench"]


def each(family):
    return pytest.mark.parametrize("plugin", built_in(family), ids=lambda plugin: plugin.name)


def everything_tried(findings):
    assert [finding.check for finding in findings if finding.status is Status.untried] == []


def needs_files(plugin):
    return [pytest.mark.mirror] if hasattr(plugin.cls, "files") else []


@each(Family.algorithms)
def test_a_method_passes_every_check(plugin):
    everything_tried(check_algorithm(plugin.cls, patience=PATIENCE))


@each(Family.losses)
def test_a_loss_passes_every_check(plugin):
    everything_tried(check_loss(plugin.cls, patience=PATIENCE))


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")  # equal rows of a small sparse problem
@each(Family.features)
def test_a_feature_map_passes_every_check(plugin):
    everything_tried(check_features(plugin.cls, patience=PATIENCE))


@pytest.mark.parametrize(
    "plugin",
    [pytest.param(plugin, marks=needs_files(plugin), id=plugin.name) for plugin in built_in(Family.datasets)],
)
def test_a_data_set_passes_every_check(plugin, monkeypatch):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")  # what the mirror lacks is exempt
    check_dataset(plugin.cls)
