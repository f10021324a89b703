"""What a report tells of methods and data beside the numbers: citations, claims, commands."""

from collections.abc import Sequence
from typing import Any

from aucbench.boards.collecting import SEEDS, Cell
from aucbench.boards.report import MethodInfo
from aucbench.registry import Family
from aucbench.result import CellResult
from aucbench.tracking import commanding, installed
from aucbench.tracking.content import LoggedEntry


def method_infos(names: Sequence[str]) -> dict[str, MethodInfo]:
    """What the installed plugins say of themselves; little of those that are not installed."""
    return {name: _info(name) for name in names}


def command_of(cells: Sequence[Cell]) -> str:
    """The command that runs the entry of these cells again."""
    results = tuple(
        CellResult(cell.described | dict(zip(SEEDS, cell.run, strict=True)), cell.curve, None)
        for cell in cells
    )
    return " ".join(["aucbench", *map(_quoted, commanding.words(LoggedEntry("", None, results)))])


def data_facts(cells: Sequence[Cell]) -> dict[str, Any]:
    """Of the data set of a board."""
    described = cells[0].described["dataset"]
    cls = installed.plugin("dataset", described["name"])
    facts: dict[str, Any] = {}
    record = next((cell.record for cell in cells if cell.record), None)
    if record:
        data = record["data"]
        facts = {
            "training rows": data["train_rows"],
            "test rows": data["test_rows"],
            "features": data["features"],
            "share of positives": data["train_positives"] / data["train_rows"],
            "format": data["format"],
        }
    facts["citation"] = installed.citation("dataset", described["name"]) or ""
    facts["licence"] = str(getattr(cls, "licence", "") or "")
    return facts


def _info(name: str) -> MethodInfo:
    from aucbench.api import catalog

    plugin = catalog().plugins[Family.algorithms].get(name)
    if plugin is None:
        return MethodInfo(name, "This plugin is not installed here.", "", "", (), "", "")
    claims = getattr(plugin.cls, "claims", None)
    return MethodInfo(
        name=name,
        summary=plugin.summary,
        citation=installed.citation("algo", name) or "",
        claims=f"convergence {claims.rate}, cost of an iteration {claims.cost}" if claims else "",
        deviations=tuple(getattr(plugin.cls, "deviations", ())),
        source=plugin.source,
        distribution=f"{plugin.distribution} {plugin.version}",
    )


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)
