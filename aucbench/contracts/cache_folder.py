"""The folder of files that can be regenerated: downloads, parsed data, compiled code."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """`AUCBENCH_CACHE`, else the platform's cache folder."""
    chosen = os.environ.get("AUCBENCH_CACHE")
    return absolute(chosen) if chosen else platformdirs.user_cache_path("aucbench")


def absolute(path: str) -> Path:
    """The absolute path; ~ is the user's home."""
    return Path(os.path.expanduser(path)).absolute()


def remember(path: Path, content: bytes) -> None:
    """Write a file of the cache at once or not at all; a failed write only costs time later."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
