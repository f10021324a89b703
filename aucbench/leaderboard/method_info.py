"""Citations, claims, facts of the data, and how each method is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from aucbench.contracts.validation import Family
from aucbench.leaderboard.cells import BoardCell
from aucbench.leaderboard.report import DataFacts, Look, MethodInfo
from aucbench.studies.plugin_metadata import citation, colour, plugin

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


def data_facts(cells: Sequence[BoardCell]) -> DataFacts:
    """Of the data set of a board."""
    name = cells[0].described.dataset.name
    known = DataFacts(
        licence=str(getattr(plugin("dataset", name), "licence", "") or ""),
        citation=citation("dataset", name) or "",
    )
    parts = [cell.record.data for cell in cells if cell.record]
    if not parts:
        return known
    data = max(parts, key=lambda each: each.train_rows + each.test_rows)
    rows, positives = data.train_rows + data.test_rows, None
    share = data.train_positives / data.train_rows
    if data.test_positives is not None:
        positives = data.train_positives + data.test_positives
        share = positives / rows
    return replace(
        known,
        rows=rows,
        train_rows=data.train_rows,
        test_rows=data.test_rows,
        features=data.features,
        positives=positives,
        positive_share=share,
        positive=data.positive,
        negative=data.negative,
        format=data.format,
    )


def method_info(name: str) -> MethodInfo:
    """What an installed plugin says of itself; little of one that is not installed."""
    from aucbench.registry import catalog

    found = catalog().plugins[Family.algorithms].get(name)
    if found is None:
        return MethodInfo(name, "This plugin is not installed here.", "", "", (), "", "")
    claims = getattr(found.cls, "claims", None)
    return MethodInfo(
        name=name,
        summary=found.summary,
        citation=citation("algo", name) or "",
        claims=f"rate {claims.rate}; cost per iteration O({claims.cost})" if claims else "",
        deviations=tuple(getattr(found.cls, "deviations", ())),
        source=found.source,
        distribution=f"{found.distribution} {found.version}",
    )
