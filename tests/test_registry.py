import re
import sys
import types
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import ClassVar

import pytest

import aucbench
from aucbench import PluginError
from aucbench.contracts.validation import Family
from aucbench.errors import MachineError
from aucbench.registry import PluginWarning, load_catalog
from tests.helpers.fake_plugins import Exploding, Perceptron


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


def other(name="perceptron"):
    return type("Other", (Exploding,), {"name": name})


def raises():
    raise RuntimeError("no licence")


def both():
    return (Perceptron, other())


def perceptron():
    return (Perceptron,)


@pytest.mark.parametrize(
    ("hooks", "words", "culprit"),
    [
        ({"broken": "no_such_module_anywhere", "healthy": perceptron},
         r"distribution broken failed and is left out: ModuleNotFoundError: .*no_such_module", "broken"),
        ({"a": raises, "b": perceptron},
         r"aucbench_algorithms of distribution a failed .*: RuntimeError: no licence", "a"),
        ({"odd": lambda: (FakeDistribution, Perceptron)},
         "FakeDistribution is not a dataclass", "FakeDistribution"),
        ({"strange": lambda: (Perceptron, Bad)},
         r"Bad of distribution strange .* `scores` of Bad .* did you mean `score`", "bad"),
        ({"first": perceptron, "second": lambda: (other(),)},
         r"Other of distribution second .*'perceptron' .* of distribution first", "second"),
        ({"first": both}, r"Other .*the name 'perceptron' is that of .*Perceptron", "first"),
        # A built-in method keeps its name against a package that is loaded before.
        ({"aaa": lambda: (other(),), "aucbench": perceptron},
         "algorithm Other of distribution aaa failed and is left out", "aaa"),
    ],
    ids=["import", "hook", "class", "lacks", "two packages", "one package", "built-in"],
)  # fmt: skip
def test_what_fails_is_a_warning_that_names_it_and_the_others_work(hooks, words, culprit, monkeypatch):
    points = [
        entry(monkeypatch, name, source=hook) if isinstance(hook, str) else entry(monkeypatch, name, hook)
        for name, hook in hooks.items()
    ]
    with pytest.warns(PluginWarning, match=words):
        catalog = load_catalog(points)
    assert list(catalog.plugins[Family.algorithms]) == ["perceptron"]
    assert catalog.algorithm("perceptron") is Perceptron
    (found,) = catalog.failures
    assert culprit in found.names


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(PluginError, match=r"Unknown algorithm 'psma'\. Did you mean psam"):
        load_catalog().algorithm("psma")
    with pytest.raises(PluginError, match=r"Known: .*hinge"):
        load_catalog().loss("zzzzz")


@dataclass(frozen=True)
class Bad:
    """It has `scores` where `score` was meant."""

    name: ClassVar[str] = "bad"
    access: ClassVar[str] = "stream"
    init, step, scores = Perceptron.init, Perceptron.step, Perceptron.score


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (Perceptron, "must return a tuple of classes, such as (Mine,), got <class"),
        (None, "must return a tuple of classes, such as (Mine,), got None"),
        ((Perceptron(),), "must return classes, got Perceptron("),
        (("Perceptron",), "must return classes, got 'Perceptron'"),
        ((dataclass(type("Anonymous", (), {})),), "Anonymous has no class variable `name` that is text"),
    ],
    ids=["class", "none", "instance", "text", "anonymous"],
)
def test_what_a_hook_returns_wrongly_is_said_in_words(monkeypatch, result, words):
    with pytest.warns(PluginWarning, match=re.escape(words)):
        load_catalog([entry(monkeypatch, "strange", lambda: result)])


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("aucbench_algorithm", aucbench.hookimpl(perceptron), "Did you mean aucbench_algorithms "),
        ("aucbench_losses", lambda: (), "hook aucbench_losses .* must be marked with @aucbench.hookimpl"),
    ],
)
def test_a_hook_of_a_wrong_name_or_without_its_mark_is_told(monkeypatch, name, value, words, others):
    point = entry(monkeypatch, "odd", lambda: (Perceptron,))
    module = sys.modules["plugin_odd"]
    setattr(module, name, value)
    if not others:
        del module.aucbench_algorithms
    with pytest.warns(PluginWarning, match=words):
        found = load_catalog([point])
    assert len(list(found)) == others
    assert len(found.failures) == 1


def test_a_module_without_hooks_announces_nothing(monkeypatch):
    point = entry(monkeypatch, "odd", raises)
    sys.modules["plugin_odd"].aucbench_algorithms = aucbench  # a module, not a hook
    with pytest.warns(PluginWarning, match=r"announces nothing: .* aucbench_algorithms, .*hookimpl"):
        load_catalog([point])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import sys; sys.exit(3)", "SystemExit: it ends the program"),
        ("x = = 1", "SyntaxError: invalid syntax"),
        ("@__import__('dataclasses').dataclass\nclass A: grid: dict = {}", "mutable default .* as ClassVar"),
    ],
)
def test_a_module_that_cannot_be_imported_is_a_failure_with_its_line(tmp_path, monkeypatch, source, words):
    (tmp_path / "bad_module.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bad_module", raising=False)
    with pytest.warns(PluginWarning, match=words):
        (found,) = load_catalog([entry(monkeypatch, "bad-one", source="bad_module")]).failures
    assert found.place == f"{tmp_path}/bad_module.py:1: {source.splitlines()[0]}"
    assert "bad-one" in found.names


def test_kernels_that_numba_does_not_compile_are_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    with pytest.raises(MachineError, match="NUMBA_DISABLE_JIT"):
        load_catalog()
