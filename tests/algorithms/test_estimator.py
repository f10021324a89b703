"""algo=estimator and its presets, algo=sklearn, against the classifiers themselves."""

import pickle

import numpy as np
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from scipy import sparse
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from xgboost import XGBClassifier

import aucbench
from aucbench import Batch, ModelClass, ParameterError, Problem
from aucbench.contracts import class_of_model
from aucbench.errors import CellError
from aucbench.evaluation import exact_auc
from aucbench.sklearn import AUCClassifier
from aucbench_algorithms import ImportedEstimator, SklearnClassifier
from aucbench_algorithms.estimator import PATHS, Estimator
from tests.helpers.training import random_problem, train

X, Y = random_problem(0, 150, 6)
X_TEST, Y_TEST = random_problem(0, 300, 6)
PASS = np.zeros((1, 0), np.int64)
LAYOUTS = [np.asarray, sparse.csr_array]
LINEAR = (Estimator.logistic_regression, Estimator.linear_svc)
SEED = int(np.random.default_rng(0).integers(2**31 - 1))


def scores_of(algorithm, rows=X, new=X_TEST, labels=Y):
    return algorithm.score(train(algorithm, rows, labels, PASS), new)


SEEDED = {"random_state": SEED, "n_jobs": 1}
BALANCED = {"class_weight": "balanced"}
AS_CLASSIFIERS = [
    ("hist_gradient_boosting", {}, HistGradientBoostingClassifier(random_state=SEED, **BALANCED)),
    ("gaussian_nb", {}, GaussianNB()),
    ("logistic_regression", {}, LogisticRegression(max_iter=1000, **BALANCED)),
    ("lightgbm", {"n_estimators": 7, "class_weight": None}, LGBMClassifier(verbosity=-1, **SEEDED)),
    ("random_forest", {"n_estimators": 7, "class_weight": None}, RandomForestClassifier(**SEEDED)),
    ("xgboost", {"n_estimators": 7, "max_depth": 2, "scale_pos_weight": 1.0}, XGBClassifier(**SEEDED)),
]


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "params", "classifier"), AS_CLASSIFIERS, ids=lambda case: str(case)[:20])
def test_rows_are_ranked_as_the_classifier_with_these_parameters_ranks_them(name, params, classifier, layout):
    expected = classifier.set_params(**params).fit(X, Y == 1).predict_proba(X_TEST)[:, 1]
    scores = scores_of(SklearnClassifier(estimator=name, params=params), layout(X), layout(X_TEST))
    assert np.array_equal(rankdata(scores), rankdata(expected))


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", list(Estimator))
def test_every_classifier_learns_is_balanced_and_has_weights_if_linear(name, layout):
    algorithm = SklearnClassifier(estimator=name)
    state = train(algorithm, layout(X), Y, PASS)
    scores, model = algorithm.score(state, layout(X)), state.fitted.model
    assert exact_auc(scores, Y) > 0.7
    assert model.get_params().get("n_jobs", 1) == 1
    assert model.get_params().get("class_weight", "balanced") == "balanced"
    by_path = ImportedEstimator(cls=PATHS[name])
    assert np.array_equal(scores, scores_of(by_path, layout(X), layout(X)))
    assert class_of_model(by_path) is class_of_model(algorithm)
    assert hasattr(algorithm, "weights") == (name in LINEAR)
    if name in LINEAR:
        np.testing.assert_allclose(algorithm.score(state, X_TEST), X_TEST @ algorithm.weights(state))
    assert np.ptp(scores_of(algorithm, layout(X), labels=np.ones(150, np.int8))) == 0  # one class alone


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "path",
    [
        "linear_model.RidgeClassifier",
        "linear_model.SGDClassifier",
        "linear_model.Perceptron",
        "discriminant_analysis.LinearDiscriminantAnalysis",
    ],
)
def test_linear_classifiers_of_scikit_learn_have_weights_that_rank_as_they_do(path, layout):
    algorithm = ImportedEstimator(cls=f"sklearn.{path}")
    state = train(algorithm, layout(X), Y, PASS)
    assert class_of_model(algorithm) is ModelClass.linear
    decided = state.fitted.model.decision_function(X_TEST)
    offset = decided - X_TEST @ algorithm.weights(state)
    np.testing.assert_allclose(offset, offset[0], atol=1e-9 * np.abs(decided).max())


@pytest.mark.parametrize(
    ("path", "params", "expected"),
    [
        ("sklearn.svm.SVC", {"kernel": "linear"}, ModelClass.linear),
        ("sklearn.svm.SVC", {"kernel": "rbf"}, ModelClass.kernel),
        ("sklearn.ensemble.BaggingClassifier", None, ModelClass.trees),
        ("sklearn.neighbors.KNeighborsClassifier", None, ModelClass.other),
    ],
)
def test_the_class_of_a_model_follows_from_path_and_parameters(path, params, expected):
    assert class_of_model(ImportedEstimator(cls=path, params=params)) is expected


def test_sparse_rows_that_do_not_fit_are_refused_by_classifiers_that_take_dense_ones():
    wide = sparse.csr_array((150, 10**8))
    with pytest.raises(ParameterError, match="hist_gradient_boosting takes dense rows only"):
        train(SklearnClassifier(), wide, Y, PASS)


X_ROWS = {"dense": X, "csr": sparse.csr_array(X * (np.abs(X) > 0.2))}


@pytest.mark.boosters
@pytest.mark.parametrize("layout", X_ROWS)
def test_seed_thread_balance_and_parameters_reach_a_class_that_uses_other_words(layout):
    rows, params = X_ROWS[layout], {"iterations": 20, "depth": 3, "ignored_features": [5]}
    classifier = CatBoostClassifier(
        random_seed=SEED, thread_count=1, auto_class_weights="Balanced", logging_level="Silent",
        allow_writing_files=False, **params,
    ).fit(sparse.csr_matrix(rows) if layout == "csr" else rows, Y == 1)  # fmt: skip
    algorithm = ImportedEstimator(cls="catboost.CatBoostClassifier", params=params)
    state = train(algorithm, rows, Y, PASS)
    assert not state.fitted.writes_out
    expected = classifier.predict_proba(X_TEST)[:, 1]
    assert np.array_equal(algorithm.score(state, X_TEST), expected)
    assert np.array_equal(algorithm.score(pickle.loads(pickle.dumps(state)), X_TEST), expected)
    assert algorithm.packages == ("catboost",)


@pytest.mark.slow
def test_weights_of_rows_are_the_sample_weight():
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 150)
    params = {"n_estimators": 5}
    for cls in ("sklearn.ensemble.AdaBoostClassifier", "catboost.CatBoostClassifier"):
        algorithm = ImportedEstimator(cls=cls, params=params)
        states = []
        for row_weights in (None, weights):
            state = algorithm.init(Problem(X, Y, 1, None, row_weights), np.random.default_rng(0))
            states.append(algorithm.step(state, Batch(X, Y, PASS, weights=row_weights)))
        plain, weighted = (algorithm.score(state, X_TEST) for state in states)
        assert not np.array_equal(plain, weighted)
    algorithm = ImportedEstimator(cls="sklearn.neighbors.KNeighborsClassifier")
    with pytest.raises(ParameterError, match=r"KNeighborsClassifier takes no sample_weight"):
        algorithm.init(Problem(X, Y, 1, None, weights), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"estimator": "os.system"}, r"estimator must be one of hist_gradient_boosting, .*os\.system"),
        ({"params": {"max_dept": 3}}, r"params\.max_dept of estimator=hist_.*got 3.*'max_depth'"),
        ({"params": {"max_iter": -5}}, r"sklearn: estimator=hist_.* refuses.*'max_iter'.*Got -5"),
        ({"params": {"max_iter": object()}}, r"params\.max_iter must be a number, text.*got <object"),
        ({"estimator": "lightgbm", "params": {"n_jobs": 3}}, r"params\.n_jobs .* cannot be set"),
        ({"params": 3}, r"params must be a mapping.*got 3"),
        ({"cls": "nothing.Classifier"}, r"needs the package nothing.*PYTHONPATH"),
        ({"cls": "sklearn.nothing.Classifier"}, r"sklearn\.nothing cannot be imported: No module"),
        ({"cls": "sklearn.svm.SVX"}, r"there is none at sklearn\.svm\.SVX\. Did you mean sklearn\.svm\.SV"),
        ({"cls": "a b.C"}, r"must be the import path of a class, got 'a b\.C'"),
        ({"cls": "numpy.sum"}, r"numpy\.sum is no class with a method `fit`"),
        ({"cls": "sklearn.linear_model.LinearRegression"}, r"no scores: .*decision_function nor predict_pr"),
        ({"cls": "sklearn.ensemble.VotingClassifier"}, r"VotingClassifier refuses params=\{\}: .*estimators"),
        ({"cls": f"{__name__}.NeedsThreads", "params": {"dept": 2}}, "Did you mean 'depth'"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(fields, message):
    with pytest.raises(ParameterError, match=message) as caught:
        (ImportedEstimator if "cls" in fields else SklearnClassifier)(**fields)
    assert "cls" not in fields or "\n" not in str(caught.value)


def test_the_classifier_of_scikit_learn_takes_any_estimator():
    params = {"cls": "sklearn.ensemble.AdaBoostClassifier", "params": {"n_estimators": 5}}
    model = AUCClassifier("estimator", params, random_state=0).fit(X, Y)
    assert exact_auc(model.decision_function(X), Y) > 0.7
    assert not hasattr(model, "coef_")
    assert AUCClassifier("estimator", random_state=0).fit(X, Y).coef_.shape == (1, 6)


class Ends:
    def __init__(self):
        raise SystemExit(3)

    fit = decision_function = None


class NoNumbers:
    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return np.full(len(X), np.nan)


class NeedsThreads(NoNumbers):
    """A class without a default for `n_jobs`, with an attribute that cannot be pickled."""

    def __init__(self, n_jobs, depth=1):
        assert n_jobs == 1
        self.score, self.size = (lambda X: X[:, 0]), np.zeros(100)

    def decision_function(self, X):
        return self.score(X)


def test_a_class_may_need_the_number_of_threads_and_hold_a_function():
    algorithm = ImportedEstimator(cls=f"{__name__}.NeedsThreads", params={"depth": 2})
    state = train(algorithm, X, Y, PASS)
    assert np.array_equal(algorithm.score(state, X_TEST), X_TEST[:, 0])
    assert 800 <= algorithm.state_bytes(state) < 2000


class Mistaken(NeedsThreads):
    def fit(self, X, y):
        raise ZeroDivisionError("a mistake of mine")


class Complex(NoNumbers):
    def decision_function(self, X):
        return X[:, 0] + 1j


class OneColumn:
    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.ones((len(X), 1))


@pytest.mark.parametrize(
    ("cls", "error", "message"),
    [
        (
            "Mistaken",
            CellError,
            r"Mistaken, .* failed: .* mistake .* \(test_estimator.py, line \d+, in fit\)",
        ),
        ("Ends", ParameterError, r"estimator: .* ends the program \(SystemExit: 3\)"),
        ("Complex", ParameterError, "complex numbers"),
        ("OneColumn", ParameterError, r"shape \(\d+, 1\)"),
        ("NoNumbers", None, "its scores are NaN or infinite"),
    ],
)
def test_what_a_class_of_others_does_wrong_is_said(cls, error, message):
    overrides = ("algo=estimator", "dataset=wine", "isolation=none", f"algo.cls={__name__}.{cls}")
    if error is None:
        assert aucbench.run(*overrides).record["result"]["advice"] == message
        return
    with pytest.raises(error, match=message):
        aucbench.run(*overrides)
