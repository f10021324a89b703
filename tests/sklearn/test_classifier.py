import doctest
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

import aucbench
from aucbench import AucbenchError, DataError, ParameterError
from aucbench.sklearn import AUCClassifier, classifier
from aucbench.sklearn._threshold import best_threshold
from tests.helpers.fake_plugins import Exploding, Iterating, two_clouds

X, Y = two_clouds(n=300)


def fitted(*arguments, **parameters):
    return AUCClassifier(*arguments, random_state=0, **parameters).fit(X, Y)


def test_it_is_an_attribute_of_the_package_whose_example_runs():
    assert aucbench.sklearn.AUCClassifier is AUCClassifier
    assert doctest.testmod(classifier).failed == 0


AS_THEY_ARE = {"scaling": "maxabs", "rescale": False}  # the default centres dense rows only


def test_sparse_rows_out_of_order_are_put_in_order_and_left_as_they_are():
    rows = sparse.csr_matrix(X)
    turned = sparse.csr_matrix((rows.data[::-1], rows.indices[::-1], rows.indptr), rows.shape)
    data = turned.data.copy()
    model, straight = (AUCClassifier("solam", random_state=0, **AS_THEY_ARE) for _ in range(2))
    model.fit(turned, Y[::-1])  # the rows are reversed, too
    np.testing.assert_allclose(model.coef_, straight.fit(X[::-1], Y[::-1]).coef_, rtol=1e-9)
    assert np.array_equal(turned.data, data)


@pytest.mark.parametrize("classes", [("no", "yes"), (False, True), (2.0, 7.0), (-1, 1)], ids=str)
def test_classes_of_any_type_come_back_and_the_larger_is_positive(classes):
    y = np.where(Y == 1, classes[1], classes[0])
    model = AUCClassifier(random_state=0).fit(X, y)
    assert list(model.classes_) == list(classes)
    assert set(model.predict(X)) == set(classes)
    assert roc_auc_score(y == classes[1], model.decision_function(X)) > 0.9
    named = pd.Series(y).astype("category")
    assert list(AUCClassifier(random_state=0).fit(X, named).predict(X)) == list(model.predict(X))


@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix])
@pytest.mark.parametrize("scaling", ["auto", "none", "maxabs", "minmax", "standard"])
def test_coefficients_belong_to_the_raw_features(scaling, make):
    rows = X * np.array([1e-3, 1.0, 50.0, 1.0, 1.0]) + np.array([0.0, 9.0, 0.0, -4.0, 0.0])
    rows = np.column_stack([rows, np.full(len(rows), 2.5)])  # a constant column
    model = AUCClassifier("ls_svm", scaling=scaling).fit(make(rows), Y)
    assert model.coef_.shape == (1, 6)
    assert model.intercept_.shape == (1,)
    expected = rows @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(make(rows)), expected, atol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"scaling": "unit"}, "scaling=unit divides each row by its own norm"),
        ({"features": "pca", "features_params": {"dimension": 2}}, "linear in the mapped features only"),
    ],
)
def test_without_coefficients_the_error_says_why(parameters, reason):
    model = fitted("solam", **parameters)
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match=reason):
        _ = model.intercept_


@pytest.mark.parametrize("share", [0.03, 0.5, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_cut_has_a_larger_balanced_accuracy(share, weighted):
    def accuracy(cut):
        right = np.where(scores > cut, 1, -1) == y
        return np.mean([np.average(right[y == label], weights=of[y == label]) for label in (1, -1)])

    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(300) < share, 1, -1).astype(np.int8)
        scores = np.round(rng.normal(size=300) + 0.7 * y, 1)  # with ties
        weights = rng.integers(1, 5, 300).astype(float) if weighted else None
        of = np.ones(300) if weights is None else weights
        balanced = accuracy(best_threshold("any", scores, y, weights))
        assert balanced == pytest.approx(max(map(accuracy, np.unique(scores))), abs=1e-12)


def test_the_lowest_of_equally_good_cuts_is_taken():
    y = np.array([1, -1, -1, 1] * 49, np.int8)
    assert best_threshold("any", np.arange(196.0), y) == 2.5
    assert best_threshold("any", np.arange(196.0), y, np.full(196, 0.1)) == 2.5


def test_probabilities_are_there_when_asked_for_and_keep_the_order():
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as caught:
        _ = fitted().predict_proba
    assert "calibrate=True before fit" in str(caught.value.__cause__)
    model = fitted("opauc", calibrate=True)
    assert np.array_equal(model.decision_function(X), fitted("opauc").decision_function(X))
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert roc_auc_score(Y, probabilities[:, 1]) == roc_auc_score(Y, model.decision_function(X))
    assert np.mean(probabilities[:, 1]) == pytest.approx(np.mean(Y == 1), abs=0.02)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(probabilities))
    with pytest.raises(DataError, match="calibrate=True"):
        AUCClassifier(calibrate=True).fit(X[:4], [0, 0, 0, 1])
    with pytest.raises(DataError, match="single group"):
        AUCClassifier(calibrate=True).fit(X[:4], [0, 0, 1, 1], groups=["a", "b", "c", "c"])
    late = fitted().set_params(calibrate=True)
    with pytest.raises(ParameterError, match="calibrate=True"):
        late.predict_proba(X)


def test_hyper_parameters_are_reached_by_nested_names_after_the_method_whatever_their_order():
    model = AUCClassifier("solam", {"zeta": 2.0}, loss_params=None)
    parameters, params = model.get_params(), model.algo_params
    assert parameters["algo__zeta"] == 2.0
    assert parameters["algo__radius"] == aucbench.catalog().algorithm("solam")().radius
    model.set_params(algo__radius=5.0, epochs=2, features__landmarks=7, features="nystroem")
    assert model.algo_params == {"zeta": 2.0, "radius": 5.0}
    assert params == {"zeta": 2.0}
    assert model.get_params()["features__landmarks"] == 7
    assert "algo__zeta" not in model.get_params(deep=False)
    model = AUCClassifier().set_params(algo__gamma=1e-3, algo="psam")
    assert model.get_params()["algo__gamma"] == 1e-3
    with pytest.raises(ParameterError, match=r"algo=psam .*'gama'.* gamma"):
        model.set_params(algo__gama=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="Invalid parameter 'algorithm'"):
        model.set_params(algorithm="psam")


def test_a_method_that_has_not_converged_warns():
    with pytest.warns(ConvergenceWarning, match="iterating .* 5 iterations"):
        fitted(Iterating(needed=50), epochs=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(Iterating(needed=50))


@pytest.mark.parametrize(
    ("parameters", "values"),
    [
        ({"algo": "fsauk"}, ["fsauk", "fsauc or sauc"]),
        ({"algo": 3}, ["algo", "registered algorithm", "got 3"]),
        ({"algo": "fsauc", "algo_params": {"radiu": 1}}, ["algo=fsauc", "'radiu'", "radius"]),
        ({"algo_params": [1]}, ["algo_params", "mapping", "got [1]"]),
        ({"algo": "fsauc", "loss": "hinge"}, ["fsauc", "square", "loss=hinge"]),
        ({"scaling": "max"}, ["scaling", "minmax"]),
        ({"order": "sorted"}, ["order", "shuffled, stored, blocks", "'sorted'"]),
        ({"algo": "psam", "order": "stored"}, ["order=stored", "random pairs"]),
        ({"epochs": 0}, ["epochs", "> 0", "got 0"]),
        ({"algo": "cbr", "loss_params": {"theta": 1.0}}, ["cbr", "no loss", "{'theta': 1.0}"]),
        ({"rescale": "yes"}, ["rescale", "True or False", "'yes'"]),
        ({"calibrate": "isotonic"}, ["calibrate", "'isotonic'"]),
        ({"iterations": 2**70}, ["iterations cannot be counted"]),
        ({"algo_params": {1: 2}}, ["algo_params", "names to values", "got {1: 2}"]),
        ({"algo": "solam", "features": "pca", "scaling": "none"}, ["all training rows are equal"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_setting_is_refused_by_fit_with_the_value_in_the_message(parameters, values):
    model = AUCClassifier(**parameters)
    model.get_params()
    with pytest.raises(AucbenchError) as caught:
        model.fit(X if "pca" not in parameters.values() else sparse.csr_array(np.ones(X.shape)), Y)
    for value in values:
        assert value in str(caught.value)
    assert not hasattr(model, "classes_")


def test_a_training_that_diverges_names_the_step_to_lower():
    with pytest.raises(ParameterError) as caught:
        AUCClassifier(Exploding(at=37), epochs=5).fit(X, Y)
    assert "exploding diverged within" in str(caught.value)
    assert "scale" not in str(caught.value)  # the rows are standardised and rescaled
    with pytest.raises(ParameterError) as caught:
        AUCClassifier("adaoam", {"eta": 1e300}, scaling="none", rescale=False).fit(X * 1e20, Y)
    assert "algo__eta, now 1e+300" in str(caught.value)
    assert "rescale=True" in str(caught.value)


def test_other_than_two_classes_are_refused():
    for y, named in (
        (np.arange(300) % 3, "multiclass.* got 3; .*OneVsRest"),
        (np.ones(300), r"one class.*1\.0"),
    ):
        with pytest.raises(DataError, match=named):
            AUCClassifier().fit(X, y)


def test_float32_rows_stay_float32_and_huge_values_without_scaling_are_refused():
    model = AUCClassifier("solam", random_state=0).fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(model.coef_, fitted("solam").coef_, rtol=1e-3)
    with pytest.raises(DataError, match="use scaling=maxabs"):
        AUCClassifier(scaling="none").fit(X * 1e200, Y)


def test_probabilities_of_known_patients_are_not_certain_where_calibration_knows_groups():
    rng = np.random.default_rng(0)
    patients = np.repeat(np.arange(40), 5)
    rows = np.eye(40)[patients] + 0.01 * rng.normal(size=(200, 40))  # identify the patient only
    labels = rng.permutation(40)[patients] % 2
    ungrouped, grouped = (
        AUCClassifier("opauc", calibrate=True, random_state=0).fit(rows, labels, groups=groups)
        for groups in (None, [f"patient {number}" for number in patients])
    )
    assert ungrouped.predict_proba(rows).std() > 3 * grouped.predict_proba(rows).std()
    with pytest.raises(DataError, match="one group per row"):
        AUCClassifier().fit(rows, labels, groups=patients[:3])


@pytest.mark.parametrize("rows", [[[0.0], [1.0]], np.zeros((10, 3))], ids=["two", "zeros"])
@pytest.mark.parametrize("algo", ["spdam", "solam", "fsauc", "psam", "opauc"])
def test_rows_that_are_equal_within_their_class_train(algo, rows):
    model = AUCClassifier(algo, random_state=0).fit(rows, ([0, 1] * 5)[: len(rows)])
    assert np.isfinite(model.decision_function(rows)).all()
