"""Outcomes of checks, and explanations of a plugin's exceptions with the line of the cause."""

import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from aucbench.contracts import Batch, Problem
from aucbench.contracts.source_location import own_frames, package_of, place_in, place_of
from aucbench.contracts.validation import nearest
from aucbench.errors import AucbenchError
from aucbench.humanize import uncoloured

SIGNATURES = {
    "init": "init(self, problem, rng)",
    "step": "step(self, state, batch)",
    "score": "score(self, state, X)",
    "weights": "weights(self, state)",
    "finalize": "finalize(self, state)",
    "done": "done(self, state)",
    "batch_size": "batch_size(self, n_samples)",
    "fit": "fit(self, X, rng)",
    "transform": "transform(self, X)",
    "value": "value(m, theta), a static method",
    "derivative": "derivative(m, theta), a static method",
    "prox": "prox(m, c, theta), a static method",
}
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
    line: str = ""  # Python that reproduces the failure
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


class Exempted(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the plugin is exempt, for the reason in the text."""


class Untried(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: it could not be carried out, for the reason in the text."""


def explain(plugin: Any, error: BaseException) -> tuple[str, str]:
    """The explanation and the place of a plugin's exception, or of a broken rule."""
    package = package_of(type(plugin))
    notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, Broken):
        return f"{error}{notes}", error.place
    frames = own_frames(error, package)
    who = f"`{frames[0][0].f_code.co_name}`" if frames else "It"
    place = place_in(error, package) or place_of(_called(plugin, error) or type(plugin))
    if isinstance(error, SystemExit):
        return f"{who} ends the program (sys.exit, {error.code!r}); it must raise an error instead.", place
    if isinstance(error, AucbenchError):  # its message is complete
        return f"{who} raised {type(error).__name__}: {error}{notes}", place
    return f"{who} raised {type(error).__name__}: {_text(error)}.{_advice(plugin, error)}{notes}", place


def _text(error: BaseException) -> str:
    """The first informative line of a message."""
    lines = [line.strip() for line in uncoloured(str(error)).split("\n")]
    telling = [line for line in lines if line and not line.startswith(HEADINGS)]
    first, *rest = telling or lines
    return (f"{first} {rest[0]}" if first.endswith(":") and rest else first).rstrip(".")


def _advice(plugin: Any, error: BaseException) -> str:
    """Advice, if there is any."""
    if isinstance(error, FrozenInstanceError):
        return " The plugin holds parameters only; what changes belongs in the state that `init` returns."
    if isinstance(error, AttributeError):
        return _meant(plugin, error)
    called = _called(plugin, error)
    if called is not None:
        return f" It is called as {SIGNATURES[called.__name__]}."
    return ""


def _meant(plugin: Any, error: AttributeError) -> str:
    """The attribute of the framework or field of the plugin that was probably meant."""
    owner = error.obj
    if not isinstance(owner, Problem | Batch | type(plugin)) or not error.name:
        return ""
    known = [each for each in dir(owner) if not each.startswith("_")]
    near = nearest(error.name, known)
    if near:
        return f" Did you mean {near}?"
    if isinstance(owner, type(plugin)) and is_dataclass(plugin):
        return f" Its fields: {', '.join(field.name for field in fields(plugin)) or 'none'}."
    return f" It has {', '.join(known)}."


def _called(plugin: Any, error: BaseException) -> Any:
    """The method that does not accept the framework's arguments, None for any other error."""
    found = re.search(r"(\w+)\(\) .*(positional|keyword) argument", str(error))
    if not isinstance(error, TypeError) or found is None or own_frames(error, package_of(type(plugin))):
        return None
    return getattr(type(plugin), found[1], None) if found[1] in SIGNATURES else None
