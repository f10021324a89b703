"""Explanations of a plugin's exceptions: a sentence, and the line of the plugin that caused it."""

import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

from aucbench.contracts import Batch, Problem
from aucbench.contracts.source_location import own_frames, package_of, place_in, place_of
from aucbench.contracts.validation import nearest
from aucbench.errors import AucbenchError
from aucbench.humanize import uncoloured
from aucbench.testing.findings import Broken

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
HEADINGS = (
    "Failed in nopython mode",
    "During:",
    "Invalid use of",
)  # of numba's messages; alone they say nothing


def explain(plugin: Any, error: BaseException) -> tuple[str, str]:
    """The sentence and the place of what a plugin raised, or of a rule it breaks."""
    package = package_of(type(plugin))
    notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, Broken):
        return f"{error}{notes}", error.place
    frames = own_frames(error, package)
    who = f"`{frames[0][0].f_code.co_name}`" if frames else "It"
    place = place_in(error, package) or place_of(_called(plugin, error) or type(plugin))
    if isinstance(error, SystemExit):
        return f"{who} ends the program (sys.exit, {error.code!r}); it must raise an error instead.", place
    if isinstance(error, AucbenchError):  # its sentence says all
        return f"{who} raised {type(error).__name__}: {error}{notes}", place
    return f"{who} raised {type(error).__name__}: {_text(error)}.{_advice(plugin, error)}{notes}", place


def _text(error: BaseException) -> str:
    """The first line of a message that says something."""
    lines = [line.strip() for line in uncoloured(str(error)).split("\n")]
    telling = [line for line in lines if line and not line.startswith(HEADINGS)]
    first, *rest = telling or lines
    return (f"{first} {rest[0]}" if first.endswith(":") and rest else first).rstrip(".")


def _advice(plugin: Any, error: BaseException) -> str:
    """What to do, where that is known."""
    if isinstance(error, FrozenInstanceError):
        return " The plugin holds parameters only; what changes belongs in the state that `init` returns."
    if isinstance(error, AttributeError):
        return _meant(plugin, error)
    called = _called(plugin, error)
    if called is not None:
        return f" It is called as {SIGNATURES[called.__name__]}."
    return ""


def _meant(plugin: Any, error: AttributeError) -> str:
    """The attribute of ours, or the field of the plugin, that was probably meant."""
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
    """The method that could not be called with the arguments it gets, None for any other error."""
    found = re.search(r"(\w+)\(\) .*(positional|keyword) argument", str(error))
    if not isinstance(error, TypeError) or found is None or own_frames(error, package_of(type(plugin))):
        return None
    return getattr(type(plugin), found[1], None) if found[1] in SIGNATURES else None
