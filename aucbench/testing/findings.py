"""Findings of the checks, and the exceptions by which a check ends."""

from enum import StrEnum
from typing import NamedTuple


class Status(StrEnum):
    """The outcome of a check."""

    passed = "passed"
    exempt = "exempt"
    failed = "failed"
    untried = "untried"  # there was no time for it, or an earlier failure explains it


class Finding(NamedTuple):
    """The outcome of one check; the message is the error, the reason why it was not tried, or a remark."""

    check: str
    status: Status
    message: str = ""
    shown: str = ""  # the smallest input that fails, as literals, where it is small enough
    line: str = ""  # Python that fails again
    place: str = ""  # file, line and text of the plugin's own code that is the cause, where that is known
    follows: str = ""  # the failed check that explains why this one was not tried

    def __str__(self) -> str:
        return f"{self.check} {self.status}" + (f": {self.message}" if self.message else "")


class CheckFailure(AssertionError):  # noqa: N818  (a failed assertion, not an error of the program)
    """A plugin breaks a rule; the text names every failing check, in words."""


class Broken(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the rule is broken, as the text says, at that place of the plugin's code."""

    def __init__(self, text: str, place: str = ""):
        super().__init__(text)
        self.place = place


class Exempted(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the plugin need not obey, for the reason in the text."""


class Untried(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: it could not be carried out, for the reason in the text."""
