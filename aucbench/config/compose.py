"""Composition of one run or of a sweep with Hydra; display and completion of configurations."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import hydra
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.initialize import get_gh_backup, restore_gh_from_backup
from hydra.plugins.completion_plugin import DefaultCompletionPlugin
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from aucbench.config import structured_configs
from aucbench.config.hydra_errors import as_sentences
from aucbench.config.overrides import Request, expand
from aucbench.config.structured_configs import CHOICES
from aucbench.config.yaml_files import check_yaml
from aucbench.contracts import DatasetFacts
from aucbench.contracts.validation import Family
from aucbench.data.labels import positive_labels
from aucbench.errors import ParameterError
from aucbench.registry import Catalog, Plugin
from aucbench.studies.default_settings import Matrix, Ruleset, Settings
from aucbench.suggestions import suggest

VERSION_BASE = "1.3"
LAUNCHERS = ("basic", structured_configs.DASK)

Words = tuple[str, ...]
Run = Mapping[str, Any]  # composed settings by top-level name; runs share equal values
LOOKED_UP = ("algo", "dataset")  # groups with words in the matrix
NO_ROOTS: Mapping[Words, DictConfig] = {}
REFERENCE = "${"


class Job(NamedTuple):
    """One run of a study: its words and the composed configuration."""

    words: list[str]
    run: Run


class Composed(NamedTuple):
    """The composed runs of a request, without the runs skipped by the study's matrix."""

    jobs: list[Job]  # at least one
    swept: bool  # whether the request is a sweep
    parallel: int | None  # number of workers set by hydra/launcher
    rules: dict[str, Run]  # reference run of each ruleset, by name


def config_folder() -> str:
    """Absolute path of the packaged `aucbench/conf`, else of the checkout's `conf`."""
    package = Path(__file__).resolve().parents[1]
    return str(next(path for path in (package / "conf", package.parent / "conf") if path.is_dir()))


def compose_jobs(catalog: Catalog, request: Request) -> Composed:
    """Compose every run of a request: one, or those of a sweep."""
    with session(catalog, request):
        parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
        overrides = parser.parse_overrides(list(request.overrides))
        of_hydra = [str(each.input_line) for each in overrides if each.is_hydra_override()]
        of_runs = [each for each in overrides if not each.is_hydra_override()]
        of_runs.sort(key=lambda each: each.key_or_group == "suite")  # its data sets win over an experiment's
        several = [str(each.input_line) for each in of_runs if each.is_sweep_override()]
        (common,) = expand(
            each for each in of_runs if not each.is_sweep_override() and not _is_own(str(each.input_line))
        )
        # A whole run is composed at once where no configuration, such as an experiment, can make it a sweep.
        is_alone = not (request.multirun or several or of_hydra or common or request.config_name != "config")
        words = request.overrides if is_alone else [*of_hydra, *common]
        base = compose(words, request.config_name, with_hydra=True)
        swept: list[Any] = []
        is_sweep = request.multirun or base.hydra.mode == RunMode.MULTIRUN
        if is_sweep:
            params = base.hydra.sweeper.params or {}
            swept = parser.parse_overrides([f"{name}={value}" for name, value in params.items()])
        elif several:
            name, _, value = several[0].partition("=")
            raise ParameterError(
                f"{name} has several values: add --multirun to run each of {value}, or write "
                f"{name}=[{value}] for a list."
            )
        parallel = _workers(base)
        with open_dict(base):
            del base["hydra"]
        if is_alone:
            jobs = [Job(list(words), base)]
        else:
            composer = Composer(of_hydra, request.config_name, {tuple(common): base})
            jobs = _each(catalog, composer, expand([*swept, *of_runs], request.yes))
        titles = {job.run[Ruleset.name].title for job in jobs if Ruleset.name in job.run}
        rules: dict[str, Run] = {
            title: compose([f"{Ruleset.name}={title}"]) for title in sorted(filter(None, titles))
        }
        return Composed(jobs, is_sweep, parallel, rules)


@contextlib.contextmanager
def session(catalog: Catalog, request: Request = Request()) -> Iterator[None]:  # noqa: B008 - it is frozen
    """Set up Hydra to compose runs of these plugins; also works inside a Hydra application."""
    structured_configs.register(catalog)
    backup = get_gh_backup()
    GlobalHydra.instance().clear()
    try:
        with as_sentences(), hydra.initialize_config_dir(config_folder(), version_base=VERSION_BASE):
            if request.config_dir is not None:
                own = Path(request.config_dir).absolute()
                if not own.is_dir():
                    raise ParameterError(f"--config-dir: there is no folder {own}.")
                loader: Any = GlobalHydra.instance().config_loader()
                path = loader.get_search_path()
                path.prepend("command-line", f"file://{own}", SearchPathQuery(provider="schema"))
                loader.repository.initialize_sources(path)
                sources = loader.repository.get_sources()
                _check_files(next(each for each in sources if each.provider == "command-line"), own)
            yield
    finally:
        restore_gh_from_backup(backup)


def _check_files(source: Any, folder: Path) -> None:
    """Let a source of Hydra check each file before it reads it."""
    load = source.load_config

    def load_config(config_path: str) -> Any:
        check_yaml(folder / f"{config_path.removesuffix('.yaml')}.yaml")
        return load(config_path)

    source.load_config = load_config


def compose(overrides: Sequence[str], name: str = "config", with_hydra: bool = False) -> DictConfig:
    """Compose a run inside a `session`; without Hydra's own settings unless `with_hydra`."""
    return hydra.compose(name, list(overrides), return_hydra_config=with_hydra)


def _workers(cfg: DictConfig) -> int | None:
    """The number of workers of the launcher; third-party launchers and sweepers are refused."""
    chosen = cfg.hydra.runtime.choices
    for group, known in (("hydra/launcher", LAUNCHERS), ("hydra/sweeper", ("basic",))):
        if chosen[group] not in known:
            raise ParameterError(
                f"{group}={chosen[group]} cannot run aucbench's studies: parallel=2 or hydra/launcher=dask "
                "runs cells at the same time, and tuning=optuna searches settings."
            )
    return cfg.hydra.launcher.get("parallel")


class Composer:
    """Composes the runs of a request from parts, each of which is composed once.

    A part holds all settings under one top-level name, such as ``algo`` and ``algo.radius``. Composing a
    whole run with Hydra takes a tenth of a second. Whole runs are composed only for the words that all runs
    share, for values that refer to other values, for choices that are files of a user, and for the error
    message if a part cannot be composed alone. `of_hydra` are overrides of Hydra's own settings for all runs.
    `roots` are composed configurations by common words.
    """

    def __init__(
        self, of_hydra: Sequence[str] = (), name: str = "config", roots: Mapping[Words, DictConfig] = NO_ROOTS
    ):
        self._of_hydra, self._name, self._roots = of_hydra, name, roots
        loader: Any = GlobalHydra.instance().config_loader()
        self._repository, self._parser = loader.repository, OverridesParser.create(config_loader=loader)
        self.root, self._shared, self._part = cache(self._root), cache(self._all_parts), cache(self._one_part)
        # Fields that configurations set for whatever choice is made, such as `tuning: {folds: 3}`.
        self._fields = cache(lambda common: self._whole([*common, *(f"~{group}" for group in CHOICES)]))

    def compose(self, words: Sequence[str]) -> Run:
        """The composed run of these words."""
        own: dict[str, Words] = {}
        for word in words:
            if _is_own(word):
                own[_part(word)] = (*own.get(_part(word), ()), word)
        common = _common(words)
        try:
            return self._shared(common) | {name: self._part(common, name, each) for name, each in own.items()}
        except Exception:  # composing the whole run raises Hydra's own error, if there is one
            return self._whole(words)

    def _root(self, common: Words) -> DictConfig:
        """The configuration of all runs that have the same common words."""
        return self._roots[common] if common in self._roots else self._whole(common)

    def _all_parts(self, common: Words) -> dict[Any, Any]:
        root = self.root(common)
        if REFERENCE in str(OmegaConf.to_container(root, resolve=False)):
            raise LookupError("a value refers to another one")
        return dict(root.items())

    def _one_part(self, common: Words, part: str, words: Words) -> Any:
        """The value of a part with its words applied; raises an error if it cannot be composed alone."""
        if any(REFERENCE in word for word in words):
            raise LookupError("a value refers to another one")
        choices = [word for word in words if _name(word) == part and part in CHOICES]
        cfg = OmegaConf.create({part: self._choice(common, part, *choices)})
        OmegaConf.set_struct(cfg, True)
        for override in self._parser.parse_overrides([word for word in words if word not in choices]):
            OmegaConf.update(cfg, override.key_or_group, override.value(), merge=True)
        return cfg[part]

    def _choice(self, common: Words, part: str, word: str = "") -> Any:
        """The node of a part, with the choice of the word if there is one."""
        if not word:
            return self.root(common)._get_node(part)
        found = self._repository.load_config(word.replace("=", "/", 1))
        if not found.is_schema_source:
            raise LookupError("a user's file may change other parts")
        fields, default = self._fields(common)._get_node(part), self.root(common)._get_node(part)
        if not OmegaConf.is_dict(fields):
            return found.config
        if OmegaConf.merge(default, fields) != default:
            raise LookupError("choices come after the fields and replace them")
        return OmegaConf.merge(found.config, fields)

    def _whole(self, words: Sequence[str]) -> DictConfig:
        return compose([*self._of_hydra, *words], self._name)


def _each(catalog: Catalog, composer: Composer, jobs: Sequence[list[str]]) -> list[Job]:
    """Compose every job of a sweep that the study's matrix does not skip.

    The words of the matrix for the job's data set and method come first, so that the command line wins.
    """
    root = composer.root(_common(jobs[0]))
    check_section(Matrix.name, root.matrix, Matrix)
    matrix = Matrix(**parameters(root.matrix))
    defaults = {group: chosen(root, group) for group in LOOKED_UP}
    listed, composed = _listed(catalog, matrix), []
    for job in jobs:
        names = defaults | dict(word.split("=", 1) for word in job if _name(word) in LOOKED_UP)
        algo, dataset = (str(names[group]) for group in LOOKED_UP)
        if dataset in listed["skip"].get(algo, ()):
            continue
        said = _runs_by_size(matrix.runs, catalog.plugins[Family.datasets].get(dataset))
        said += listed["for_dataset"].get(dataset, []) + listed["for_algo"].get(algo, [])
        words = [word for word in said if not _is_overruled(word, job)]
        composed.append(Job(job, composer.compose([*words, *job])))
    if not composed:
        raise ParameterError("The study's matrix skips every run that was asked for.")
    return composed


def _name(word: str) -> str:
    return word.partition("=")[0]


def _part(word: str) -> str:
    return _name(word).partition(".")[0]


def _common(words: Sequence[str]) -> Words:
    """Overrides that may change any part: additions, and choices of an experiment or for Hydra."""
    return tuple(word for word in words if not _is_own(word))


@lru_cache(maxsize=4096)
def _is_own(word: str) -> bool:
    """Whether a word changes one part only; the matrix and rulesets change all parts."""
    groups = structured_configs
    parts = {*CHOICES, *groups.SECTIONS, *groups.field_names(Settings)}
    return _part(word) in parts - {Matrix.name, Ruleset.name} and "/" not in _name(word)


def _is_overruled(word: str, job: Sequence[str]) -> bool:
    """Whether the job sets the same setting or chooses its group anew.

    Fields of the method and the data set stay, because the matrix lists them for this very choice.
    """
    name = _name(word).lstrip("+")
    given = [_name(each).lstrip("+") for each in job]
    return name in given or any(name.startswith(f"{each}.") for each in given if each not in LOOKED_UP)


def _runs_by_size(bounds: Any, dataset: Plugin | None) -> list[str]:
    """The word for the runs on a data set, by its published rows; none where these are not known."""
    if bounds is None or dataset is None:
        return []
    facts, counts = DatasetFacts(dataset.cls), Counter[Any]()
    for file in facts.files if isinstance(facts.files, tuple) else ():
        counts.update(file.labels if file.part == "train" else ())
    try:
        known = [(int(runs), dict(below)) for runs, below in bounds.items()]
    except (AttributeError, TypeError, ValueError):
        raise ParameterError(f"matrix.runs: expected {{RUNS: {{rows: ROWS}}}}, got {bounds!r}.") from None
    if not counts:
        return []
    positive = positive_labels(dataset.name, counts, facts.positive, facts.grouping, facts.grouping_seed)
    positives, rows = sum(counts[label] for label in positive), counts.total()
    sizes = {"rows": rows, "rare": min(positives, rows - positives)}
    below = (runs for runs, most in known if any(sizes[name] < most.get(name, 0) for name in sizes))
    return [f"runs={runs}" for runs in list(below)[:1]]


def _listed(catalog: Catalog, matrix: Matrix) -> dict[str, dict[str, list[str]]]:
    """The words by data set or method, and the data sets that methods skip, by the field of the matrix."""
    found: dict[str, dict[str, list[str]]] = {}
    families = {"for_dataset": Family.datasets, "for_algo": Family.algorithms, "skip": Family.algorithms}
    for field, family in families.items():
        given, known = getattr(matrix, field) or {}, catalog.plugins[family]
        if not isinstance(given, Mapping):
            raise ParameterError(f"matrix.{field}: expected {{NAME: [WORDS]}}, got {given!r}.")
        found[field] = {}
        for name, words in given.items():
            listed = [words] if isinstance(words, str) else words
            if name not in known:
                what = f"unknown {family.singular} '{name}'"
                raise ParameterError(f"matrix.{field}: {what}. {suggest(str(name), known)}")
            if not isinstance(listed, list) or not all(isinstance(word, str) for word in listed):
                raise ParameterError(f"matrix.{field}.{name}: expected a list of words, got {words!r}.")
            found[field][name] = listed
    return found


def chosen(cfg: Mapping[Any, Any], group: str) -> str | None:
    """The name of the choice for a group; structured configs are named like their plugin."""
    node: Any = cfg.get(group)
    return None if node is None else str(OmegaConf.get_type(node).__name__)  # type: ignore[union-attr]


def check_section(name: str, node: Any, cls: type) -> None:
    """Refuse a value in the place of the fields of a section, such as ``budget=3``."""
    if not OmegaConf.is_dict(node):
        names = [f"{name}.{field}" for field in structured_configs.field_names(cls)]
        raise ParameterError(f"{name}={node}: expected one of its fields, {' or '.join(names)}.")


def parameters(node: DictConfig | None) -> dict[str, Any]:
    """A node as a plain dict."""
    if node is None:
        return {}
    plain = OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def show(catalog: Catalog, request: Request) -> str:
    """The configuration of a request as YAML, for ``--cfg``."""
    with session(catalog, request):
        cfg = compose(request.overrides, request.config_name, with_hydra=request.cfg != "job")
        return OmegaConf.to_yaml(OmegaConf.masked_copy(cfg, ["hydra"]) if request.cfg == "hydra" else cfg)


def completions(catalog: Catalog, line: str) -> list[str]:
    """Completions of the last, unfinished override of a line."""
    with session(catalog):
        loader = GlobalHydra.instance().config_loader()
        found: list[str] = DefaultCompletionPlugin(loader)._query("config", line)
        return found


def completion_script(words: Sequence[str]) -> None:
    """Print the script that (un)installs completion, by ``install=SHELL`` or ``uninstall=SHELL``."""
    with hydra.initialize_config_dir(config_folder(), version_base=VERSION_BASE):
        application = GlobalHydra.instance().hydra
        assert application is not None
        try:
            application.shell_completion(None, list(words))
        except ValueError as error:
            raise ParameterError(" ".join(str(error).split())) from error
