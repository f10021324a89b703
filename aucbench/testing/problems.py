"""Small test problems."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

WIDE = 15  # columns of a wide sparse problem per column of a dense one
WIDE_NONZEROS = 3  # non-zeros per wide row, few enough for a lazy layout


class Size(NamedTuple):
    """The size of a problem and the length of training."""

    n: int
    d: int
    epochs: int


# More than 1,024 iterations, so that periodic work of a method happens at least once.
STANDARD = Size(220, 8, 5)
# Tried in this order when a problem fails, so that the failure is shown on a small one.
SMALL = sorted(
    (Size(n, d, 1) for n in (2, 3, 4, 5, 6, 8, 16, 32, 64, 128) for d in (1, 2, 3, 4, 8)),
    key=lambda size: size.n * size.d,
)


class Toy(NamedTuple):
    """Training rows and labels, described in words."""

    X: Any  # (n, d) ndarray or CSR
    y: NDArray[np.int8]  # (n,)
    words: str
    weights: NDArray[np.float64] | None = None  # (n,)

    def parts(self) -> dict[str, NDArray[Any]]:
        """The arrays of X by name."""
        if not sparse.issparse(self.X):
            return {"X": self.X}
        return {f"X.{name}": getattr(self.X, name) for name in ("data", "indices", "indptr")}


def small(size: Size = STANDARD, layout: str = "dense", dtype: Any = np.float64, seed: int = 0) -> Toy:
    """Rows of at most unit norm with a mean that depends on the label; a third are positive.

    The layout "csr" has half of the entries; "wide" has 15 times the columns and 3 entries per row.
    """
    rng = np.random.default_rng(seed)
    n, d = size.n, size.d * (WIDE if layout == "wide" else 1)
    y = np.where(rng.permutation(n) < max(1, n // 3), 1, -1).astype(np.int8)
    X = rng.standard_normal((n, d)) + 0.5 * y[:, None] * rng.standard_normal(d)
    if layout == "wide":
        X[rng.permuted(np.tile(np.arange(d), (n, 1)), axis=1) >= WIDE_NONZEROS] = 0.0
    elif layout != "dense":
        X[rng.random((n, d)) < 0.5] = 0.0
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    X = X.astype(dtype)
    kind, rows = ("dense", X) if layout == "dense" else ("CSR", sparse.csr_matrix(X))
    return Toy(rows, y, f"{n} x {d} {kind} rows of {X.dtype}, seed {seed}")


def noisy(n: int = 400, d: int = 6, seed: int = 0) -> Toy:
    """Rows of unit norm, separated by a direction up to noise: the best AUC is about 0.9."""
    rng = np.random.default_rng(seed)
    direction = np.random.default_rng(12345).standard_normal(d)  # the same for training and test rows
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    signal = X @ direction / np.linalg.norm(direction)
    y = np.where(signal + 0.25 * rng.standard_normal(n) > 0.15, 1, -1).astype(np.int8)
    return Toy(X, y, f"{n} x {d} dense rows of unit norm, seed {seed}")


def sparse_rows(n: int, d: int, nonzeros: int) -> Toy:
    """CSR rows with `nonzeros` entries each, in random columns."""
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, d // nonzeros, (n, nonzeros)) + np.arange(nonzeros) * (d // nonzeros))
    data = rng.standard_normal((n, nonzeros)) / np.sqrt(nonzeros)
    indptr = np.arange(0, n * nonzeros + 1, nonzeros)
    X = sparse.csr_matrix((data.ravel(), indices.ravel().astype(np.int32), indptr.astype(np.int32)), (n, d))
    y = np.where(np.arange(n) % 3 == 0, 1, -1).astype(np.int8)
    return Toy(X, y, f"{n} x {d:,} CSR rows with {nonzeros} non-zeros each")
