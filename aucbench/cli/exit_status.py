"""Exit statuses, and the errors that are the user's to mend."""

import sys

from aucbench.errors import AucbenchError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def sentence_of(error: Exception) -> str | None:
    """What was wrong with the input, for errors of aucbench, files and click; None for any other."""
    if isinstance(error, AucbenchError):
        return str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    if "click" in sys.modules:
        import click

        if isinstance(error, click.ClickException):
            return error.format_message()
    return None
