"""Explicit features of the Gaussian kernel exp(-|x - z|^2 / bandwidth): Nystroem and random Fourier.

Before a linear method, these features give its kernel version: k-means Nystroem turns SOLAM, PSAM, ASAM and
BAM into NSOLAM, NPSAM, NASAM and NBAM.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucbench import Count, ModelClass, Positive

BANDWIDTH_ROWS = 80_000  # rows that the papers use to measure the bandwidth
KMEANS_ROWS = 20_000  # most rows for the search for landmarks
KMEANS_ROUNDS = 10
SMALLEST_EIGENVALUE = 1e-12  # relative; below it a direction of the kernel matrix is rounding error
BLOCK_ROWS = 4096  # rows mapped at a time


@dataclass(frozen=True)
class Nystroem:
    """K-means Nystroem features of the Gaussian kernel exp(-|x - z|^2 / bandwidth).

    x becomes K(x, Z) U L^-1/2, where Z are the centres of k-means on the training rows and K(Z, Z) = U L U'.
    Source: Zhang, Kwok, Clustered Nystroem method for large scale manifold learning and dimension reduction,
    IEEE TNN 2010; bandwidth and number of landmarks from the PSAM paper.

    Parameters
    ----------
    landmarks : int >= 1
        Number of centres, at most the number of training rows.
    bandwidth : float > 0 or None
        Bandwidth; None means the mean squared distance of the first 80,000 training rows to their mean.
    """

    name = "nystroem"
    class_of_model = ModelClass.kernel
    landmarks: Count = 1600
    bandwidth: Positive | None = None

    def fit(self, X: Any, rng: np.random.Generator) -> "FittedNystroem":
        """Find the landmarks by k-means on at most 20,000 rows, on one thread for repeatable results."""
        from sklearn.cluster import KMeans

        n = X.shape[0]
        sample = X[np.sort(rng.choice(n, min(n, KMEANS_ROWS), replace=False))]
        count = min(self.landmarks, sample.shape[0])
        kmeans = KMeans(count, n_init=1, max_iter=KMEANS_ROUNDS, random_state=int(rng.integers(0, 2**31)))
        with threadpool_limits(1):
            Z = np.ascontiguousarray(kmeans.fit(sample).cluster_centers_, np.float64)
        width = self.bandwidth or mean_square_distance(X)
        values, vectors = np.linalg.eigh(np.exp(-_square_distances(Z, Z) / width))
        mask = values > SMALLEST_EIGENVALUE * values[-1]
        return FittedNystroem(Z, width, vectors[:, mask] / np.sqrt(values[mask]))


class FittedNystroem(NamedTuple):
    """Landmarks Z (k, d), bandwidth, and U L^-1/2 (k, r)."""

    landmarks: NDArray[np.float64]
    bandwidth: float
    projection: NDArray[np.float64]

    def transform(self, X: Any) -> NDArray[Any]:
        out = np.empty((X.shape[0], self.projection.shape[1]), X.dtype)
        for part in _blocks(X.shape[0]):
            kernel = np.exp(-_square_distances(X[part], self.landmarks) / self.bandwidth)
            out[part] = kernel @ self.projection
        return out


@dataclass(frozen=True)
class Fourier:
    """Random Fourier features of the Gaussian kernel exp(-|x - z|^2 / bandwidth).

    x becomes sqrt(2 / D) cos(W x + b), W with entries of variance 2 / bandwidth, b uniform on [0, 2 pi).
    Source: Rahimi, Recht, Random features for large-scale kernel machines, NIPS 2007.

    Parameters
    ----------
    dimension : int >= 1
        D, the number of features.
    bandwidth : float > 0 or None
        Bandwidth; None means the mean squared distance of the first 80,000 training rows to their mean.
    """

    name = "fourier"
    class_of_model = ModelClass.kernel
    dimension: Count = 1000
    bandwidth: Positive | None = None

    def fit(self, X: Any, rng: np.random.Generator) -> "FittedFourier":
        width = self.bandwidth or mean_square_distance(X)
        frequencies = rng.standard_normal((X.shape[1], self.dimension)) * np.sqrt(2.0 / width)
        return FittedFourier(frequencies, rng.uniform(0.0, 2.0 * np.pi, self.dimension))


class FittedFourier(NamedTuple):
    """Frequencies (d, D) and phases (D,)."""

    frequencies: NDArray[np.float64]
    phases: NDArray[np.float64]

    def transform(self, X: Any) -> NDArray[Any]:
        dimension = len(self.phases)
        out = np.empty((X.shape[0], dimension), X.dtype)
        for part in _blocks(X.shape[0]):
            out[part] = np.sqrt(2.0 / dimension) * np.cos(X[part] @ self.frequencies + self.phases)
        return out


def mean_square_distance(X: Any) -> float:
    """Mean squared distance of the first rows of X to their mean; 1 when they are all the same."""
    first = X[:BANDWIDTH_ROWS]
    mean = np.asarray(first.mean(axis=0), np.float64).ravel()
    spread = float(np.mean(_square_norms(first)) - mean @ mean)
    return spread if spread > 0.0 else 1.0


def _square_norms(X: Any) -> NDArray[np.float64]:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def _square_distances(X: Any, Z: NDArray[np.float64]) -> NDArray[np.float64]:
    products = np.asarray(X @ Z.T, np.float64)
    return np.maximum(_square_norms(X)[:, None] + _square_norms(Z) - 2.0 * products, 0.0)


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + BLOCK_ROWS, n)) for start in range(0, n, BLOCK_ROWS)]
