"""The folder of files that can be regenerated: downloads, parsed data, compiled code."""

import os
import tempfile
from pathlib import Path

import platformdirs

from aucbench.errors import ParameterError


def cache_folder() -> Path:
    """`AUCBENCH_CACHE`, else the platform's cache folder."""
    chosen = os.environ.get("AUCBENCH_CACHE")
    return folder_of(chosen, "AUCBENCH_CACHE") if chosen else platformdirs.user_cache_path("aucbench")


def folder_of(text: str, variable: str) -> Path:
    """The folder named in an environment variable, as an absolute path; ~ is the user's home."""
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise ParameterError(f"{variable} is {text!r}, but the home of that user is not known.") from None


def remember(path: Path, content: bytes) -> None:
    """Write a file of the cache at once or not at all; a failed write only costs time later."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
    except OSError:
        pass
