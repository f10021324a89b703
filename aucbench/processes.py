"""Processes that may hang, crash or exit without harm to this one: how they start, are limited and end.

It imports nothing else of the framework, so that every part can use it.
"""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PR_SET_PDEATHSIG = 1  # of Linux: the signal that a process gets when its parent ends
PR_SET_CHILD_SUBREAPER = 36  # whether processes below this one whose parents have ended become its children
DESCRIPTORS = Path("/proc/self/fd")
GUARD_SECONDS = 0.2  # between two looks at a process where nothing tells of its end
END_SECONDS = 5.0  # for processes to end that were killed
SAFE_PATH = "PYTHONSAFEPATH"
# Imported once, where workers are forked from; by name, as this module stands below all others.
PRELOADED = ("distributed", "aucbench.execution.worker", "aucbench.execution._preload")
STATUS = Path("/proc/self/status")
SHARE = 0.8  # of the free memory that all workers together may take; the system needs some


class ChildProcess:
    """A function in a process of its own, called with one end of a pipe and the arguments.

    The arguments are pickled, unless the multiprocessing context forks the process. It ends when this process
    does, also where this one is killed.
    """

    def __init__(self, context: Any, function: Callable[..., None], *arguments: Any):
        self.connection: Connection  # reading from it raises EOFError once the process has ended
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_while_parent_lives, args=(function, other, *arguments))
        self.process.start()
        other.close()

    def kill(self) -> None:
        """End the process, if it has not ended by itself, and close the pipe."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def _while_parent_lives(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in a child process, which the end of its parent ends at any time.

    The server that workers are forked from does not see to that: it lives as long as they do.
    """
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    function(*arguments)


class Fork:
    """A copy of this process, which calls a function with one end of a pipe and ends.

    It has all that this process has loaded and compiled, but none of its open files. A guard between the two
    ends it, with all that it has started, when it or this process ends. There are none where ``os.fork`` is
    missing.
    """

    def __init__(self, function: Callable[[Connection], None]):
        import psutil  # noqa: F401  # so that no guard does

        self._connection, other = multiprocessing.Pipe()
        told, tell = os.pipe()
        _flush()  # or the copy would write it again
        parent = os.getpid()
        with warnings.catch_warnings(
            action="ignore", category=DeprecationWarning
        ):  # as this process has threads
            self._guard = os.fork()
        if self._guard == 0:
            self._connection.close()
            _guard(function, other, parent, tell)
        other.close()
        os.close(tell)
        self._pid = int(os.read(told, 16) or 0)
        os.close(told)
        self._ended = _ending(self._guard)

    def send(self, content: bytes) -> None:
        """Send bytes to the function."""
        self._connection.send_bytes(content)

    def receive(self) -> Any:
        """The next object that the function sends; EOFError at its end, or if it sends none."""
        # The pipe alone would not do: a process that the copy has started may hold its other end.
        if self._connection not in wait([self._connection, *self._ended]):
            raise EOFError
        try:
            return self._connection.recv()
        except Exception as error:  # whatever unpickling raises of bytes that somebody else wrote
            raise EOFError from error

    def stop(self) -> None:
        """Let it do nothing until `go_on`."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """End what `stop` began."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self._pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, number)

    def end(self) -> None:
        """End it and the processes that it has started."""
        self._signal(signal.SIGKILL)
        if self._pid:
            with contextlib.suppress(ProcessLookupError):  # it may have left its group
                os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._guard, 0)
        self._connection.close()
        for descriptor in self._ended:
            os.close(descriptor)


def _ending(pid: int) -> list[int]:
    """A descriptor that can be read once a process has ended, where the system has such."""
    try:
        return [os.pidfd_open(pid)] if hasattr(os, "pidfd_open") else []
    except ProcessLookupError:
        return [os.open(os.devnull, os.O_RDONLY)]


def _guard(
    function: Callable[[Connection], None], connection: Connection, parent: int, tell: int
) -> NoReturn:
    """Fork what calls the function, wait for its end or for the parent's, and end all that it has started."""
    try:
        os.setsid()  # what ends the parent's group does not reach this process
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _prctl(PR_SET_PDEATHSIG, 0)
        _prctl(PR_SET_CHILD_SUBREAPER, 1)  # processes whose parents have ended become children of this one
        heard = _ending(parent)
        if os.getppid() != parent:
            os._exit(0)
        own = os.getpid()
        pid = os.fork()
        if pid == 0:
            _serve(function, connection, own)
        connection.close()
        os.write(tell, str(pid).encode())
        os.close(tell)
        heard += _ending(pid)
        while os.getppid() == parent and not _has_ended(pid):
            wait(heard, timeout=None if len(heard) == 2 else GUARD_SECONDS)
        _end_children()
    finally:
        os._exit(0)


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_children() -> None:
    """End the children of this process and all that they have started."""
    import psutil

    until = monotonic() + END_SECONDS  # some may not be ended by this user
    while (left := psutil.Process().children(recursive=True)) and monotonic() < until:
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _serve(function: Callable[[Connection], None], connection: Connection, parent: int) -> NoReturn:
    """What the copy does; it never returns to the code that it was forked from."""
    own = os.getpid()
    try:
        os.setsid()  # what kills its own group does not reach the guard
        end_with_parent()
        _drop_files(connection.fileno())
        if os.getppid() == parent:  # it has not ended in between
            function(connection)
    finally:
        if os.getpid() == own:  # and not a copy of the copy
            _flush()
        os._exit(0)


def _drop_files(kept: int) -> None:
    """Let all descriptors but the standard ones and `kept` lead nowhere.

    What is written to them would reach files and sockets of the parent, such as MLflow's SQLite file. They
    are not closed, as objects of this process would close what gets their numbers.
    """
    if not DESCRIPTORS.is_dir():
        return
    nowhere = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir(DESCRIPTORS):
        if int(name) > 2 and int(name) not in (kept, nowhere):
            with contextlib.suppress(OSError):
                os.fstat(int(name))  # that of the listing is closed
                os.dup2(nowhere, int(name), inheritable=False)
    os.close(nowhere)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def end_with_parent() -> None:
    """Let the system end this process when the one that started it ends, where it can."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value)


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
