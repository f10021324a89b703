"""Processes of our own: forked, where the system can, from one that has imported all they need."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
SAFE_PATH = "PYTHONSAFEPATH"
PRELOADED = ("distributed", "aucbench.studies.performing", "aucbench.studies.preloading")


def begin() -> None:
    """Start the process to fork from, which imports while this one does something else."""
    forking_context()
    if METHOD == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        resource_tracker.ensure_running()  # it unblocks signals, and must not do so below
        with _deaf(), _same_path():
            forkserver.ensure_running()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """What starts meanwhile never hears Ctrl-C, which reaches all processes; this one hears it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _same_path() -> Iterator[None]:
    """What starts meanwhile finds modules in the current folder only if this process does."""
    if {"", os.getcwd()} & set(sys.path) or SAFE_PATH in os.environ:
        yield
        return
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[SAFE_PATH]


@contextlib.contextmanager
def interrupted_later() -> Iterator[None]:
    """Ctrl-C is heard at the end of this; a second one at once."""
    before = signal.getsignal(signal.SIGINT)
    is_heard = threading.current_thread() is threading.main_thread() and callable(before)
    if not is_heard:  # in the background of a shell it is ignored
        yield
        return
    heard: list[int] = []

    def remember(number: int, frame: Any) -> None:
        heard.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


def forking_context() -> Any:
    """The multiprocessing context of workers and trial runs."""
    context = multiprocessing.get_context(METHOD)
    if METHOD == "forkserver":
        context.set_forkserver_preload(list(PRELOADED))
    return context
