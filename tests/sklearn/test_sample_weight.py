"""Weights of training rows: repeated rows are the measure of what they mean."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import roc_auc_score

import aucbench
from aucbench.contracts.validation import Family
from aucbench.errors import DataError, ParameterError
from aucbench.registry import catalog
from aucbench.sklearn import AUCClassifier
from tests.helpers.fake_plugins import two_clouds

SOLVERS = ("ls_svm", "uni_square", "uni_log", "log_reg", "bam", "svm_or")
STREAMS = ("uni_exp", "sgd_log", "sgd_hinge")
each_layout = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def weighted_methods():
    known = catalog().plugins[Family.algorithms]
    return {name for name, plugin in known.items() if getattr(plugin.cls, "weighted", False)}


def counted(shape=(120, 6), seed=0):
    """Rows, labels and whole weights from 0 to 3."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * np.geomspace(1.0, 30.0, shape[1]) + 2.0
    y = np.where(X[:, 0] - 2.0 + rng.standard_normal(shape[0]) > 0.7, 1, -1)
    return X, y, rng.integers(0, 4, shape[0])


def scores(model, X):
    return model.decision_function(X)


def test_the_methods_that_are_weighted_are_those_that_are_tested():
    assert weighted_methods() == {*SOLVERS, *STREAMS, "sklearn"}


@each_layout
@pytest.mark.parametrize("shape", [(120, 6), (40, 90)])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_weight_of_k_is_a_row_repeated_k_times(name, shape, layout):
    X, y, k = counted(shape)
    repeated = np.repeat(np.arange(len(y)), k)
    by_weight = AUCClassifier(name).fit(layout(X), y, sample_weight=k)
    by_copies = AUCClassifier(name).fit(layout(X[repeated]), y[repeated])
    alike = AUCClassifier(name).fit(layout(X[k > 0]), y[k > 0])
    expected = scores(by_copies, layout(X))
    np.testing.assert_allclose(scores(by_weight, layout(X)), expected, atol=1e-8 * np.ptp(expected))
    assert np.ptp(scores(alike, layout(X)) - expected) > 1e-4 * np.ptp(expected)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "smooth_hinge"])
def test_it_is_so_for_every_kind_of_loss(loss):
    X, y, k = counted()
    repeated = np.repeat(np.arange(len(y)), k)
    by_weight = AUCClassifier("bam", loss=loss).fit(X, y, sample_weight=k)
    by_copies = AUCClassifier("bam", loss=loss).fit(X[repeated], y[repeated])
    expected = scores(by_copies, X)
    np.testing.assert_allclose(scores(by_weight, X), expected, atol=1e-8 * np.ptp(expected))


@pytest.mark.parametrize("scaling", ["none", "minmax", "maxabs", "standard", "unit"])
def test_scaling_and_the_cut_are_weighted_too(scaling):
    X, y, k = counted(seed=3)
    repeated = np.repeat(np.arange(len(y)), k)
    by_weight = AUCClassifier("ls_svm", scaling=scaling).fit(X, y, sample_weight=k)
    by_copies = AUCClassifier("ls_svm", scaling=scaling).fit(X[repeated], y[repeated])
    expected = scores(by_copies, X)
    np.testing.assert_allclose(scores(by_weight, X), expected, atol=1e-10 * np.ptp(expected))


@pytest.mark.parametrize("name", [*SOLVERS, *STREAMS, "sklearn"])
def test_rows_of_weight_zero_are_left_out(name):
    X, y, k = counted()
    weights = np.where(k > 0, 1.0, 0.0)
    by_weight = AUCClassifier(name, random_state=0).fit(X, y, sample_weight=weights)
    without = AUCClassifier(name, random_state=0).fit(X[k > 0], y[k > 0])
    np.testing.assert_allclose(scores(by_weight, X), scores(without, X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_method_multiplies_its_step_by_the_weight_over_the_mean(name):
    # In one pass over rows as they lie; twice the weight of all rows is no change.
    X, y, k = counted()
    fit = {"X": X[k > 0], "y": y[k > 0]}
    k = k[k > 0].astype(float)
    params = {} if name == "uni_exp" else {"alpha": 1e-3}

    def trained(weights):
        model = AUCClassifier(name, params, epochs=1, order="stored", random_state=0)
        return scores(model.fit(**fit, sample_weight=weights), X)

    assert np.ptp(trained(k) - trained(None)) > 1e-3 * np.ptp(trained(None))
    np.testing.assert_allclose(trained(2.0 * k), trained(k), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(trained(np.ones(len(k))), trained(None), rtol=1e-12)


def test_the_step_of_uni_exp_is_that_of_its_formula():
    X, y, k = counted((30, 3))
    X, y, k = X[k > 0] / 50.0, y[k > 0].astype(np.int8), k[k > 0].astype(float)
    method = aucbench.catalog().algorithm("uni_exp")(eta=0.1)
    problem = aucbench.Problem(X, y, len(y), None, k)
    batch = aucbench.Batch(X, y, np.arange(len(y)), "stream", k)
    found = method.weights(method.step(method.init(problem, np.random.default_rng(0)), batch))
    w, b, p = np.zeros(3), 0.0, k[y == 1].sum() / k.sum()
    for x, label, weight in zip(X, y, k, strict=True):
        c = 1.0 - p if label > 0 else p
        step = weight / k.mean() * 0.1 * c * label * np.exp(-label * (w @ x + b))
        w, b = w + step * x, b + step
    np.testing.assert_allclose(found, w, rtol=1e-12)


def test_weights_of_classes_change_a_ridge_only():
    # The mean over pairs does not see them.
    X, y, _ = counted()
    plain = AUCClassifier("bam", {"C": 1e-3}).fit(X, y).coef_
    heavy = AUCClassifier("bam", {"C": 1e-3 / 7.0}, scaling="standard")
    by_class = heavy.fit(X, y, sample_weight=np.where(y == 1, 7.0, 1.0))
    assert np.corrcoef(plain, by_class.coef_)[0, 1] > 0.99


def test_boosting_takes_it_as_its_base():
    X, y = two_clouds(n=400, positive=0.3)
    boosted = AdaBoostClassifier(AUCClassifier("ls_svm", {"lam": 1e-3}), n_estimators=5, random_state=0)
    assert roc_auc_score(y, boosted.fit(X, y).decision_function(X)) > 0.8
    with pytest.raises(ParameterError, match="psam"):
        AdaBoostClassifier(AUCClassifier("psam", random_state=0)).fit(X, y)


def test_probabilities_are_weighted():
    X, y, _ = counted()
    plain = AUCClassifier("ls_svm", calibrate=True, random_state=0).fit(X, y)
    weighted = AUCClassifier("ls_svm", calibrate=True, random_state=0).fit(X, y, np.where(y == 1, 9, 1))
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1


def test_weights_come_as_a_list_or_a_series():
    X, y, k = counted()
    expected = AUCClassifier("ls_svm").fit(X, y, k).coef_
    for weights in (k.tolist(), pd.Series(k), k.astype(np.float32)):
        np.testing.assert_array_equal(AUCClassifier("ls_svm").fit(X, y, weights).coef_, expected)


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ([1.0, 2.0], r"\(2,\)"),
        (np.ones((120, 1)), r"\(120, 1\)"),
        (np.r_[np.ones(119), -1.0], r"119 is -1"),
        (np.r_[np.nan, np.ones(119)], r"0 is nan"),
        (np.r_[np.inf, np.ones(119)], r"0 is inf"),
        (np.zeros(120), r"zero"),
        (["heavy"] * 120, r"heavy"),
        (2.0, r"\(\)"),
    ],
)
def test_other_weights_are_refused(weights, named):
    X, y, _ = counted()
    with pytest.raises(DataError, match=named):
        AUCClassifier("ls_svm").fit(X, y, sample_weight=weights)


def test_one_class_left_is_refused():
    X, y, _ = counted()
    with pytest.raises(DataError, match="one class"):
        AUCClassifier("ls_svm").fit(X, y, sample_weight=np.where(y == 1, 1.0, 0.0))


@each_layout
@pytest.mark.parametrize("name", ["psam", "solam", "toppush", "mba"])
def test_whole_weights_are_copies_for_a_method_without_weights(name, layout):
    X, y, k = counted()
    repeated = np.repeat(np.arange(len(y)), k)
    by_weight = AUCClassifier(name, random_state=0).fit(layout(X), y, sample_weight=k)
    by_copies = AUCClassifier(name, random_state=0).fit(layout(X[repeated]), y[repeated])
    np.testing.assert_array_equal(scores(by_weight, layout(X)), scores(by_copies, layout(X)))
    with pytest.raises(ParameterError, match=name):
        AUCClassifier(name).fit(layout(X), y, sample_weight=100 * k)


@pytest.mark.parametrize("name", ["psam", "solam", "toppush", "mba", "pesg"])
def test_a_method_without_weights_is_named_with_those_that_have_them(name):
    X, y, k = counted()
    with pytest.raises(ParameterError) as refused:
        AUCClassifier(name).fit(X, y, sample_weight=k / 2)
    assert {name, *weighted_methods()} <= set(str(refused.value).replace(",", " ").replace(".", " ").split())


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("uni_exp", {"ratio": "running"}),
        ("sklearn", {"estimator": "mlp"}),
    ],
)
def test_settings_without_weights_are_refused(name, params):
    from inspect import signature

    from sklearn.neural_network import MLPClassifier

    if name == "sklearn" and "sample_weight" in signature(MLPClassifier.fit).parameters:
        params = {"estimator": "mlp"}
        AUCClassifier(name, params).fit(*counted())  # from scikit-learn 1.7 on it has them
        return
    with pytest.raises(ParameterError, match=name):
        AUCClassifier(name, params).fit(*counted())
