"""Leases divide the work in a store among several processes, also of several machines.

A lease is a file that one process only can create. It says who created it, and a thread touches it as long as
the work takes. Another process takes a lease over if its holder is a process of this machine that has ended,
or if nothing has touched the file for a minute.
"""

import contextlib
import json
import os
import platform
import secrets
import threading
from pathlib import Path
from time import monotonic

from aucbench.errors import MachineError
from aucbench.pool import file_lock

HEARTBEAT_SECONDS = 10.0
STALE_SECONDS = 60.0  # without a heartbeat; on the clock of who waits, as clocks of machines differ


class Leases:
    """The leases that this process holds in a folder; `close` gives them back.

    Parameters
    ----------
    folder : Path
        Where the files of all holders are; it is made when it is needed.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._held: set[str] = set()
        self._seen: dict[str, tuple[tuple[bytes, int], float]] = {}  # state of others' files, and since when
        self._closed = threading.Event()
        self._heart: threading.Thread | None = None
        mine = {"machine": _machine(), "pid": os.getpid(), "number": secrets.token_hex(8)}
        self._content = json.dumps(mine).encode()

    def __enter__(self) -> "Leases":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, name: str) -> bool:
        """Take a lease, and return whether this process has it."""
        if name in self._held:
            return True
        try:
            taken = self._create(name)
            if not taken and self._is_stale(name):
                with file_lock(self._folder / "lock"):
                    if self._is_stale(name):  # else another process has taken it over meanwhile
                        (self._folder / name).unlink(missing_ok=True)
                        taken = self._create(name)
        except OSError as error:
            raise MachineError(f"{self._folder} cannot be written to: {error.strerror or error}.") from error
        if taken:
            self._held.add(name)
            self._seen.pop(name, None)
            if self._heart is None:
                self._heart = threading.Thread(target=self._beat, daemon=True)
                self._heart.start()
        return taken

    def holds(self, name: str) -> bool:
        """Whether this process has a lease."""
        return name in self._held

    def give_back(self, name: str) -> None:
        """Give a lease back; nothing happens if this process does not hold it."""
        if name in self._held:
            self._held.discard(name)
            if self._is_mine(name):
                with contextlib.suppress(OSError):
                    (self._folder / name).unlink()

    def close(self) -> None:
        """Give all leases back; a refused study leaves no folder."""
        self._closed.set()
        for name in list(self._held):
            self.give_back(name)
        with contextlib.suppress(OSError):  # there are leases of others, or results
            self._folder.rmdir()
            self._folder.parent.rmdir()

    def _create(self, name: str) -> bool:
        try:
            handle = (self._folder / name).open("xb")
        except FileExistsError:
            return False
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            return self._create(name)
        with handle:
            handle.write(self._content)
        return True

    def _is_stale(self, name: str) -> bool:
        """Whether a lease of another process may be taken over."""
        try:
            file = self._folder / name
            state = file.read_bytes(), file.stat().st_mtime_ns
        except FileNotFoundError:
            return True
        with contextlib.suppress(ValueError, KeyError, TypeError):  # its holder is about to write it
            holder = json.loads(state[0])
            if holder["machine"] == _machine() and not _runs(holder["pid"]):
                return True
        before, since = self._seen.get(name, (None, 0.0))
        if state != before:
            self._seen[name] = state, monotonic()
            return False
        return monotonic() - since > STALE_SECONDS

    def _is_mine(self, name: str) -> bool:
        try:
            return (self._folder / name).read_bytes() == self._content
        except OSError:
            return False

    def _beat(self) -> None:
        while not self._closed.wait(HEARTBEAT_SECONDS):
            for name in list(self._held):
                if self._is_mine(name):  # else it was taken over, as this process was stopped for long
                    with contextlib.suppress(OSError):
                        os.utime(self._folder / name)


def _machine() -> str:
    """The machine, or the container, in which a number belongs to one process only."""
    known = [platform.node()]
    with contextlib.suppress(OSError):
        known += [
            Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            os.readlink("/proc/self/ns/pid"),
        ]
    return " ".join(known)


def _runs(pid: int) -> bool:
    import psutil  # only where a lease is waited for

    return psutil.pid_exists(pid)
