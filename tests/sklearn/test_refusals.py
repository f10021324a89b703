"""What cannot be used gets one sentence, whatever it is."""

import numpy as np
import pytest
from scipy import sparse

from aucbench.sklearn import AUCClassifier

LABELS = [0, 1] * 5
CASES = {
    "more iterations than can be counted": ({"iterations": 2**70}, r"iterations cannot be counted"),
    "more epochs than can be counted": ({"epochs": 1e300}, r"iterations cannot be counted"),
    "a name that is none": ({"algo_params": {1: 2}}, r"algo_params must map names to values, got the name 1"),
    "a number beyond all": ({"algo_params": {"radius": 10**400}}, r"solam: radius must be at most 1\.8e308"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_setting_that_cannot_be_used_is_refused_in_a_sentence(case):
    parameters, sentence = CASES[case]
    with pytest.raises(ValueError, match=sentence):
        AUCClassifier("solam", **parameters).fit(np.arange(10.0)[:, None], LABELS)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_components_of_equal_sparse_rows_are_refused_in_a_sentence(value):
    X = sparse.csr_array(np.full((10, 3), value))
    with pytest.raises(ValueError, match="all training rows are equal"):
        AUCClassifier("solam", features="pca", scaling="none").fit(X, LABELS)


@pytest.mark.parametrize(
    "X", [[[0.0], [1.0]], np.ones((10, 3)), np.zeros((10, 3))], ids=["two", "ones", "zeros"]
)
@pytest.mark.parametrize("algo", ["spdam", "solam", "fsauc", "psam", "opauc"])
def test_rows_that_are_equal_within_their_class_train(algo, X):
    model = AUCClassifier(algo, random_state=0).fit(X, LABELS[: len(X)])
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("rows", [slice(50), slice(0, 400, 2)], ids=["few", "one class"])
def test_a_stream_that_begins_with_few_rows_or_one_class_is_warned_of(rows):
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.array([0, 1] * 200)
    model = AUCClassifier("solam", random_state=0)
    with pytest.warns(UserWarning, match="at least 100 rows"):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])


def fit_state(model):
    return {name for name in vars(model) if name.endswith("_") or name.startswith("_")}


def test_a_fit_that_fails_leaves_the_former_one_or_none():
    rng = np.random.default_rng(0)
    X, y, wider = rng.normal(size=(40, 3)), np.array([0, 1] * 20), rng.normal(size=(40, 5))
    unfitted = fit_state(AUCClassifier("solam"))
    for method in ("fit", "partial_fit"):
        model = AUCClassifier("solam", scaling="nothing")
        with pytest.raises(ValueError, match="nothing"):
            getattr(model, method)(wider, y)
        assert fit_state(model) == unfitted
    model = AUCClassifier("solam", random_state=0).fit(X, y)
    scores = model.decision_function(X)
    with pytest.raises(ValueError, match="radius"):
        model.set_params(algo__radius=-1.0).fit(wider, y)
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.decision_function(X), scores)
