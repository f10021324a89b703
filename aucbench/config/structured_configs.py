"""Structured configs for Hydra, made from the dataclasses of plugins and settings."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import Field, dataclass, field, fields, make_dataclass
from enum import StrEnum
from typing import Any

from hydra.core.config_store import ConfigNode, ConfigStore
from omegaconf import MISSING, OmegaConf

from aucbench.contracts import FieldType, field_types
from aucbench.contracts.validation import Family
from aucbench.data.loader import Part
from aucbench.data.splits.protocols import PROTOCOLS
from aucbench.evaluation.measures import MEASURES
from aucbench.registry import Catalog, Plugin
from aucbench.studies.default_settings import (
    Budget,
    Limits,
    Matrix,
    MlflowTracking,
    NoTracking,
    Ruleset,
    Running,
    Settings,
    StoreSettings,
)
from aucbench.studies.tuners import TUNINGS


def field_names(cls: Any) -> list[str]:
    """Names of the fields of a dataclass."""
    return [f.name for f in fields(cls)]


GROUPS = {
    "algo": Family.algorithms,
    "dataset": Family.datasets,
    "loss": Family.losses,
    "features": Family.features,
}
FIXED_GROUPS: dict[str, tuple[type, ...]] = {
    "protocol": PROTOCOLS,
    "tuning": TUNINGS,
    "tracking": (MlflowTracking, NoTracking),
}
CHOICES = (*GROUPS, *FIXED_GROUPS)
SECTIONS: dict[str, type] = {cls.name: cls for cls in (Budget, Limits, StoreSettings, Matrix, Ruleset)}
SECTIONS |= {name: cls for name, cls in MEASURES.items() if fields(cls)}  # measures with parameters
TOP_LEVEL = dict.fromkeys([*field_names(Settings), *field_names(Running), *CHOICES, *SECTIONS])
ROOT = "settings"
DASK = "dask"


@dataclass
class DaskLauncher:
    """The choice ``hydra/launcher=dask``: `parallel` workers, by default one per physical core."""

    parallel: int | None = 0


_registered: list[Catalog] = []  # the catalog registered in the ConfigStore


def register(catalog: Catalog) -> None:
    """Put a structured config of every plugin and of the fixed choices into Hydra's ConfigStore, once."""
    if _registered and _registered[0] is catalog:
        return
    _registered[:] = [catalog]
    store = ConfigStore.instance()
    store.store(group="hydra/launcher", name=DASK, node=DaskLauncher, provider="aucbench")
    store.repo |= {group: _Group(group, catalog.plugins[family]) for group, family in GROUPS.items()}
    for group, classes in FIXED_GROUPS.items():
        for cls in classes:
            store.store(group=group, name=cls.name, node=structured(cls), provider="aucbench")  # type: ignore[attr-defined]
    sections = [(name, Any, field(default_factory=structured(cls))) for name, cls in SECTIONS.items()]
    default = dict.fromkeys(CHOICES, MISSING) | {"loss": None}
    choices = [(group, Any, field(default=name)) for group, name in default.items()]
    root = structured(Settings, [*own_fields(Running), *choices, *sections])
    store.store(name=ROOT, node=root, provider="aucbench")


class _Group(dict[str, Any]):
    """The plugins of a family in the ConfigStore; structured configs are made on first access.

    Making one takes half a millisecond, all of them a tenth of a second, and a command needs only a few.
    """

    def __init__(self, group: str, plugins: Mapping[str, Plugin]):
        super().__init__({f"{name}.yaml": plugin for name, plugin in plugins.items()})
        self._group = group

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if isinstance(found, Plugin):
            extra = [("part", Part, field(default=Part.train))] if self._group == "dataset" else []
            node = OmegaConf.structured(structured(found.cls, extra))
            found = self[name] = ConfigNode(name, node, self._group, None, found.distribution)
        return found


def structured(cls: Any, extra: Iterable[tuple[str, Any, Any]] = ()) -> type:
    """A non-frozen dataclass with the name and the fields of `cls`, in types supported by OmegaConf."""
    return make_dataclass(cls.name, [*own_fields(cls), *extra], namespace={"source": cls})


def own_fields(cls: Any) -> list[tuple[str, Any, Any]]:
    """Name, type and default of the fields of `cls`, for `make_dataclass`."""
    kinds = field_types(cls)
    return [(f.name, _hydra_type(kinds[f.name]), _default(f)) for f in fields(cls)]


def _hydra_type(kind: FieldType) -> Any:
    # OmegaConf accepts any number as a boolean; `build` accepts true and false only.
    base: Any = kind.base
    if base not in (int, float, str) and not (isinstance(base, type) and issubclass(base, StrEnum)):
        return Any
    return base | None if kind.optional else base


def _default(f: Field[Any]) -> Any:
    if f.default_factory is not NO_DEFAULT:
        return field(default_factory=f.default_factory)
    # OmegaConf stores a tuple as a list, and a list needs a default factory.
    if isinstance(f.default, tuple):
        return field(default_factory=lambda: list(f.default))  # type: ignore[arg-type]
    return field(default=MISSING if f.default is NO_DEFAULT else f.default)
