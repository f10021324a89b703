"""A lock that processes of several users and machines share, as a file."""

import contextlib
from collections.abc import Iterator
from errno import ENOTDIR
from pathlib import Path
from stat import S_IMODE


@contextlib.contextmanager
def file_lock(file: Path, timeout: float = -1.0) -> Iterator[None]:
    """Wait until no other process has the lock, by default without limit; the file's folder is made.

    The file follows the umask, so that every user who may write to its folder may lock it.

    Raises
    ------
    OSError
        If the file cannot be written, or another process holds the lock for `timeout` seconds.
    """
    from filelock import FileLock  # imported only when a folder is shared

    while not file.exists():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        except (FileExistsError, FileNotFoundError):  # another process has just removed the empty folder
            if any(path.is_symlink() and not path.exists() for path in (file, *file.parents)):
                raise NotADirectoryError(ENOTDIR, "a link leads nowhere", str(file.parent)) from None
    with FileLock(file, timeout=timeout, mode=S_IMODE(file.stat().st_mode)):  # else 0644
        yield
