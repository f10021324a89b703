"""Defaults, citations and links of the installed plugins in a record."""

import re
import tomllib
import unicodedata
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from aucbench.contracts import Access, DatasetFacts, LinearMethod, MethodFacts, ModelClass, class_of_model
from aucbench.contracts.source_location import source_file
from aucbench.contracts.validation import Family
from aucbench.studies.default_settings import Regularisation
from aucbench.studies.record import CellRecord, EntryDescription, PluginRecord

BIBLIOGRAPHY = "references.bib"  # file in the folder of a package of plugins
ENTRY = re.compile(r"@\w+\{([^,\s]+),.*?^\}", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"(\w+)\s*=\s*[{\"](.*?)[}\"]\s*,?\s*$", re.DOTALL | re.MULTILINE)
WHERE = ("booktitle", "journal", "publisher", "school", "note")
ACCENT = re.compile(r"\\([\"'`^~])\{?(\w)\}?")
ACCENTS = dict(zip("\"'`^~", "\u0308\u0301\u0300\u0302\u0303", strict=True))
FAMILIES = {
    "algo": Family.algorithms,
    "dataset": Family.datasets,
    "loss": Family.losses,
    "features": Family.features,
}
# Fields of records by group.
GROUPS = {"algo": "algorithm", "dataset": "dataset", "loss": "loss", "features": "features"}

D = TypeVar("D", bound=EntryDescription)


def installed(group: str, name: str) -> Any:
    """The registered plugin with this name; None if it is not installed."""
    from aucbench.registry import catalog  # imports plugins, which reading records does not need

    return catalog().plugins[FAMILIES[group]].get(name)


def plugin(group: str, name: str) -> Any:
    """The class of a plugin; None if it is not installed."""
    registered = installed(group, name)
    return None if registered is None else registered.cls


def summary(group: str, name: str) -> str:
    """The summary line of a plugin; empty if it is not installed."""
    registered = installed(group, name)
    return registered.summary if registered else ""


def first_loss(algorithm: str) -> str | None:
    """The default loss of a method."""
    return next(iter(MethodFacts(plugin("algo", algorithm)).losses), None)


@cache
def defaults_of(cls: Any) -> dict[str, Any]:
    """The defaults of a dataclass by field; `MISSING` for a field without one."""
    return {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(cls)
    }


def changed(group: str, described: PluginRecord) -> dict[str, Any]:
    """The parameters of a recorded plugin that differ from their defaults."""
    cls = plugin(group, described.name)
    # JSON has lists for tuples.
    defaults = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in (defaults_of(cls) if cls else {}).items()
    }
    return {
        key: value
        for key, value in described.parameters.items()
        if key not in defaults or defaults[key] != (list(value) if isinstance(value, tuple) else value)
    }


def completed(described: D) -> D:
    """An entry or record, with the facts and settings that version 0.1 did not record.

    A data set without a family gets the family of the installed plugin, else its title. In version 0.1, which
    did not record `regularisation`, it referred to the rescaled rows, no step was bounded by the curvature,
    and the default budget was ten epochs, or convergence for a full method that detects it.
    """
    if (dataset := described.dataset).family is UNSET:
        family = DatasetFacts(plugin("dataset", dataset.name)).family or dataset.title
        described = replace(described, dataset=replace(dataset, family=family))
    if described.regularisation is UNSET:
        budget, method = described.budget, described.algorithm
        cls = plugin("algo", method.name)
        converges = MethodFacts(cls).done is not None and cls.access == Access.full
        if not converges and budget.epochs is budget.iterations is budget.seconds is None:
            budget = replace(budget, epochs=10.0)
        # Without rescaling, the rows are the scaled columns.
        meaning = Regularisation.rows if described.rescale else Regularisation.columns
        if cls is not None and "bounded" in defaults_of(cls):
            method = replace(method, parameters={"bounded": False} | method.parameters)
        described = replace(described, algorithm=method, regularisation=str(meaning), budget=budget)
    return described


def model_of(described: EntryDescription) -> ModelClass:
    """The class of model of an entry or record: as recorded, else as the installed plugins declare it.

    A method that is not installed is linear unless its run had no weights.
    """
    run = described if isinstance(described, CellRecord) else None
    if run and run.class_of_model:
        return run.class_of_model
    method = plugin("algo", described.algorithm.name)
    if method is None and (run is None or run.result.weights_norm is not None):
        method = LinearMethod
    return class_of_model(method, plugin("features", described.features.name))


def citation(group: str, name: str) -> str | None:
    """The citation of a plugin: its sentence, or the bibliography entry of its BibTeX key."""
    cls = plugin(group, name)
    cited = MethodFacts(cls).citation
    if not cited or cls is None:
        return None
    entry = bibliography(cls).get(cited)
    return sentence(entry) if entry else str(cited)


def links(group: str, name: str) -> tuple[tuple[str, str], ...]:
    """Name and address of a plugin's paper (DOI, arXiv), from the bibliography or the citation."""
    cls = plugin(group, name)
    cited = str((cls and MethodFacts(cls).citation) or "")
    paper = link(bibliography(cls).get(cited, cited)) if cited else ""
    return (("Paper", paper),) if paper else ()


def bibliography(cls: Any) -> dict[str, str]:
    """The entries of ``references.bib`` beside the module of a plugin, unchanged, by key."""
    return {match[1]: match[0] for match in ENTRY.finditer(_text_beside(cls, BIBLIOGRAPHY))}


def toml_beside(cls: Any, name: str) -> dict[str, Any]:
    """A TOML file in the package of a plugin; empty without a valid one."""
    try:
        return tomllib.loads(_text_beside(cls, name))
    except ValueError:
        return {}


@cache
def _text_beside(cls: Any, name: str) -> str:
    """The text of a file in the package of a plugin; empty if it does not exist."""
    file = Path(source_file(cls) or "")
    is_package = "." in cls.__module__ or file.name == "__init__.py"
    path = file.with_name(name) if file.name and is_package else None
    return path.read_text("utf-8") if path and path.is_file() else ""


def sentence(entry: str) -> str:
    """A BibTeX entry as one line: authors, title, venue, year."""
    values = {name.lower(): _letters(value) for name, value in FIELD.findall(entry)}
    venue = next((values[name] for name in WHERE if name in values), "")
    volume = f" {values['volume']}" if "volume" in values else ""
    number = f"({values['number']})" if "number" in values else ""
    authors = values.get("author", "").replace(" and others", " et al.").replace(" and ", ", ")
    last = ", ".join(part for part in (venue + volume + number, values.get("year", "")) if part)
    title = values.get("title", "")
    return ". ".join(part for part in (f"{authors}: {title}" if authors else title, last) if part) + "."


def _letters(text: str) -> str:
    """LaTeX as plain text in one line: accents and the Polish l as letters, no braces."""
    text = ACCENT.sub(lambda match: unicodedata.normalize("NFC", match[2] + ACCENTS[match[1]]), text)
    plain = text.replace(r"\l", "\u0142").replace("{", "").replace("}", "").replace("--", "-")
    return re.sub(r"\s+", " ", plain).strip()


def link(text: str) -> str:
    """The address of a paper: a BibTeX entry's DOI or arXiv number, else the first address in the text."""
    values = {name.lower(): value for name, value in FIELD.findall(text)}
    if doi := values.get("doi"):
        return f"https://doi.org/{doi.removeprefix('https://doi.org/')}"
    if values.get("eprint"):
        return f"https://arxiv.org/abs/{values['eprint']}"
    address = re.search(r"https?://[^\s{}\"<>;,]+", text)
    return address[0].rstrip(".)") if address else ""
