"""The runs of a study: Hydra composes the files, and overrides change parts of the composed values.

A *part* is the value of a name of the top level, such as ``seed``, ``budget`` or ``algo``. A part that is
chosen by name has the name of the choice under `CHOSEN`. Values are plain; `build` makes the objects.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.config_store import ConfigNode, ConfigStore
from hydra.errors import MissingConfigException
from hydra.types import RunMode
from omegaconf import OmegaConf

from aucbench.config.matrix import StudyMatrix
from aucbench.config.words import Grammar, Request
from aucbench.contracts import DatasetFacts
from aucbench.contracts.validation import Family
from aucbench.data.loader import Part
from aucbench.data.splits.protocols import PROTOCOLS
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import MEASURES
from aucbench.registry import Catalog
from aucbench.studies import default_settings as settings
from aucbench.studies.plugin_metadata import FAMILIES, defaults_of
from aucbench.studies.tuners import TUNINGS
from aucbench.suggestions import suggest

CHOSEN = "_target_"
FIXED: dict[str, dict[str, Any]] = {
    "protocol": {cls.name: cls for cls in PROTOCOLS},
    "tuning": {cls.name: cls for cls in TUNINGS},  # type: ignore[attr-defined]
    "tracking": {cls.name: cls for cls in settings.TRACKINGS},
}
CHOICES = (*FAMILIES, *FIXED)
SECTIONS: dict[str, type] = {cls.name: cls for cls in settings.SECTIONS}
SECTIONS |= {name: cls for name, cls in MEASURES.items() if fields(cls)}  # measures with parameters
TOP_LEVEL = defaults_of(settings.Settings) | defaults_of(settings.Running)
PARTS = (*TOP_LEVEL, *CHOICES, *SECTIONS)
LISTS = ("experiment", "suite")  # files that may make a sweep
LAUNCHERS: dict[str, dict[str, int]] = {"basic": {}, "dask": {"parallel": 0}}  # 0: one worker per core
REFERENCE = "${"
LOOKED_UP = ("algo", "dataset")  # groups with overrides in the matrix
PART_OF = {"dataset": {"part": str(Part.train)}}  # the only field that the class of its part lacks
MOST_BYTES, MOST_VALUES = 1_000_000, 100_000  # limits of a user's file after its aliases are expanded

Run = Mapping[str, Any]  # values by part; runs share equal parts


class Job(NamedTuple):
    """One run of a study."""

    words: list[str]
    run: Run


class Suite(NamedTuple):
    """A named set of data sets for a sweep: a file of ``conf/suite``."""

    name: str
    title: str
    datasets: tuple[str, ...]  # names
    families: frozenset[str]


class _Files(NamedTuple):
    """The values that Hydra composes from files."""

    values: dict[str, Any]  # values by part
    params: dict[str, Any]  # parameters of the sweep
    is_sweep: bool


def config_folder() -> str:
    """Absolute path of the packaged `aucbench/conf`, else of the checkout's `conf`."""
    package = Path(__file__).resolve().parents[1]
    return str(next(path for path in (package / "conf", package.parent / "conf") if path.is_dir()))


class Composer:
    """Composes the runs of a request from parts; each part is made once for the overrides that change it.

    Hydra composes the files that overrides choose: an experiment, a suite, a ruleset, or a user's file for a
    choice of a group.
    """

    def __init__(self, catalog: Catalog, request: Request = Request()):  # noqa: B008 - Request is frozen
        self._catalog, self._request = catalog, request
        self._of_hydra = [text for text in request.overrides if text.startswith(("hydra.", "hydra/"))]
        self.words = [override for override in request.overrides if override not in self._of_hydra]
        _register(catalog)
        path = create_config_search_path(config_folder())
        if request.config_dir is not None:
            folder = Path(request.config_dir).absolute()
            if not folder.is_dir():
                raise ParameterError(f"--config-dir: there is no folder {folder}.")
            for file in (*folder.glob("*.yaml"), *folder.glob("*/*.yaml")):
                _check_yaml(file)
            path.prepend("command-line", f"file://{folder}", SearchPathQuery(provider="schema"))
        self._loader = ConfigLoaderImpl(path)
        self.grammar = Grammar(self._loader)
        self._files, self._part = cache(self._composed), cache(self._changed)
        self._several = [override for override in self.words if self.grammar.is_sweep(override)]
        self.files = self._files(self._chosen_files(text for text in self.words if text not in self._several))
        self.swept = request.multirun or self.files.is_sweep

    def jobs(self) -> list[Job]:
        """The runs of the request, at least one, without the runs that the study's matrix skips.

        The overrides of the matrix for a job's data set and method precede the other overrides, so that the
        command line wins.
        """
        for override in self._several:
            name, _, values = override.partition("=")
            if name in LISTS:
                raise ParameterError(f"{name} is one name, got {values}.")
            if not self.swept:
                raise ParameterError(
                    f"{name} has several values: add --multirun to run each of {values}, or write "
                    f"{name}=[{values}] for a list."
                )
        params = [f"{name}={value}" for name, value in self.files.params.items()] if self.swept else []
        jobs, matrices = [], {}
        for overrides in self.grammar.expand([*params, *self.words], self._request.yes):
            run = self.run(_choices_first(overrides))
            algo, dataset = (self.class_of(group, run).name for group in LOOKED_UP)
            if id(run["matrix"]) not in matrices:  # runs share the matrix
                matrices[id(run["matrix"])] = StudyMatrix(self._catalog, run["matrix"])
            matrix = matrices[id(run["matrix"])]
            if matrix.skips(algo, dataset):
                continue
            if listed := matrix.words(algo, dataset):
                chosen = [override for override in overrides if override.partition("=")[0] in LOOKED_UP]
                remaining = [override for override in overrides if override not in chosen]
                run = self.run([*chosen, *_choices_first(listed), *_choices_first(remaining)])
            jobs.append(Job(overrides, run))
        if not jobs:
            raise ParameterError("The study's matrix skips every run that was asked for.")
        return jobs

    def run(self, words: Sequence[str]) -> Run:
        """The values of a run, changed by one override after the other."""
        files = self._chosen_files(words)
        by_part: dict[str, list[str]] = {}
        for override in words:
            if override not in files:
                by_part.setdefault(_part(override), []).append(override)
        values = self._files(files).values
        run = values | {part: self._part(files, part, tuple(texts)) for part, texts in by_part.items()}
        if REFERENCE in str(values) or any(REFERENCE in override for override in words):
            with self._as_sentence(words):
                plain: Any = OmegaConf.to_container(OmegaConf.create(self.complete(run)), resolve=True)
            return {part: plain[part] for part in run}
        return run

    def class_of(self, part: str, run: Run) -> Any:
        """The class that defines the fields of a part; None for a plain setting and for an unnamed loss."""
        if part not in CHOICES:
            return SECTIONS.get(part)
        name = run[part].get(CHOSEN) if isinstance(run[part], Mapping) else None
        if name is None and part != "loss":
            raise ParameterError(f"{part} is chosen by name, as in {part}=NAME, got {run[part] or None}.")
        if part in FIXED:
            return FIXED[part][str(name)]
        return name and self._catalog.find(FAMILIES[part], name).cls

    def complete(self, run: Run) -> dict[str, Any]:
        """The run with the defaults of all fields."""
        values = {}
        for part, value in run.items():
            cls = self.class_of(part, run)
            defaults = {**defaults_of(cls), **PART_OF.get(part, {})} if cls else {}
            defaults = {field: default for field, default in defaults.items() if default is not MISSING}
            values[part] = {**defaults, **value} if isinstance(value, Mapping) else value
        return values

    def single(self) -> dict[str, Any]:
        """The run of the request without its sweeps, with the defaults of all fields."""
        overrides = (override for override in self.words if override not in self._several)
        return self.complete(self.run(_choices_first(overrides)))

    def yaml(self) -> str:
        """The run of the request as YAML."""
        return OmegaConf.to_yaml(OmegaConf.create(self.single()))

    def groups(self) -> dict[str, list[str]]:
        """The choices of every group, by its name."""
        names = (*CHOICES, *LISTS, "ruleset", "hydra/launcher")
        return {name: sorted(self._loader.get_group_options(name)) for name in names}

    def suites(self) -> list[Suite]:
        """All suites by name, with the data sets that they sweep over."""
        plugins, suites = self._catalog.plugins[Family.datasets], []
        for name in self.groups()["suite"]:
            files = self._files((f"suite={name}",))
            jobs = self.grammar.expand([f"dataset={files.params['dataset']}"])
            datasets = tuple(override.partition("=")[2] for (override,) in jobs)
            families = frozenset(DatasetFacts(plugins[dataset].cls).family or dataset for dataset in datasets)
            suites.append(Suite(name, str(files.values["suite"]), datasets, families))
        return suites

    def _chosen_files(self, overrides: Iterable[str]) -> tuple[str, ...]:
        """The overrides that choose files, a suite last, since its data sets win over an experiment's."""
        chosen = []
        for override in overrides:
            name, _, value = override.partition("=")
            choices: Any = FIXED.get(name) or (name in FAMILIES and self._catalog.plugins[FAMILIES[name]])
            if name in (*LISTS, "ruleset") or (choices and value not in choices):
                if value.startswith("["):
                    raise ParameterError(f"{name} is one name, got {value}; -m {name}=A,B sweeps several.")
                chosen.append(override)
        return tuple(sorted(chosen, key=lambda override: override.startswith("suite=")))

    def _composed(self, files: tuple[str, ...]) -> _Files:
        overrides = [f"+{override}" if override.startswith(LISTS) else override for override in files]
        with self._as_sentence(overrides):
            name, of_hydra = self._request.config_name, self._of_hydra
            cfg = self._loader.load_configuration(name, [*of_hydra, *overrides], RunMode.RUN)
            values: Any = OmegaConf.to_container(cfg, resolve=False)
        hydra = values.pop("hydra")
        launcher, sweeper = (hydra["runtime"]["choices"][f"hydra/{name}"] for name in ("launcher", "sweeper"))
        if launcher not in LAUNCHERS or sweeper != "basic":
            raise ParameterError(
                f"hydra/launcher={launcher} with hydra/sweeper={sweeper} cannot run aucbench's studies: "
                "parallel=2 or hydra/launcher=dask runs cells at the same time, and tuning=optuna searches."
            )
        for part in values:
            _check_name(part)
        parts = {part: value for part, value in values.items() if value is not None or part in TOP_LEVEL}
        if (workers := hydra["launcher"].get("parallel")) is not None:
            parts.setdefault("parallel", workers)
        return _Files(
            values=TOP_LEVEL | {part: {} for part in (*CHOICES, *SECTIONS)} | parts,
            params=hydra["sweeper"]["params"] or {},
            is_sweep=cfg.hydra.mode == RunMode.MULTIRUN,
        )

    def _changed(self, files: tuple[str, ...], part: str, overrides: tuple[str, ...]) -> Any:
        """The value of a part after some overrides; a choice discards fields set by earlier overrides."""
        _check_name(part)
        of_files = value = self._files(files).values[part]
        for override in overrides:
            name, _, text = override.partition("=")
            if name in CHOICES:
                value = _merged(of_files, {CHOSEN: text})
                continue
            new = self.grammar.value(override)
            for field in reversed(name.split(".")[1:]):
                new = {field: new}
            value = _merged(value, new)
        return value

    @contextlib.contextmanager
    def _as_sentence(self, overrides: Sequence[str]) -> Iterator[None]:
        """Turn the errors of Hydra, OmegaConf and PyYAML in the block into one sentence."""
        try:
            yield
        except MissingConfigException as error:
            file = str(error.missing_cfg_file)
            if (family := FAMILIES.get(file.partition("/")[0])) is not None:
                self._catalog.find(family, file.partition("/")[2])
            group, _, name = file.rpartition("/")
            hint = suggest(name, list(error.options or []))
            raise ParameterError(f"Unknown {group or 'configuration'} '{name}'. {hint}") from error
        except RecursionError:
            raise ParameterError("A configuration includes itself by its defaults; leave it out.") from None
        except Exception as error:
            cause = " ".join(str(error.__cause__ or error).split()).rstrip(".")
            source = " ".join([f"{self._request.config_name}.yaml", *overrides])
            raise ParameterError(f"{source} cannot be composed: {cause}.") from error


def _register(catalog: Catalog) -> None:
    """Register the names of plugins and other choices with Hydra."""
    store = ConfigStore.instance()
    plugins = {group: catalog.plugins[family] for group, family in FAMILIES.items()}
    for group, names in {**plugins, **FIXED}.items():
        store.repo[group] = {
            f"{name}.yaml": ConfigNode(name, OmegaConf.create({CHOSEN: name}), group, None, "aucbench")
            for name in names
        }
    store.store(group="hydra/launcher", name="dask", node=LAUNCHERS["dask"], provider="aucbench")


def _check_yaml(file: Path) -> None:
    """Refuse a file that is damaged or would not fit into memory."""
    try:
        text = file.read_text("utf-8") if file.stat().st_size <= MOST_BYTES else "0"
        if text == "0" or _values_of(yaml.compose(text, Loader=yaml.SafeLoader), {}) > MOST_VALUES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes or {MOST_VALUES:,} values with its aliases")
        yaml.safe_load(text)
    except (OSError, RecursionError, ValueError, yaml.YAMLError) as error:
        raise ParameterError(f"{file} cannot be read as YAML: {' '.join(str(error).split())}.") from None


def _values_of(node: Any, counts: dict[int, int]) -> int:
    """The number of values of a node with its aliases written out; each node is visited once."""
    if id(node) not in counts:
        inner = node.value if isinstance(node, yaml.CollectionNode) else []
        if isinstance(node, yaml.MappingNode):
            inner = [child for pair in inner for child in pair]
        counts[id(node)] = 1 + sum(_values_of(child, counts) for child in inner)
    return counts[id(node)]


def _check_name(part: str) -> None:
    if part not in PARTS:
        raise ParameterError(f"Unknown setting '{part}'. {suggest(str(part), list(PARTS))}")


def _part(override: str) -> str:
    return override.partition("=")[0].partition(".")[0]


def _choices_first(overrides: Iterable[str]) -> list[str]:
    return sorted(overrides, key=lambda override: "." in override.partition("=")[0])


def _merged(old: Any, new: Any) -> Any:
    """The new value; two mappings are merged, and the values of the new mapping win."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    return {**old, **{name: _merged(old.get(name), value) for name, value in new.items()}}
