"""Exit statuses; bad input becomes one sentence on standard error, everything else a traceback."""

import sys
from collections.abc import Callable

from aucbench.errors import AucbenchError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def guarded(action: Callable[[], int], traceback: bool) -> int:
    """The action's exit status, or 2 after printing what was wrong with the input.

    With `traceback` every error is raised as it is.
    """
    try:
        return action()
    except Exception as error:
        sentence = str(error) if isinstance(error, AucbenchError) else _foreign(error)
        if sentence is None or traceback:
            raise
        print(f"aucbench: {sentence}", file=sys.stderr)
        return BAD_INPUT


def _foreign(error: Exception) -> str | None:
    """The sentence for an error of the file system or of click; None for any other."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    if "click" in sys.modules:
        import click

        if isinstance(error, click.ClickException):
            return error.format_message()
    return None
