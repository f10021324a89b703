"""Defaults, claims, citations and colours that installed plugins add to a record."""

import colorsys
import re
import unicodedata
from dataclasses import MISSING, asdict, fields
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any, TypeVar

from msgspec.structs import replace

from aucbench.contracts import Access
from aucbench.data.splits.protocols import recorded
from aucbench.errors import AucbenchError
from aucbench.studies.record import EntryDescription, PluginRecord, ProtocolRecord

BIBLIOGRAPHY = "references.bib"  # beside the modules of a package of plugins
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
ENTRY = re.compile(r"@\w+\{([^,\s]+),.*?^\}", re.DOTALL | re.MULTILINE)
WHERE = ("booktitle", "journal", "publisher", "school", "note")
ACCENT = re.compile(r"\\([\"'`^~])\{?(\w)\}?")
ACCENTS = dict(zip("\"'`^~", "\u0308\u0301\u0300\u0302\u0303", strict=True))
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
    defaults = defaults_of(cls) if cls else {}
    return {
        key: value
        for key, value in described.parameters.items()
        if key not in defaults or _plain(defaults[key]) != _plain(value)
    }


def defaults_of(cls: Any) -> dict[str, Any]:
    """The defaults of a dataclass by field; `MISSING` for a field without one."""
    return {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(cls)
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
    entry = bibliography(cls.__module__.rpartition(".")[0] or cls.__module__).get(cited)
    return sentence(entry) if entry else str(cited)


@cache
def bibliography(package: str) -> dict[str, str]:
    """The entries of ``references.bib`` in a package of plugins, as they stand there, by key."""
    try:
        text = resources.files(package).joinpath(BIBLIOGRAPHY).read_text("utf-8")
    except (OSError, TypeError, ModuleNotFoundError):
        return {}
    return {match[1]: match[0] for match in ENTRY.finditer(text)}


def sentence(entry: str) -> str:
    """A BibTeX entry as one line: authors, title, where, year."""
    values = re.findall(r"(\w+)\s*=\s*[{\"](.*?)[}\"]\s*,?\s*$", entry, re.DOTALL | re.MULTILINE)
    found = {name.lower(): _letters(value) for name, value in values}
    where = next((found[name] for name in WHERE if name in found), "")
    volume = f" {found['volume']}" if "volume" in found else ""
    number = f"({found['number']})" if "number" in found else ""
    authors = found.get("author", "").replace(" and others", " et al.").replace(" and ", ", ")
    last = ", ".join(part for part in (where + volume + number, found.get("year", "")) if part)
    title = found.get("title", "")
    return ". ".join(part for part in (f"{authors}: {title}" if authors else title, last) if part) + "."


def _letters(text: str) -> str:
    """Accents and the Polish l as letters, everything else without LaTeX's braces, in one line."""
    text = ACCENT.sub(lambda found: unicodedata.normalize("NFC", found[2] + ACCENTS[found[1]]), text)
    plain = text.replace(r"\l", "\u0142").replace("{", "").replace("}", "").replace("--", "-")
    return re.sub(r"\s+", " ", plain).strip()


def colour(name: str, variant: str = "") -> str:
    """The colour that the method declares, else one that its name gives, as ``#rrggbb``.

    What differs from the method's defaults changes how light and how strong it is, not its hue.
    """
    declared = getattr(plugin("algo", name), "colour", None)
    if not isinstance(declared, str) or not COLOUR.fullmatch(declared):
        digest = sha256(name.encode()).digest()
        declared = _shade(int.from_bytes(digest[:2]) / 65536, digest[2] / 255, digest[3] / 255)
    if not variant:
        return declared.lower()
    hue, _, _ = colorsys.rgb_to_hls(*(int(declared[at : at + 2], 16) / 255 for at in (1, 3, 5)))
    light, strong = sha256(variant.encode()).digest()[:2]
    return _shade(hue, light / 255, strong / 255)


def _shade(hue: float, light: float, strong: float) -> str:
    parts = colorsys.hls_to_rgb(hue, 0.28 + 0.34 * light, 0.55 + 0.4 * strong)
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


def _plain(value: Any) -> Any:
    """As JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value
