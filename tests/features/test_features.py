"""Feature maps against their definitions."""

import numpy as np
import pytest
from scipy import sparse

from aucbench_features import Fourier, Identity, Nystroem, Pca, Projection, Subset
from aucbench_features.gaussian_kernel import mean_square_distance
from tests.helpers.fake_plugins import two_clouds

X, Y = two_clouds(300, 8)
MAPS = [Identity(), Nystroem(40), Fourier(64), Projection(5), Pca(3), Subset(4)]


def fitted(features, rows=X, seed=0):
    return features.fit(rows, np.random.default_rng(seed))


@pytest.mark.parametrize("features", MAPS, ids=lambda features: features.name)
def test_sparse_rows_give_what_dense_rows_give(features):
    rows = np.where(np.abs(X) > 0.6, X, 0.0)
    dense, thin = fitted(features, rows), fitted(features, sparse.csr_matrix(rows))
    left, right = dense.transform(rows), thin.transform(sparse.csr_matrix(rows))
    right = right.toarray() if sparse.issparse(right) else right
    if features.name == "pca":  # the sign of a component is free
        left, right = np.abs(left), np.abs(right)
    np.testing.assert_allclose(left, right, atol=1e-8)


@pytest.mark.parametrize(
    ("features", "error"),
    [(Nystroem(landmarks=60, bandwidth=10.0), 1e-8), (Fourier(dimension=60_000, bandwidth=10.0), 0.03)],
    ids=["nystroem with every row a landmark", "fourier"],
)
def test_products_of_features_are_or_approach_the_kernel(features, error):
    rows = X[:60]
    Z, kernel = fitted(features, rows).transform(rows), np.exp(-((rows[:, None] - rows) ** 2).sum(-1) / 10.0)
    np.testing.assert_allclose(Z @ Z.T, kernel, atol=error)


def test_the_bandwidth_is_the_mean_square_distance_to_the_mean():
    expected = np.mean(((X - X.mean(axis=0)) ** 2).sum(axis=1))
    assert mean_square_distance(X) == pytest.approx(expected, rel=1e-12)
    assert mean_square_distance(sparse.csr_matrix(X)) == pytest.approx(expected, rel=1e-12)


def test_a_projection_keeps_lengths_on_average():
    projected = fitted(Projection(dimension=20_000)).transform(X[:20])
    np.testing.assert_allclose((projected**2).sum(axis=1), (X[:20] ** 2).sum(axis=1), rtol=0.05)


def test_pca_gives_uncorrelated_columns_of_the_largest_variance():
    Z = fitted(Pca(dimension=3)).transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    covariance = np.cov(Z.T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-10)
    largest = np.linalg.eigvalsh(np.cov(X.T))[::-1][:3]
    np.testing.assert_allclose(np.diag(covariance), largest, rtol=1e-8)


def test_a_subset_holds_columns_of_the_data_and_all_when_it_is_large():
    Z = fitted(Subset(dimension=4)).transform(X)
    assert Z.shape == (300, 4)
    assert all(any(np.array_equal(column, source) for source in X.T) for column in Z.T)
    np.testing.assert_array_equal(fitted(Subset(dimension=99)).transform(X), X)
