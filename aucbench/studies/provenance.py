"""The environment of a result: versions, machine and commit."""

import contextlib
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from typing import Any
from uuid import uuid4

from msgspec import UNSET
from msgspec.structs import replace

from aucbench.contracts import MethodFacts
from aucbench.contracts.hooks import PROJECT
from aucbench.data import cache_folder
from aucbench.humanize import without_secrets
from aucbench.studies.record import CellRecord, Environment

PACKAGES = (
    "aucbench", "numpy", "scipy", "numba", "llvmlite", "pluggy", "hydra-core", "mlflow", "scikit-learn",
)  # fmt: skip


def environment(
    concurrency: int = 1, command: str | None = None, packages: Iterable[str] = ()
) -> Environment:
    """The environment of a run.

    `concurrency` is the number of cells that run at the same time on this machine. `command` started the run;
    the default is the command of this process. The versions of `packages` are recorded besides `PACKAGES`.
    """
    constant = _constant()
    versions = {name: release for name in packages if (release := _version(name))}
    return replace(
        constant,
        packages=versions | constant.packages,
        command=without_secrets(command or shlex.join(sys.argv)),
        concurrency=concurrency,
        load_average=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    )


def packages_of(algorithm: Any, distributions: Iterable[str]) -> tuple[str, ...]:
    """The packages that a method declares, and the packages that its plugins' distributions require."""
    required = (name for distribution in distributions for name in _required(distribution))
    return tuple(dict.fromkeys((*MethodFacts(algorithm).packages, *required)))


@cache
def _required(distribution: str) -> tuple[str, ...]:
    """Packages that a distribution, other than this project's, requires without an extra."""
    if distribution in ("", PROJECT):  # the project's sources are recorded with every result
        return ()
    try:
        requirements = requires(distribution) or ()
    except PackageNotFoundError:  # a class that no installed package announces
        return ()
    return tuple(
        name.group().lower().replace("_", "-")
        for requirement in requirements
        if "extra" not in requirement.partition(";")[2] and (name := re.match(r"[\w.-]+", requirement))
    )


def missing_packages(algorithm: Any) -> str:
    """Names of missing packages of a method, with the command that installs them; empty if none is."""
    facts = MethodFacts(algorithm)
    missing = [name for name in facts.packages if _version(name) is None]
    if not missing:
        return ""
    arguments = f"'{facts.extra}'" if facts.extra else " ".join(missing)
    return f"needs {' and '.join(missing)}: pip install {arguments}"


def changed_versions(record: CellRecord) -> dict[str, tuple[str, str]]:
    """The packages of a cell's method whose versions differ: recorded and local, "" if not installed."""
    stored = {name: release for name, release in record.environment.packages.items() if name not in PACKAGES}
    local = {name: _version(name) or "" for name in stored}
    return {name: (release, local[name]) for name, release in stored.items() if local[name] != release}


@cache
def _constant() -> Environment:
    import psutil
    from threadpoolctl import threadpool_info

    return Environment(
        python=platform.python_version(),
        platform=platform.platform(),
        packages={name: release for name in PACKAGES if (release := _version(name))},
        cpu=_processor(),
        cores_physical=psutil.cpu_count(logical=False),
        cores_logical=psutil.cpu_count(),
        memory_bytes=psutil.virtual_memory().total,
        blas=tuple(
            {key: pool.get(key) for key in ("internal_api", "version", "num_threads", "architecture")}
            for pool in threadpool_info()
        ),
        machine=_machine() or UNSET,
    )


def _processor() -> str:
    """The name of the processor, from Linux or else from Python."""
    with contextlib.suppress(OSError):
        if name := re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE):
            return name[1]
    return platform.processor() or "unknown"


def _machine() -> str:
    """A random number, made once for this host name and cache folder; empty if it cannot be stored."""
    file = cache_folder() / f"machine-{platform.node() or 'unknown'}"
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), open(file, "x") as handle:
            handle.write(uuid4().hex)
        return file.read_text()
    return ""


@cache
def git_commit(path: str | None) -> str | None:
    """The commit of the file's checkout, with ``+changes`` if it was edited; None outside a checkout."""
    if path is None:
        return None
    git = ["git", "-C", str(Path(path).resolve().parent)]
    commands = ("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no")
    try:
        commit, changes = (
            subprocess.run([*git, *command], capture_output=True, text=True, check=True, timeout=10).stdout
            for command in commands
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return commit.strip() + ("+changes" if changes.strip() else "")


@cache
def _version(name: str) -> str | None:
    """The version of a distribution, or of one with that package, as xgboost-cpu has xgboost."""
    try:
        return version(name)
    except PackageNotFoundError:
        providers = _distributions_of_packages().get(name)
        return version(providers[0]) if providers else None


_distributions_of_packages = cache(packages_distributions)
