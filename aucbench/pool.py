"""The pool: processes for work that may hang, crash or take long, such as cells, trials and checks.

The module imports nothing else of the framework, so that every part can use it. Two libraries failed the
attacks in `tests/helpers/hostile_methods.py`. Workers of pebble share a pipe: a worker that writes to it
blocks all others. Loky has no time limits, and waits for incomplete answers and for daemons that hold its
pipe.
"""

import atexit
import contextlib
import ctypes
import faulthandler
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Executor, Future
from importlib.metadata import MetadataPathFinder
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic, sleep
from typing import Any

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
# Modules imported by the fork server; by name, since this module imports no other.
PRELOADED = ("aucbench.studies._preload", "aucbench.testing.check_plugin")
PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent ends
PR_SET_CHILD_SUBREAPER = 36  # Linux: whether daemons that descend from a process become its children
DESCRIPTORS = Path("/proc/self/fd")
STATUS_SECONDS = 0.5  # grace for a process to exit after its pipe is closed
END_SECONDS = 5.0  # timeout for a killed process to exit
TRACE_SECONDS, LOOKS = 1.0, 20  # timeout for the stack trace of a late process; polls of its file
SAFE_PATH = "PYTHONSAFEPATH"
STATUS = Path("/proc/self/status")
SHARE = 0.8  # share of the available memory for all workers together

_starting = threading.RLock()  # starting a process temporarily changes the state of this one
_processes: "set[_Process]" = set()  # processes not yet killed


class ProcessEnded(Exception):  # noqa: N818  # named like concurrent.futures.CancelledError
    """The process of a task ended without an answer, or was ended because the answer was late.

    Parameters
    ----------
    status : int
        Exit status, or the negative number of the signal that ended it.
    is_late : bool
        Whether it was killed because the answer was late.
    trace : str
        Stack trace of its Python code, as far as it could write it.
    """

    def __init__(self, status: int, is_late: bool, trace: str):
        super().__init__(status, is_late, trace)
        self.status, self.is_late, self.trace = status, is_late, trace


class Pool(Executor):
    """Runs functions in processes; tasks with the same key share a process.

    Processes are forked from a server with the framework and its own plugins, or are spawned; they are never
    forked from this process, which may have threads. A process is replaced after it has ended or was late.
    An idle process is stopped, since a thread left by a plugin would slow others down.
    """

    def __init__(self) -> None:
        self._by_key: dict[Hashable, _Process] = {}
        self._locks: dict[Hashable, threading.Lock] = {}
        self._is_closed = False

    def submit(  # type: ignore[override]  # options replace keyword arguments
        self,
        function: Callable[..., Any],
        /,
        *arguments: Any,
        key: Hashable = None,
        seconds: float | None = None,
        silence: float | None = None,
        listener: Callable[[Any], None] | None = None,
    ) -> "Future[Any]":
        """Call a function in the process of a key.

        Parameters
        ----------
        function : callable
            Found by its name in the process, like all that is pickled; what is defined in ``__main__`` or
            within a function is sent whole.
        *arguments
            Its arguments.
        key : hashable
            Tasks of equal keys run one after the other in one process.
        seconds : float, optional
            Time limit, after which the process is ended.
        silence : float, optional
            Time limit between two messages.
        listener : callable, optional
            Gets what the function sends with `tell`, in another thread of this process.

        Returns
        -------
        Future
            Its exception is the function's, or `ProcessEnded`.
        """
        content, future = dumped((function, arguments)), Future[Any]()
        lock = self._locks.setdefault(key, threading.Lock())
        if not lock.locked():
            with interrupted_later():  # a partly started process cannot be killed
                self._process(key)
        limits = (seconds, silence, listener or (lambda message: None))

        def follow() -> None:
            with lock:
                if self._is_closed:
                    future.cancel()
                if future.set_running_or_notify_cancel():
                    # The earlier process may have ended with its last task.
                    self._process(key).follow(content, future, *limits)

        threading.Thread(target=follow, daemon=True).start()
        return future

    def _process(self, key: Hashable) -> "_Process":
        process = self._by_key.get(key)
        if process is None or process.has_ended:
            self._by_key[key] = process = _Process()
        return process

    def end(self, key: Hashable) -> None:
        """End the process of a key, if there is one."""
        if (process := self._by_key.pop(key, None)) is not None:
            process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once; tasks that run are lost, and those that wait are cancelled."""
        self._is_closed = True
        for key in list(self._by_key):
            self.end(key)


class _Process:
    """A process that performs one task after the other."""

    def __init__(self) -> None:
        descriptor, self._trace = tempfile.mkstemp(prefix="aucbench-trace-")
        os.close(descriptor)
        self.has_ended = False
        self._connection, other = multiprocessing.Pipe()
        arguments = (other, dict(os.environ), self._trace)
        with _starting, _without_main(), _same_path():
            self._process = _context().Process(target=_serve, args=arguments)
            self._process.start()
        other.close()
        _processes.add(self)

    def follow(
        self,
        content: bytes,
        future: "Future[Any]",
        seconds: float | None,
        silence: float | None,
        listener: Callable[[Any], None],
    ) -> None:
        """Send a task, listen to the process, and settle the future."""
        end, late = None if seconds is None else monotonic() + seconds, threading.Event()
        try:
            self._signal("SIGCONT")
            try:
                self._connection.send_bytes(content)
            except OSError:
                raise _LostError from None
            while True:
                left = [each for each in (silence, end and end - monotonic()) if each is not None]
                with self._killed_after(min(left, default=None), late):
                    kind, value = self._received()
                if kind == "answer":
                    break
                if kind == "error":
                    raise value
                listener(value)
        except _LostError:
            self._process.join(STATUS_SECONDS)
            self.kill()
            future.set_exception(ProcessEnded(self._process.exitcode or 0, late.is_set(), self._lines))
        except BaseException as error:  # of the function, or of the listener
            future.set_exception(error)
        else:
            self._signal("SIGSTOP")
            future.set_result(value)

    def _received(self) -> tuple[str, Any]:
        """The next message; `_LostError` if there is none, or none that the process should have sent."""
        try:
            # The pipe is not enough: a child of the process may hold its other end.
            if self._connection in wait([self._connection, self._process.sentinel]):
                match self._connection.recv():
                    case ("answer" | "error" | "message") as kind, value:
                        return kind, value
        except Exception:  # unexpected message: the plugin wrote to our pipe
            pass
        raise _LostError

    @contextlib.contextmanager
    def _killed_after(self, seconds: float | None, late: threading.Event) -> Iterator[None]:
        """End the process if the block takes longer."""

        def kill() -> None:
            late.set()
            self._write_trace()
            self.kill()

        if seconds is None:
            yield
            return
        timer = threading.Timer(max(0.0, seconds), kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            if late.is_set():
                timer.join()

    def _write_trace(self) -> None:
        """Make the process write its stack trace."""
        self._signal("SIGUSR1")
        for _ in range(LOOKS):
            sleep(TRACE_SECONDS / LOOKS)
            if Path(self._trace).stat().st_size:
                return

    def _signal(self, name: str) -> None:
        """Send a signal to the process group; SIGUSR1 to the process only."""
        if not hasattr(signal, name):
            return
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
        self._process.kill()  # it may not have made its group yet
        for process in started:
            with contextlib.suppress(psutil.Error):
                process.kill()
        self._process.join(END_SECONDS)
        with contextlib.suppress(OSError):
            self._lines = Path(self._trace).read_text(errors="replace")
            os.unlink(self._trace)

    _lines = ""


class _LostError(Exception):
    pass


@atexit.register
def _end_all() -> None:
    """Kill the remaining processes; `multiprocessing` would wait for them."""
    for process in list(_processes):
        process.kill()


def dumped(content: Any) -> bytes:
    """Pickle an object; classes and functions that cannot be imported elsewhere are pickled by value."""
    try:
        pickled = pickle.dumps(content)
        if b"__main__" not in pickled:
            return pickled
    except Exception:  # of a class within a function
        pass
    import cloudpickle  # type: ignore[import-untyped]  # it has no types

    whole: bytes = cloudpickle.dumps(content)
    return whole


def tell(message: Any) -> None:
    """Send a message to the listener of the current task; without a task, do nothing."""
    if _parent is not None:
        _parent.send(("message", message))


_parent: Connection | None = None  # pipe to the parent, in a process of the pool


def _serve(connection: Connection, environment: Mapping[str, str], trace: str) -> None:
    """Perform tasks until the pipe is closed."""
    global _parent
    _parent, own = connection, os.getpid()
    _end_with_parent()
    if hasattr(os, "setsid"):
        os.setsid()  # signals to its group reach no other process
    _drop_files(connection)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    os.environ.clear()
    os.environ.update(environment)
    with open(trace, "w") as lines:
        faulthandler.enable(lines, all_threads=False)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, lines, all_threads=False)
        while True:
            try:
                content = connection.recv_bytes()
            except (EOFError, OSError):
                break
            try:
                function, arguments = pickle.loads(content)
                answer = dumped(("answer", function(*arguments)))
                pickle.loads(answer)  # an answer of a plugin may be impossible to unpickle
            except BaseException as error:
                answer = _dumped_error(error)
            if os.getpid() != own:  # the plugin has forked, and this is the copy
                break
            try:
                connection.send_bytes(answer)
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
        except BaseException:  # whatever a stranger's message raises
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
    kept = {0, 1, 2, connection.fileno(), parent.sentinel if parent else 0}
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in {int(name) for name in os.listdir(DESCRIPTORS)} - kept - {nowhere}:
        with contextlib.suppress(OSError):
            os.fstat(number)  # the descriptor of the listing is closed
            os.dup2(nowhere, number, inheritable=False)
    os.close(nowhere)
    MetadataPathFinder().invalidate_caches()  # it keeps zip files of distributions open


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


def _context() -> Any:
    """The multiprocessing context of the pool."""
    context = multiprocessing.get_context(METHOD)
    if METHOD == "forkserver":
        context.set_forkserver_preload(list(PRELOADED))
    # Dask workers are daemons, which may not start processes by default; processes of the pool end with them.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    return context


def start_fork_server() -> None:
    """Start the fork server, which imports its modules in the background."""
    _context()
    if METHOD == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        resource_tracker.ensure_running()  # it unblocks signals, and must not do so below
        with _starting, _sigint_blocked(), _without_main(), _same_path():
            forkserver.ensure_running()


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Keep processes started in the block from running the user's script again as a module."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes started in the block; this process receives it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _same_path() -> Iterator[None]:
    """Let processes started in the block import from the current folder only if this process does."""
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


@contextlib.contextmanager
def limited_memory(limit: int | None, concurrency: int, worker: bool) -> Iterator[None]:
    """Let allocations of more than `limit` bytes raise MemoryError within the block.

    The default in a worker is its share of the available memory. Nothing is limited on systems that cannot
    measure the private memory of a process.
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
