"""The environment of a result: versions, machine and commit."""

import contextlib
import json
import os
import platform
import shlex
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from uuid import uuid4

from msgspec import UNSET
from msgspec.structs import replace

from aucbench.contracts import MethodFacts
from aucbench.data import cache_folder
from aucbench.studies.record import CellRecord, Environment

PACKAGES = (
    "aucbench",
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "pluggy",
    "hydra-core",
    "mlflow",
    "scikit-learn",
)


def environment(concurrency: int = 1, command: str | None = None) -> Environment:
    """The environment of a run.

    `concurrency` is the number of cells that run at the same time on this machine. `command` started the run;
    the default is the command of this process.
    """
    return replace(
        _constant(),
        command=command or shlex.join(sys.argv),
        concurrency=concurrency,
        load_average=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    )


def missing_packages(algorithm: Any) -> str:
    """What a method needs that is not installed, and the command that installs it; empty if nothing."""
    facts = MethodFacts(algorithm)
    missing = [name for name in facts.packages if _version(name) is None]
    if not missing:
        return ""
    wanted = f"'{facts.extra}'" if facts.extra else " ".join(missing)
    return f"needs {' and '.join(missing)}: pip install {wanted}"


def changed_versions(record: CellRecord) -> dict[str, tuple[str, str]]:
    """The packages of a cell's method whose version is another here: theirs and ours, "" if not installed.

    Packages that this project itself requires are left out.
    """
    own = {name: made for name, made in record.environment.packages.items() if name not in PACKAGES}
    here = {name: _version(name) or "" for name in own}
    return {name: (made, here[name]) for name, made in own.items() if here[name] != made}


@cache
def _constant() -> Environment:
    import psutil
    from threadpoolctl import threadpool_info

    return Environment(
        python=platform.python_version(),
        platform=platform.platform(),
        packages={name: found for name in PACKAGES if (found := _version(name))},
        cpu=_cpu(),
        cores_physical=psutil.cpu_count(logical=False),
        cores_logical=psutil.cpu_count(),
        memory_bytes=psutil.virtual_memory().total,
        blas=tuple(
            {key: pool.get(key) for key in ("internal_api", "version", "num_threads", "architecture")}
            for pool in threadpool_info()
        ),
        timed_blas_threads=1,
        machine=_machine() or UNSET,
    )


@cache
def git_commit(path: str | None) -> str | None:
    """The commit of the file's checkout, with ``+changes`` if it was edited; None outside a checkout."""
    if path is None:
        return None
    folder = str(Path(path).resolve().parent)
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return commit + ("+changes" if changes else "")


def _git(folder: str, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", folder, *arguments], capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _machine() -> str:
    """A random identifier for this host name and cache folder; empty if it cannot be stored."""
    file = cache_folder() / f"machine-{platform.node() or 'unknown'}"
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), open(file, "x") as handle:
            handle.write(uuid4().hex)
        return file.read_text()
    return ""


def _cpu() -> str:
    """Name of the processor, cached per machine: detecting it takes a second."""
    file = cache_folder() / f"cpu-{platform.node() or 'unknown'}.json"
    with contextlib.suppress(OSError, ValueError, KeyError):
        return str(json.loads(file.read_text())["cpu"])
    from cpuinfo import get_cpu_info

    name = str(get_cpu_info().get("brand_raw") or platform.processor() or "unknown")
    with contextlib.suppress(OSError):  # without a cache, the name is detected again
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"cpu": name}))
    return name
