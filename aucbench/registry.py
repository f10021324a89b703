"""The plugins that installed distributions announce through the entry-point group ``aucbench``."""

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from multiprocessing import parent_process
from typing import Any

import pluggy

from aucbench import stand_ins
from aucbench.contracts import MethodFacts, hooks
from aucbench.contracts.hooks import PROJECT
from aucbench.contracts.source_location import package_of, place_in, place_of
from aucbench.contracts.validation import Failure, Family, contract_of, reason_against
from aucbench.errors import AucbenchError, MachineError, ParameterError, PluginError
from aucbench.humanize import sentence_of
from aucbench.pool import ProcessEnded
from aucbench.suggestions import suggest

GROUP = "aucbench"


class PluginWarning(UserWarning):
    """A plugin could not be loaded; the others work."""


@dataclass(frozen=True)
class Plugin:
    """A registered class and where it comes from."""

    family: Family
    name: str
    cls: type  # or the stand-in of a third party's
    distribution: str
    version: str

    @property
    def summary(self) -> str:
        """First line of the class's docstring."""
        own = self.cls.__dict__.get("__doc__") or ""
        is_generated = own.startswith(f"{self.cls.__name__}(")  # by dataclass
        return "" if is_generated else inspect.cleandoc(own).split("\n")[0]

    @property
    def imported(self) -> Any:
        """The class itself, imported in this process."""
        return stand_ins.imported(self.cls)

    @property
    def source(self) -> str:
        """The module that defines the class."""
        return self.cls.__module__


@dataclass(frozen=True)
class Catalog:
    """All registered plugins by family and name, and plugins that failed to load."""

    plugins: Mapping[Family, Mapping[str, Plugin]]
    failures: tuple[Failure, ...] = ()

    def __iter__(self) -> Iterator[Plugin]:
        for family in self.plugins.values():
            yield from family.values()

    def find(self, family: Family | str, name: str) -> Plugin:
        """The plugin of that name; `PluginError` if there is none, with the nearest names."""
        family = Family(family)
        known = self.plugins[family]
        if name not in known:
            raise PluginError(f"Unknown {family.singular} '{name}'. {suggest(name, known)}")
        return known[name]

    def algorithm(self, name: str) -> Any:
        """The class of the algorithm `name`; call it with hyperparameters."""
        return self.find(Family.algorithms, name).imported

    def dataset(self, name: str) -> Any:
        """The class of the data set `name`."""
        return self.find(Family.datasets, name).imported

    def loss(self, name: str) -> Any:
        """The class of the surrogate loss `name`."""
        return self.find(Family.losses, name).imported

    def features(self, name: str) -> Any:
        """The class of the feature map `name`."""
        return self.find(Family.features, name).imported


def accepted_loss(catalog: Catalog, algorithm: Any, name: str | None) -> str | None:
    """The name of the loss a method trains with: `name` if accepted, by default the method's first loss.

    Raises a `ParameterError` if the method does not accept `name`, or accepts any loss and `name` is None.
    """
    accepted = MethodFacts(algorithm).losses
    if name is None:
        if accepted[:1] == ("*",):
            known = ", ".join(sorted(catalog.plugins[Family.losses]))
            raise ParameterError(
                f"{algorithm.name} takes any loss and has no default: set loss to one of {known}."
            )
        return accepted[0] if accepted else None
    if not accepted:
        raise ParameterError(f"{algorithm.name} takes no loss, got loss={name}.")
    if name not in accepted and "*" not in accepted:
        raise ParameterError(f"{algorithm.name} accepts the losses {', '.join(accepted)}, got loss={name}.")
    return name


@cache
def catalog() -> Catalog:
    """The registered plugins: ``catalog().algorithm("solam")(zeta=0.5, radius=2.0)``.

    Returns
    -------
    Catalog
        With `algorithm`, `dataset`, `loss` and `features`, each giving the class of a name.

    Raises
    ------
    PluginError
        Two distributions register the same name.
    """
    return load_catalog()


def load_catalog(found: list[EntryPoint] | None = None) -> Catalog:
    """Load every entry point of the group and collect what its hooks return.

    The modules of third parties are imported in processes of their own, and stand-ins take the place of their
    classes here; those of `found` are imported in this process. A plugin module that fails to import, a hook
    that raises, a class that is not a plugin, or one whose name is taken becomes a `PluginWarning` naming its
    distribution and cause, and is among `Catalog.failures`; the others work.
    """
    # Loading the kernels first points numba's cache at their folder before any plugin compiles.
    from numba import config

    import aucbench.kernels  # noqa: F401

    if config.DISABLE_JIT:
        raise MachineError("NUMBA_DISABLE_JIT is set, but the kernels only run compiled; unset it.")
    plugins: dict[Family, dict[str, Plugin]] = {family: {} for family in Family}
    failures: list[Failure] = []
    # A built-in plugin comes first, and keeps its name against all others.
    entries = sorted(found or entry_points(group=GROUP), key=lambda e: (not _is_ours(e), _dist(e), e.name))
    with ThreadPoolExecutor() as threads:  # several that hang are waited for at once
        apart = {
            entry: threads.submit(_announced_apart, entry)
            for entry in entries
            if not (found or _is_ours(entry))
        }
        try:
            for entry in entries:
                own, failed = apart[entry].result() if entry in apart else _announced(entry)
                failures += failed
                for plugin in own:
                    first = plugins[plugin.family].setdefault(plugin.name, plugin)
                    if first is not plugin:
                        failures.append(_refused(plugin, _taken(first)))
        except KeyboardInterrupt:
            stand_ins.end_processes()
            raise
    for failure in failures:
        warnings.warn(str(failure), PluginWarning, stacklevel=2)
    return Catalog(plugins, tuple(failures))


def _announced(entry: EntryPoint) -> tuple[list[Plugin], list[Failure]]:
    """The plugins of an entry point, imported in this process, and what is left out."""
    distribution, version = _dist(entry)
    manager, module = pluggy.PluginManager(PROJECT), None
    manager.add_hookspecs(hooks)
    plugins: list[Plugin] = []
    failures: list[Failure] = []
    with _left_out(failures, entry):
        module = entry.load()
        manager.register(module)
    known = {f"{PROJECT}_{family}": family for family in Family}
    for name, family in known.items():
        for hook in getattr(manager.hook, name).get_hookimpls():
            with _left_out(failures, entry, name):
                result = hook.function()
                if not isinstance(result, Iterable):
                    raise TypeError(f"it must return a tuple of classes, such as (Mine,), got {result!r:.60}")
                for cls in result:
                    plugin = Plugin(family, getattr(cls, "name", ""), cls, distribution, version)
                    if (reason := reason_against(family, cls)) is None:
                        plugins.append(plugin)
                    else:
                        failures.append(_refused(plugin, reason))
    for name, _ in inspect.getmembers(module, inspect.isroutine):
        marks = manager.parse_hookimpl_opts(module, name)
        with _left_out(failures, entry, name):
            if marks is not None and (marks["specname"] or name) not in known:
                raise PluginError(f"there is no such hook. {suggest(name, known)}".removesuffix("."))
            if marks is None and name in known:
                raise PluginError("it must be marked with @aucbench.hookimpl")
    if not plugins and not failures:
        with _left_out(failures, entry):
            names = ", ".join(known)
            raise PluginError(f"it announces nothing: one of {names} must be marked with @aucbench.hookimpl")
    return plugins, failures


def _announced_apart(entry: EntryPoint) -> tuple[list[Plugin], list[Failure]]:
    """The plugins of an entry point, imported in a process of their own, and what is left out."""
    distribution, version = _dist(entry)
    plugins: list[Plugin] = []
    failures: list[Failure] = []
    with _left_out(failures, entry):
        found, failed = stand_ins.from_its_process(_described, distribution, version, entry.name, entry.value)
        failures += failed
        classes = [(family, stand_ins.stand_in(each)) for family, each in found]
        plugins += [Plugin(family, cls.name, cls, distribution, version) for family, cls in classes]
    return plugins, failures


def _described(*identity: str) -> tuple[list[tuple[Family, Any]], list[Failure]]:
    """Descriptions of the plugins of an entry point, and what is left out."""
    found = entry_points(group=GROUP, name=identity[2])
    entry = next(each for each in found if (*_dist(each), each.name, each.value) == identity)
    plugins, failures = _announced(entry)
    described: list[tuple[Family, Any]] = []
    for each in plugins:
        try:
            contract = contract_of(each.family)
            described.append((each.family, stand_ins.described(each.cls, each.distribution, contract)))
        except Exception as error:
            failure = _refused(each, _reason(error))
            failures.append(failure._replace(place=place_in(error, package_of(each.cls)) or failure.place))
    return described, failures


@contextmanager
def _left_out(failures: list[Failure], entry: EntryPoint, hook: str = "") -> Iterator[None]:
    """Turn any error in third-party code into a failure, so that other plugins still load."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and parent_process() is None:  # a user's, most likely
            raise
        what = f"hook {hook}" if hook else f"plugin {entry.value}"
        names = frozenset({entry.name, entry.module, _dist(entry)[0]})
        place = place_in(error, entry.module.partition(".")[0])
        failures.append(Failure(f"{what} of distribution {_dist(entry)[0]}", _reason(error), names, place))


def _reason(error: BaseException) -> str:
    """Why a plugin module, or one of its hooks, is left out."""
    if isinstance(error, AucbenchError):
        return str(error)
    if isinstance(error, ProcessEnded):
        late = f"importing it takes longer than {stand_ins.IMPORT_SECONDS:g} s"
        ended = f"it ends the program with status {error.status}, where it must raise an error"
        return late if error.is_late else ended
    if isinstance(error, SystemExit):
        return "SystemExit: it ends the program, where it must raise an error"
    text = sentence_of(error)
    if isinstance(error, ValueError) and "mutable default" in text:
        text += "; what all share, such as a grid, is no field: annotate it as ClassVar"
    return text


def _refused(plugin: Plugin, reason: str) -> Failure:
    """The failure of a class, or of another object, that a hook returned."""
    kind = plugin.cls if isinstance(plugin.cls, type) else type(plugin.cls)
    names = {str(plugin.name), kind.__name__, kind.__module__, plugin.distribution}
    what = f"{plugin.family.singular} {kind.__name__} of distribution {plugin.distribution}"
    return Failure(what, reason, frozenset(names) - {""}, place_of(kind))


def _taken(by: Plugin) -> str:
    """Why the name of a plugin cannot be that of another."""
    owner = f"{by.source}.{by.cls.__name__} of distribution {by.distribution}"
    return f"the name '{by.name}' is that of {owner}; choose another"


def _is_ours(entry: EntryPoint) -> bool:
    return _dist(entry)[0] == PROJECT


def _dist(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("unknown", "0")
