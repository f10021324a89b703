"""The runs of a study: Hydra composes the files, and overrides change parts of the composed values.

A *part* is what stands under a name of the top level, such as ``seed``, ``budget`` or ``algo``. A part that
is chosen by name has the name of the choice under `CHOSEN`. Values are plain; `build` makes the objects.
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
LAUNCHERS: dict[str, dict[str, int]] = {"basic": {}, "dask": {"parallel": 0}}  # 0: one worker a core
REFERENCE = "${"
LOOKED_UP = ("algo", "dataset")  # groups with words in the matrix
PART_OF = {"dataset": {"part": str(Part.train)}}  # the one field of a part that is not of its class
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
    """What Hydra composes of files."""

    values: dict[str, Any]  # values by part
    params: dict[str, Any]  # parameters of the sweep
    is_sweep: bool


def config_folder() -> str:
    """Absolute path of the packaged `aucbench/conf`, else of the checkout's `conf`."""
    package = Path(__file__).resolve().parents[1]
    return str(next(path for path in (package / "conf", package.parent / "conf") if path.is_dir()))


class Composer:
    """Composes the runs of a request from parts, each of which is made once for the words that change it.

    Hydra composes the files that words choose: an experiment, a suite, a ruleset, or a choice of a group that
    is a file of a user.
    """

    def __init__(self, catalog: Catalog, request: Request = Request()):  # noqa: B008 - it is frozen
        self._catalog, self._request = catalog, request
        self._of_hydra = [word for word in request.overrides if word.startswith(("hydra.", "hydra/"))]
        self.words = [word for word in request.overrides if word not in self._of_hydra]
        _register(catalog)
        path = create_config_search_path(config_folder())
        if request.config_dir is not None:
            own = Path(request.config_dir).absolute()
            if not own.is_dir():
                raise ParameterError(f"--config-dir: there is no folder {own}.")
            for file in (*own.glob("*.yaml"), *own.glob("*/*.yaml")):
                _check_yaml(file)
            path.prepend("command-line", f"file://{own}", SearchPathQuery(provider="schema"))
        self._loader = ConfigLoaderImpl(path)
        self.grammar = Grammar(self._loader)
        self._files, self._part = cache(self._composed), cache(self._changed)
        self._several = [word for word in self.words if self.grammar.is_sweep(word)]
        self.files = self._files(self._chosen_files(word for word in self.words if word not in self._several))
        self.swept = request.multirun or self.files.is_sweep

    def jobs(self) -> list[Job]:
        """The runs of the request, at least one, without those that the study's matrix skips.

        The words of the matrix for a job's data set and method come before the others, so that the command
        line wins.
        """
        for word in self._several:
            name, _, values = word.partition("=")
            if name in LISTS:
                raise ParameterError(f"{name} is one name, got {values}.")
            if not self.swept:
                raise ParameterError(
                    f"{name} has several values: add --multirun to run each of {values}, or write "
                    f"{name}=[{values}] for a list."
                )
        params = [f"{name}={value}" for name, value in self.files.params.items()] if self.swept else []
        found, matrices = [], {}
        for words in self.grammar.expand([*params, *self.words], self._request.yes):
            run = self.run(_choices_first(words))
            algo, dataset = (self.class_of(group, run).name for group in LOOKED_UP)
            if id(run["matrix"]) not in matrices:  # runs share it
                matrices[id(run["matrix"])] = StudyMatrix(self._catalog, run["matrix"])
            matrix = matrices[id(run["matrix"])]
            if matrix.skips(algo, dataset):
                continue
            if listed := matrix.words(algo, dataset):
                chosen = [word for word in words if word.partition("=")[0] in LOOKED_UP]
                others = [word for word in words if word not in chosen]
                run = self.run([*chosen, *_choices_first(listed), *_choices_first(others)])
            found.append(Job(words, run))
        if not found:
            raise ParameterError("The study's matrix skips every run that was asked for.")
        return found

    def run(self, words: Sequence[str]) -> Run:
        """The values of a run, changed by one word after the other."""
        files = self._chosen_files(words)
        changes: dict[str, list[str]] = {}
        for word in words:
            if word not in files:
                changes.setdefault(_part(word), []).append(word)
        values = self._files(files).values
        run = values | {part: self._part(files, part, tuple(own)) for part, own in changes.items()}
        if REFERENCE in str(values) or any(REFERENCE in word for word in words):
            with self._as_sentence(words):
                plain: Any = OmegaConf.to_container(OmegaConf.create(self.complete(run)), resolve=True)
            return {part: plain[part] for part in run}
        return run

    def class_of(self, part: str, run: Run) -> Any:
        """The class whose fields a part has; None for a plain setting, and a loss that is not named."""
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
        found = {}
        for part, value in run.items():
            cls = self.class_of(part, run)
            known = {**defaults_of(cls), **PART_OF.get(part, {})} if cls else {}
            known = {field: each for field, each in known.items() if each is not MISSING}
            found[part] = {**known, **value} if isinstance(value, Mapping) else value
        return found

    def single(self) -> dict[str, Any]:
        """The run of the request without its sweeps, with the defaults of all fields."""
        words = (word for word in self.words if word not in self._several)
        return self.complete(self.run(_choices_first(words)))

    def yaml(self) -> str:
        """The run of the request as YAML."""
        return OmegaConf.to_yaml(OmegaConf.create(self.single()))

    def groups(self) -> dict[str, list[str]]:
        """The choices of every group that words choose from."""
        names = (*CHOICES, *LISTS, "ruleset", "hydra/launcher")
        return {name: sorted(self._loader.get_group_options(name)) for name in names}

    def suites(self) -> list[Suite]:
        """All suites by name, with the data sets that they sweep over."""
        known, found = self._catalog.plugins[Family.datasets], []
        for name in self.groups()["suite"]:
            files = self._files((f"suite={name}",))
            jobs = self.grammar.expand([f"dataset={files.params['dataset']}"])
            datasets = tuple(word.partition("=")[2] for (word,) in jobs)
            families = frozenset(DatasetFacts(known[each].cls).family or each for each in datasets)
            found.append(Suite(name, str(files.values["suite"]), datasets, families))
        return found

    def _chosen_files(self, words: Iterable[str]) -> tuple[str, ...]:
        """The words that choose files, a suite last, since its data sets win over an experiment's."""
        found = []
        for word in words:
            name, _, value = word.partition("=")
            known: Any = FIXED.get(name) or (name in FAMILIES and self._catalog.plugins[FAMILIES[name]])
            if name in (*LISTS, "ruleset") or (known and value not in known):
                if value.startswith("["):
                    raise ParameterError(f"{name} is one name, got {value}; -m {name}=A,B sweeps several.")
                found.append(word)
        return tuple(sorted(found, key=lambda word: word.startswith("suite=")))

    def _composed(self, files: tuple[str, ...]) -> _Files:
        words = [f"+{word}" if word.startswith(LISTS) else word for word in files]
        with self._as_sentence(words):
            name, of_hydra = self._request.config_name, self._of_hydra
            cfg = self._loader.load_configuration(name, [*of_hydra, *words], RunMode.RUN)
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
        given = {part: value for part, value in values.items() if value is not None or part in TOP_LEVEL}
        if (workers := hydra["launcher"].get("parallel")) is not None:
            given.setdefault("parallel", workers)
        return _Files(
            values=TOP_LEVEL | {part: {} for part in (*CHOICES, *SECTIONS)} | given,
            params=hydra["sweeper"]["params"] or {},
            is_sweep=cfg.hydra.mode == RunMode.MULTIRUN,
        )

    def _changed(self, files: tuple[str, ...], part: str, words: tuple[str, ...]) -> Any:
        """The value of a part after some words; a choice takes back the fields of earlier words."""
        _check_name(part)
        of_files = value = self._files(files).values[part]
        for word in words:
            name, _, text = word.partition("=")
            if name in CHOICES:
                value = _merged(of_files, {CHOSEN: text})
                continue
            new = self.grammar.value(word)
            for field in reversed(name.split(".")[1:]):
                new = {field: new}
            value = _merged(value, new)
        return value

    @contextlib.contextmanager
    def _as_sentence(self, words: Sequence[str]) -> Iterator[None]:
        """Turn the errors of Hydra, OmegaConf and PyYAML in the block into one sentence."""
        try:
            yield
        except MissingConfigException as error:
            file = str(error.missing_cfg_file)
            if (family := FAMILIES.get(file.partition("/")[0])) is not None:
                self._catalog.find(family, file.partition("/")[2])
            group, _, name = file.rpartition("/")
            known = suggest(name, list(error.options or []))
            raise ParameterError(f"Unknown {group or 'configuration'} '{name}'. {known}") from error
        except RecursionError:
            raise ParameterError("A configuration includes itself by its defaults; leave it out.") from None
        except Exception as error:
            cause = " ".join(str(error.__cause__ or error).split()).rstrip(".")
            what = " ".join([f"{self._request.config_name}.yaml", *words])
            raise ParameterError(f"{what} cannot be composed: {cause}.") from error


def _register(catalog: Catalog) -> None:
    """Tell Hydra the names of plugins and other choices."""
    store = ConfigStore.instance()
    plugins = {group: catalog.plugins[family] for group, family in FAMILIES.items()}
    for group, names in {**plugins, **FIXED}.items():
        store.repo[group] = {
            f"{name}.yaml": ConfigNode(name, OmegaConf.create({CHOSEN: name}), group, None, "aucbench")
            for name in names
        }
    store.store(group="hydra/launcher", name="dask", node=LAUNCHERS["dask"], provider="aucbench")


def _check_yaml(file: Path) -> None:
    """Refuse a file that is damaged, or that would not fit into memory."""
    try:
        text = file.read_text("utf-8") if file.stat().st_size <= MOST_BYTES else "0"
        if text == "0" or _values_of(yaml.compose(text, Loader=yaml.SafeLoader), {}) > MOST_VALUES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes or {MOST_VALUES:,} values with its aliases")
        yaml.safe_load(text)
    except (OSError, RecursionError, ValueError, yaml.YAMLError) as error:
        raise ParameterError(f"{file} cannot be read as YAML: {' '.join(str(error).split())}.") from None


def _values_of(node: Any, known: dict[int, int]) -> int:
    """The number of values of a node with its aliases written out; each node is visited once."""
    if id(node) not in known:
        inner = node.value if isinstance(node, yaml.CollectionNode) else []
        if isinstance(node, yaml.MappingNode):
            inner = [each for pair in inner for each in pair]
        known[id(node)] = 1 + sum(_values_of(each, known) for each in inner)
    return known[id(node)]


def _check_name(part: str) -> None:
    if part not in PARTS:
        raise ParameterError(f"Unknown setting '{part}'. {suggest(str(part), list(PARTS))}")


def _part(word: str) -> str:
    return word.partition("=")[0].partition(".")[0]


def _choices_first(words: Iterable[str]) -> list[str]:
    return sorted(words, key=lambda word: "." in word.partition("=")[0])


def _merged(old: Any, new: Any) -> Any:
    """The new value; of two mappings, the old one with the values of the new one."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    return {**old, **{name: _merged(old.get(name), value) for name, value in new.items()}}
