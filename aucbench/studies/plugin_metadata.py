"""Defaults, claims, citations and colours that installed plugins add to a record."""

import colorsys
import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any, TypeVar

from msgspec.structs import replace

from aucbench.contracts import Access
from aucbench.data.splits import recorded
from aucbench.errors import AucbenchError
from aucbench.studies.record import EntryDescription, PluginRecord, ProtocolRecord

BIBLIOGRAPHY = "references.bib"  # beside the modules of a package of plugins
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
FAMILIES = {"algo": "algorithms", "dataset": "datasets", "loss": "losses", "features": "features"}

D = TypeVar("D", bound=EntryDescription)


def plugin(group: str, name: str) -> Any:
    """The class of a plugin, None where it is not installed."""
    from aucbench.registry import catalog

    try:
        return catalog().find(FAMILIES[group], name).cls
    except AucbenchError:
        return None


def changed(group: str, described: PluginRecord) -> dict[str, Any]:
    """The parameters of a described plugin that differ from their defaults."""
    cls = plugin(group, described.name)
    defaults = {field.name: _default(field) for field in fields(cls)} if cls else {}
    return {
        key: value
        for key, value in described.parameters.items()
        if key not in defaults or _plain(defaults[key]) != _plain(value)
    }


def completed(described: D) -> D:
    """What an entry or record says of itself, with the settings that versions did not have which wrote it.

    A record without `rescale` is of a version that did not rescale rows, did not stratify hold-outs, trained
    for one epoch where no budget was given (until converged where a full method knows when it is), fitted no
    intercept, and extended no grid.
    """
    if described.rescale is not None:
        return described
    budget, method, tuning = described.budget, described.algorithm, described.tuning
    protocol: Any = recorded(described.protocol.name, described.protocol.parameters)
    cls = plugin("algo", method.name)
    converges = hasattr(cls, "done") and cls.access == Access.full
    if not converges and budget.epochs is budget.iterations is budget.seconds is None:
        budget = replace(budget, epochs=1.0)
    if hasattr(cls, "intercept"):
        method = replace(method, parameters={"intercept": False} | method.parameters)
    if tuning.name != "none":
        tuning = replace(tuning, parameters={"extend": False} | tuning.parameters)
    return replace(
        described,
        rescale=False,
        budget=budget,
        algorithm=method,
        tuning=tuning,
        protocol=ProtocolRecord(name=protocol.name, parameters=asdict(protocol)),
    )


def first_loss(algorithm: str) -> str | None:
    """The loss a method takes when none is named."""
    losses = getattr(plugin("algo", algorithm), "losses", ())
    return losses[0] if losses else None


def citation(group: str, name: str) -> str | None:
    """How a plugin is cited: its sentence, or the entry its BibTeX key has in the bibliography beside it."""
    cls = plugin(group, name)
    cited = getattr(cls, "citation", None)
    if not cited or cls is None:
        return None
    return _bibliography(cls.__module__.rpartition(".")[0] or cls.__module__).get(cited, str(cited))


@cache
def _bibliography(package: str) -> dict[str, str]:
    try:
        text = resources.files(package).joinpath(BIBLIOGRAPHY).read_text("utf-8")
    except (OSError, TypeError, ModuleNotFoundError):
        return {}
    found = {}
    for key, body in re.findall(r"@\w+\{([^,\s]+),(.*?)^\}", text, re.DOTALL | re.MULTILINE):
        entry = {
            name.lower(): re.sub(r"\s+", " ", value).strip()
            for name, value in re.findall(
                r"(\w+)\s*=\s*[{\"](.*?)[}\"]\s*,?\s*$", body, re.DOTALL | re.MULTILINE
            )
        }
        found[key] = _sentence(entry)
    return found


def _sentence(entry: Mapping[str, str]) -> str:
    where = next(
        (entry[name] for name in ("booktitle", "journal", "publisher", "school", "note") if name in entry), ""
    )
    volume = f" {entry['volume']}" if "volume" in entry else ""
    parts = [
        entry.get("author", "").replace(" and ", ", "),
        entry.get("title", ""),
        ", ".join(part for part in (where + volume, entry.get("year", "")) if part),
    ]
    plain = ". ".join(part for part in parts if part)
    return re.sub(r"\\[\"'`^~=.]", "", plain).replace("{", "").replace("}", "").replace("--", "-") + "."


def colour(name: str, variant: str = "") -> str:
    """The colour that the method declares, else one that its name gives, as ``#rrggbb``.

    What differs from the method's defaults changes how light and how strong it is, not its hue.
    """
    declared = getattr(plugin("algo", name), "colour", None)
    if not isinstance(declared, str) or not COLOUR.fullmatch(declared):
        declared = _hashed(name)
    if not variant:
        return declared.lower()
    hue, _, _ = colorsys.rgb_to_hls(*(int(declared[at : at + 2], 16) / 255 for at in (1, 3, 5)))
    light, strong = sha256(variant.encode()).digest()[:2]
    return _shade(hue, light / 255, strong / 255)


def _hashed(name: str) -> str:
    digest = sha256(name.encode()).digest()
    return _shade(int.from_bytes(digest[:2]) / 65536, digest[2] / 255, digest[3] / 255)


def _shade(hue: float, light: float, strong: float) -> str:
    parts = colorsys.hls_to_rgb(hue, 0.28 + 0.34 * light, 0.55 + 0.4 * strong)
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


def _default(field: Any) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def _plain(value: Any) -> Any:
    """As JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value
