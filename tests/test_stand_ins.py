"""Modules of third parties are imported in processes of their own; stand-ins take the place of classes."""

import dataclasses
import pickle
import sys
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import aucbench
from aucbench import registry, stand_ins
from aucbench.contracts import MethodFacts
from aucbench.contracts.code_digest import code_digest
from aucbench.contracts.hyperparameters import field_types
from aucbench.contracts.validation import Family, contract_of
from aucbench.errors import ParameterError
from aucbench.registry import PluginWarning, catalog, load_catalog
from tests.helpers.studies import write_metadata

SOURCE = """
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, NewType
import numpy as np
import aucbench
class Mode(StrEnum):
    slow = "slow"
    fast = "fast"
@dataclass(frozen=True)
class Mine(aucbench.LinearMethod):
    '''A perceptron.'''
    name: ClassVar[str] = "mine"
    access: ClassVar[str] = "stream"
    eta: aucbench.Positive = 0.5
    mode: Mode = Mode.fast
    def __post_init__(self):
        aucbench.check_fields(self)
        if self.mode is Mode.slow and self.eta > 100:
            raise aucbench.ParameterError("mine: eta is too large.")
    def init(self, problem, rng):
        return np.zeros(problem.X.shape[1])
    def step(self, w, batch):
        for i in batch.rows:
            w = w + self.eta * (1 if batch.y[i] > 0 else -1) * batch.X[i]
        return w
    def score(self, w, X):
        return X @ w
    def weights(self, w):
        return w
@dataclass(frozen=True)
class Rows:
    name: ClassVar[str] = "rows"
    n: int = 40
    def load(self):
        y = np.arange(self.n) % 2
        return np.column_stack([y, np.arange(self.n) % 7]).astype(float), y
@aucbench.hookimpl
def aucbench_algorithms():
    return (Mine,)
@aucbench.hookimpl
def aucbench_datasets():
    return (Rows,)
"""

DATASETS = [plugin for plugin in catalog() if plugin.family is Family.datasets]
PLUGINS = [plugin for plugin in catalog() if plugin.family is not Family.datasets] + DATASETS[::20]


def forget():
    """Let the next catalog be loaded as in another command."""
    registry.catalog.cache_clear()
    stand_ins.end_processes()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution whose only module has the plugins above after other lines."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    forget()

    def installed(name="mine_plugins", code="", more=""):
        (tmp_path / f"{name}.py").write_text(code + SOURCE + more)
        write_metadata(tmp_path, name, name)

    yield installed
    forget()
    sys.modules.pop("mine_plugins", None)


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_a_stand_in_has_the_fields_facts_and_digest_of_its_class(plugin):
    cls = plugin.cls
    described = stand_ins.described(cls, "theirs", contract_of(plugin.family))
    stand_in = stand_ins.stand_in(pickle.loads(pickle.dumps(described)))
    assert code_digest(stand_in) == code_digest(cls)
    kinds = {name: (kind.optional, kind.interval) for name, kind in field_types(cls).items()}
    assert {name: (kind.optional, kind.interval) for name, kind in field_types(stand_in).items()} == kinds
    assert dataclasses.asdict(stand_in()) == dataclasses.asdict(cls())
    restored = pickle.loads(pickle.dumps(stand_in()))
    assert type(restored) is cls
    assert restored == cls()
    for name, (hint, _) in contract_of(plugin.family).items():
        theirs, ours = getattr(stand_in, name, None), getattr(cls, name, None)
        assert (theirs is None) == (ours is None) if hint is Any or callable(ours) else theirs == ours, name


ROW = aucbench.Batch(np.ones((1, 1)), np.ones(1, np.int8), np.zeros(1, np.int64))


@pytest.mark.slow
def test_a_study_imports_a_strangers_module_in_another_process_unless_the_class_is_asked_for(
    install, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    install(code="import numpy\nmean, numpy.mean = numpy.mean, None\n")
    assert aucbench.run("algo=mine", "dataset=rows", "algo.mode=slow").auc == 1.0
    assert "mine_plugins" not in sys.modules
    assert np.mean is not None
    cls = catalog().find("algorithms", "mine").cls
    assert cls(eta=2).step(np.zeros(1), ROW) == [2.0]
    with pytest.raises(ParameterError, match="mine: eta is too large"):
        cls(eta=1000, mode="slow")
    with pytest.raises(ParameterError, match="mine: mode must be one of slow, fast, got 'quick'"):
        cls(mode="quick")
    assert "mine_plugins" not in sys.modules
    monkeypatch.setattr(np, "mean", np.mean)  # put back after the import
    assert catalog().algorithm("mine")(eta=2).step(np.zeros(1), ROW) == [2.0]
    monkeypatch.setattr(np, "mean", sys.modules["mine_plugins"].mean)
    assert aucbench.run("algo=mine", "dataset=rows", "isolation=none").auc == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os\nos._exit(7)\n", "it ends the program with status 7"),
        ("import time\nwhile True: time.sleep(0.01)\n", "importing it takes longer than 1 s"),
        ("import sys\nsys.exit(3)\n", "SystemExit: it ends the program"),
        ("import ctypes\nctypes.string_at(0)\n", "it ends the program with status -11"),
        ("raise ImportError('no licence')\n", "ImportError: no licence"),
        ("raise BaseException('I go')\n", "BaseException: I go"),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt"),
    ],
    ids=["exit", "hang", "SystemExit", "crash", "raise", "base", "interrupt"],
)
def test_what_a_module_does_when_it_is_imported_stops_nobody_else(install, code, reason, monkeypatch):
    if "time" in code:
        monkeypatch.setattr(stand_ins, "IMPORT_SECONDS", 1.0)
    install("bad_plugins", code)
    with pytest.warns(PluginWarning, match=f"of distribution bad_plugins failed and is left out: {reason}"):
        loaded = load_catalog()
    assert loaded.algorithm("psam")().name == "psam"
    assert len(loaded.failures) == 1


ODD = """
class Text(str):
    pass
@dataclass(frozen=True)
class Odd(Mine):
    name: ClassVar[str] = Text("odd")
    grid: ClassVar = {"mode": [Mode.slow, Mode.fast], "eta": (1.0, 2.0)}
    made: Any = field(default_factory=lambda: print)
    def __post_init__(self):
        assert isinstance(self.mode, Mode)
print("hello")
@aucbench.hookimpl
def aucbench_algorithms():
    return (Mine, Odd)
"""


def test_members_of_enumerations_are_text(install, capfd):
    install(code="from dataclasses import field\nfrom typing import Any\n", more=ODD)
    cls = load_catalog().find("algorithms", "odd").cls
    assert MethodFacts(cls).grid == {"mode": ["slow", "fast"], "eta": (1.0, 2.0)}
    assert (cls(mode="slow").mode, str(cls.name)) == ("slow", "odd")
    assert capfd.readouterr().out == ""
    assert "mine_plugins" not in sys.modules
    restored = pickle.loads(pickle.dumps(cls(mode="slow")))
    assert (restored.mode, restored.made) == (type(restored.mode).slow, print)


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ("class Own(aucbench.File):\n    pass\nRows.files = (Own(path='x.txt', part='train'),)\n", "files"),
        ("@dataclass(frozen=True)\nclass Rows(Rows):\n    of: Mine = Mine()\n", "of"),
        ("T = NewType('T', int)\n@dataclass(frozen=True)\nclass Rows(Rows):\n    of: object = T\n", "of"),
    ],
)
def test_a_class_that_needs_objects_of_its_package_is_left_out_with_the_reason(more, name, install):
    install(more=more)
    with pytest.warns(PluginWarning, match=f"data set Rows .*`{name}` of Rows is an object"):
        loaded = load_catalog()
    assert loaded.find("algorithms", "mine").cls().eta == 0.5
    assert "rows" not in loaded.plugins[Family.datasets]
    assert "mine_plugins" not in sys.modules


@pytest.mark.parametrize("is_zipped", [False, True])
def test_a_description_is_remembered_until_the_module_changes(is_zipped, install, tmp_path, monkeypatch):
    archive, module = tmp_path / "plugins.zip", tmp_path / "mine_plugins.py"

    def zipped():
        if is_zipped:
            with ZipFile(archive, "w") as file:
                for path in [module, *tmp_path.glob("*.dist-info/*")]:
                    file.write(path, path.relative_to(tmp_path))

    install(code=f"open({str(tmp_path / 'imports')!r}, 'a').write('x')\n")
    if is_zipped:
        monkeypatch.setattr(sys, "path", [str(archive), *sys.path[1:]])
    for value in ("0.5", "0.25"):
        module.write_text(module.read_text().replace("= 0.5", f"= {value}"))
        zipped()
        forget()
        for _ in range(3):
            assert load_catalog().find("algorithms", "mine").cls().eta == float(value)
    assert (tmp_path / "imports").read_text() == "xx"
