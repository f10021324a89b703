"""The pages of losses, feature maps and data sets, made of tables."""

import inspect
import math
import re
from dataclasses import MISSING, fields
from typing import Any

from docstrings import parameters
from markdown import code, escaped, table

import aucbench
import aucbench_algorithms
from aucbench.contracts import DatasetFacts, LossFacts
from aucbench.contracts.validation import Family
from aucbench.errors import AucbenchError
from aucbench.registry import Plugin
from aucbench.studies.plugin_metadata import bibliography, link, sentence


def pages() -> dict[str, str]:
    """Texts by file name below ``generated``."""
    return {"losses.md": _losses(), "features.md": _features(), "datasets.md": _datasets()}


def _all(family: Family) -> list[Plugin]:
    return list(aucbench.catalog().plugins[family].values())


def _losses() -> str:
    rows, losses = [], _all(Family.losses)
    for loss in losses:
        cls, facts = loss.cls, LossFacts(loss.cls)
        rows.append(
            (
                code(loss.name),
                _fields(cls),
                _yes(facts.convex),
                _constant(facts.smoothness),
                _constant(facts.lipschitz),
                _yes(facts.consistent),
                _yes(facts.prox is not None),
            )
        )
    works = {
        key: bibliography(aucbench_algorithms.Solam).get(key, "")
        for loss in losses
        if (key := LossFacts(loss.cls).source)
    }
    sources = "\n".join(f"- {escaped(sentence(entry))} <{link(entry)}>" for entry in works.values() if entry)
    return (
        "# Losses\n\nSurrogates of the margin $m = s+ - s-$ between the score of a positive and that of a "
        "negative. A method says which losses it accepts (`loss=logistic`). Consistent means that minimising "
        "the loss over all pairs maximises the AUC in the limit.\n\n"
        + table(("loss", "what it is"), [(code(loss.name), escaped(loss.summary)) for loss in losses])
        + "\n\n## Facts\n\n"
        + table(("loss", "parameter", "convex", "smoothness", "Lipschitz", "consistent", "prox"), rows)
        + f"\n\n## Source of the facts\n\n{sources}\n"
    )


def _features() -> str:
    parts = [
        "# Feature maps\n\nA map is fitted on training rows. A linear method after `features=nystroem` is "
        "its kernel version."
    ]
    for plugin in _all(Family.features):
        parts.append(f"## {escaped(plugin.name)}\n\n{escaped(plugin.summary)}")
        descriptions = {name: text for name, (_, text) in parameters(plugin.cls).items()}
        rows = [
            (code(f"features.{field.name}"), _default(field), escaped(descriptions.get(field.name, "")))
            for field in fields(plugin.cls)  # type: ignore[arg-type]
        ]
        if rows:
            parts.append(table(("field", "default", "meaning"), rows))
    return "\n\n".join(parts) + "\n"


def _datasets() -> str:
    groups: dict[str, list[Plugin]] = {}
    for plugin in _all(Family.datasets):
        groups.setdefault(DatasetFacts(plugin.cls).collection or _module_title(plugin), []).append(plugin)
    parts = [
        "# Data sets\n\nWhat `aucbench list datasets` lists, with origin and licence. How data are fetched, "
        "read and checked is told in [data](../data.md)."
    ]
    for title, plugins in groups.items():
        rows = [
            (
                code(plugin.name),
                escaped(plugin.summary),
                escaped(DatasetFacts(plugin.cls).family or ""),
                _origin(plugin.cls),
                _bytes(plugin.cls),
            )
            for plugin in plugins
        ]
        parts.append(f"## {escaped(title)}")
        parts.append(table(("data set", "what", "family", "source and licence", "fetched"), rows))
    return "\n\n".join(parts) + "\n"


def _module_title(plugin: Plugin) -> str:
    title = inspect.cleandoc(inspect.getmodule(plugin.cls).__doc__ or plugin.source).split("\n")[0]
    return re.split(r", read without|[:;]", title)[0].rstrip(".")


def _bytes(cls: Any) -> str:
    if DatasetFacts(cls).load is not None:
        return "no"
    try:
        files = cls().files
    except AucbenchError:  # the path to the user's file is missing
        return "a file of your own"
    if any(file.by_hand for file in files):
        return "by hand"
    return "more than 100 MB" if DatasetFacts(cls).large else "yes"


def _origin(cls: Any) -> str:
    text, licence = DatasetFacts(cls).citation or "", DatasetFacts(cls).licence or ""
    source = "generated" if text == "synthetic" else escaped(text)
    return " — ".join(part for part in (source, escaped(licence)) if part)


def _fields(cls: Any) -> str:
    return ", ".join(f"{code(f'loss.{field.name}')} ({_default(field)})" for field in fields(cls))


def _default(field: Any) -> str:
    return "" if field.default is MISSING else code(getattr(field.default, "value", field.default))


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _constant(value: float | None) -> str:
    if value is None:
        return ""
    return "none" if math.isinf(value) else f"{value:g}"
