"""The look of a method in every report, picture and page: one colour, one marker, one dash pattern.

A look is a number. Any two of the first 48 looks differ in at least two of colour, marker and dashes:
colour-blind readers can distinguish these methods, also in greyscale. A package of plugins numbers its
methods in ``looks.toml`` beside its modules. Any other method gets a number above the first 48 from its
name; its combination of colour, marker and dashes differs from all of them.

The colours result from a search near eight initial colours. The search maximised the least distance in Oklab
between two colours, for normal vision and for Machado's models of protanopia, deuteranopia and tritanopia,
under a contrast of 3 to the background.
"""

import colorsys
import zlib
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from aucbench.studies.plugin_metadata import plugin, toml_beside

LOOKS = "looks.toml"
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
CODE = len(MARKERS) * len(DASHES)
ALL = CODE * len(COLOURS)


class Look(NamedTuple):
    """How a method is drawn: its colour as ``#rrggbb``, and the names of its marker and dashes."""

    colour: str
    dark: str  # colour on dark background
    marker: str
    dashes: str


def numbered(number: int) -> Look:
    """The look of a number from 0 to `ALL` - 1."""
    round_, place = divmod(number, CODE)
    block, at = divmod(place, len(COLOURS))
    light, dark = COLOURS[(at + round_) % len(COLOURS)]
    return Look(light, dark, MARKERS[(at + block) % len(MARKERS)], DASHES[block])


def look(name: str) -> Look:
    """The look of a method, by the name of its plugin."""
    cls = plugin("algo", name)
    own = _numbers(cls).get(name) if cls else None
    return numbered(CODE + zlib.crc32(name.encode()) % (ALL - CODE) if own is None else own % ALL)


def colour(name: str, variant: str = "") -> str:
    """The colour of a method as ``#rrggbb``; a variant has another lightness and saturation."""
    own = look(name).colour
    if not variant:
        return own
    hue, _, _ = colorsys.rgb_to_hls(*(int(own[at : at + 2], 16) / 255 for at in (1, 3, 5)))
    light, strong = sha256(variant.encode()).digest()[:2]
    parts = colorsys.hls_to_rgb(hue, 0.28 + 0.34 * (light / 255), 0.55 + 0.4 * (strong / 255))
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


@cache
def _numbers(cls: Any) -> dict[str, int]:
    """The numbers in ``looks.toml`` beside the module of a plugin; empty without a valid file."""
    found = toml_beside(cls, LOOKS)
    return {name: number for name, number in found.items() if isinstance(number, int)}
