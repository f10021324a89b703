"""The words of the command line that run a recorded entry again."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from aucbench.config.settings import Budget, Settings
from aucbench.data.scaler import default_scaling
from aucbench.data.splits import PROTOCOLS
from aucbench.tracking import installed
from aucbench.tracking.content import GROUPS, LoggedEntry, seeds
from aucbench.tuning import TUNINGS

PLAIN = re.compile(r"[A-Za-z_./][\w./+-]*")
TAKEN = ("null", "true", "false", "nan", "inf", "none", "yes", "no", "on", "off")


def words(entry: LoggedEntry) -> list[str]:
    """Overrides, those left out that say what is the default anyway."""
    record = entry.record
    found = [f"study={_value(entry.study)}"] if entry.study else []
    for group, name in GROUPS.items():
        found += _plugin(group, record[name], record["algorithm"]["name"])
    if record["dataset"]["part"] != "train":
        found.append(f"dataset.part={record['dataset']['part']}")
    dataset = installed.plugin("dataset", record["dataset"]["name"])
    if dataset is None or record["scaling"] != default_scaling(dataset):
        found.append(f"scaling={record['scaling']}")
    settings = {name: record[name] for name in ("rescale", "order", "dtype", "max_train_rows")}
    settings |= seeds(entry.cells)
    found += _different("", settings, Settings)
    found += _chosen("protocol", record["protocol"], PROTOCOLS, "holdout")
    found += _chosen("tuning", record["tuning"], TUNINGS, "none")
    found += _grid(record)
    return found + _different("budget.", record["budget"], Budget)


def _plugin(group: str, described: Mapping[str, Any] | None, method: str) -> list[str]:
    if described is None:
        return []
    usual = {"loss": installed.first_loss(method), "features": "identity"}.get(group)
    found = [] if described["name"] == usual else [f"{group}={described['name']}"]
    changed = installed.changed(group, described)
    if changed and not found:  # fields can be set of what is named only
        found = [f"{group}={described['name']}"]
    return found + [f"{group}.{key}={_value(value)}" for key, value in changed.items()]


def _chosen(group: str, described: Mapping[str, Any], classes: tuple[Any, ...], usual: str) -> list[str]:
    found = [] if described["name"] == usual else [f"{group}={described['name']}"]
    cls = next(cls for cls in classes if cls.name == described["name"])
    return found + _different(f"{group}.", described["parameters"], cls)


def _different(prefix: str, values: Mapping[str, Any], cls: Any) -> list[str]:
    defaults = {
        field.name: field.default_factory() if field.default_factory is not MISSING else field.default
        for field in fields(cls)
    }
    return [f"{prefix}{key}={_value(value)}" for key, value in values.items() if defaults.get(key) != value]


def _grid(record: Mapping[str, Any]) -> list[str]:
    """The grid, where it is not the method's own."""
    method, space = record["algorithm"]["name"], record["tuning"].get("space", {})
    own = getattr(installed.plugin("algo", method), "grid", {})
    if record["tuning"]["name"] == "none" or space == {key: list(values) for key, values in own.items()}:
        return []
    return [f"tuning.grid={_value({method: space})}"]


def _value(value: Any) -> str:
    """As Hydra's grammar reads it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_value, value)) + "]"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    if PLAIN.fullmatch(text) and text.lower() not in TAKEN:
        return text
    return "'" + text.replace("\\'", "\\\\'").replace("'", "\\'") + "'"
