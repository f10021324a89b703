"""The pool, as an executor of `concurrent.futures`, and its side of the processes."""

import atexit
import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from aucbench.pool.process import dumped, serve
from aucbench.pool.start_methods import context, interrupted_later, starting

STATUS_SECONDS = 0.5  # grace for a process to exit after its pipe is closed
END_SECONDS = 5.0  # timeout for a killed process to exit
TRACE_SECONDS = 1.0  # timeout for the stack trace of a late process

_processes: "set[_Process]" = set()  # processes not yet killed


class ProcessEnded(Exception):  # noqa: N818  # named like concurrent.futures.CancelledError
    """The process of a task ended without an answer.

    `status` is its exit status, or the negative number of the signal that ended it; `is_late` is true if it
    was ended because the answer was late; `trace` is the stack trace of its Python code, possibly cut short
    or empty.
    """

    def __init__(self, status: int, is_late: bool, trace: str):
        super().__init__(status, is_late, trace)
        self.status, self.is_late, self.trace = status, is_late, trace

    def __str__(self) -> str:
        return f"its process ended with status {self.status}"


class Pool(Executor):
    """Runs functions in processes; tasks with the same key share a process.

    Processes are forked from a server with the framework and its own plugins, or are spawned; they are never
    forked from this process, which may have threads. A process is replaced after it has ended or was late.
    An idle process is stopped, since a thread left by a plugin would slow others down.
    """

    def __init__(self) -> None:
        self._by_key: dict[Hashable, _Process] = {}
        self._locks: dict[Hashable, threading.Lock] = defaultdict(threading.Lock)
        self._is_closed = False

    def submit(  # type: ignore[override]  # the names are options of the task
        self,
        function: Callable[..., Any],
        /,
        *arguments: Any,
        key: Hashable = None,
        seconds: float | None = None,
        listener: Callable[[Any], None] = lambda message: None,
    ) -> "Future[Any]":
        """Call a function in the process of a key.

        Functions and classes are pickled by name; definitions in ``__main__`` or within a function are
        pickled by value. Tasks of equal keys run one after the other. The process is ended after `seconds`.
        The `listener` gets the messages that the function sends with `tell`, in another thread of this
        process. The exception of the future is that of the function, or `ProcessEnded`.
        """
        content, future, lock = dumped((function, arguments)), Future[Any](), self._locks[key]
        if not lock.locked():
            with interrupted_later():  # a partly started process cannot be killed
                self._process(key)

        def follow() -> None:
            with lock:
                if self._is_closed:
                    future.cancel()
                if not future.set_running_or_notify_cancel():
                    return
                try:  # the earlier process may have ended with its last task
                    result = self._process(key).perform(content, seconds, listener)
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)

        threading.Thread(target=follow, daemon=True).start()
        return future

    def _process(self, key: Hashable) -> "_Process":
        process = self._by_key.get(key)
        if process is None or process.has_ended:
            self._by_key[key] = process = _Process()
        return process

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once; running tasks are lost, and waiting tasks are cancelled."""
        self._is_closed = True
        for process in list(self._by_key.values()):
            process.kill()


class _Process:
    """A process that performs one task after the other."""

    def __init__(self) -> None:
        descriptor, self._trace = tempfile.mkstemp(prefix="aucbench-trace-")
        os.close(descriptor)
        self.has_ended = self._is_late = False
        self._lines = ""
        self._connection, worker_end = multiprocessing.Pipe()
        with starting():
            self._process = context().Process(target=serve, args=(worker_end, dict(os.environ), self._trace))
            self._process.start()
        worker_end.close()
        _processes.add(self)

    def perform(self, content: bytes, seconds: float | None, listener: Callable[[Any], None]) -> Any:
        """Send a task and listen to the process until it answers; `ProcessEnded` if it does not."""
        self._signal("SIGCONT")
        timer = threading.Timer(seconds or 0.0, self._end_late)
        if seconds is not None:
            timer.start()
        try:
            kind, value = self._next_message(content)
            while kind == "message":
                listener(value)
                kind, value = self._next_message()
        finally:
            timer.cancel()
            if self._is_late:
                timer.join()
        if kind == "error":
            raise value
        if kind == "lost":
            self._process.join(STATUS_SECONDS)
            self.kill()
            raise ProcessEnded(self._process.exitcode or 0, self._is_late, self._lines)
        self._signal("SIGSTOP")
        return value

    def _next_message(self, content: bytes | None = None) -> tuple[str, Any]:
        """The next message, after a task is sent; "lost" if the process sends no valid message."""
        try:
            if content is not None:
                self._connection.send_bytes(content)
            # The pipe is not enough: a child of the process may hold its other end.
            if self._connection in wait([self._connection, self._process.sentinel]):
                match self._connection.recv():
                    case ("answer" | "error" | "message") as kind, value:
                        return kind, value
        except Exception:  # unexpected message: the plugin wrote to our pipe
            pass
        return "lost", None

    def _end_late(self) -> None:
        self._is_late = True
        self._signal("SIGUSR1")  # the worker writes its stack trace and ends
        self._process.join(TRACE_SECONDS)
        self.kill()

    def _signal(self, name: str) -> None:
        """Send a signal to the process group; SIGUSR1 to the process only."""
        if hasattr(signal, name):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send = os.kill if name == "SIGUSR1" else os.killpg
                send(self._process.pid, getattr(signal, name))

    def kill(self) -> None:
        """Kill the process, its descendants and its process group."""
        import psutil

        if self.has_ended:
            return
        self.has_ended = True
        _processes.discard(self)
        started = []
        with contextlib.suppress(psutil.Error):
            started = psutil.Process(self._process.pid).children(recursive=True)
        self._signal("SIGKILL")
        self._process.kill()  # the worker may not have made its process group yet
        for process in started:
            with contextlib.suppress(psutil.Error):
                process.kill()
        self._process.join(END_SECONDS)
        with contextlib.suppress(OSError):
            self._lines = Path(self._trace).read_text(errors="replace")
            os.unlink(self._trace)


@atexit.register
def _end_all() -> None:
    """Kill the remaining processes; `multiprocessing` would wait for them."""
    for process in list(_processes):
        process.kill()
