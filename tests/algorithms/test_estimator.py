"""algo=sklearn against the classifiers themselves, and how boards tell and mark them."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from aucbench import ParameterError
from aucbench.evaluation import exact_auc
from aucbench_algorithms import SklearnClassifier
from aucbench_algorithms.sklearn_classifier import KNOWN, LINEAR, Estimator
from tests.helpers.training import problem_of, random_problem, train

X, Y = random_problem(0, 150, 6)
X_TEST, Y_TEST = random_problem(0, 300, 6)
PASS = np.zeros((1, 0), np.int64)
LAYOUTS = [np.asarray, sparse.csr_matrix, sparse.csr_array]
INSTALLED = [name for name in Estimator if KNOWN[name].module.startswith("sklearn")]
SEED = int(np.random.default_rng(0).integers(2**31 - 1))


def scores_of(algorithm, rows=X, new=X_TEST, labels=Y):
    return algorithm.score(train(algorithm, rows, labels, PASS), new)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("name", "classifier"),
    [
        (
            "hist_gradient_boosting",
            HistGradientBoostingClassifier(class_weight="balanced", random_state=SEED),
        ),
        ("gaussian_nb", GaussianNB()),
        ("logistic_regression", LogisticRegression(class_weight="balanced", max_iter=1000)),
    ],
)
def test_rows_are_ranked_as_the_classifier_ranks_them(name, classifier, layout):
    classifier.fit(X, Y)
    expected = classifier.predict_proba(X_TEST)[:, 1]
    found = scores_of(SklearnClassifier(estimator=name), layout(X), layout(X_TEST))
    assert np.array_equal(np.argsort(found, kind="stable"), np.argsort(expected, kind="stable"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parameters_and_the_seed_of_the_run_reach_the_classifier(layout):
    params = {"n_estimators": 7, "max_depth": 2, "criterion": "entropy", "class_weight": None}
    classifier = RandomForestClassifier(random_state=SEED, **params).fit(layout(X), Y)
    found = scores_of(SklearnClassifier(estimator="random_forest", params=params), layout(X))
    assert np.array_equal(found, classifier.predict_proba(X_TEST)[:, 1])
    assert not np.array_equal(found, scores_of(SklearnClassifier(estimator="random_forest"), layout(X)))


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", INSTALLED)
def test_every_classifier_learns_repeats_itself_and_can_be_pickled(name, layout):
    algorithm = SklearnClassifier(estimator=name)
    state = train(algorithm, layout(X), Y, PASS)
    assert algorithm.done(state)
    scores = algorithm.score(state, layout(X))
    assert scores.shape == (150,)
    assert exact_auc(scores, Y) > 0.7
    assert np.array_equal(scores, scores_of(algorithm, layout(X), layout(X)))
    assert np.array_equal(scores, algorithm.score(pickle.loads(pickle.dumps(state)), layout(X)))
    model = state.fitted.model
    assert model.get_params().get("n_jobs", 1) == 1
    assert model.get_params().get("class_weight", "balanced") == "balanced"


@pytest.mark.parametrize("name", INSTALLED)
def test_only_linear_classifiers_have_weights(name):
    algorithm = SklearnClassifier(estimator=name)
    assert hasattr(algorithm, "weights") == (name in LINEAR)
    if name in LINEAR:
        state = train(algorithm, X, Y, PASS)
        np.testing.assert_allclose(algorithm.score(state, X_TEST), X_TEST @ algorithm.weights(state))


@pytest.mark.parametrize("name", INSTALLED)
def test_one_class_alone_scores_all_rows_alike(name):
    scores = scores_of(SklearnClassifier(estimator=name), labels=np.ones(150, np.int8))
    assert np.ptp(scores) == 0


def test_sparse_rows_that_do_not_fit_are_refused_by_classifiers_that_take_dense_ones():
    wide = sparse.csr_array((150, 10**8))
    with pytest.raises(ParameterError, match="hist_gradient_boosting takes dense rows only"):
        train(SklearnClassifier(), wide, Y, PASS)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"estimator": "os.system"},
            r"sklearn: estimator must be one of hist_gradient_boosting, .*os\.system",
        ),
        ({"params": {"max_dept": 3}}, r"params\.max_dept of hist_gradient_boosting.*got 3.*'max_depth'"),
        ({"params": {"max_iter": -5}}, r"sklearn: params of hist_gradient_boosting.*'max_iter'.*Got -5"),
        ({"params": {"max_iter": [1]}}, r"params\.max_iter .* must be a number, text.*got \[1\]"),
        ({"params": {"random_state": 3}}, r"params\.random_state .* cannot be set.*seed of the run"),
        ({"params": 3}, r"params must be a mapping.*got 3"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(fields, words):
    with pytest.raises(ParameterError, match=words):
        SklearnClassifier(**fields)


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=r"estimator=lightgbm needs the package lightgbm.*pip install"):
        SklearnClassifier(estimator="lightgbm")


def test_nothing_is_fitted_before_the_first_pass():
    algorithm = SklearnClassifier()
    state = algorithm.init(problem_of(algorithm, X, Y, 1), np.random.default_rng(0))
    assert not algorithm.done(state)
    assert not algorithm.score(state, X).any()
