"""Files whose content appears at once, or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PART = ".part"  # suffix of files being written


def lock(handle: Any) -> None:
    """Lock an open file until it is closed; an OSError when it is locked already."""
    with contextlib.suppress(ImportError):  # Windows, where an open file cannot be removed
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Any]:
    """A file handle whose content replaces `file` at once when all went well."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # Made by `open`, so that who may read it is up to the umask.
    with (file.parent / f"{secrets.token_hex(8)}{PART}").open("xb+") as handle:
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                lock(handle)
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
            handle.close()
            os.replace(handle.name, file)
        except BaseException as error:
            with contextlib.suppress(OSError):  # what is in the buffer cannot be written either
                handle.close()
            os.unlink(handle.name)
            if isinstance(error, OSError) and error.filename is None:
                raise OSError(error.errno, error.strerror, str(file)) from error
            raise
