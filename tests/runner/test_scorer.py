import numpy as np
import pytest
from scipy import sparse

from aucbench.runner.scorer import linear_scores


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (63, 3), (65, 130), (200, 259)])
def test_the_scores_of_a_model_do_not_depend_on_the_models_beside_it(form, dtype, n, d):
    rng = np.random.default_rng(0)
    W, X = rng.standard_normal((11, d)), form(rng.standard_normal((n, d)).astype(dtype))
    scores = linear_scores(W, X)
    np.testing.assert_allclose(scores, (X @ W.T).T, rtol=1e-3 if dtype is np.float32 else 1e-9, atol=1e-4)
    for models in ([0], [10, 3], list(range(5, 11)), rng.permutation(11)):
        assert linear_scores(W[models], X).tobytes() == scores[models].tobytes()


def test_equal_rows_have_equal_scores_wherever_they_lie():
    rng = np.random.default_rng(0)
    rows, W = rng.standard_normal((1, 54)), rng.standard_normal((3, 54))
    scores = linear_scores(W, np.repeat(rows, 331, axis=0))
    assert np.all(scores == scores[:, :1])
