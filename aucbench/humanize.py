"""Durations, sizes and counts as people read them, and messages without a terminal's colours."""

import math
import re

# Control characters except tab and newline, and marks of text direction.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
RAW = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)")
PLAIN = bytes(set(range(32, 127)) - {ord("\\")}) + b"\t\n\r"
COLOURS = re.compile("\x1b\\[[0-9;]*m")
DURATIONS = (
    (86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")
)  # fmt: skip
SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


_SECRET = r"(?:\w*(?:password|passwd|pwd|token|secret|signature)|(?:api|access)[_-]?key|auth)"
SECRETS = (
    # The name of a user may be an e-mail address, and a password may hold / and @.
    (re.compile(r"(\b[A-Za-z][\w+.-]*://[^\s:'\"]*):[^\s'\"]*@"), r"\1:***@"),
    # A token may replace the name of the user.
    (re.compile(r"(\b[A-Za-z][\w+.-]*://)[^\s:/@'\"]+@(?![^\s'\"]*@)"), r"\1***@"),
    (re.compile(rf"([?&;#]{_SECRET}=)[^&;\s'\"]*", re.IGNORECASE), r"\1***"),
    (re.compile(r"((?:password|pwd)%3D)(?:(?!%3B)[^&\s'\"])*", re.IGNORECASE), r"\1***"),
)


def without_secrets(text: str) -> str:
    """The text with *** instead of passwords and tokens in addresses, for messages and records."""
    for pattern, masked in SECRETS:
        text = pattern.sub(masked, text)
    return text


def duration(seconds: float) -> str:
    """Seconds with three digits in the largest unit that does not exceed them."""
    return "never" if math.isinf(seconds) else _in_units(seconds, DURATIONS)


def filesize(size: float) -> str:
    """Bytes with three digits in the largest unit that does not exceed them: 950 B, 12 MB, 1.34 GB."""
    return _in_units(size, SIZES)


def _in_units(value: float, units: tuple[tuple[float, str], ...]) -> str:
    size, unit = next((pair for pair in units if value >= pair[0]), units[-1])
    return f"{float(f'{value / size:.3g}'):,g} {unit}"


def counted(count: int, noun: str) -> str:
    """A number and its noun."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def harmless(text: str) -> str:
    """The text with ? for characters that a terminal obeys, or that change the direction of reading."""
    return OBEYED.sub("?", text)


def is_plain(text: bytes) -> bool:
    """Whether all characters are printable ASCII without backslashes; many times faster than a search."""
    return not text.translate(None, PLAIN)


def harmless_json(text: bytes) -> bytes:
    """JSON with ? for the characters that `harmless` replaces, escaped or not."""
    if is_plain(text):
        return text
    text = RAW.sub(b"?", text)
    # Match a backslash with its successor: in an escaped backslash followed by r, the r is a letter.
    return ESCAPE.sub(lambda match: b"?" if _is_obeyed(match[0]) else match[0], text)


def _is_obeyed(escape: bytes) -> bool:
    letter = escape[1:2]
    return letter in b"rbf" if letter != b"u" else OBEYED.match(chr(int(escape[2:], 16))) is not None


def uncoloured(text: str) -> str:
    """The text without a terminal's colours, which numba's messages contain."""
    return COLOURS.sub("", text)


def sentence_of(error: BaseException) -> str:
    """Name and message of an error; building the message may fail, too."""
    try:
        return f"{type(error).__name__}: {uncoloured(str(error))}"
    except BaseException:  # a third-party `__str__` may even end the program
        return f"{type(error).__name__} (its message cannot be shown)"
