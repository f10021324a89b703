"""From a composed config and the catalog to an entry of objects."""

from dataclasses import fields as dataclass_fields
from typing import Any

from omegaconf import DictConfig, OmegaConf

from aucbench.config import composing, twins
from aucbench.config.settings import Budget, Limits, Matrix, Running, Settings, StoreSettings
from aucbench.contracts import Access
from aucbench.data.loader import Part
from aucbench.data.scaler import default_scaling
from aucbench.data.splits import PROTOCOLS
from aucbench.entry import Bound, Entry
from aucbench.errors import ParameterError, PluginError
from aucbench.registry import Catalog, Family, accepted_loss, suggest
from aucbench.tuning import TUNINGS, Tuning
from aucbench.tuning.spaces import resolve


def bind(catalog: Catalog, cfg: DictConfig) -> Entry:
    """Make the objects an entry consists of; their constructors check every value.

    Raises
    ------
    ParameterError
        A value is out of range or of the wrong type, or the method does not accept the loss.
    PluginError
        ``strict=true`` and a plugin failed to load, or an unknown name.
    """
    _refuse_added(cfg)
    settings = Settings(**_own(Settings, cfg))
    if settings.strict and catalog.failures:
        raise PluginError(f"strict=true: {catalog.failures[0]}.")
    names = composing.choices(cfg)
    dataset_fields = composing.parameters(cfg.dataset)
    part = Part(dataset_fields.pop("part"))
    algorithm = _bound(catalog, Family.algorithms, names["algo"], composing.parameters(cfg.algo))
    dataset = _bound(catalog, Family.datasets, names["dataset"], dataset_fields)
    protocol = next(cls for cls in PROTOCOLS if cls.name == names["protocol"])  # type: ignore[attr-defined]
    _check_access(algorithm)
    return Entry(
        algorithm=algorithm,
        dataset=dataset,
        loss=_loss(catalog, algorithm.instance, names["loss"], composing.parameters(cfg.loss)),
        features=_bound(catalog, Family.features, names["features"], composing.parameters(cfg.features)),
        part=part,
        scaling=settings.scaling or default_scaling(dataset.instance),
        protocol=protocol(**composing.parameters(cfg.protocol)),
        tuning=_tuning(catalog, algorithm.instance, str(names["tuning"]), composing.parameters(cfg.tuning)),
        budget=Budget(**composing.parameters(cfg.budget)),
        settings=settings,
        limits=Limits(**composing.parameters(cfg.limits)),
    )


def running(cfg: DictConfig) -> Running:
    """Where cells run."""
    return Running(**_own(Running, cfg))


def matrix(cfg: DictConfig) -> Matrix:
    """How a study departs from its common settings."""
    return Matrix(**composing.parameters(cfg.matrix))


def store_path(cfg: DictConfig) -> str | None:
    """Folder of the store, None for none."""
    return StoreSettings(**composing.parameters(cfg.store)).path


def tracking_uri(cfg: DictConfig) -> str | None:
    """Address of the MLflow server or file, None for no tracking."""
    name = composing.choices(cfg)["tracking"]
    cls = next(cls for cls in twins.FIXED_GROUPS["tracking"] if cls.name == name)  # type: ignore[attr-defined]
    return getattr(cls(**composing.parameters(cfg.tracking)), "uri", None)


def _loss(catalog: Catalog, algorithm: Any, name: str | None, fields: dict[str, Any]) -> Bound | None:
    name = accepted_loss(catalog, algorithm, name)
    return None if name is None else _bound(catalog, Family.losses, name, fields)


def _tuning(catalog: Catalog, algorithm: Any, name: str, fields: dict[str, Any]) -> Tuning:
    choice = next(cls for cls in TUNINGS if cls.name == name)(**fields)  # type: ignore[attr-defined]
    if isinstance(choice.grid, dict):
        known = catalog.plugins[Family.algorithms]
        for method in choice.grid:
            if method not in known and method != algorithm.name:
                raise ParameterError(
                    f"tuning.grid: unknown algorithm '{method}'. {suggest(str(method), list(known))}"
                )
    return Tuning(choice, resolve(algorithm, choice.grid) if name != "none" else {})


def _bound(catalog: Catalog, family: Family, name: str | None, fields: dict[str, Any]) -> Bound:
    plugin = catalog.find(family, str(name))
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    return Bound(plugin.cls(**frozen), plugin.distribution, plugin.version)


def _refuse_added(cfg: DictConfig, prefix: str = "") -> None:
    """Hydra's ``+name=value`` adds fields that nothing reads; a mistake must not pass in silence."""
    known = [field.name for field in dataclass_fields(OmegaConf.get_type(cfg))]  # type: ignore[arg-type]
    for key in cfg:
        if str(key) not in known:
            raise ParameterError(f"Unknown setting '{prefix}{key!s}'. {suggest(str(key), known)}")
        node: Any = None if OmegaConf.is_missing(cfg, key) else cfg[key]
        if OmegaConf.is_dict(node) and OmegaConf.get_type(node) is not dict:
            _refuse_added(node, f"{prefix}{key!s}.")


def _own(cls: type, cfg: DictConfig) -> dict[str, Any]:
    return {name: cfg[name] for name in twins.field_names(cls)}


def _check_access(algorithm: Bound) -> None:
    access = algorithm.instance.access
    if access not in list(Access):
        raise PluginError(
            f"{algorithm.name} of distribution {algorithm.distribution} declares access '{access}'. "
            f"{suggest(str(access), list(Access))}"
        )
