"""Standard output and error that may be closed, full or of few characters: no run is lost by them."""

import errno
import os
import sys
from typing import Any


class Output:
    """A text stream that is silent once it cannot be written.

    A reader that closed its end of a pipe, as ``head`` does, has all it wanted; any other reason, such as
    a full disk, is kept in `trouble`. Characters that the encoding lacks are replaced.
    """

    def __init__(self, stream: Any):
        self.trouble = ""
        self._stream = stream if stream is not None else open(os.devnull, "w")  # noqa: SIM115  (until the exit)
        if hasattr(self._stream, "reconfigure"):
            self._stream.reconfigure(errors="replace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write as much as the stream takes."""
        try:
            return int(self._stream.write(text))
        except (OSError, ValueError) as error:  # ValueError: it was closed
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Flush what the stream takes."""
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._give_up(error)

    def _give_up(self, error: OSError | ValueError) -> None:
        if isinstance(error, OSError) and error.errno != errno.EPIPE:
            self.trouble = error.strerror or str(error)
        # What is buffered goes nowhere: Python would try to write it once more at the exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, self._stream.fileno())
        except (OSError, ValueError):
            self._stream = open(os.devnull, "w")  # noqa: SIM115
        finally:
            os.close(nowhere)


def tolerant_output() -> Output:
    """Put `Output` in the place of both standard streams; returns that of standard output."""
    if not isinstance(sys.stderr, Output):
        sys.stderr = Output(sys.stderr)
    if not isinstance(sys.stdout, Output):
        sys.stdout = Output(sys.stdout)
    return sys.stdout
