"""Processes of our own: forked, where the system can, from one that has imported all they need."""

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from typing import Any

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PRELOADED = ("distributed", "aucbench.studies.performing", "aucbench.studies.preloading")


def begin() -> None:
    """Start the process to fork from, which imports while this one does something else."""
    forking_context()
    if METHOD == "forkserver":
        from multiprocessing import forkserver

        with _deaf():
            forkserver.ensure_running()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """What starts meanwhile ignores Ctrl-C, which reaches all processes: only the first one says so."""
    if threading.current_thread() is not threading.main_thread():  # others may not set it
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def forking_context() -> Any:
    """The multiprocessing context of workers and trial runs."""
    context = multiprocessing.get_context(METHOD)
    if METHOD == "forkserver":
        context.set_forkserver_preload(list(PRELOADED))
    return context
