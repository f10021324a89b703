"""From composed configurations and the catalog to entries of objects, and a study of them."""

from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from typing import Any

from omegaconf import DictConfig, OmegaConf

from aucbench.config import compose, structured_configs
from aucbench.config.compose import Composed
from aucbench.config.hydra_errors import as_sentences
from aucbench.contracts import Access, field_types
from aucbench.contracts.validation import Family
from aucbench.data.loader import Part
from aucbench.data.scaler import default_scaling
from aucbench.errors import AucbenchError, ParameterError, PluginError
from aucbench.evaluation.measures import RECORDED, Measure
from aucbench.registry import Catalog, accepted_loss
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
from aucbench.studies.plugin_metadata import changed, first_loss
from aucbench.studies.record import RulesetRecord
from aucbench.studies.result import Refused
from aucbench.studies.study import Study
from aucbench.studies.tuners import Tuning, resolve
from aucbench.suggestions import suggest

NO_RULES: Mapping[str, DictConfig] = {}
# Words that YAML and Hydra's users write for true and false.
TRUTH = dict.fromkeys(("true", "yes", "on", "y"), True) | dict.fromkeys(("false", "no", "off", "n"), False)


def build_study(catalog: Catalog, composed: Composed, command: str = "", only_failed: bool = False) -> Study:
    """The study of composed runs; a run of a sweep that cannot be built is refused, and the others run."""
    entries: list[Entry] = []
    refused: list[Refused] = []
    for job in composed.jobs:
        try:
            entries.append(build_entry(catalog, job.cfg, composed.rules))
        except AucbenchError as error:
            if not composed.swept:
                raise
            refused.append(Refused(" ".join(job.words), error))
    cfg = composed.jobs[0].cfg
    with as_sentences():
        running = _own(Running, cfg)
        if composed.parallel is not None and running.parallel == 1:
            running = replace(running, parallel=composed.parallel)
        return Study(
            entries=entries,
            running=running,
            name=cfg.study,
            command=command,
            store_path=_section(StoreSettings, cfg).path,
            tracking_uri=getattr(_chosen("tracking", compose.choices(cfg), cfg), "uri", None),
            swept=composed.swept,
            skip_missing_data=_section(Matrix, cfg).skip_missing_data,
            only_failed=only_failed,
            refused=refused,
        )


def build_entry(catalog: Catalog, cfg: DictConfig, rules: Mapping[str, DictConfig] = NO_RULES) -> Entry:
    """Make the objects an entry consists of; their constructors check every value.

    `rules` are runs that follow rulesets in everything, by the name of the ruleset.
    """
    with as_sentences():
        _refuse_added(cfg)
        settings = _own(Settings, cfg)
        if settings.strict and catalog.failures:
            raise PluginError(f"strict=true: {catalog.failures[0]}.")
        names = compose.choices(cfg)
        algorithm = _plugin(catalog, "algo", names["algo"], cfg)
        access = algorithm.instance.access
        if access not in list(Access):
            raise PluginError(
                f"{algorithm.name} of distribution {algorithm.distribution} declares access '{access}'. "
                f"{suggest(str(access), list(Access))}"
            )
        loss = accepted_loss(catalog, algorithm.instance, names["loss"])
        dataset = _plugin(catalog, "dataset", names["dataset"], cfg)
        measures = {name: _measure(name, cfg) for name in RECORDED}
        tuning = _chosen("tuning", names, cfg)
        return Entry(
            algorithm=algorithm,
            dataset=dataset,
            loss=None if loss is None else _plugin(catalog, "loss", loss, cfg),
            features=_plugin(catalog, "features", names["features"], cfg),
            part=Part(cfg.dataset.part),
            scaling=settings.scaling or default_scaling(dataset.instance),
            protocol=_chosen("protocol", names, cfg),
            tuning=_tuning(catalog, algorithm.instance, tuning, measures[tuning.metric]),
            budget=_section(Budget, cfg),
            settings=settings,
            limits=_section(Limits, cfg),
            measures=tuple(measures[name] for name in settings.metrics),
            keep_weights=_section(StoreSettings, cfg).weights is Weights.checkpoints,
            ruleset=_ruleset(cfg, rules, algorithm),
        )


def _ruleset(
    cfg: DictConfig, rules: Mapping[str, DictConfig], algorithm: BoundPlugin
) -> RulesetRecord | None:
    """The ruleset of a run, with the settings of the run that are not the ruleset's."""
    ruleset = _section(Ruleset, cfg)
    if ruleset.title is None:
        return None
    own, ruled = _ruled(cfg), _ruled(rules[ruleset.title])
    if own["loss"] == first_loss(algorithm.name):
        own["loss"] = None
    different = [name for name in own if name not in ruled or own[name] != ruled[name]]
    fields = changed("algo", algorithm.describe())
    return RulesetRecord(
        title=ruleset.title,
        version=ruleset.version,
        date=ruleset.date,
        departures=(
            *(f"algo.{name}={value}" for name, value in fields.items()),
            *(f"{name}={own[name]}" for name in different),
        ),
    )


def _ruled(cfg: DictConfig) -> dict[str, Any]:
    """The settings that a ruleset decides; with those of methods, which it leaves as they ship."""
    names = compose.choices(cfg)
    tuning = compose.parameters(cfg.tuning) if names["tuning"] != "none" else {}
    found = {f"tuning.{name}": value for name, value in tuning.items() if name != "report"}
    found |= {f"budget.{name}": value for name, value in compose.parameters(cfg.budget).items()}
    del found["budget.checkpoints"]
    found |= {name: cfg[name] for name in ("scaling", "rescale", "order", "dtype")}
    return found | {name: names[name] for name in ("loss", "features", "tuning")}


def _chosen(group: str, names: dict[str, str | None], cfg: DictConfig) -> Any:
    classes: Any = structured_configs.FIXED_GROUPS[group]
    cls = next(cls for cls in classes if cls.name == names[group])
    return cls(**_fields(cls, cfg[group], f"{group}."))


def _measure(name: str, cfg: DictConfig) -> Measure:
    """The measure of that name with its parameters."""
    cls = RECORDED[name]
    try:
        return cls(**_fields(cls, cfg[name], f"{name}.")) if dataclass_fields(cls) else cls()
    except ParameterError as error:
        raise ParameterError(str(error).replace(": ", ".", 1)) from None  # the setting by its whole name


def _tuning(catalog: Catalog, algorithm: Any, choice: Any, measure: Measure) -> Tuning:
    if isinstance(choice.grid, dict):
        known = catalog.plugins[Family.algorithms]
        for method in choice.grid:
            if method not in known and method != algorithm.name:
                raise ParameterError(
                    f"tuning.grid: unknown algorithm '{method}'. {suggest(str(method), list(known))}"
                )
    space = resolve(algorithm, choice.grid) if choice.name != "none" else {}
    return Tuning(choice, space, measure)


def _plugin(catalog: Catalog, group: str, name: str | None, cfg: DictConfig) -> BoundPlugin:
    plugin = catalog.find(structured_configs.GROUPS[group], str(name))
    fields = _fields(plugin.cls, cfg[group], f"{group}.")
    if group == "dataset":
        del fields["part"]
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    return BoundPlugin(plugin.cls(**frozen), plugin.distribution, plugin.version)


def _section(cls: Any, cfg: DictConfig) -> Any:
    """The section of that class, such as `budget`."""
    node, names = cfg[cls.name], [f"{cls.name}.{name}" for name in structured_configs.field_names(cls)]
    if not OmegaConf.is_dict(node):
        raise ParameterError(f"{cls.name}={node}: expected one of its fields, {' or '.join(names)}.")
    return cls(**_fields(cls, cfg[cls.name], f"{cls.name}."))


def _own(cls: Any, cfg: DictConfig) -> Any:
    """The class with the top-level values that are fields of it."""
    return cls(**_with_booleans(cls, {name: cfg[name] for name in structured_configs.field_names(cls)}, ""))


def _fields(cls: type, node: DictConfig | None, prefix: str) -> dict[str, Any]:
    """The values of a node, for the class whose fields they are."""
    return _with_booleans(cls, compose.parameters(node), prefix)


def _with_booleans(cls: type, values: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The values, those for true and false converted; OmegaConf would take any number for either."""
    for name, kind in field_types(cls).items():
        value = values.get(name)
        if kind.base is bool and name in values and not (value is None and kind.optional):
            known = TRUTH.get(str(value).lower()) if isinstance(value, bool | str) else None
            if known is None:
                raise ParameterError(f"{prefix}{name}: expected true or false, got {value}.")
            values[name] = known
    return values


def _refuse_added(cfg: DictConfig, prefix: str = "") -> None:
    """Hydra's ``+name=value`` adds fields that nothing reads; a mistake must not pass in silence."""
    known = [field.name for field in dataclass_fields(OmegaConf.get_type(cfg))]  # type: ignore[arg-type]
    for key in cfg:
        if str(key) not in known:
            raise ParameterError(f"Unknown setting '{prefix}{key!s}'. {suggest(str(key), known)}")
        node: Any = None if OmegaConf.is_missing(cfg, key) else cfg[key]
        if OmegaConf.is_dict(node) and OmegaConf.get_type(node) is not dict:
            _refuse_added(node, f"{prefix}{key!s}.")
