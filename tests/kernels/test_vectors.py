"""Operations on vectors and weights, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from aucbench import kernels
from aucbench.kernels import vectors, weights
from tests.algorithms.reference import proj1

FLOATS = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(arrays(np.float64, st.integers(1, 40), elements=FLOATS), st.floats(1e-3, 1e3))
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


def test_folding_keeps_the_vector_and_the_sum():
    u, v = np.random.default_rng(0).normal(size=(2, 9))
    scale, weight = 1e-4, 3.0
    w, total = scale * u, weight * u - v
    weights.fold(u, scale, v, weight)
    np.testing.assert_allclose(u, w, rtol=1e-15)
    np.testing.assert_allclose(-v, total, rtol=1e-14)


@pytest.mark.parametrize(("columns", "expected"), [(32, "eager"), (33, "lazy")])
def test_the_layout_is_lazy_where_rows_have_few_non_zeros(columns, expected):
    X = sparse.csr_array((np.ones(6), [0, 1, 0, 1, 2, 3], [0, 2, 4, 6]), shape=(3, columns))
    assert kernels.layout(X) == expected
    assert kernels.layout(X.toarray()) == "eager"
    pair = kernels.two_vectors(X)
    assert pair.shape == (2, columns)
    assert pair.flags.c_contiguous == (expected == "eager")
