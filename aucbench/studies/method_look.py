"""The looks of methods in a report, picture or page: colours, markers and dash patterns.

Methods that are shown together get looks in their order of importance, so that the first eight differ in
colour and in marker. Colour-blind readers can distinguish them, also in greyscale.

The colours result from a search near eight initial colours. The search maximised the least distance in Oklab
between two colours, for normal vision and for Machado's models of protanopia, deuteranopia and tritanopia,
under a contrast of 3 to the background.
"""

import colorsys
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

# Colours on light and on dark background.
COLOURS = (
    ("#1c2126", "#edf0f2"),
    ("#2011f4", "#3195ff"),
    ("#be784e", "#f38800"),
    ("#074a3b", "#328963"),
    ("#650082", "#b56fb6"),
    ("#7a5e16", "#bed585"),
    ("#0e83d6", "#2cd0ff"),
    ("#e2159d", "#d2a2ae"),
)
MARKERS = ("circle", "square", "up", "diamond", "down", "cross", "plus", "star")
DASHES = ("solid", "dashed", "dotted", "dashdot", "short", "dashdotdot")


class Look(NamedTuple):
    """The look of a method in pictures: its colour as ``#rrggbb``, and the names of its marker and dashes."""

    colour: str
    dark: str  # colour on dark background
    marker: str
    dashes: str


def shown_looks(shown: Sequence[str]) -> dict[str, Look]:
    """Looks of the methods that a picture shows, in their order of importance.

    The first eight have the eight colours and differ in marker, too; later ones repeat the colours with other
    markers and dashes, so that any two of 48 differ.
    """
    looks = {}
    for number, method in enumerate(shown):
        cycle, at = divmod(number, len(COLOURS))
        marker, dashes = MARKERS[(at + cycle) % len(MARKERS)], DASHES[cycle % len(DASHES)]
        looks[method] = Look(*COLOURS[at], marker, dashes)
    return looks


def colour(name: str, variant: str = "") -> str:
    """The colour of a method that is shown on its own, as ``#rrggbb``, from its name.

    A variant has the same hue and another lightness and saturation.
    """
    hue = int.from_bytes(sha256(name.encode()).digest()[:2]) / 2**16
    light, strong = sha256(f"{name} {variant}".encode()).digest()[:2]
    parts = colorsys.hls_to_rgb(hue, 0.28 + 0.34 * (light / 255), 0.55 + 0.4 * (strong / 255))
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)
