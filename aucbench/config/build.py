"""Build the entries of a study from composed values; the constructors check every value."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, asdict
from typing import Any

from aucbench.config.compose import CHOSEN, SECTIONS, Composer, Run
from aucbench.config.words import Request
from aucbench.contracts.hyperparameters import field_types
from aucbench.contracts.validation import Family
from aucbench.data.loader import Part
from aucbench.data.scaler import default_scaling
from aucbench.errors import AucbenchError, ParameterError, PluginError
from aucbench.evaluation.measures import RECORDED, Measure
from aucbench.registry import Catalog, accepted_loss
from aucbench.runner.sampler import check_order
from aucbench.studies.default_settings import Running, Settings, Weights
from aucbench.studies.entry_and_keys import BoundPlugin, Entry
from aucbench.studies.import_paths import check_trusted
from aucbench.studies.plugin_metadata import FAMILIES, changed, defaults_of, first_loss
from aucbench.studies.provenance import missing_packages
from aucbench.studies.record import RulesetRecord
from aucbench.studies.result import Refused
from aucbench.studies.study import Study
from aucbench.studies.tuners import Tuning, resolve
from aucbench.suggestions import suggest

RULED_SETTINGS = ("scaling", "rescale", "regularisation", "order", "dtype")
RULED_RUNNING = ("reference", "rope")
RULED = (*RULED_SETTINGS, *RULED_RUNNING, "budget", "loss", "features", "tuning")
WITH_PARAMETERS = tuple(name for name in RECORDED if name in SECTIONS)  # measures with parameters
TOP_SETTINGS, TOP_RUNNING = tuple(defaults_of(Settings)), tuple(defaults_of(Running))


def build_study(
    catalog: Catalog, request: Request, command: str = "", trust: Collection[str] | None = None
) -> Study:
    """Compose and build the study of a request; an invalid run of a sweep is refused, and the others run.

    `trust` lists the modules from which import paths are imported; None, for a user's settings, allows all.
    """
    composer = Composer(catalog, request)
    builder, jobs = _Builder(catalog, composer, trust), composer.jobs()
    entries: list[Entry] = []
    refused: list[Refused] = []
    for job in jobs:
        try:
            entries.append(builder.entry(job.run))
        except AucbenchError as error:
            if not composer.swept:
                raise
            refused.append(Refused(" ".join(job.words), error))
    run = jobs[0].run
    return Study(
        entries=entries,
        running=builder.once(_Builder.top, run, *TOP_RUNNING),
        name=None if run["study"] is None else str(run["study"]),
        command=command,
        store_path=builder.section(run, "store").path,
        tracking_uri=getattr(builder.section(run, "tracking"), "address", None),
        swept=composer.swept,
        skip_missing_data=builder.section(run, "matrix").skip_missing_data,
        only_failed=request.only_failed,
        yes=request.yes,
        refused=refused,
    )


class _Builder:
    """Builds the objects of entries; runs that share their values share the objects, too."""

    def __init__(self, catalog: Catalog, composer: Composer, trust: Collection[str] | None):
        self._catalog, self._composer, self._trust = catalog, composer, trust
        # Keys hold functions and values, mappings by id; the values are kept so that no id is reused.
        self._made: dict[tuple[Any, ...], tuple[Any, list[Any]]] = {}

    def entry(self, run: Run) -> Entry:
        settings = self._settings(run)
        if settings.strict and self._catalog.failures:
            raise PluginError(f"strict=true: {self._catalog.failures[0]}.")
        algorithm = self._algorithm(run)
        check_order(algorithm.instance.access, settings.order)
        loss = self.once(_Builder.loss, run, "loss", "algo")
        dataset = self.once(_Builder.plugin, run, "dataset")
        measures = self.once(_Builder.measures, run, *WITH_PARAMETERS)
        store = self.section(run, "store")
        return Entry(
            algorithm=algorithm,
            dataset=dataset,
            loss=loss,
            features=self.once(_Builder.plugin, run, "features"),
            part=_part(run["dataset"].get("part", Part.train)),
            scaling=settings.scaling or default_scaling(dataset.instance),
            protocol=self.section(run, "protocol"),
            tuning=self.once(_Builder.tuning, run, "tuning", "algo", *WITH_PARAMETERS),
            budget=self.section(run, "budget"),
            settings=settings,
            limits=self.section(run, "limits"),
            measures=tuple(measures[name] for name in settings.metrics),
            keep_weights=store.weights is Weights.checkpoints,
            keep_scores=store.scores,
            keep_model=store.models,
            ruleset=self.once(_Builder.ruleset, run, "ruleset", "algo", *RULED),
        )

    def once(self, make: Callable[..., Any], run: Run, *names: str) -> Any:
        values = [run[name] for name in names]
        marks = [id(value) if type(value) in (dict, list) else (type(value), value) for value in values]
        key = (make, names, *marks)
        if key not in self._made:
            self._made[key] = make(self, run, *names), values
        return self._made[key][0]

    def section(self, run: Run, name: str) -> Any:
        return self.once(_Builder.made, run, name)

    def _settings(self, run: Run) -> Any:
        return self.once(_Builder.top, run, *TOP_SETTINGS)

    def _algorithm(self, run: Run) -> BoundPlugin:
        algorithm: BoundPlugin = self.once(_Builder.plugin, run, "algo")
        if missing := missing_packages(algorithm.instance):
            raise ParameterError(f"{algorithm.name} {missing}.")
        return algorithm

    def top(self, run: Run, *names: str) -> Any:
        return made(Settings if names == TOP_SETTINGS else Running, {name: run[name] for name in names}, "")

    def made(self, run: Run, name: str) -> Any:
        return made(self._composer.class_of(name, run), run[name], name)

    def measures(self, run: Run, *_: str) -> dict[str, Measure]:
        return {
            name: self.made(run, name) if name in WITH_PARAMETERS else cls() for name, cls in RECORDED.items()
        }

    def plugin(self, run: Run, group: str) -> BoundPlugin:
        return self._bound(run, group, self._composer.class_of(group, run).name)

    def loss(self, run: Run, group: str, *_: str) -> BoundPlugin | None:
        chosen = self._composer.class_of(group, run)
        name = accepted_loss(self._catalog, self._algorithm(run).instance, chosen and chosen.name)
        if name is None and run[group]:
            raise ParameterError(f"loss.{next(iter(run[group]))}: {self._algorithm(run).name} takes no loss.")
        return None if name is None else self._bound(run, group, name)

    def _bound(self, run: Run, group: str, name: str) -> BoundPlugin:
        plugin = self._catalog.find(FAMILIES[group], name)
        values = {
            field: value for field, value in run[group].items() if (group, field) != ("dataset", "part")
        }
        if self._trust is not None:
            check_trusted(plugin.cls, values, self._trust)
        try:
            instance = made(plugin.cls, values, group)
        except SystemExit as error:  # raised by a plugin or by a module that it imports
            raise ParameterError(
                f"{name}: what its fields name ends the program (SystemExit: {error.code})."
            ) from error
        return BoundPlugin(instance, plugin.distribution, plugin.version)

    def tuning(self, run: Run, group: str, *_: str) -> Tuning:
        algorithm, choice = self._algorithm(run).instance, self.section(run, group)
        for method in choice.grid if isinstance(choice.grid, dict) else ():
            if method != algorithm.name:
                self._catalog.find(Family.algorithms, method)
            elif self._trust is not None:
                check_trusted(type(algorithm), choice.grid[method] or {}, self._trust)
        space = resolve(algorithm, choice.grid) if choice.name != "none" else {}
        return Tuning(choice, space, self.measures(run)[choice.metric])

    def ruleset(self, run: Run, name: str, *_: str) -> RulesetRecord | None:
        ruleset = self.section(run, name)
        if ruleset.title is None:
            return None
        algorithm = self._algorithm(run)
        rules = self._composer.run([f"ruleset={ruleset.title}"])
        values, ruled = self._ruled(run), self._ruled(rules)
        if values["loss"] == first_loss(algorithm.name):
            values["loss"] = None
        fields = {f"algo.{name}": value for name, value in changed("algo", algorithm.description).items()}
        fields |= {name: value for name, value in values.items() if name not in ruled or ruled[name] != value}
        departures = tuple(f"{name}={value}" for name, value in fields.items())
        return RulesetRecord(
            title=ruleset.title, version=ruleset.version, date=ruleset.date, departures=departures
        )

    def _ruled(self, run: Run) -> dict[str, Any]:
        tuning, budget = self.section(run, "tuning"), asdict(self.section(run, "budget"))
        settings, running = self._settings(run), self.once(_Builder.top, run, *TOP_RUNNING)
        fields = asdict(tuning) if tuning.name != "none" else {}
        ruled = {f"tuning.{name}": value for name, value in fields.items() if name != "report"}
        ruled |= {f"budget.{name}": value for name, value in budget.items() if name != "checkpoints"}
        ruled |= {name: getattr(settings, name) for name in RULED_SETTINGS}
        ruled |= {name: getattr(running, name) for name in RULED_RUNNING}
        loss = self._composer.class_of("loss", run)
        return ruled | {
            "loss": loss and loss.name,
            "features": self._composer.class_of("features", run).name,
            "tuning": tuning.name,
        }


def _part(value: Any) -> Part:
    if value not in list(Part):
        raise ParameterError(f"dataset.part must be one of {', '.join(Part)}, got {value!r}.")
    return Part(value)


def made(cls: Any, values: Any, part: str) -> Any:
    """An object of a class with the values of a part; refuses unknown fields and missing fields."""
    types, prefix = field_types(cls), f"{part}." if part else ""
    if not isinstance(values, Mapping):
        raise ParameterError(
            f"{part}={values}: expected one of its fields, {prefix}{f' or {prefix}'.join(types)}."
        )
    fields = {}
    for name, value in values.items():
        if name == CHOSEN:
            continue
        if name not in types:
            raise ParameterError(
                f"{prefix}{name}: {cls.name} has no field '{name}'. {suggest(str(name), [*types])}"
            )
        is_text = types[name].base is str and isinstance(value, bool | int | float)
        fields[name] = str(value) if is_text else tuple(value) if isinstance(value, list) else value
    for name, default in defaults_of(cls).items():
        if default is MISSING and name not in fields:
            raise ParameterError(f"{prefix}{name} must be set: {prefix}{name}=VALUE.")
    return cls(**fields)
