"""A bound on the memory that a block of code may allocate."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

STATUS = Path("/proc/self/status")
SHARE = 0.8  # share of the available memory for all workers together


@contextlib.contextmanager
def limited_memory(limit: int | None, concurrency: int, worker: bool) -> Iterator[None]:
    """Let allocations of more than `limit` bytes raise MemoryError within the block.

    The default in a worker is its share of the available memory. Nothing is limited on systems that cannot
    measure the private memory of a process.
    """
    used = _private_bytes()
    if not worker or used is None:
        yield
        return
    import resource

    if limit is None:
        import psutil

        limit = int(SHARE * psutil.virtual_memory().available / concurrency)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = used + limit if hard == resource.RLIM_INFINITY else min(used + limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _private_bytes() -> int | None:
    try:
        text = STATUS.read_text()
    except OSError:
        return None
    line = next((line for line in text.splitlines() if line.startswith("VmData:")), None)
    return int(line.split()[1]) * 1024 if line else None
