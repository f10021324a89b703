"""Exit statuses, and errors caused by user input."""

import os
import sys

from aucbench.errors import FAULTS, AucbenchError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def sentence_of(error: Exception) -> str | None:
    """The message for errors of aucbench, files, memory and click; None for any other error."""
    if isinstance(error, AucbenchError):
        return str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, OSError) and error.errno in FAULTS:  # of a library that names no file
        return f"A file could not be written: {os.strerror(error.errno)}."
    if isinstance(error, MemoryError):
        asked = f" ({error})" if str(error) else ""
        return f"There is not enough memory{asked}: allow more, or name fewer columns or rows."
    if "click" in sys.modules:
        import click

        if isinstance(error, click.ClickException):
            return error.format_message()
    return None
