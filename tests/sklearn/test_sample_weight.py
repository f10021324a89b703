"""Weights of training rows: a weight must act like repetitions of the row."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import roc_auc_score

import aucbench
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.registry import catalog
from aucbench.sklearn import AUCClassifier
from tests.helpers.fake_plugins import two_clouds

STREAMS = ("uni_exp", "sgd_log", "sgd_hinge")
LIBRARIES = ("sklearn", "estimator", "boosting")
UNWEIGHTED = ("psam", "solam", "toppush", "mba")
LAYOUTS = {"dense": np.asarray, "csr": sparse.csr_array}
WEIGHTED = {
    name
    for name, plugin in catalog().plugins[Family.algorithms].items()
    if getattr(plugin.cls, "weighted", False)
}


def counted(shape=(120, 6), seed=0):
    """Rows, labels and whole weights from 0 to 3."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * np.geomspace(1.0, 30.0, shape[1]) + 2.0
    y = np.where(X[:, 0] - 2.0 + rng.standard_normal(shape[0]) > 0.7, 1, -1)
    return X, y, rng.integers(0, 4, shape[0])


def scores(algo, X, fit, weights=None, **settings):
    """Scores of X by a model of other rows."""
    return (
        AUCClassifier(algo, random_state=0, **settings).fit(*fit, sample_weight=weights).decision_function(X)
    )


COPIES = [
    ("bam", "csr", {}),
    *(("bam", "dense", {"loss": loss}) for loss in ("logistic", "exponential", "smooth_hinge")),
    *(
        ("ls_svm", "dense", {"scaling": scaling})
        for scaling in ("none", "minmax", "maxabs", "standard", "unit")
    ),
    *((name, "dense", {}) for name in UNWEIGHTED),  # made copies of rows
]


@pytest.mark.parametrize(("name", "layout", "settings"), COPIES)
def test_a_weight_of_k_is_a_row_repeated_k_times(name, layout, settings):
    X, y, k = counted()
    rows, repeated = LAYOUTS[layout], np.repeat(np.arange(len(y)), k)
    expected = scores(name, rows(X), (rows(X[repeated]), y[repeated]), **settings)
    by_weight = scores(name, rows(X), (rows(X), y), k, **settings)
    np.testing.assert_allclose(by_weight, expected, atol=1e-8 * np.ptp(expected))
    if name in UNWEIGHTED:
        np.testing.assert_array_equal(by_weight, expected)
        with pytest.raises(ParameterError, match=name):
            AUCClassifier(name).fit(rows(X), y, sample_weight=100 * k)
    elif not settings:
        alike = scores(name, rows(X), (rows(X[k > 0]), y[k > 0]))
        assert np.ptp(alike - expected) > 1e-4 * np.ptp(expected)


@pytest.mark.parametrize("name", [*STREAMS, *LIBRARIES])
def test_rows_of_weight_zero_are_left_out(name):
    X, y, k = counted()
    by_weight = scores(name, X, (X, y), np.where(k > 0, 1.0, 0.0))
    np.testing.assert_allclose(by_weight, scores(name, X, (X[k > 0], y[k > 0])), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_method_multiplies_its_step_by_the_weight_over_the_mean(name):
    X, y, k = counted()
    settings = {"algo_params": {} if name == "uni_exp" else {"alpha": 1e-3}}
    plain, weighted, double = (scores(name, X, (X, y), mass, **settings) for mass in (None, k + 1, 2 * k + 2))
    assert np.ptp(weighted - plain) > 1e-3 * np.ptp(plain)
    np.testing.assert_allclose(double, weighted, rtol=1e-9, atol=1e-12)


def test_the_step_of_uni_exp_is_that_of_its_formula():
    X, y, k = counted((30, 3))
    X, y, k = X[k > 0] / 50.0, y[k > 0].astype(np.int8), k[k > 0].astype(float)
    method = aucbench.catalog().algorithm("uni_exp")(eta=0.1)
    problem = aucbench.Problem(X, y, len(y), None, k)
    batch = aucbench.Batch(X, y, np.arange(len(y)), "stream", k)
    actual = method.weights(method.step(method.init(problem, np.random.default_rng(0)), batch))
    w, b, p = np.zeros(3), 0.0, k[y == 1].sum() / k.sum()
    for x, label, weight in zip(X, y, k, strict=True):
        c = 1.0 - p if label > 0 else p
        step = weight / k.mean() * 0.1 * c * label * np.exp(-label * (w @ x + b))
        w, b = w + step * x, b + step
    np.testing.assert_allclose(actual, w, rtol=1e-12)


def test_boosting_takes_it_as_its_base_and_probabilities_are_weighted():
    X, y = two_clouds(n=400, positive=0.3)
    boosted = AdaBoostClassifier(AUCClassifier("ls_svm", {"lam": 1e-3}), n_estimators=5, random_state=0)
    assert roc_auc_score(y, boosted.fit(X, y).decision_function(X)) > 0.8
    with pytest.raises(ParameterError, match="psam"):
        AdaBoostClassifier(AUCClassifier("psam", random_state=0)).fit(X, y)
    X, y, _ = counted()
    plain, weighted = (
        AUCClassifier("ls_svm", calibrate=True, random_state=0).fit(X, y, weights).predict_proba(X)[:, 1]
        for weights in (None, np.where(y == 1, 9, 1))
    )
    assert weighted.mean() > plain.mean() + 0.1


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ([1.0, 2.0], r"\(2,\)"),
        (np.ones((120, 1)), "1D"),
        (np.r_[np.ones(119), -1.0], "egative"),
        (np.r_[np.nan, np.ones(119)], "NaN"),
        (np.r_[np.inf, np.ones(119)], "infinity"),
        (np.zeros(120), "zero"),
        (["heavy"] * 120, "heavy"),
        (np.where(counted()[1] == 1, 1.0, 0.0), "one class"),
    ],
)
def test_other_weights_are_refused(weights, named):
    X, y, _ = counted()
    with pytest.raises(ValueError, match=named):
        AUCClassifier("ls_svm").fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("name", [*UNWEIGHTED, "pesg"])
def test_a_method_without_weights_is_named_with_those_that_have_them(name):
    X, y, k = counted()
    with pytest.raises(ParameterError) as refused:
        AUCClassifier(name).fit(X, y, sample_weight=k / 2)
    assert {name, *WEIGHTED} <= set(str(refused.value).replace(",", " ").replace(".", " ").split())
    with pytest.raises(ParameterError, match="uni_exp"):
        AUCClassifier("uni_exp", {"ratio": "running"}).fit(X, y, k)
