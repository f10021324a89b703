"""Where compiled kernels are kept between processes."""

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

import numba
import platformdirs


@cache
def source_hash() -> str:
    """Hash of the source files of `aucbench.kernels`.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """``<AUCBENCH_CACHE or the user's cache>/kernels/<hash of kernels, numba and Python>``."""
    root = os.environ.get("AUCBENCH_CACHE") or platformdirs.user_cache_dir("aucbench")
    versions = f"{source_hash()} {numba.__version__} {sys.version_info[:3]}"
    return Path(root) / "kernels" / hashlib.sha256(versions.encode()).hexdigest()[:16]


def use_own_cache_folder() -> None:
    """Make numba keep what it compiles in `cache_folder`."""
    numba.config.CACHE_DIR = str(cache_folder())
