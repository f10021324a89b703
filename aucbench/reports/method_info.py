"""Citations, claims, facts of the data, and how each method is drawn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import lcm

from aucbench.contracts import DatasetFacts, MethodFacts
from aucbench.contracts.validation import Family
from aucbench.reports.cells import BoardCell
from aucbench.reports.report import DataFacts, MethodInfo
from aucbench.studies.method_look import DASHES, MARKERS, Look, look
from aucbench.studies.plugin_metadata import citation, links, plugin, summary


def looks_of(algorithms: Mapping[str, str]) -> dict[str, Look]:
    """How methods are drawn, given the algorithm of each label.

    The first variant of an algorithm looks as the algorithm does everywhere; the others have its colour and,
    as far as there are any, markers and dashes that no other method of the report has.
    """
    found: dict[str, Look] = {}
    drawn: dict[str, str] = {}  # algorithm to its first label
    for label in sorted(algorithms, key=lambda each: (each != algorithms[each], each)):
        found[drawn.setdefault(algorithms[label], label)] = look(algorithms[label])
    taken = {(own.marker, own.dashes) for own in found.values()}
    for label in sorted(algorithms.keys() - found.keys()):
        own = look(algorithms[label])
        pairs = list(_shapes(own))
        marker, dashes = next((pair for pair in pairs if pair not in taken), pairs[len(taken) % len(pairs)])
        taken.add((marker, dashes))
        found[label] = own._replace(marker=marker, dashes=dashes)
    return found


def _shapes(own: Look) -> Iterator[tuple[str, str]]:
    """All pairs of marker and dashes, those first that differ from the given one in both."""
    marker, dashes = MARKERS.index(own.marker), DASHES.index(own.dashes)
    again = lcm(len(MARKERS), len(DASHES))
    for at in range(len(MARKERS) * len(DASHES)):
        yield MARKERS[(marker + at + at // again) % len(MARKERS)], DASHES[(dashes + at) % len(DASHES)]


def data_facts(cells: Sequence[BoardCell]) -> DataFacts:
    """Of the data set of a board."""
    name = cells[0].described.dataset.name
    known = DataFacts(
        licence=DatasetFacts(plugin("dataset", name)).licence or "",
        citation=citation("dataset", name) or "",
        summary=summary("dataset", name),
        links=links("dataset", name),
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
    claims = MethodFacts(found.cls).claims
    return MethodInfo(
        name=name,
        summary=found.summary,
        citation=citation("algo", name) or "",
        claims=f"rate {claims.rate}; cost per iteration O({claims.cost})" if claims else "",
        deviations=MethodFacts(found.cls).deviations,
        source=found.source,
        distribution=f"{found.distribution} {found.version}",
        links=links("algo", name),
    )
