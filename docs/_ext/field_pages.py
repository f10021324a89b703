"""The page of the fields of a run, from the classes that define the fields."""

import inspect
from dataclasses import MISSING, fields
from typing import Any

from docstrings import parameters
from markdown import code, escaped, table
from numpydoc.docscrape import NumpyDocString

from aucbench.data.splits.protocols import PROTOCOLS
from aucbench.evaluation.measures import MEASURES
from aucbench.studies import default_settings
from aucbench.studies.tuners import TUNINGS

SECTIONS = {
    "Top level": ("", (default_settings.Settings, default_settings.Running)),
    "Budget": ("budget.", (default_settings.Budget,)),
    "Limits": ("limits.", (default_settings.Limits,)),
    "Store": ("store.", (default_settings.StoreSettings,)),
    **{f"Measure {name}": (f"{name}.", (cls,)) for name, cls in MEASURES.items() if fields(cls)},
    "Tracking": ("tracking.", (default_settings.MlflowTracking,)),
    "Departures of a study": ("matrix.", (default_settings.Matrix,)),
    "Ruleset": ("ruleset.", (default_settings.Ruleset,)),
}


def pages() -> dict[str, str]:
    """Texts by file name below ``generated``."""
    parts = [
        "# Configuration\n\nGroups are chosen by name: `algo=`, `dataset=`, `loss=`, `features=`, "
        "`protocol=`, `tuning=`, `tracking=`, `ruleset=`, `+experiment=`. The fields of the chosen one are "
        "set by `algo.radius=2`; those of methods stand on the [pages of the methods](methods/index.md). "
        "`aucbench run --help` shows the whole configuration of a command."
    ]
    for title, (prefix, classes) in SECTIONS.items():
        parts.append(f"## {title}")
        parts.append(_table(prefix, classes))
    for title, prefix, plugins in (("Protocols", "protocol", PROTOCOLS), ("Tunings", "tuning", TUNINGS)):
        parts.append(f"## {title}")
        for cls in plugins:
            parts += [f"### {prefix}={getattr(cls, 'name')}".replace("_", r"\_"), _intro(cls)]  # noqa: B009 - no such attribute of type
            if cls.__name__ != "NoTuning":
                parts.append(_table(f"{prefix}.", (cls,)))
    return {"configuration.md": "\n\n".join(part for part in parts if part) + "\n"}


def _intro(cls: type) -> str:
    return escaped(_plain_intro(cls))


def _plain_intro(cls: type) -> str:
    parsed = NumpyDocString(inspect.cleandoc(cls.__doc__ or ""))
    return "\n".join([*parsed["Summary"], "", *parsed["Extended Summary"]]).strip()


def _table(prefix: str, classes: tuple[Any, ...]) -> str:
    rows = []
    for cls in classes:
        descriptions = {name: text for name, (_, text) in parameters(cls).items()}
        if len(fields(cls)) == 1 and not descriptions:  # described by the docstring of the class
            descriptions = {fields(cls)[0].name: _plain_intro(cls)}
        for field in fields(cls):
            value = None if field.default is MISSING else getattr(field.default, "value", field.default)
            default = "" if field.default is MISSING else code("null" if value is None else _yaml(value))
            rows.append((code(prefix + field.name), default, escaped(descriptions.get(field.name, ""))))
    return table(("field", "default", "meaning"), rows) if rows else ""


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
