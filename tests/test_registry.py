"""Plugins come through entry points; a plugin that cannot be used is left out with the reason."""

import re
import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from aucbench import PluginError
from aucbench.contracts.validation import Family
from aucbench.errors import MachineError
from aucbench.registry import PluginWarning, load_catalog
from tests.helpers.fake_plugins import Perceptron

HEAD = """
from dataclasses import dataclass
import aucbench
from tests.helpers.fake_plugins import Exploding, Perceptron
class Other(Exploding):
    name = "perceptron"
@dataclass(frozen=True)
class Bad:
    name = "bad"
    access = "stream"
    init, step, scores = Perceptron.init, Perceptron.step, Perceptron.score
"""


def hook(result, name="aucbench_algorithms", mark="@aucbench.hookimpl"):
    """The source of a hook."""
    return f"{mark}\ndef {name}():\n    return {result}\n"


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Loads a catalog of distributions, each with one module of that source."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(**sources):
        points = []
        for name, source in sources.items():
            (tmp_path / f"plugin_{name}.py").write_text(source)
            monkeypatch.delitem(sys.modules, f"plugin_{name}", raising=False)
            point = EntryPoint(name, f"plugin_{name}", "aucbench")
            vars(point).update(dist=SimpleNamespace(name=name, version="1.2"))
            points.append(point)
        return load_catalog(points)

    return load


def test_the_built_in_plugins_come_through_entry_points_and_an_unknown_name_suggests_the_nearest():
    catalog = load_catalog()
    assert catalog.failures == ()
    assert catalog.find(Family.algorithms, "psam").distribution == "aucbench"
    assert catalog.algorithm("solam")(zeta=0.5, radius=2.0).zeta == 0.5
    with pytest.raises(PluginError, match=r"Unknown algorithm 'psma'\. Did you mean psam"):
        catalog.algorithm("psma")
    with pytest.raises(PluginError, match=r"Known: .*hinge"):
        catalog.loss("zzzzz")


def test_a_strangers_method_is_found_with_its_distribution(load):
    plugin = load(strange=HEAD + hook("(Perceptron,)")).find("algorithms", "perceptron")
    assert (plugin.distribution, plugin.version, plugin.cls) == ("strange", "1.2", Perceptron)
    assert plugin.summary == "A stream method in plain NumPy."


PLUGIN = "plugin plugin_odd of distribution odd failed and is left out: "
HOOK = "hook aucbench_algorithms of distribution odd failed and is left out: "
OF_MODULES = {  # sources that fail in their first line
    "import no_such_module_anywhere": "ModuleNotFoundError: .*no_such_module",
    "import sys; sys.exit(3)": "SystemExit: it ends the program",
    "x = = 1": "SyntaxError: invalid syntax",
    "@__import__('dataclasses').dataclass\nclass A: grid: dict = {}": "mutable default .* as ClassVar",
}
OF_HOOKS = {
    hook("1 / 0"): HOOK + "ZeroDivisionError: division by zero",
    hook("Perceptron"): HOOK + ".*must return a tuple of classes, such as (Mine,), got <class",
    hook("None"): HOOK + ".*must return a tuple of classes, such as (Mine,), got None",
    hook("(Perceptron(),)"): "must return classes, got Perceptron(",
    hook("('Perceptron',)"): "must return classes, got 'Perceptron'",
    hook("(str,)"): "algorithm str of distribution odd .*str is not a dataclass",
    hook("(dataclass(type('A', (), {})),)"): "A has no class variable `name` that is text",
    hook("(Bad,)"): "algorithm Bad of distribution odd .* `scores` of Bad .* did you mean `score`",
    hook("(Perceptron,)", "aucbench_algorithm"): "Did you mean aucbench_algorithms ",
    hook("()", "aucbench_losses", ""): "hook aucbench_losses .* must be marked with @aucbench.hookimpl",
    "aucbench_algorithms = aucbench\n": PLUGIN + "it announces nothing: .* aucbench_algorithms, .*hookimpl",
}


@pytest.mark.parametrize(("source", "message"), (OF_MODULES | OF_HOOKS).items())
def test_what_fails_is_a_warning_that_names_it_and_the_others_work(source, message, load):
    is_whole = source in OF_MODULES
    healthy = HEAD + hook("(Perceptron,)")
    with pytest.warns(PluginWarning, match=re.sub(r"([()])", r"\\\1", message)):
        catalog = load(odd=source if is_whole else HEAD + source, other=healthy)
    assert list(catalog.plugins[Family.algorithms]) == ["perceptron"]
    (failure,) = catalog.failures
    assert "odd" in failure.names
    assert ("Bad" in source) == ({"bad", "Bad"} <= failure.names)
    if is_whole:
        assert re.fullmatch(rf".*plugin_odd\.py:1: {re.escape(source.splitlines()[0])}", failure.place)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"first": "(Perceptron,)", "second": "(Other,)"},
         r"Other of distribution second .*'perceptron' .* of distribution first"),
        ({"first": "(Perceptron, Other)"}, r"Other .*the name 'perceptron' is that of .*Perceptron"),
        # A built-in method keeps its name against a package that is loaded before.
        ({"aaa": "(Other,)", "aucbench": "(Perceptron,)"}, "Other of distribution aaa failed"),
    ],
)  # fmt: skip
def test_a_class_whose_name_is_taken_is_left_out(sources, message, load):
    with pytest.warns(PluginWarning, match=message):
        catalog = load(**{name: HEAD + hook(result) for name, result in sources.items()})
    assert catalog.algorithm("perceptron") is Perceptron
    assert len(catalog.failures) == 1


def test_hooks_of_a_wrong_name_or_without_a_mark_are_told_beside_others(load):
    hooks = hook("(Perceptron,)") + hook("()", "aucbench_loss") + hook("()", "aucbench_losses", "")
    with pytest.warns(PluginWarning):
        catalog = load(odd=HEAD + hooks)
    assert (len(list(catalog)), len(catalog.failures)) == (1, 2)


def test_kernels_that_numba_does_not_compile_are_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    with pytest.raises(MachineError, match="NUMBA_DISABLE_JIT"):
        load_catalog()
