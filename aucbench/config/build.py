"""Build the entries of a study from composed configurations and the catalog."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from typing import Any

from omegaconf import DictConfig, ListConfig

from aucbench.config import structured_configs
from aucbench.config.compose import Run, check_section, chosen, compose_jobs, parameters
from aucbench.config.hydra_errors import as_sentences
from aucbench.config.overrides import Request
from aucbench.config.structured_configs import field_names
from aucbench.contracts.validation import Family
from aucbench.data.loader import Part
from aucbench.data.scaler import default_scaling
from aucbench.errors import AucbenchError, ParameterError, PluginError
from aucbench.evaluation.measures import RECORDED, Measure
from aucbench.registry import Catalog, accepted_loss
from aucbench.runner.sampler import check_order
from aucbench.studies.default_settings import (
    Budget,
    Limits,
    Matrix,
    Ruleset,
    Running,
    Settings,
    StoreSettings,
    Weights,
)
from aucbench.studies.entry_and_keys import BoundPlugin, Entry
from aucbench.studies.import_paths import check_trusted
from aucbench.studies.plugin_metadata import changed, first_loss
from aucbench.studies.provenance import missing_packages
from aucbench.studies.record import RulesetRecord
from aucbench.studies.result import Refused
from aucbench.studies.study import Study
from aucbench.studies.tuners import Tuning, resolve
from aucbench.suggestions import suggest

WITH_PARAMETERS = tuple(name for name, cls in RECORDED.items() if fields(cls))  # measures with parameters
NODES = (DictConfig, ListConfig)  # looked up by type, since `isinstance` is slow for subclasses of ABCs
RULED_SETTINGS = ("scaling", "rescale", "regularisation", "order", "dtype", "reference", "rope")
RULED_CHOICES = ("loss", "features", "tuning")
RULED = (*RULED_SETTINGS, *RULED_CHOICES, Budget.name)  # settings of a ruleset


def build_study(
    catalog: Catalog, request: Request, command: str = "", trust: Collection[str] | None = None
) -> Study:
    """Compose and build the study of a request; an invalid run of a sweep is refused, and the others run.

    `trust` are the modules from which import paths are imported; None, for a user's own settings, are all.
    """
    composed = compose_jobs(catalog, request)
    builder = _Builder(catalog, composed.rules, trust)
    entries: list[Entry] = []
    refused: list[Refused] = []
    for job in composed.jobs:
        try:
            entries.append(builder.entry(job.run))
        except AucbenchError as error:
            if not composed.swept:
                raise
            refused.append(Refused(" ".join(job.words), error))
    run = composed.jobs[0].run
    with as_sentences():
        running = _top_level(run, Running)
        if composed.parallel is not None and running.parallel == 1:
            running = replace(running, parallel=composed.parallel)
        return Study(
            entries=entries,
            running=running,
            name=run["study"],
            command=command,
            store_path=_object(run, StoreSettings.name).path,
            tracking_uri=getattr(_object(run, "tracking"), "address", None),
            swept=composed.swept,
            skip_missing_data=_object(run, Matrix.name).skip_missing_data,
            only_failed=request.only_failed,
            yes=request.yes,
            refused=refused,
        )


class _Builder:
    """Builds the objects of entries; the constructors check every value.

    Runs that share their values share the objects, too.
    """

    def __init__(self, catalog: Catalog, rules: Mapping[str, Run], trust: Collection[str] | None):
        self._catalog, self._rules, self._trust = catalog, rules, trust
        # Keys hold functions and values, configurations by id; the values are kept so that no id is reused.
        self._made: dict[tuple[Any, ...], tuple[Any, list[Any]]] = {}

    def entry(self, run: Run) -> Entry:
        """The entry of a run."""
        with as_sentences():
            _refuse_unknown(run, structured_configs.TOP_LEVEL, "")
            settings = self._once(_settings, run, *field_names(Settings))
            if settings.strict and self._catalog.failures:
                raise PluginError(f"strict=true: {self._catalog.failures[0]}.")
            algorithm = self._once(self._algorithm, run, "algo")
            check_order(algorithm.instance.access, settings.order)
            loss = self._once(self._loss, run, "loss", "algo")
            dataset, part = self._once(self._dataset, run, "dataset")
            measures = self._once(_measures, run, *WITH_PARAMETERS)
            tuning = self._once(self._tuning, run, "tuning", "algo", *WITH_PARAMETERS)
            store = self._once(_object, run, StoreSettings.name)
            return Entry(
                algorithm=algorithm,
                dataset=dataset,
                loss=loss,
                features=self._once(self._plugin, run, "features"),
                part=part,
                scaling=settings.scaling or default_scaling(dataset.instance),
                protocol=self._once(_object, run, "protocol"),
                tuning=tuning,
                budget=self._once(_object, run, Budget.name),
                settings=settings,
                limits=self._once(_object, run, Limits.name),
                measures=tuple(measures[name] for name in settings.metrics),
                keep_weights=store.weights is Weights.checkpoints,
                keep_scores=store.scores,
                keep_model=store.models,
                ruleset=self._once(self._ruleset, run, Ruleset.name, "algo", *RULED),
            )

    def _once(self, make: Callable[..., Any], run: Run, *names: str) -> Any:
        """Cached ``make(run, names[0])``; `make` reads only `names` of the run."""
        values = [run[name] for name in names]
        marks = [id(each) if type(each) in NODES else (type(each), each) for each in values]
        key = (make, names, *marks)
        if key not in self._made:
            self._made[key] = make(run, names[0]), values
        return self._made[key][0]

    def _plugin(self, run: Run, group: str) -> BoundPlugin:
        return self._bound(run, group, str(chosen(run, group)))

    def _bound(self, run: Run, group: str, name: str) -> BoundPlugin:
        plugin = self._catalog.find(structured_configs.GROUPS[group], name)
        fields = _fields(plugin.cls, run[group], f"{group}.", ("part",) if group == "dataset" else ())
        if self._trust is not None:
            check_trusted(plugin.cls, fields, self._trust)
        frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
        try:
            instance = plugin.cls(**frozen)
        except SystemExit as error:  # of a plugin, or of a class or module that it imports
            raise ParameterError(
                f"{name}: what its fields name ends the program (SystemExit: {error.code})."
            ) from error
        return BoundPlugin(instance, plugin.distribution, plugin.version)

    def _dataset(self, run: Run, group: str) -> tuple[BoundPlugin, Part]:
        return self._plugin(run, group), Part(run[group].part)

    def _algorithm(self, run: Run, group: str) -> BoundPlugin:
        algorithm = self._plugin(run, group)
        if missing := missing_packages(algorithm.instance):
            raise ParameterError(f"{algorithm.name} {missing}.")
        return algorithm

    def _loss(self, run: Run, group: str) -> BoundPlugin | None:
        algorithm = self._once(self._algorithm, run, "algo")
        name = accepted_loss(self._catalog, algorithm.instance, chosen(run, group))
        return None if name is None else self._bound(run, group, name)

    def _tuning(self, run: Run, group: str) -> Tuning:
        algorithm = self._once(self._algorithm, run, "algo").instance
        choice = _object(run, group)
        if isinstance(choice.grid, dict):
            known = self._catalog.plugins[Family.algorithms]
            for method in choice.grid:
                if method not in known and method != algorithm.name:
                    raise ParameterError(
                        f"tuning.grid: unknown algorithm '{method}'. {suggest(str(method), list(known))}"
                    )
            if self._trust is not None:
                check_trusted(type(algorithm), choice.grid.get(algorithm.name) or {}, self._trust)
        space = resolve(algorithm, choice.grid) if choice.name != "none" else {}
        return Tuning(choice, space, _measures(run)[choice.metric])

    def _ruleset(self, run: Run, name: str) -> RulesetRecord | None:
        """The ruleset of a run, with the settings of the run that differ from the ruleset."""
        ruleset = _object(run, name)
        if ruleset.title is None:
            return None
        algorithm = self._once(self._algorithm, run, "algo")
        own, ruled = _ruled(run), _ruled(self._rules[ruleset.title])
        if own["loss"] == first_loss(algorithm.name):
            own["loss"] = None
        different = [name for name in own if name not in ruled or own[name] != ruled[name]]
        fields = changed("algo", algorithm.description)
        return RulesetRecord(
            title=ruleset.title,
            version=ruleset.version,
            date=ruleset.date,
            departures=(
                *(f"algo.{name}={value}" for name, value in fields.items()),
                *(f"{name}={own[name]}" for name in different),
            ),
        )


def _ruled(run: Run) -> dict[str, Any]:
    """The settings that a ruleset decides; with those of methods, which it leaves as they ship."""
    tuning = parameters(run["tuning"]) if chosen(run, "tuning") != "none" else {}
    found = {f"tuning.{name}": value for name, value in tuning.items() if name != "report"}
    found |= {f"budget.{name}": value for name, value in parameters(run["budget"]).items()}
    del found["budget.checkpoints"]
    found |= {name: run[name] for name in RULED_SETTINGS}
    return found | {group: chosen(run, group) for group in RULED_CHOICES}


def _object(run: Run, name: str) -> Any:
    """The object of a section, such as `budget`, or of a choice that is not a plugin."""
    node = run[name]
    cls = structured_configs.SECTIONS.get(name)
    if cls is None:
        classes: Any = structured_configs.FIXED_GROUPS[name]
        cls = next(each for each in classes if each.name == chosen(run, name))
    else:
        check_section(name, node, cls)
    return cls(**_fields(cls, node, f"{name}."))


def _measures(run: Run, *_: str) -> dict[str, Measure]:
    """Every measure by its name, with its parameters."""
    found: dict[str, Measure] = {}
    for name, cls in RECORDED.items():
        try:
            found[name] = _object(run, name) if name in WITH_PARAMETERS else cls()
        except ParameterError as error:
            # The full name of the setting.
            raise ParameterError(str(error).replace(f"{name}: ", f"{name}.", 1)) from None
    return found


def _settings(run: Run, *_: str) -> Any:
    return _top_level(run, Settings)


def _top_level(run: Run, cls: Any) -> Any:
    """The object whose fields are settings without a group."""
    return cls(**_fields(cls, {name: run[name] for name in field_names(cls)}, ""))


def _fields(cls: type, node: Any, prefix: str, others: Collection[str] = ()) -> dict[str, Any]:
    """Field values of a class, without the `others` of the node.

    Unknown fields, which Hydra adds by ``+name=value``, are refused.
    """
    values = node if isinstance(node, dict) else parameters(node)
    _refuse_unknown(values, [*field_names(cls), *others], prefix)
    return {name: value for name, value in values.items() if name not in others}


def _refuse_unknown(values: Mapping[str, Any], known: Any, prefix: str) -> None:
    for name in values:
        if name not in known:
            raise ParameterError(f"Unknown setting '{prefix}{name}'. {suggest(name, known)}")
