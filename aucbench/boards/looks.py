"""How methods are told apart in pictures and on the page: by colour, and by marker and dashes."""

from collections.abc import Mapping

from aucbench.boards.report import Look
from aucbench.studies.plugin_metadata import colour

MARKERS = ("circle", "square", "up", "diamond", "down", "cross")
DASHES = ("solid", "dashed", "dotted", "dashdot", "short")


def looks_of(algorithms: Mapping[str, str]) -> dict[str, Look]:
    """Looks of methods, given the algorithm of each label.

    The colour is that of the algorithm. Markers and dashes, for readers who see few colours, are dealt out in
    alphabetical order: 30 methods have 30 different pairs of them.
    """
    found = {}
    for number, label in enumerate(sorted(algorithms)):
        found[label] = Look(
            colour(algorithms[label]), MARKERS[number % len(MARKERS)], DASHES[number % len(DASHES)]
        )
    return found
