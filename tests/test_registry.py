import sys
import types
from importlib.metadata import EntryPoint

import pytest

import aucbench
from aucbench import PluginError
from aucbench.registry import Family, PluginWarning, load_catalog
from tests.fakes import Exploding, Perceptron


class FakeDistribution:
    version = "1.2"

    def __init__(self, name):
        self.name = name


def entry(monkeypatch, distribution, hook=None, source=None):
    """An entry point of a distribution whose module has the hook, or runs the source text."""
    name = f"plugin_{distribution}"
    module = types.ModuleType(name)
    if source is not None:
        return _with_dist(EntryPoint(distribution, source, "aucbench"), distribution)
    module.aucbench_algorithms = aucbench.hookimpl(hook)
    monkeypatch.setitem(sys.modules, name, module)
    return _with_dist(EntryPoint(distribution, name, "aucbench"), distribution)


def _with_dist(point, distribution):
    vars(point).update(dist=FakeDistribution(distribution))
    return point


def test_the_built_in_plugins_come_through_entry_points():
    catalog = load_catalog()
    assert catalog.failures == ()
    assert catalog.find(Family.algorithms, "psam").distribution == "aucbench"
    assert catalog.algorithm("solam")(zeta=0.5, radius=2.0).zeta == 0.5


def test_a_strangers_method_is_found_with_its_distribution(monkeypatch):
    catalog = load_catalog([entry(monkeypatch, "strange", lambda: (Perceptron,))])
    plugin = catalog.find("algorithms", "perceptron")
    assert (plugin.distribution, plugin.version, plugin.cls) == ("strange", "1.2", Perceptron)
    assert plugin.summary == "A stream method in plain NumPy."


def test_a_plugin_that_fails_to_import_is_a_warning_and_the_others_work(monkeypatch):
    points = [
        entry(monkeypatch, "broken", source="no_such_module_anywhere"),
        entry(monkeypatch, "healthy", lambda: (Perceptron,)),
    ]
    with pytest.warns(
        PluginWarning,
        match=r"distribution broken failed and is left out: ModuleNotFoundError: .*no_such_module",
    ):
        catalog = load_catalog(points)
    assert list(catalog.plugins[Family.algorithms]) == ["perceptron"]
    assert len(catalog.failures) == 1


def test_a_hook_that_raises_does_not_silence_the_rest(monkeypatch):
    def fails():
        raise RuntimeError("no licence")

    points = [entry(monkeypatch, "a", fails), entry(monkeypatch, "b", lambda: (Perceptron,))]
    with pytest.warns(
        PluginWarning, match=r"aucbench_algorithms of distribution a failed .*: RuntimeError: no licence"
    ):
        catalog = load_catalog(points)
    assert "perceptron" in catalog.plugins[Family.algorithms]


def test_a_class_that_is_no_algorithm_says_what_it_lacks(monkeypatch):
    point = entry(monkeypatch, "odd", lambda: (FakeDistribution,))
    with pytest.warns(PluginWarning, match="FakeDistribution is not a dataclass"):
        load_catalog([point])


def test_two_plugins_of_one_name_are_an_error_naming_both_distributions(monkeypatch):
    points = [
        entry(monkeypatch, "first", lambda: (Perceptron,)),
        entry(monkeypatch, "second", lambda: (type("Other", (Exploding,), {"name": "perceptron"}),)),
    ]
    with pytest.raises(PluginError, match=r"'perceptron': one of distribution first .* one of second"):
        load_catalog(points)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(PluginError, match=r"Unknown algorithm 'psma'\. Did you mean psam"):
        load_catalog().algorithm("psma")
    with pytest.raises(PluginError, match=r"Known: .*hinge"):
        load_catalog().loss("zzzzz")
