"""A bound on what one unit may allocate, beyond the data it works on."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

STATUS = Path("/proc/self/status")
SHARE = 0.8  # of the free memory that all workers together may take; the system needs some


@contextlib.contextmanager
def of(limit: int | None, concurrency: int, worker: bool) -> Iterator[None]:
    """Let allocations beyond `limit` bytes raise MemoryError while the context lasts.

    In a worker without a limit it is the worker's share of the memory that is free. Where the system cannot
    tell or bound how much private memory a process has, nothing is bounded.
    """
    used = _private_bytes()
    if not worker or used is None:
        yield
        return
    import resource

    if limit is None:
        import psutil

        limit = int(SHARE * psutil.virtual_memory().available / concurrency)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_smaller(used + limit, before[1]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _smaller(wanted: int, hard: int) -> int:
    import resource

    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _private_bytes() -> int | None:
    try:
        text = STATUS.read_text()
    except OSError:
        return None
    line = next((line for line in text.splitlines() if line.startswith("VmData:")), None)
    return int(line.split()[1]) * 1024 if line else None
