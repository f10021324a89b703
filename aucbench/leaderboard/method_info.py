"""Citations, claims, commands, facts of the data, and how each method is drawn."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from aucbench.boards.collecting import SEEDS, Cell
from aucbench.boards.report import DataFacts, Look, MethodInfo
from aucbench.registry import Family
from aucbench.result import CellResult
from aucbench.tracking import colour, commanding, installed
from aucbench.tracking.content import LoggedEntry

MARKERS = ("circle", "square", "up", "diamond", "down", "cross")
DASHES = ("solid", "dashed", "dotted", "dashdot", "short")


def looks_of(algorithms: Mapping[str, str]) -> dict[str, Look]:
    """How methods are drawn, given the algorithm of each label.

    The colour is that of the algorithm. Markers and dashes, for readers who see few colours, are dealt out in
    alphabetical order: 30 methods have 30 different pairs of them.
    """
    return {
        label: Look(colour(algorithms[label]), MARKERS[at % len(MARKERS)], DASHES[at % len(DASHES)])
        for at, label in enumerate(sorted(algorithms))
    }


def method_infos(names: Sequence[str]) -> dict[str, MethodInfo]:
    """What the installed plugins say of themselves; little of those that are not installed."""
    return {name: _info(name) for name in names}


def command_of(cells: Sequence[Cell]) -> str:
    """The command that runs the entry of these cells again."""
    results = tuple(
        CellResult(cell.described | dict(zip(SEEDS, cell.run, strict=True)), cell.curve, None)
        for cell in cells
    )
    return " ".join(["aucbench", *map(shlex.quote, commanding.words(LoggedEntry("", None, results)))])


def data_facts(cells: Sequence[Cell]) -> DataFacts:
    """Of the data set of a board."""
    name = cells[0].described["dataset"]["name"]
    known = DataFacts(
        licence=str(getattr(installed.plugin("dataset", name), "licence", "") or ""),
        citation=installed.citation("dataset", name) or "",
    )
    found = [cell.record["data"] for cell in cells if cell.record]
    if not found:
        return known
    data = max(found, key=lambda each: each["train_rows"] + each["test_rows"])
    rows, positives = data["train_rows"] + data["test_rows"], None
    share = data["train_positives"] / data["train_rows"]
    if data.get("test_positives") is not None:
        positives = data["train_positives"] + data["test_positives"]
        share = positives / rows
    return replace(
        known,
        rows=rows,
        train_rows=data["train_rows"],
        test_rows=data["test_rows"],
        features=data["features"],
        positives=positives,
        positive_share=share,
        positive=tuple(data.get("positive") or ()),
        negative=tuple(data.get("negative") or ()),
        format=data["format"],
    )


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
        claims=f"rate {claims.rate}; cost per iteration O({claims.cost})" if claims else "",
        deviations=tuple(getattr(plugin.cls, "deviations", ())),
        source=plugin.source,
        distribution=f"{plugin.distribution} {plugin.version}",
    )
