"""A process of the pool: it performs tasks, and ends with the process that started it."""

import contextlib
import ctypes
import faulthandler
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Mapping
from importlib.metadata import MetadataPathFinder
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent ends
PR_SET_CHILD_SUBREAPER = 36  # Linux: whether daemons that descend from a process become its children
DESCRIPTORS = Path("/proc/self/fd")


def dumped(content: Any) -> bytes:
    """Pickle an object; classes and functions that cannot be imported elsewhere are pickled by value."""
    try:
        pickled = pickle.dumps(content)
        if b"__main__" not in pickled:
            return pickled
    except Exception:  # classes inside functions cannot be pickled
        pass
    import cloudpickle  # type: ignore[import-untyped]  # it has no types

    dump: bytes = cloudpickle.dumps(content)
    return dump


def called(content: bytes) -> Any:
    """Call the function of a pickled pair of a function and its arguments."""
    function, arguments = pickle.loads(content)
    return function(*arguments)


def tell(message: Any) -> None:
    """Send a message to the listener of the current task; without a task, do nothing."""
    if _parent is not None:
        _parent.send(("message", message))


_parent: Connection | None = None  # pipe to the parent, in a process of the pool


def serve(connection: Connection, environment: Mapping[str, str], trace: str) -> None:
    """Perform tasks until the pipe is closed."""
    global _parent
    _parent, pid = connection, os.getpid()
    _end_with_parent()
    if hasattr(os, "setsid"):
        os.setsid()  # signals to its group reach no other process
    _drop_files(connection)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    os.environ.clear()
    os.environ.update(environment)
    os.environ.setdefault("PJRT_NPROC", "1")  # JAX computes in one thread, if a plugin imports it here
    with open(trace, "w") as lines:
        faulthandler.enable(lines, all_threads=False)
        if hasattr(faulthandler, "register"):  # after the trace, the signal ends the process
            faulthandler.register(signal.SIGUSR1, lines, all_threads=False, chain=True)
        while True:
            try:
                content = connection.recv_bytes()
            except (EOFError, OSError):
                break
            try:
                message = dumped(("answer", called(content)))
                pickle.loads(message)  # an answer of a plugin may be impossible to unpickle
            except BaseException as error:
                message = _dumped_error(error)
            if os.getpid() != pid:  # the plugin has forked, and this is the copy
                break
            try:
                connection.send_bytes(message)
            except BaseException:  # the plugin has closed the pipe, or this process is being ended
                break
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(0)


def _dumped_error(error: BaseException) -> bytes:
    try:
        pickle.loads(content := dumped(("error", error)))
        return content
    except BaseException:
        try:
            text = f"{type(error).__name__}: {error}"
        except BaseException:  # the message of a third-party error may raise anything
            text = f"{type(error).__name__} (its message cannot be shown)"
        return dumped(("error", RuntimeError(text)))


def _drop_files(connection: Connection) -> None:
    """Redirect all descriptors to devnull, except the standard ones, the pipe and the parent's sentinel.

    The others belong to the fork server and the resource tracker. They are not closed, as objects of this
    process would later close reused numbers.
    """
    if not DESCRIPTORS.is_dir():
        return
    parent = multiprocessing.parent_process()
    needed = {0, 1, 2, connection.fileno(), parent.sentinel if parent else 0}
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in {int(name) for name in os.listdir(DESCRIPTORS)} - needed - {nowhere}:
        with contextlib.suppress(OSError):
            os.fstat(number)  # the descriptor of the listing is closed
            os.dup2(nowhere, number, inheritable=False)
    os.close(nowhere)
    MetadataPathFinder().invalidate_caches()  # the finder keeps zip files of distributions open


def _end_with_parent() -> None:
    """End this process with its parent, even if the parent is killed.

    On Linux, the system kills it when the fork server ends, which ends with its parent. Elsewhere, and after
    a change of user, a thread waits for the parent.
    """
    with contextlib.suppress(OSError, AttributeError):
        system = ctypes.CDLL(None)
        system.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        system.prctl(PR_SET_CHILD_SUBREAPER, 1)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
