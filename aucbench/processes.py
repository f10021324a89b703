"""Processes that may hang, crash or exit without harm to this one: how they start, are limited and end.

It imports nothing else of the framework, so that every part can use it.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
SAFE_PATH = "PYTHONSAFEPATH"
# Imported once, where workers are forked from; by name, as this module stands below all others.
PRELOADED = ("distributed", "aucbench.execution.worker", "aucbench.execution._preload")
STATUS = Path("/proc/self/status")
SHARE = 0.8  # of the free memory that all workers together may take; the system needs some


class ChildProcess:
    """A function in a process of its own, called with one end of a pipe and the arguments.

    The arguments are pickled, unless the multiprocessing context forks the process.
    """

    def __init__(self, context: Any, function: Callable[..., None], *arguments: Any):
        self.connection: Connection  # reading from it raises EOFError once the process has ended
        self.connection, other = context.Pipe()
        self.process = context.Process(target=function, args=(other, *arguments))
        self.process.start()
        other.close()

    def kill(self) -> None:
        """End the process, if it has not ended by itself, and close the pipe."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def start_fork_server() -> None:
    """Start the process that workers are forked from; it imports while this one does something else."""
    forking_context()
    if METHOD == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        resource_tracker.ensure_running()  # it unblocks signals, and must not do so below
        with _sigint_blocked(), _same_path():
            forkserver.ensure_running()


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes that start meanwhile; this one receives it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _same_path() -> Iterator[None]:
    """Let processes that start meanwhile find modules in the current folder only if this one does."""
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
    """Delay Ctrl-C to the end of the block; a second one interrupts at once."""
    before = signal.getsignal(signal.SIGINT)
    is_handled = threading.current_thread() is threading.main_thread() and callable(before)
    if not is_handled:  # in the background of a shell it is ignored
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


def forking_context() -> Any:
    """The multiprocessing context of workers and of trial runs."""
    context = multiprocessing.get_context(METHOD)
    if METHOD == "forkserver":
        context.set_forkserver_preload(list(PRELOADED))
    return context


@contextlib.contextmanager
def limited_memory(limit: int | None, concurrency: int, worker: bool) -> Iterator[None]:
    """Let allocations of more than `limit` bytes raise MemoryError within the block.

    In a worker without a limit it is the worker's share of the memory that is free. Where the system cannot
    tell or bound how much private memory a process has, nothing is bounded.
    """
    used = _private_bytes()
    if not worker or used is None:
        yield
        return
    import resource

    if limit is None:
        import psutil

        limit = int(SHARE * psutil.virtual_memory().available / concurrency)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = used + limit if hard == resource.RLIM_INFINITY else min(used + limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _private_bytes() -> int | None:
    try:
        text = STATUS.read_text()
    except OSError:
        return None
    line = next((line for line in text.splitlines() if line.startswith("VmData:")), None)
    return int(line.split()[1]) * 1024 if line else None
