"""The primitives over rows, pairs, matrices and vectors, against NumPy."""

from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from aucbench import kernels
from aucbench.contracts import csr_rows
from aucbench.kernels import lanes, pairs, rows, symmetric, vectors
from tests.algorithms.reference import proj1


@kernels.kernel
def _reductions(X, order, w):
    for k in range(order.shape[0] - 1, -1, -1):  # the first ones prefetch later rows
        i = rows.visit(X, order[:, 0], k)
        i, j = pairs.visit(X, order, k)
    Z = pairs.room(X, order)
    pairs.subtract(X, i, j, Z)
    a, b = rows.dot_norm(X, i, w)
    c, d, e = rows.dot_norms(X, i, w)
    f, g = rows.dot_norm(Z, 0, w)
    return rows.dot(X, i, w), rows.norm(X, i), a, b, c, d, e, f, g


@kernels.kernel
def _additions(X, order, u, v):
    i, j = order[0]
    Z = pairs.room(X, order)
    pairs.subtract(X, i, j, Z)
    rows.axpy(2.0, X, i, u[0])
    rows.axpy2(2.0, X, i, u[1], -3.0, v[1])
    rows.axpy(2.0, Z, 0, u[2])
    rows.axpy2(2.0, Z, 0, u[3], -3.0, v[3])
    first = rows.axpy_dot_norm(2.0, X, i, u[4], j)
    return *first, *rows.axpy2_dot_norm(2.0, X, i, u[5], -3.0, v[5], j)


@kernels.kernel
def _rank_one(X, i, M):
    symmetric.rank_one(X, i, M)


def forms(X):
    return X, csr_rows(sparse.csr_array(X))


each_dtype = pytest.mark.parametrize(
    "dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.variants)]
)


@pytest.fixture(params=[(7, 1), (9, 3), (8, 54), (6, 200)], ids=str)
def X(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=request.param) * (rng.random(request.param) < 0.6)
    X[3] = 0.0  # an empty sparse row
    return X


@each_dtype
def test_reductions_over_rows_and_pairs_equal_numpy(X, dtype):
    X = X.astype(dtype)
    wide, w = X.astype(np.float64), np.random.default_rng(1).normal(size=X.shape[1])
    for form in forms(X):
        for i, j in [(0, 1), (1, 0), (3, 2), (2, 3), (4, 4)]:
            x, z = wide[i], wide[i] - wide[j]
            expected = (x @ w, x @ x) * 3 + (np.abs(x).sum(), z @ w, z @ z)
            result = _reductions(form, np.array([[i, j]] * 20), w)
            np.testing.assert_allclose(result, expected, rtol=1e-13, atol=1e-13)
            assert i != j or result[7:] == (0.0, 0.0)


@each_dtype
def test_additions_of_rows_and_pairs_equal_numpy(X, dtype):
    X = X.astype(dtype)
    wide, d = X.astype(np.float64), X.shape[1]
    for form in forms(X):
        for i, j in [(0, 1), (3, 2), (2, 3)]:
            x, z = wide[i], wide[i] - wide[j]
            u, v = np.ones((2, 6, d))
            result = _additions(form, np.array([[i, j]]), u, v)
            np.testing.assert_allclose(u, 1 + 2 * np.stack([x, x, z, z, x, x]), rtol=1e-14, atol=1e-14)
            added = np.stack([0 * x, x, 0 * z, z, 0 * x, x])
            np.testing.assert_allclose(v, 1 - 3 * added, rtol=1e-14, atol=1e-14)
            following = (wide[j] @ (1 + 2 * x), wide[j] @ wide[j])
            np.testing.assert_allclose(result, following * 2, rtol=1e-13, atol=1e-13)


def test_symmetric_matrices_are_updated_and_multiplied_by_their_lower_triangle(X):
    d = X.shape[1]
    w = np.random.default_rng(3).normal(size=d)
    full = sum(np.outer(x, x) for x in X)
    for form in forms(X):
        M, out = np.zeros((d, d)), np.full(d, np.nan)
        for i in range(len(X)):
            _rank_one(form, i, M)
        np.testing.assert_allclose(np.tril(M), np.tril(full), rtol=1e-13, atol=1e-13)
        assert not np.triu(M, 1).any()
        symmetric.product(M, w, out)
        np.testing.assert_allclose(out, full @ w, rtol=1e-12, atol=1e-12)


def test_primitives_called_by_the_interpreter_say_where_they_belong():
    for function in (rows.dot, rows.axpy, pairs.difference, symmetric.rank_one, lanes.root):
        with pytest.raises(NotImplementedError, match="inside compiled code"):
            function(*[None] * len(signature(function).parameters))


@given(
    arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e6, 1e6, allow_subnormal=False)),
    st.floats(1e-3, 1e3),
)
def test_the_l1_projection_equals_the_one_by_sorting(w, radius):
    expected = proj1(w, radius)
    projected = w.copy()
    size = vectors.project_l1(projected, radius)
    np.testing.assert_allclose(projected, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(w).max()))
    assert size == pytest.approx(np.abs(projected).sum(), rel=1e-6, abs=1e-6)


def test_the_l1_projection_does_not_hide_what_is_not_finite():
    for bad in (np.nan, np.inf, -np.inf):
        w = np.array([1.0, bad, 2.0])
        vectors.project_l1(w, 1.0)
        assert np.isnan(w).any()


@pytest.mark.parametrize(("columns", "expected"), [(32, "eager"), (33, "lazy")])
def test_the_layout_is_lazy_where_rows_have_few_non_zeros(columns, expected):
    X = sparse.csr_array((np.ones(6), [0, 1, 0, 1, 2, 3], [0, 2, 4, 6]), shape=(3, columns))
    assert kernels.layout(X) == expected
    assert kernels.layout(X.toarray()) == "eager"
    pair = kernels.two_vectors(X)
    assert pair.shape == (2, columns)
    assert pair.flags.c_contiguous == (expected == "eager")
