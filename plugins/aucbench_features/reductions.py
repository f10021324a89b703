"""Fewer features: random projection, principal components, random subset.

With 1,000 dimensions before OPAUC, these are OPAUC^rp, OPAUC^pca and OPAUC^f of Gao et al., ICML 2013.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucbench import Count, DataError

BLOCK_COLUMNS = 16_384  # input features per block of random directions


@dataclass(frozen=True)
class Projection:
    """Gaussian random projection x R / sqrt(k), where R has standard normal entries.

    R is drawn block by block whenever it is needed, so that a million input features cost no memory.

    Parameters
    ----------
    dimension : int >= 1
        k, the number of features.
    """

    name = "projection"
    dimension: Count = 1000

    def fit(self, X: Any, rng: np.random.Generator) -> "FittedProjection":
        return FittedProjection(int(rng.integers(0, 2**63)), self.dimension)


class FittedProjection(NamedTuple):
    """The seed of R and its number of columns."""

    seed: int
    dimension: int

    def transform(self, X: Any) -> NDArray[Any]:
        columns = X.tocsc() if sparse.issparse(X) else X
        out = np.zeros((X.shape[0], self.dimension))
        for number, start in enumerate(range(0, X.shape[1], BLOCK_COLUMNS)):
            block = columns[:, start : start + BLOCK_COLUMNS]
            rng = np.random.default_rng([self.seed, number])
            out += block @ rng.standard_normal((block.shape[1], self.dimension))
        out /= np.sqrt(self.dimension)
        return out.astype(X.dtype, copy=False)


@dataclass(frozen=True)
class Pca:
    """Principal components of the training rows, by scikit-learn.

    Parameters
    ----------
    dimension : int >= 1
        Number of components, at most rows or features less one.
    """

    name = "pca"
    dimension: Count = 1000

    def fit(self, X: Any, rng: np.random.Generator) -> "FittedPca":
        """Find the components; on one thread, so that a seed repeats the result."""
        from scipy.sparse.linalg import ArpackError
        from sklearn.decomposition import PCA

        count = min(self.dimension, X.shape[1], X.shape[0])
        solver = "auto"
        if sparse.issparse(X):  # centring must not make the rows dense
            solver, count = "arpack", min(count, min(X.shape) - 1)
        pca = PCA(count, svd_solver=solver, random_state=int(rng.integers(0, 2**31)))
        with threadpool_limits(1):
            try:
                pca.fit(X)
            except ArpackError:
                raise DataError("pca: all training rows are equal, they have no components.") from None
        return FittedPca(np.ascontiguousarray(pca.components_.T), pca.mean_ @ pca.components_.T)


class FittedPca(NamedTuple):
    """Components (d, k), and the mean row projected on them (k,)."""

    components: NDArray[Any]
    offset: NDArray[Any]

    def transform(self, X: Any) -> NDArray[Any]:
        return np.ascontiguousarray(X @ self.components - self.offset, X.dtype)


@dataclass(frozen=True)
class Subset:
    """A random subset of the features.

    Parameters
    ----------
    dimension : int >= 1
        Number of features kept, at most all.
    """

    name = "subset"
    dimension: Count = 1000

    def fit(self, X: Any, rng: np.random.Generator) -> "FittedSubset":
        d = X.shape[1]
        return FittedSubset(np.sort(rng.choice(d, min(d, self.dimension), replace=False)))


class FittedSubset(NamedTuple):
    """Column numbers, ascending."""

    columns: NDArray[np.int64]

    def transform(self, X: Any) -> Any:
        """(n, k) features, CSR for CSR rows."""
        if not sparse.issparse(X):
            return np.ascontiguousarray(X[:, self.columns])
        chosen = X[:, self.columns]
        chosen.sort_indices()
        return chosen
