"""A lock that processes of several users and machines share, as a file."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from math import inf
from pathlib import Path
from time import monotonic, sleep

POLL_SECONDS = 0.05


@contextlib.contextmanager
def file_lock(file: Path, timeout: float = inf) -> Iterator[None]:
    """Wait until no other process has the lock, by default without end; the file's folder is made.

    The file follows the umask, so that whoever may write beside it may lock it. Its holder may remove it.

    Raises
    ------
    OSError
        If the file cannot be written; a TimeoutError if another process holds the lock for `timeout` seconds.
    """
    end = monotonic() + timeout
    while (descriptor := _locked(file)) is None:
        if monotonic() >= end:
            raise TimeoutError(f"another process holds {file}")
        sleep(POLL_SECONDS)
    try:
        yield
    finally:
        os.close(descriptor)


def _locked(file: Path) -> int | None:
    """The descriptor of the file if no other process has the lock, which its end gives back; else None."""
    while True:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except (FileExistsError, FileNotFoundError):
            if any(os.path.lexists(each) and not each.is_dir() for each in file.parents):
                raise
            continue  # another process has just removed the empty folder
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.stat(descriptor).st_ino == os.stat(file).st_ino:
                return descriptor
        except FileNotFoundError:  # the last holder has removed it
            pass
        except BlockingIOError:
            os.close(descriptor)
            return None
        os.close(descriptor)
