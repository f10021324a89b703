"""A lock that processes of several users and machines share, as a file."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from stat import S_IMODE


@contextlib.contextmanager
def file_lock(file: Path, timeout: float = -1.0) -> Iterator[None]:
    """Wait until no other process has the lock, by default without end; the file's folder is made.

    The file follows the umask, so that whoever may write beside it may lock it.

    Raises
    ------
    OSError
        If the file cannot be written, or another process holds the lock for `timeout` seconds.
    """
    from filelock import FileLock  # only where something is shared

    while not file.exists():
        # Another process may remove the empty folder at any time.
        with contextlib.suppress(FileExistsError, FileNotFoundError):
            file.parent.mkdir(parents=True)
        with contextlib.suppress(FileNotFoundError):
            file.touch()
    with FileLock(file, timeout=timeout, mode=S_IMODE(file.stat().st_mode)):  # else 0644
        yield
