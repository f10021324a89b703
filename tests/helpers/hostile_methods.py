"""Methods that harm the process they run in, each in its own way; they must not harm `Victim`."""

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
from functools import partial
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


def raised(error):
    raise error


def for_each(finder, function):
    """Call a function on each descriptor or pipe, errors ignored."""
    for item in finder():
        with contextlib.suppress(OSError):
            function(item)


def descriptors():
    return [number for number in map(int, os.listdir("/proc/self/fd")) if number > 2]


def pipes():
    return [item for item in gc.get_objects() if isinstance(item, Connection)]


def replaces_functions():
    np.dot = lambda *args: 0.0
    np.random.default_rng = lambda *args: None


def reseeds():
    np.random.seed(5)
    random.seed(5)
    np.seterr(all="raise")


def removes_its_folder():
    os.chdir(tempfile.mkdtemp())
    os.rmdir(os.getcwd())


def closes_standard_streams():
    sys.stdout.close()
    os.close(1)
    os.close(2)


def leaks_descriptors():
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    LEAKED.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(min(limit, 4096) - 64))


LEAKED = []


def leaves_a_daemon():
    if os.fork() == 0:
        os.setsid()
        time.sleep(3600)


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


def promises_gigabytes_and_exits():
    promise = struct.pack("!i", 2_000_000_000) + b"hello"
    for_each(pipes, lambda pipe: os.write(pipe.fileno(), promise))
    os._exit(0)


def unlocks(number):
    fcntl.flock(number, fcntl.LOCK_UN)
    os.lseek(number, 0, os.SEEK_SET)


def shuts(number):
    with socket.socket(fileno=os.dup(number)) as duplicate:
        duplicate.shutdown(socket.SHUT_RDWR)


class TwoWordsError(AucbenchError):
    def __init__(self, first, second):
        super().__init__(first + second)


class Bomb:
    def __reduce__(self):
        return int, ("no number",)


class MuteError(Exception):
    def __str__(self):
        raise BaseException("no word")

    __repr__ = __str__


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
    **{
        function.__name__: function
        for function in (
            replaces_functions, reseeds, removes_its_folder, closes_standard_streams, leaks_descriptors,
            leaves_a_daemon, changes_signals, changes_the_path, changes_the_environment, traces,
            replaces_open, promises_gigabytes_and_exits, leaves_daemons, leaves_daemons_and_exits,
            replaces_the_pipe, replaces_the_clock, drops_its_user, recurses_without_end,
        )
    },
    "leaves_the_folder": partial(os.chdir, "/"),
    "raises_base_exception": lambda: raised(BaseException("I go")),
    "raises_generator_exit": lambda: raised(GeneratorExit()),
    "raises_keyboard_interrupt": lambda: raised(KeyboardInterrupt()),
    "raises_what_cannot_be_read_back": lambda: raised(TwoWordsError("one", "other")),
    "raises_what_cannot_be_printed": lambda: raised(MuteError()),
    "raises_system_exit": partial(sys.exit, 0),
    "exits": lambda: os._exit(0),
    "exits_with_status": lambda: os._exit(7),
    "kills_itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "kills_its_group": lambda: os.killpg(0, signal.SIGKILL),
    "terminates_its_group": lambda: os.killpg(0, signal.SIGTERM),
    "interrupts_its_group": lambda: os.killpg(0, signal.SIGINT),
    "segfaults": lambda: ctypes.string_at(0),
    "aborts": os.abort,
    "closes_descriptors": lambda: os.closerange(3, 256),
    "forbids_files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)),
    "forbids_memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20)),
    "forbids_processor_time": lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 1)),
    "leaves_a_thread": lambda: threading.Thread(target=time.sleep, args=(3600,)).start(),
    "leaves_a_thread_that_exits": lambda: threading.Timer(0.05, os._exit, (3,)).start(),
    "leaves_a_process": lambda: subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]),
    "forks_and_goes_on": os.fork,
    "prints_without_end": lambda: sys.stdout.write("x" * 1_000_000),
    "writes_to_all_files": lambda: for_each(
        descriptors, lambda number: os.write(number, struct.pack("!i", 5) + b"hello")
    ),
    "truncates_all_files": lambda: for_each(descriptors, lambda number: os.ftruncate(number, 0)),
    "unlocks_all_files": lambda: for_each(descriptors, unlocks),
    "shuts_all_sockets": lambda: for_each(descriptors, shuts),
    "forges_a_report": lambda: for_each(pipes, lambda pipe: pipe.send(("report", 3))),
    "forges_what_cannot_be_read_back": lambda: for_each(pipes, lambda pipe: pipe.send(("report", Bomb()))),
}  # fmt: skip


@dataclass(frozen=True)
class Hostile(Gentle):
    """Attacks in its first step."""

    name: ClassVar[str] = "hostile"
    attack: str = "exits"

    def step(self, w, batch):
        ATTACKS[self.attack]()
        return super().step(w, batch)
