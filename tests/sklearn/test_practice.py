"""The classifier in scripts that were written for others: wrappers, searches, data frames."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aucbench.sklearn import AUCClassifier

FRAME, Y = load_breast_cancer(return_X_y=True, as_frame=True)
WORDS = np.where(Y == 1, "benign", "malignant")
X = FRAME.to_numpy()


def model(**parameters):
    return AUCClassifier("psam", random_state=0, **parameters)


@pytest.mark.slow
def test_a_search_over_columns_of_a_frame_nests_its_parameters():
    frame = FRAME.assign(site=np.where(np.arange(len(Y)) % 3, "a", "b"))
    columns = make_column_transformer((OneHotEncoder(), ["site"]), remainder=StandardScaler())
    grid = [
        {"classify__algo": ["solam"], "classify__algo__radius": [1.0, 10.0]},
        {"classify__algo_params": [{"gamma": 0.01}]},
    ]
    pipeline = Pipeline([("columns", columns), ("classify", model())])
    search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=3, error_score="raise")
    assert search.fit(frame, WORDS).best_score_ > 0.97


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrapped",
    [
        CalibratedClassifierCV(model(), cv=3),
        BaggingClassifier(model(), n_estimators=3, random_state=0),
        StackingClassifier([("b", HistGradientBoostingClassifier(max_iter=5))], model(), cv=3),
        VotingClassifier([("a", model(calibrate=True)), ("b", model(calibrate=True))], voting="soft"),
        TunedThresholdClassifierCV(model(), cv=3),
        RFE(model(), n_features_to_select=10, step=5),
    ],
    ids=lambda each: type(each).__name__,
)
def test_it_works_within_other_estimators(wrapped):
    assert wrapped.fit(FRAME.to_numpy(), WORDS).score(X, WORDS) > 0.9


@pytest.mark.slow
def test_one_against_the_rest_works_with_many_classes():
    rows, y = load_iris(return_X_y=True)
    each = OneVsRestClassifier(model(calibrate=True))
    assert cross_val_score(each, rows, y, scoring="roc_auc_ovr", cv=3).min() > 0.9
