"""The folder of files that can be regenerated: downloads, parsed data, compiled code."""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs

from aucbench.errors import ParameterError


def cache_folder() -> Path:
    """`AUCBENCH_CACHE`, else the platform's cache folder."""
    chosen = os.environ.get("AUCBENCH_CACHE")
    return absolute(chosen) if chosen else platformdirs.user_cache_path("aucbench")


def absolute(path: str) -> Path:
    """The absolute path; ~ is the user's home."""
    return Path(os.path.expanduser(path)).absolute()


def utf8_path(path: str) -> str:
    """The path itself, or a link in the cache if the path is not UTF-8, which no record can hold.

    Parameters
    ----------
    path : str
        Path of a user's file or folder, from the command line.

    Returns
    -------
    str
        A path of the same file or folder that is UTF-8.

    Raises
    ------
    ParameterError
        The path is not UTF-8 and does not exist.
    """
    if path.isascii() or path.encode("utf-8", "replace").decode() == path:
        return path
    target = absolute(path)
    if not target.exists():
        raise ParameterError(f"{os.fsencode(path)!r} is no file or folder, and its name is not UTF-8.")
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
    link = cache_folder() / "links" / digest / os.fsencode(target.name).decode("utf-8", "replace")
    link.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        link.symlink_to(target)
    return str(link)


def remember(path: Path, content: bytes) -> None:
    """Write a file of the cache at once or not at all; a failed write only costs time later."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
