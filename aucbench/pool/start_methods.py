"""Starting processes from a fork server, or spawned, without the user's script and without Ctrl-C."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
# Modules imported by the fork server; by name, since this module imports no other.
PRELOADED = ("aucbench.studies.execution._preload", "aucbench.testing.check_plugin")
SAFE_PATH = "PYTHONSAFEPATH"

_lock = threading.RLock()  # starting a process temporarily changes the state of this one


def context() -> Any:
    """The multiprocessing context of the pool."""
    context = multiprocessing.get_context(METHOD)
    if METHOD == "forkserver":
        context.set_forkserver_preload(list(PRELOADED))
    # Dask workers are daemons, which may not start processes by default; processes of the pool end with them.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    return context


def start_fork_server() -> None:
    """Start the fork server, which imports its modules in the background."""
    context()
    if METHOD == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        resource_tracker.ensure_running()  # unblocks signals, which must stay blocked below
        with starting(), _sigint_blocked():
            forkserver.ensure_running()


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Start processes in the block, which do not run the user's script again as a module.

    They import from the current folder only if this process does.
    """
    with _lock:
        main, sys.modules["__main__"] = sys.modules["__main__"], types.ModuleType("__main__")
        is_kept = bool({"", os.getcwd()} & set(sys.path)) or SAFE_PATH in os.environ
        if not is_kept:
            os.environ[SAFE_PATH] = "1"
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            if not is_kept:
                del os.environ[SAFE_PATH]


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes started in the block; this process receives it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def interrupted_later() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block; a second one interrupts at once."""
    before = signal.getsignal(signal.SIGINT)
    is_handled = threading.current_thread() is threading.main_thread() and callable(before)
    if not is_handled:  # a shell's background jobs ignore the signal
        yield
        return
    received: list[int] = []

    def remember(number: int, frame: Any) -> None:
        received.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if received:
        raise KeyboardInterrupt
