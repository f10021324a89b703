"""The plugins that installed distributions announce through the entry-point group ``aucbench``."""

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from aucbench import stand_ins
from aucbench.contracts import MethodFacts, hooks, validation
from aucbench.contracts.hooks import PROJECT
from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import Failure, Family, reason_against
from aucbench.errors import MachineError, ParameterError, PluginError
from aucbench.humanize import sentence_of
from aucbench.pool import ProcessEnded
from aucbench.suggestions import suggest

GROUP = "aucbench"
MOST_KIN = 4  # plugins that are suggested by their summaries


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
            raise PluginError(f"Unknown {family.singular} '{name}'. {self._advice(name, family)}")
        return known[name]

    def _advice(self, name: str, family: Family) -> str:
        """A sentence with names like the unknown one, else with plugins whose summary or name has it."""
        advice = suggest(name, known := self.plugins[family])
        kin = [each.name for each in known.values() if name.lower() in each.summary.lower()][:MOST_KIN]
        kin += [f"the {other.singular} {name}" for other, plugins in self.plugins.items() if name in plugins]
        return f"Did you mean {' or '.join(kin)}?" if kin and advice.startswith("Known") else advice

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
        announced = {
            each: threads.submit(_announced_elsewhere, each)
            for each in entries
            if not (found or _is_ours(each))
        }
        try:
            for entry in entries:
                own, failed = announced[entry].result() if entry in announced else _announced(entry)
                failures += failed
                for plugin in own:
                    first = plugins[plugin.family].setdefault(plugin.name, plugin)
                    if first is not plugin:
                        failures.append(_duplicate(plugin, first))
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
    with _left_out(failures, _words(entry), entry):
        module = entry.load()
        manager.register(module)
    known = {f"{PROJECT}_{family}": family for family in Family}
    for name, family in known.items():
        for hook in getattr(manager.hook, name).get_hookimpls():
            with _left_out(failures, f"hook {name} of distribution {distribution}", entry):
                for cls in _classes(hook.function()):
                    if (reason := reason_against(family, cls)) is None:
                        plugins.append(Plugin(family, cls.name, cls, distribution, version))
                    else:
                        failures.append(_refused(family, cls, distribution, reason))
    for name, _ in inspect.getmembers(module, inspect.isroutine):
        marks, reason = manager.parse_hookimpl_opts(module, name), None
        if marks is not None and (marks["specname"] or name) not in known:
            reason = f"there is no such hook. {suggest(name, known)}".removesuffix(".")
        elif marks is None and name in known:
            reason = "it must be marked with @aucbench.hookimpl"
        if reason is not None:
            failures.append(Failure(f"hook {name} of distribution {distribution}", reason, _names(entry)))
    if not plugins and not failures:
        reason = f"it announces nothing: one of {', '.join(known)} must be marked with @aucbench.hookimpl"
        failures.append(Failure(_words(entry), reason, _names(entry)))
    return plugins, failures


def _classes(result: Any) -> Iterable[Any]:
    if not isinstance(result, Iterable):
        raise TypeError(f"it must return a tuple of classes, such as (Mine,), got {result!r:.60}")
    return result


def _refused(family: Family, cls: Any, distribution: str, reason: str) -> Failure:
    """The failure of a class that a hook returned."""
    kind = cls if isinstance(cls, type) else type(cls)
    own = str(getattr(cls, "name", kind.__name__))
    names = frozenset({own, kind.__name__, kind.__module__, distribution})
    return Failure(
        f"{family.singular} {kind.__name__} of distribution {distribution}", reason, names, place_of(kind)
    )


def _announced_elsewhere(entry: EntryPoint) -> tuple[list[Plugin], list[Failure]]:
    """The plugins of an entry point, imported in a process of their own, and what is left out."""
    distribution, version = _dist(entry)
    try:
        found, failures = stand_ins.from_its_process(
            _described, distribution, version, entry.name, entry.value
        )
        classes = [(family, stand_ins.stand_in(each)) for family, each in found]
    except ProcessEnded as ended:
        reason = f"it ends the program with status {ended.status}, where it must raise an error"
        if ended.is_late:
            reason = f"importing it takes longer than {stand_ins.IMPORT_SECONDS:g} s"
        return [], [Failure(_words(entry), reason, _names(entry))]
    except Exception as error:
        return [], [validation.failure_of(_words(entry), error, entry.module, _names(entry))]
    return [Plugin(family, cls.name, cls, distribution, version) for family, cls in classes], failures


def _described(*identity: str) -> tuple[list[tuple[Family, Any]], list[Failure]]:
    """Descriptions of the plugins of an entry point, and what is left out; raises nothing."""
    distribution, _, name, value = identity
    failures: list[Failure] = []
    described: list[tuple[Family, Any]] = []
    try:
        found = entry_points(group=GROUP, name=name)
        entry = next(each for each in found if (*_dist(each), name, each.value) == identity)
        plugins, failures = _announced(entry)
        for each in plugins:
            what = f"{each.family.singular} {each.cls.__name__} of distribution {distribution}"
            with _left_out(failures, what, entry):
                contract = validation.contract_of(each.family)
                described.append((each.family, stand_ins.described(each.cls, distribution, contract)))
    except BaseException as error:  # KeyboardInterrupt too: a user's does not come here
        what = f"plugin {value} of distribution {distribution}"
        failures.append(Failure(what, sentence_of(error), frozenset({name, distribution})))
    return described, failures


@contextmanager
def _left_out(failures: list[Failure], what: str, entry: EntryPoint) -> Iterator[None]:
    """Turn any error in third-party code into a failure, so that other plugins still load."""
    try:
        yield
    except KeyboardInterrupt:  # a user's, most likely
        raise
    except BaseException as error:
        failures.append(validation.failure_of(what, error, entry.module, _names(entry)))


def _duplicate(plugin: Plugin, other: Plugin) -> Failure:
    """The failure of a plugin whose name is taken."""
    reason = f"the name '{plugin.name}' is that of {other.source}.{other.cls.__name__} of distribution "
    return _refused(
        plugin.family, plugin.cls, plugin.distribution, f"{reason}{other.distribution}; choose another"
    )


def _names(entry: EntryPoint) -> frozenset[str]:
    """Names by which a user may ask for what an entry point announces."""
    return frozenset({entry.name, entry.module, _dist(entry)[0]})


def _words(entry: EntryPoint) -> str:
    return f"plugin {entry.value} of distribution {_dist(entry)[0]}"


def _is_ours(entry: EntryPoint) -> bool:
    return _dist(entry)[0] == PROJECT


def _dist(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("unknown", "0")
