"""The speed of this machine: time per non-zero of a bare dot and axpy, dense and CSR, cached and not.

Every stochastic linear method does at least this work per row: a dot product with the weights, and a step
along the row. Training seconds divided by the speed give the number of non-zeros that the bare kernel would
process in that time. Unlike seconds, this number can be compared across machines. The speed is measured once
per machine and version of Numba, in about a second.
"""

import json
import platform
from functools import cache
from time import perf_counter
from typing import Any

import numba
import numpy as np
from msgspec.structs import asdict
from numpy.typing import NDArray

from aucbench.contracts.cache_folder import cache_folder
from aucbench.kernels import fast_kernel, kernel
from aucbench.pool import file_lock
from aucbench.studies.codec import from_dict
from aucbench.studies.provenance import environment
from aucbench.studies.record import CalibrationRecord

VERSION = 1  # to be increased when the kernels or their sizes change
DENSE_FEATURES, SPARSE_FEATURES, ROW_NONZEROS = 1_000, 50_000, 100
CACHED_NONZEROS, LARGE_NONZEROS = 16_000, 6_000_000  # 128 kB and 48 MB of values
SECONDS = 0.2  # per measurement
STEP = 1e-9


@cache
def calibration() -> CalibrationRecord | None:
    """The speed of this machine, measured if it is not cached; None if the cache cannot be used."""
    file = cache_folder() / f"calibration-{platform.node() or 'unknown'}.json"
    about = f"{VERSION} {numba.__version__} {environment().cpu}"
    try:
        with file_lock(file.with_suffix(".lock")):  # concurrent measurements would slow each other down
            if file.exists():
                known = json.loads(file.read_bytes())
                if known.get("about") == about:
                    return from_dict(known["speed"], CalibrationRecord)
            found = measure()
            file.write_text(json.dumps({"about": about, "speed": asdict(found)}))
            return found
    except (OSError, ValueError, KeyError):
        return None


def measure() -> CalibrationRecord:
    """Measure the speed of this machine now."""
    rng = np.random.default_rng(0)
    begun = perf_counter()
    indices = rng.integers(0, SPARSE_FEATURES, LARGE_NONZEROS, dtype=np.int32)
    values = np.ones(LARGE_NONZEROS)
    dense, sparse = np.zeros(DENSE_FEATURES), np.zeros(SPARSE_FEATURES)

    def of_dense(count: int) -> float:
        X = values[:count].reshape(-1, DENSE_FEATURES)
        return _fastest(lambda: _dense_pass(X, dense), count)

    def of_csr(count: int) -> float:
        ends = np.arange(0, count + 1, ROW_NONZEROS)
        return _fastest(lambda: _csr_pass(values, indices, ends, sparse), count)

    return CalibrationRecord(
        version=VERSION,
        dense_cached=of_dense(CACHED_NONZEROS),
        dense_memory=of_dense(LARGE_NONZEROS),
        csr_cached=of_csr(CACHED_NONZEROS),
        csr_memory=of_csr(LARGE_NONZEROS),
        seconds=perf_counter() - begun,
    )


def _fastest(run: Any, count: int) -> float:
    """Nanoseconds per non-zero in the fastest of many passes; other load only slows a pass down."""
    run()  # compiles
    best, end = float("inf"), perf_counter() + SECONDS
    while perf_counter() < end or best == float("inf"):
        begun = perf_counter()
        run()
        best = min(best, perf_counter() - begun)
    return 1e9 * best / count


@fast_kernel
def _dense_pass(X: NDArray[Any], w: NDArray[Any]) -> None:
    """Take the dot product of each row with w, and step w along the row."""
    for i in range(X.shape[0]):
        x = X[i]
        score = 0.0
        for j in range(x.shape[0]):
            score += x[j] * w[j]
        step = STEP * (1.0 - score)
        for j in range(x.shape[0]):
            w[j] += step * x[j]


@kernel
def _csr_pass(values: NDArray[Any], indices: NDArray[Any], ends: NDArray[Any], w: NDArray[Any]) -> None:
    """Take the dot product of each row with w, and step w along the row."""
    for i in range(ends.shape[0] - 1):
        score = 0.0
        for k in range(ends[i], ends[i + 1]):
            score += values[k] * w[indices[k]]
        step = STEP * (1.0 - score)
        for k in range(ends[i], ends[i + 1]):
            w[indices[k]] += step * values[k]
