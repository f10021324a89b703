"""Methods that harm the process they run in, each in its own way; `Victim` is what they must not harm."""

import contextlib
import ctypes
import fcntl
import gc
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import ClassVar

import numpy as np

from aucbench.errors import AucbenchError
from tests.helpers.study_methods import Gentle


class Victim(Gentle):
    """Draws from NumPy's generators, global and its own, and needs its folder, files and threads."""

    name: ClassVar[str] = "victim"

    def init(self, problem, rng):
        with tempfile.TemporaryFile(dir=os.getcwd()):
            noise = np.random.default_rng(3).normal(size=problem.n_features) + rng.normal()
        return super().init(problem, rng) + 1e-3 * noise * np.dot(noise, noise)


def replaces_functions():
    np.dot = lambda *args: 0.0
    np.random.default_rng = lambda *args: None


def reseeds():
    np.random.seed(5)
    random.seed(5)
    np.seterr(all="raise")


def leaves_the_folder():
    os.chdir("/")


def removes_its_folder():
    os.chdir(tempfile.mkdtemp())
    os.rmdir(os.getcwd())


def raises_base_exception():
    raise BaseException("I go")


def raises_generator_exit():
    raise GeneratorExit


def raises_keyboard_interrupt():
    raise KeyboardInterrupt


def raises_system_exit():
    sys.exit(0)


def exits():
    os._exit(0)


def exits_with_status():
    os._exit(7)


def kills_itself():
    os.kill(os.getpid(), signal.SIGKILL)


def kills_its_group():
    os.killpg(0, signal.SIGKILL)


def terminates_its_group():
    os.killpg(0, signal.SIGTERM)


def interrupts_its_group():
    os.killpg(0, signal.SIGINT)


def segfaults():
    ctypes.string_at(0)


def aborts():
    os.abort()


def closes_descriptors():
    os.closerange(3, 256)


def closes_standard_streams():
    sys.stdout.close()
    os.close(1)
    os.close(2)


def leaks_descriptors():
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    LEAKED.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(min(limit, 4096) - 64))


LEAKED = []


def forbids_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))


def forbids_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))


def forbids_processor_time():
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))


def leaves_a_thread():
    threading.Thread(target=time.sleep, args=(3600,)).start()


def leaves_a_process():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])


def leaves_a_daemon():
    if os.fork() == 0:
        os.setsid()
        time.sleep(3600)


def forks_and_goes_on():
    os.fork()


def prints_without_end():
    sys.stdout.write("x" * 1_000_000)


def changes_signals():
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    signal.alarm(1)


def changes_the_path():
    sys.path.clear()
    for name in [name for name in sys.modules if name.startswith("aucbench.data")]:
        del sys.modules[name]


def changes_the_environment():
    os.environ.clear()
    os.environ["AUCBENCH_CACHE"] = "/nowhere"
    os.umask(0o777)
    os.nice(15)


def traces():
    sys.settrace(lambda *args: None)
    sys.setrecursionlimit(60)
    sys.setswitchinterval(10.0)


def replaces_open():
    import builtins

    builtins.open = builtins.print = builtins.sorted = None


def descriptors():
    return [number for number in map(int, os.listdir("/proc/self/fd")) if number > 2]


def pipes():
    return [each for each in gc.get_objects() if isinstance(each, Connection)]


def writes_to_all_files():
    for number in descriptors():
        with contextlib.suppress(OSError):
            os.write(number, struct.pack("!i", 5) + b"hello")


def promises_gigabytes_and_exits():
    for pipe in pipes():
        with contextlib.suppress(OSError):
            os.write(pipe.fileno(), struct.pack("!i", 2_000_000_000) + b"hello")
    os._exit(0)


def truncates_all_files():
    for number in descriptors():
        with contextlib.suppress(OSError):
            os.ftruncate(number, 0)


def unlocks_all_files():
    for number in descriptors():
        with contextlib.suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_UN)
            os.lseek(number, 0, os.SEEK_SET)


def shuts_all_sockets():
    for number in descriptors():
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as found:
            found.shutdown(socket.SHUT_RDWR)


class TwoWordsError(AucbenchError):
    def __init__(self, one, other):
        super().__init__(one + other)


def raises_what_cannot_be_read_back():
    raise TwoWordsError("one", "other")


class Bomb:
    def __reduce__(self):
        return int, ("no number",)


def forges_a_report():
    for pipe in pipes():
        with contextlib.suppress(OSError):
            pipe.send(("report", 3))


def forges_what_cannot_be_read_back():
    for pipe in pipes():
        with contextlib.suppress(OSError):
            pipe.send(("report", Bomb()))


def raises_what_cannot_be_printed():
    class MuteError(Exception):
        def __str__(self):
            raise BaseException("no word")

        __repr__ = __str__

    raise MuteError


def leaves_daemons():
    """Two processes in sessions of their own, whose parents have ended."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open(DAEMONS, "a") as file:
                file.write(f"{os.getpid()}\n")
            time.sleep(3600)
        os._exit(0)
    subprocess.run(f"sleep 3600 & echo $! >> {DAEMONS}", shell=True, start_new_session=True, check=False)


def leaves_daemons_and_exits():
    leaves_daemons()
    os._exit(0)


# Where daemons write their process numbers.
DAEMONS = os.environ.get("HOSTILE_DAEMONS") or os.path.join(tempfile.mkdtemp(), "daemons")


def replaces_the_pipe():
    Connection.send = Connection.recv = Connection.send_bytes = None


def replaces_the_clock():
    time.perf_counter = time.monotonic = lambda: 0.0
    os.getpid = lambda: 1
    os._exit = lambda status: None


def leaves_a_thread_that_exits():
    threading.Thread(target=lambda: (time.sleep(0.05), os._exit(3)), daemon=True).start()


def drops_its_user():
    with contextlib.suppress(PermissionError):
        os.setgid(65534)
        os.setuid(65534)


def recurses_without_end():
    sys.setrecursionlimit(1_000_000)
    gc.disable()

    def deeper(n):
        return deeper(n + 1)

    deeper(0)


ATTACKS = {
    name: function
    for name, function in list(globals().items())
    if callable(function) and getattr(function, "__module__", "") == __name__ and name[0].islower()
    and name not in ("dataclass", "descriptors", "pipes")
}  # fmt: skip


@dataclass(frozen=True)
class Hostile(Gentle):
    """Attacks in its first step."""

    name: ClassVar[str] = "hostile"
    attack: str = "exits"

    def step(self, w, batch):
        ATTACKS[self.attack]()
        return super().step(w, batch)
