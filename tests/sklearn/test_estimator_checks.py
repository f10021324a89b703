"""scikit-learn's own checks of an estimator, all of them, on estimators of each kind."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import aucbench
from aucbench.sklearn import AUCClassifier

pytestmark = pytest.mark.slow

ESTIMATORS = [  # a weighted solver, a calibrated one, and a planned stream with a map
    AUCClassifier("log_reg", scaling="maxabs", rescale=False),
    AUCClassifier("ls_svm", calibrate=True, random_state=0),
    AUCClassifier("fsauc", iterations=1_000, features="nystroem", features_params={"landmarks": 20}),
]


OF_COPIES = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]


def exempt(estimator):
    """Checks that fail, with the reasons."""
    if estimator.iterations is not None:
        reasons = {
            "check_fit_score_takes_y": "it calls partial_fit after fit, which has used up the planned "
            "iterations; to begin anew in silence would throw the fitted model away"
        }
    elif estimator.calibrate:
        why = "predict cuts where the balanced accuracy of training rows is best, not at a probability of 1/2"
        copies = "copies of a row lie in several folds of the calibration"
        return {"check_classifiers_train": why, **dict.fromkeys(OF_COPIES, copies)}
    else:
        reasons = {}
    if getattr(aucbench.catalog().algorithm(estimator.algo), "weighted", False):
        return reasons
    return reasons | dict.fromkeys(OF_COPIES, "weighted rows and copies are visited in different orders")


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=exempt)
def test_it_does_what_scikit_learn_expects_of_an_estimator(estimator, check):
    check(estimator)
