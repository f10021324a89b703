"""Words that several commands use: for times, for counts, and messages without colours."""

import re

COLOURS = re.compile("\x1b\\[[0-9;]*m")


def duration(seconds: float) -> str:
    """Words for a short time, two digits."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{float(f'{seconds / unit:.2g}'):g} {name}"
    return "less than 1 us"


def counted(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def uncoloured(text: str) -> str:
    """The text without a terminal's colours, with which numba writes its messages."""
    return COLOURS.sub("", text)
