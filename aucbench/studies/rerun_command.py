"""The command that runs a recorded entry again."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from aucbench.contracts import MethodFacts
from aucbench.data.scaler import default_scaling
from aucbench.data.splits.protocols import PROTOCOLS
from aucbench.evaluation.measures import Measure
from aucbench.studies.codec import subset
from aucbench.studies.default_settings import Budget, Settings
from aucbench.studies.plugin_metadata import GROUPS, changed, completed, defaults_of, first_loss, plugin
from aucbench.studies.record import EntryDescription, PluginRecord, ProtocolRecord, Seeds, TuningRecord
from aucbench.studies.tuners import TUNINGS

PLAIN = re.compile(r"[A-Za-z_./][\w./+-]*")
TAKEN = ("null", "true", "false", "nan", "inf", "none", "yes", "no", "on", "off")


def words(
    described: EntryDescription,
    seeds: Sequence[Seeds],
    study: str | None = None,
    measures: Sequence[Measure] = (),
) -> list[str]:
    """Overrides that rerun some cells of an entry; overrides that equal a default are left out.

    `measures` are the measures beside the AUC.
    """
    described = completed(described)
    overrides = [f"study={_value(study)}"] if study else []
    for group, name in GROUPS.items():
        overrides += plugin_words(group, getattr(described, name), described.algorithm.name)
    if described.dataset.part != "train":
        overrides.append(f"dataset.part={described.dataset.part}")
    dataset = plugin("dataset", described.dataset.name)
    if dataset is None or described.scaling != default_scaling(dataset):
        overrides.append(f"scaling={described.scaling}")
    settings = subset(described, ("rescale", "regularisation", "order", "dtype", "max_train_rows"))
    overrides += _different("", settings | seed_fields(seeds), Settings)
    overrides += _chosen("protocol", described.protocol, PROTOCOLS, "holdout")
    overrides += _chosen("tuning", described.tuning, TUNINGS, "none")
    overrides += _grid(described)
    overrides += _different("budget.", asdict(described.budget), Budget)
    overrides += [f"metrics=[{','.join(measure.name for measure in measures)}]"] if measures else []
    for measure in measures:
        overrides += _different(f"{measure.name}.", measure.parameters, type(measure))
    return list(dict.fromkeys(overrides))


def seed_fields(seeds: Sequence[Seeds]) -> dict[str, int]:
    """The fields seed and runs, and seeds fixed apart from the run's seed."""
    run_seeds = {cell.seed for cell in seeds}
    fields = {"seed": min(run_seeds), "runs": max(run_seeds) - min(run_seeds) + 1}
    if any(cell.split_seed != cell.seed for cell in seeds):
        fields["split_seed"] = seeds[0].split_seed
    if any(cell.order_seed != cell.seed for cell in seeds):
        fields["order_seed"] = seeds[0].order_seed
    return fields


def plugin_words(group: str, described: PluginRecord | None, method: str = "") -> list[str]:
    """Overrides that choose a plugin and set its fields; `method` determines the default loss."""
    if described is None:
        return []
    default = {"loss": first_loss(method), "features": "identity"}.get(group)
    fields = changed(group, described)
    # Fields can be set only if the plugin is named.
    overrides = [f"{group}={described.name}"] if described.name != default or fields else []
    return overrides + [f"{group}.{key}={_value(value)}" for key, value in fields.items()]


def _chosen(
    group: str, described: ProtocolRecord | TuningRecord, classes: tuple[Any, ...], usual: str
) -> list[str]:
    overrides = [] if described.name == usual else [f"{group}={described.name}"]
    cls = next(cls for cls in classes if cls.name == described.name)
    defaults = defaults_of(cls)  # records of earlier versions may have other fields
    parameters = {key: value for key, value in described.parameters.items() if key in defaults}
    # A field with a dot, such as pauc.max_fpr, belongs to the run.
    dotted = [f"{key}={_value(value)}" for key, value in described.parameters.items() if "." in key]
    return overrides + _different(f"{group}.", parameters, cls) + dotted


def _different(prefix: str, values: Mapping[str, Any], cls: Any) -> list[str]:
    defaults = defaults_of(cls)
    return [f"{prefix}{key}={_value(value)}" for key, value in values.items() if defaults.get(key) != value]


def _grid(described: EntryDescription) -> list[str]:
    """The override of the grid, unless the grid is the method's default."""
    method, space = described.algorithm.name, described.tuning.space
    grid = MethodFacts(plugin("algo", method)).grid
    if described.tuning.name == "none" or space == {key: list(values) for key, values in grid.items()}:
        return []
    return [f"tuning.grid={_value({method: space})}"]


def _value(value: Any) -> str:
    """The value in Hydra's grammar."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_value, value)) + "]"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    if PLAIN.fullmatch(text) and text.lower() not in TAKEN:
        return text
    return "'" + text.replace("\\'", "\\\\'").replace("'", "\\'") + "'"
