"""Ratios on noisy machines: the two sides alternate in one run; medians of thread-CPU time are compared.

The clock counts the time of the benchmark's thread only, so that everything runs in one thread.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import thread_time

from threadpoolctl import threadpool_info, threadpool_limits

ROUNDS = 7


@dataclass(frozen=True)
class Measure:
    """A comparison: how many times faster (or, with `at_most`, slower) our side may be."""

    name: str
    ratio: float
    wanted: float
    at_most: bool = False
    note: str = ""

    @property
    def reached(self) -> bool:
        """Whether the ratio meets `wanted`."""
        return self.ratio <= self.wanted if self.at_most else self.ratio >= self.wanted

    @property
    def _shown(self) -> str:
        """The ratio with two decimals, or in scientific notation if it is small."""
        return f"{self.ratio:.1e}" if 0.0 < abs(self.ratio) < 0.1 else f"{self.ratio:.2f}"

    def __str__(self) -> str:
        sign = "<=" if self.at_most else ">="
        mark = "ok  " if self.reached else "MISS"
        return f"{mark} {self.name:<58} {self._shown:>9}  {sign} {self.wanted:<6g} {self.note}"


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for BLAS and OpenMP, also in libraries that are loaded later and in new processes."""
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    with threadpool_limits(1):
        yield
        several = [pool["filepath"] for pool in threadpool_info() if pool["num_threads"] != 1]
        assert not several, f"libraries with several threads, so that times do not compare: {several}"


def seconds(action: Callable[[], object]) -> float:
    """Thread-CPU seconds of one call."""
    start = thread_time()
    action()
    return thread_time() - start


def alternate(
    ours: Callable[[], object], theirs: Callable[[], object], rounds: int = ROUNDS
) -> tuple[float, float]:
    """Median thread-CPU seconds of both sides, called in turn; an unmeasured call of each comes first."""
    ours()
    theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def per_round_ratio(numerator: Callable[[], object], denominator: Callable[[], object], rounds: int) -> float:
    """Median over the rounds of numerator / denominator, so that a slow phase of the machine hits both."""
    numerator()
    denominator()
    return median(seconds(numerator) / seconds(denominator) for _ in range(rounds))
