"""A line on the terminal while kernels are compiled, for which the first fit of a method takes seconds."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from numba.core import event

NOTICE = "aucbench: compiling, which takes some seconds; later fits of the method load the result"
_given: list[bool] = []  # once in a process


class _Listener(event.Listener):  # type: ignore[misc]  # numba has no types
    """Told when numba begins to compile, which it does not where the cache folder has the result."""

    def on_start(self, event: Any) -> None:
        if not _given:
            _given.append(True)
            print(NOTICE, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


@contextlib.contextmanager
def compile_notice() -> Iterator[None]:
    """Say on standard error that kernels are being compiled, if they are and somebody watches."""
    if _given or not sys.stderr.isatty():
        yield
        return
    with event.install_listener("numba:compile", _Listener()):
        yield
