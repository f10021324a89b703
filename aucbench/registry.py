"""The plugins that installed distributions announce through the entry-point group ``aucbench``."""

import difflib
import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from enum import StrEnum
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from aucbench import hookspecs
from aucbench.errors import PluginError

GROUP = "aucbench"


class Family(StrEnum):
    """The four kinds of plugin."""

    algorithms = "algorithms"
    datasets = "datasets"
    losses = "losses"
    features = "features"

    @property
    def singular(self) -> str:
        """The kind as a sentence names one of them."""
        return {"algorithms": "algorithm", "datasets": "data set", "losses": "loss"}.get(self, "feature map")


REQUIRED = {
    Family.algorithms: ("access", "init", "step", "score"),
    Family.datasets: (),
    Family.losses: ("value", "derivative"),
    Family.features: ("fit",),
}


class PluginWarning(UserWarning):
    """A plugin could not be loaded; the others work."""


@dataclass(frozen=True)
class Plugin:
    """A registered class and where it comes from."""

    family: Family
    name: str
    cls: type
    distribution: str
    version: str

    @property
    def summary(self) -> str:
        """First line of the class's docstring."""
        own = self.cls.__dict__.get("__doc__") or ""
        return "" if own.startswith(f"{self.cls.__name__}(") else (inspect.cleandoc(own).split("\n")[0])

    @property
    def source(self) -> str:
        """The module that defines the class."""
        return self.cls.__module__


@dataclass(frozen=True)
class Catalog:
    """All registered plugins by family and name, and the sentences about those that failed to load."""

    plugins: Mapping[Family, Mapping[str, Plugin]]
    failures: tuple[str, ...] = ()
    _owners: dict[type, Plugin] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._owners.update({plugin.cls: plugin for plugin in self})

    def __iter__(self) -> Iterator[Plugin]:
        for family in self.plugins.values():
            yield from family.values()

    def find(self, family: Family | str, name: str) -> Plugin:
        """The plugin of that name.

        Raises
        ------
        PluginError
            There is none; the sentence suggests the nearest names.
        """
        family = Family(family)
        known = self.plugins[family]
        if name not in known:
            raise PluginError(f"Unknown {family.singular} '{name}'. {suggest(name, known)}")
        return known[name]

    def owner(self, cls: type) -> Plugin | None:
        """The plugin a class was registered as, None for a class that was not."""
        return self._owners.get(cls)

    def algorithm(self, name: str) -> Any:
        """The class of the algorithm `name`; call it with hyper-parameters."""
        return self.find(Family.algorithms, name).cls

    def dataset(self, name: str) -> Any:
        """The class of the data set `name`."""
        return self.find(Family.datasets, name).cls

    def loss(self, name: str) -> Any:
        """The class of the surrogate loss `name`."""
        return self.find(Family.losses, name).cls

    def features(self, name: str) -> Any:
        """The class of the feature map `name`."""
        return self.find(Family.features, name).cls


def suggest(name: str, known: Mapping[str, Any] | list[str]) -> str:
    """A sentence with the nearest known names, or with all of them."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Known: {', '.join(sorted(known)) or 'none'}."


def load_catalog(found: list[EntryPoint] | None = None) -> Catalog:
    """Load every entry point of the group and collect what its hooks return.

    A plugin module that fails to import, or a hook that raises, becomes a `PluginWarning` naming its
    distribution and cause, and a sentence in `Catalog.failures`; the others work.

    Raises
    ------
    PluginError
        Two distributions register the same name.
    """
    # Loading the kernels first points numba's cache at their folder before any plugin compiles.
    import aucbench.kernels  # noqa: F401

    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    failures: list[str] = []
    origins: dict[str, tuple[str, str]] = {}
    for entry in sorted(found or entry_points(group=GROUP), key=lambda e: (_dist(e), e.name)):
        name, version = _dist(entry)
        identity = f"{name}:{entry.name}"
        try:
            manager.register(entry.load(), name=identity)
        except Exception as error:  # whatever a stranger's module raises must not stop the others
            failures.append(_failure(f"plugin {entry.value} of distribution {name}", error))
        else:
            origins[identity] = (name, version)
    plugins: dict[Family, dict[str, Plugin]] = {family: {} for family in Family}
    for family in Family:
        for hook in getattr(manager.hook, f"aucbench_{family}").get_hookimpls():
            distribution, version = origins[hook.plugin_name]
            try:
                classes = [_checked(family, cls) for cls in hook.function()]
            except Exception as error:  # as above
                failures.append(_failure(f"hook aucbench_{family} of distribution {distribution}", error))
                continue
            for cls in classes:
                _add(plugins[family], Plugin(family, cls.name, cls, distribution, version))
    for sentence in failures:
        warnings.warn(sentence, PluginWarning, stacklevel=2)
    return Catalog(plugins, tuple(failures))


def _add(known: dict[str, Plugin], plugin: Plugin) -> None:
    other = known.get(plugin.name)
    if other is not None:
        raise PluginError(
            f"Two plugins are called {plugin.family.singular} '{plugin.name}': one of distribution "
            f"{other.distribution} ({other.source}), one of {plugin.distribution} ({plugin.source}); "
            f"uninstall one of them."
        )
    known[plugin.name] = plugin


def _checked(family: Family, cls: Any) -> Any:
    what = f"{family.singular} {getattr(cls, '__name__', cls)!s}"
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise TypeError(f"{what} is not a dataclass")
    if not isinstance(getattr(cls, "name", None), str):
        raise TypeError(f"{what} has no class variable `name` that is text")
    missing = [name for name in REQUIRED[family] if not hasattr(cls, name)]
    if missing:
        raise TypeError(f"{what} lacks {', '.join(missing)}")
    if family is Family.datasets and not (hasattr(cls, "load") or hasattr(cls, "files")):
        raise TypeError(f"{what} has neither `files` nor `load`")
    return cls


def _failure(what: str, error: BaseException) -> str:
    return f"{what} failed and is left out: {type(error).__name__}: {error}"


def _dist(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("unknown", "0")
