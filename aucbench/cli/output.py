"""Standard output and error that may be closed, full or of few characters: no run is lost by them."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import Any


class Output:
    """A text stream that is silent once it cannot be written; `trouble` is why, if its reader did not leave.

    Characters that the encoding lacks are replaced.
    """

    def __init__(self, stream: Any):
        self.trouble = ""
        self._stream = stream if stream is not None else open(os.devnull, "w")  # noqa: SIM115  (until the exit)
        self._stream.reconfigure(errors="replace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write as much as the stream takes."""
        with self._tolerated():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what the stream takes."""
        with self._tolerated():
            self._stream.flush()

    @contextlib.contextmanager
    def _tolerated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: it was closed
            if isinstance(error, OSError) and error.errno != errno.EPIPE:
                self.trouble = error.strerror or str(error)
            # What is buffered goes nowhere: Python would try to write it once more at the exit.
            with open(os.devnull, "w") as nowhere, contextlib.suppress(OSError, ValueError):
                os.dup2(nowhere.fileno(), self._stream.fileno())


def tolerant_output() -> None:
    """Put `Output` in the place of both standard streams."""
    sys.stdout, sys.stderr = Output(sys.stdout), Output(sys.stderr)
