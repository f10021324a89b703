import pickle
import re
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from aucbench import DataError, ParameterError
from aucbench.sklearn import AUCClassifier
from tests.helpers.fake_plugins import Exploding, Perceptron, two_clouds

X, Y = two_clouds(n=400)
X_TEST, Y_TEST = two_clouds(n=400, seed=1)
PARTS = [slice(start, start + 100) for start in range(0, 400, 100)]


class Undeclared(Perceptron):
    """A method that is not resumable."""

    name: ClassVar[str] = "undeclared"
    resumable: ClassVar[bool] = False


def in_parts(model, X=X, y=Y, parts=PARTS, **keywords):
    for part in parts:
        model.partial_fit(X[part], y[part], **keywords)
    return model


@pytest.mark.parametrize("algo", ["solam", "opauc", "opauc_r", "adaoam", "sgd_log"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_in_parts_train_like_all_rows_at_once(algo, kind):
    settings = {"scaling": "none", "rescale": False, "order": "stored", "epochs": 1, "random_state": 0}
    rows, y = kind(X), Y
    if algo == "solam":
        settings["algo_params"] = {"kappa": 9.0}  # else measured on the first rows
    if algo == "sgd_log":
        settings["algo_params"] = {"alpha": 1e-4}  # else it depends on the number of rows
        y = np.concatenate([Y[PARTS[0]]] * 4)  # its class weights come from the first rows
    full = AUCClassifier(algo, **settings).fit(rows, y)
    parts = in_parts(AUCClassifier(algo, **settings), rows, y)
    np.testing.assert_allclose(parts.coef_, full.coef_, rtol=1e-9, atol=1e-12)
    assert parts.n_iter_ == full.n_iter_ == 400


def test_one_call_is_a_fit_of_one_epoch_and_it_goes_on_after_fit_and_after_pickling():
    once = AUCClassifier("solam", random_state=4).partial_fit(X, Y)
    fit = AUCClassifier("solam", random_state=4, epochs=1).fit(X, Y)
    assert np.array_equal(once.coef_, fit.coef_)
    assert once.intercept_ == pytest.approx(fit.intercept_, abs=1e-12)
    fitted = AUCClassifier("opauc", epochs=5, random_state=0).fit(X, Y)
    before, restored = fitted.coef_, pickle.loads(pickle.dumps(fitted))
    for model in (fitted, restored):
        model.partial_fit(X_TEST, Y_TEST)
    assert np.array_equal(fitted.coef_, restored.coef_)
    assert not np.array_equal(fitted.coef_, before)
    assert fitted.n_iter_ == 5 * 400 + 400
    assert np.array_equal(fitted.fit(X, Y).coef_, before)


def test_a_planning_method_needs_the_number_of_rows_and_refuses_more():
    model = in_parts(AUCClassifier("fsauc", iterations=400, random_state=0))
    assert roc_auc_score(Y_TEST, model.decision_function(X_TEST)) > 0.9
    with pytest.raises(ParameterError, match=r"planned 400 .* done 400 .* 1 more"):
        model.partial_fit(X[:1], Y[:1])


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({}, "auto takes all rows in every iteration.*solam"),
        ({"algo": "fsauc"}, "fsauc .* set iterations"),
        ({"algo": "psam"}, "psam draws its pairs from all rows"),
        ({"algo": "mba"}, "mba draws its minibatches from all rows"),
        ({"algo": "ls_svm"}, "ls_svm takes all rows in every iteration"),
        ({"algo": "spam"}, "spam does not declare `resumable = True`"),
        ({"algo": Undeclared()}, "undeclared does not declare `resumable = True`"),
        ({"algo": "solam", "calibrate": True}, "calibrate=True needs all rows at once"),
        ({"algo": "nothing"}, "Unknown algorithm 'nothing'"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_method_that_cannot_go_on_has_no_partial_fit_and_says_why(parameters, reason):
    with pytest.raises(AttributeError) as caught:
        AUCClassifier(**parameters).partial_fit(X, Y)
    assert re.search(reason, str(caught.value.__cause__))


def test_the_cut_follows_the_model_while_rows_come_sorted_by_class():
    order = np.argsort(Y, kind="stable")
    rows, y = X[order], Y[order]
    model = in_parts(AUCClassifier("solam", random_state=0), rows, y, classes=[-1, 1])
    assert model.score(X_TEST, Y_TEST) > 0.8


def test_one_class_may_come_first_when_the_classes_are_named():
    with pytest.raises(DataError, match="one class only: 1"):
        AUCClassifier("solam").partial_fit(X[:3], [1, 1, 1])
    model = AUCClassifier("solam").partial_fit(X[:3], ["b"] * 3, classes=["a", "b"])
    assert list(model.classes_) == ["a", "b"]
    with pytest.raises(DataError, match=r"'c' .* 'a', 'b'"):
        model.partial_fit(X[:2], ["a", "c"])
    with pytest.raises(DataError, match="'a', 'b'"):
        model.partial_fit(X[:2], ["a", "b"], classes=["a", "c"])


def test_settings_and_kind_of_rows_are_fixed_by_the_first_call():
    model = AUCClassifier("solam").partial_fit(X, Y)
    with pytest.raises(DataError, match=r"dense, .* sparse"):
        model.partial_fit(sparse.csr_array(X), Y)
    model.set_params(algo__zeta=5.0)
    with pytest.raises(ParameterError, match="algo changed"):
        model.partial_fit(X, Y)


def test_a_model_that_diverged_does_not_go_on():
    model = AUCClassifier(Exploding(at=150), random_state=0).partial_fit(X[:100], Y[:100])
    for _ in range(2):
        with pytest.raises(ParameterError, match="exploding diverged within 200 iterations"):
            model.partial_fit(X[100:200], Y[100:200])


@pytest.mark.parametrize("rows", [slice(50), Y == 1], ids=["few", "one class"])
def test_a_stream_that_begins_with_few_rows_or_one_class_is_warned_of_at_the_line_of_the_caller(rows):
    with pytest.warns(UserWarning, match="at least 100 rows") as caught:
        AUCClassifier("solam", random_state=0).partial_fit(X[rows], Y[rows], classes=[-1, 1])
    assert caught[0].filename == __file__
