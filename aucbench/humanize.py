"""Durations, sizes and counts as people read them, and messages without a terminal's colours."""

import re

COLOURS = re.compile("\x1b\\[[0-9;]*m")
DURATIONS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))
SHORT = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def duration(seconds: float) -> str:
    """Seconds in the largest unit of which there are two, in two digits."""
    for size, unit in DURATIONS:
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    for size, unit in SHORT:
        if seconds >= size:
            return f"{float(f'{seconds / size:.2g}'):g} {unit}"
    return "less than 1 us"


def filesize(size: float) -> str:
    """Bytes in the unit that suits them: 950 B, 12 MB, 1.3 GB."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def counted(count: int, noun: str) -> str:
    """A number and its noun."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def uncoloured(text: str) -> str:
    """The text without a terminal's colours, with which numba writes its messages."""
    return COLOURS.sub("", text)
