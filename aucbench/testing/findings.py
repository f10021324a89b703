"""Outcomes of checks, and explanations of a plugin's exceptions with the line of the cause."""

from enum import StrEnum
from typing import NamedTuple

from aucbench.contracts.source_location import own_frames, package_of, place_in, place_of
from aucbench.errors import AucbenchError
from aucbench.humanize import uncoloured

HEADINGS = ("Failed in nopython mode", "During:", "Invalid use of")  # headings in numba's messages


class Status(StrEnum):
    """The outcome of a check."""

    passed = "passed"
    exempt = "exempt"
    failed = "failed"
    untried = "untried"  # no time was left, or an earlier failure explains it


class Finding(NamedTuple):
    """The outcome of one check; the message is an error, the reason for not trying it, or a remark."""

    check: str
    status: Status
    message: str = ""
    place: str = ""  # file, line and text of the cause in the plugin's code, if known
    follows: str = ""  # the failed check that explains why this one was not tried

    def __str__(self) -> str:
        return f"{self.check} {self.status}" + (f": {self.message}" if self.message else "")


class CheckFailure(AssertionError):  # noqa: N818  (a failed assertion, not an error of the program)
    """A plugin breaks a rule; the text names every failing check."""


class Broken(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the rule is broken, with an explanation and a place in the plugin's code."""

    def __init__(self, text: str, place: str = ""):
        super().__init__(text)
        self.place = place


class Skipped(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the plugin is exempt, or no time is left, for the reason in the text."""

    def __init__(self, status: Status, text: str):
        super().__init__(text)
        self.status = status


def explain(cls: type, error: BaseException) -> tuple[str, str]:
    """The explanation and the place of an exception of a class of plugins, or of a broken rule."""
    notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, Broken):
        return f"{error}{notes}", error.place
    frames = own_frames(error, package_of(cls))
    name = f"`{frames[0][0].f_code.co_name}`" if frames else "It"
    place = place_in(error, package_of(cls)) or place_of(cls)
    if isinstance(error, SystemExit):
        return f"{name} ends the program (sys.exit, {error.code!r}); it must raise an error instead.", place
    # The messages of aucbench's errors are complete.
    text = str(error) if isinstance(error, AucbenchError) else f"{_text(error)}."
    return f"{name} raised {type(error).__name__}: {text}{notes}", place


def _text(error: BaseException) -> str:
    """The first informative line of a message."""
    lines = [line.strip() for line in uncoloured(str(error)).split("\n")]
    useful = [line for line in lines if line and not line.startswith(HEADINGS)]
    first, *rest = useful or lines
    return (f"{first} {rest[0]}" if first.endswith(":") and rest else first).rstrip(".")
