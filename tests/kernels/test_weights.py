import numpy as np
import pytest
from scipy import sparse

from aucbench import kernels
from aucbench.kernels import weights


def test_folding_keeps_the_vector_and_the_sum():
    u, v = np.random.default_rng(0).normal(size=(2, 9))
    scale, weight = 1e-4, 3.0
    w, total = scale * u, weight * u - v
    weights.fold(u, scale, v, weight)
    np.testing.assert_allclose(u, w, rtol=1e-15)
    np.testing.assert_allclose(-v, total, rtol=1e-14)


def test_the_mean_and_the_average_divide_the_sum():
    v, w = np.random.default_rng(1).normal(size=(2, 33))
    np.testing.assert_allclose(weights.mean(w, v, 3.0, 4), (3 * w - v) / 4, rtol=1e-13)
    weights.average(w_mean := w.copy(), v, 3.0, 4)
    np.testing.assert_allclose(w_mean, (3 * w - v) / 4, rtol=1e-13)


@pytest.mark.parametrize(("columns", "expected"), [(32, "eager"), (33, "lazy")])
def test_the_layout_is_lazy_where_rows_have_few_non_zeros(columns, expected):
    X = sparse.csr_array((np.ones(6), [0, 1, 0, 1, 2, 3], [0, 2, 4, 6]), shape=(3, columns))
    assert kernels.layout(X) == expected
    assert kernels.layout(X.toarray()) == "eager"
    pair = kernels.two_vectors(X)
    assert pair.shape == (2, columns)
    assert pair.flags.c_contiguous == (expected == "eager")
