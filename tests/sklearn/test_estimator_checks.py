"""scikit-learn's own checks of an estimator, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucbench.sklearn import AUCClassifier

PLANNED = AUCClassifier(iterations=1_000)
ESTIMATORS = [
    *(AUCClassifier(algo) for algo in ("fsauc", "solam", "opauc", "psam", "ls_svm", "sgd_log")),
    AUCClassifier("solam", features="nystroem", features_params={"landmarks": 20}),
    AUCClassifier("opauc", scaling="minmax"),
    AUCClassifier("psam", scaling="standard"),
    AUCClassifier("ls_svm", calibrate=True, random_state=0),
    AUCClassifier("fsauc", calibrate=True, random_state=0),
    PLANNED,
]


def exempt(estimator):
    if estimator.iterations is not None:
        return {
            "check_fit_score_takes_y": "it calls partial_fit after fit, which has used up the planned "
            "iterations; to begin anew in silence would throw the fitted model away"
        }
    if estimator.calibrate and estimator.algo == "fsauc":
        return {
            "check_classifiers_train": "predict cuts where the balanced accuracy of training rows is best, "
            "with or without probabilities, and not at a probability of one half"
        }
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=exempt)
def test_it_does_what_scikit_learn_expects_of_an_estimator(estimator, check):
    check(estimator)


def test_the_exempted_check_fails_for_the_reason_given():
    X, y = [[0.0], [1.0]] * 20, [0, 1] * 20
    with pytest.raises(
        ValueError, match=r"^fsauc planned 1000 iterations, has done 1000 and got 40 more rows"
    ):
        PLANNED.fit(X, y).partial_fit(X, y)
