"""Why a method could not run, in a sentence that names the plugin and the line."""

import inspect
import re
from pathlib import Path
from typing import Any

from aucbench.entry import Bound, Entry
from aucbench.errors import AucbenchError
from aucbench.humanize import uncoloured
from aucbench.sources import source_file
from aucbench.studies.units import FailureReason

HINT = re.compile(r" \(HYDRA_FULL_ERROR=1 shows where\)\.?$")
FRAME = re.compile(r'File "(.+?)", line (\d+), in (\w+)')
FUNCTIONS = ("init", "step", "score", "weights", "finalize", "done", "batch_size")


def failure(entry: Entry, described: dict[str, Any]) -> str:
    """The sentence for a cell that failed, given what the store keeps of it."""
    if described["reason"] == FailureReason.timeout:
        limits = entry.limits
        seconds = (limits.seconds or 0.0) + limits.grace
        what = "an iteration, with its scores," if entry.budget.iterations == 1 else "a run"
        return f"{entry.algorithm.name} was ended, as {what} had not come to its end within {seconds:.0f} s"
    message = uncoloured(HINT.sub("", str(described["message"])))
    return message + _where(entry.algorithm, str(described["traceback"]), message)


def refusal(algorithm: Bound, error: AucbenchError) -> tuple[str, bool]:
    """The sentence for an entry that was refused as it ran, and whether the method is at fault.

    It is not where it declares what rows it needs.
    """
    text = str(error)
    if getattr(algorithm.cls, "requires", None) and text.startswith(f"{algorithm.name} needs "):
        return text, False
    text = text.removeprefix(f"{algorithm.name}: ").rstrip(".")
    who = f"{algorithm.name} of distribution {algorithm.distribution} {algorithm.version} failed: "
    return who + text + _where(algorithm, "", text), True


def _where(algorithm: Bound, trace: str, message: str) -> str:
    """The last line of the plugin's file in the traceback, else that of the function the message names."""
    file = source_file(algorithm.cls)
    if file is None:
        return ""
    frames = [(line, name) for path, line, name in FRAME.findall(trace) if Path(path).name == Path(file).name]
    if not frames:
        frames = [
            (str(line), name)
            for name in FUNCTIONS
            if re.search(rf"\b{name}\b", message) and (line := _line(algorithm.cls, name))
        ]
    if not frames:
        return ""
    line, name = frames[-1]
    return f" ({Path(file).name}, line {line}, in {name})"


def _line(cls: Any, name: str) -> int | None:
    try:
        return inspect.getsourcelines(getattr(cls, name))[1]
    except (AttributeError, TypeError, OSError):
        return None
