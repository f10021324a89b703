"""Fitted classifiers survive pickle, copy, skops and MLflow, and their rows can be left behind."""

import copy
import pickle

import mlflow
import numpy as np
import pytest
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucbench.errors import ParameterError
from aucbench.sklearn import TRUSTED_TYPES, AUCClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=200) > 0, "ill", "well")


def through_skops(model):
    stored = skops.io.dumps(model)
    return skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored))


@pytest.mark.parametrize(
    "name",
    ["auto", "boosting", "cbr", "fsauc", "log_reg", "mba", "mlp", "oam_gra", "opauc_r", "psam", "sklearn"],
)
def test_a_stored_model_scores_alike_and_goes_on_alike(name):
    model = AUCClassifier(name, random_state=0).fit(X, Y)
    assert name not in ("boosting", "mlp") or not hasattr(model, "coef_")
    scores, copies = model.decision_function(X), []
    for store in (lambda fitted: pickle.loads(pickle.dumps(fitted)), copy.deepcopy, through_skops):
        loaded = store(model)
        np.testing.assert_array_equal(loaded.decision_function(X), scores)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        copies.append(loaded)
    if hasattr(model, "partial_fit"):
        # A stream goes on where it stopped, random numbers included.
        first, *restored = [stored.partial_fit(X, Y).decision_function(X) for stored in (model, *copies)]
        for result in restored:
            np.testing.assert_array_equal(result, first)


@pytest.mark.slow
def test_mlflow_saves_a_pipeline_with_the_public_list_and_names_aucbench(tmp_path):
    model = AUCClassifier("psam", features="nystroem", calibrate=True, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    mlflow.sklearn.save_model(
        pipeline, tmp_path / "model", skops_trusted_types=TRUSTED_TYPES, pip_requirements=["aucbench"]
    )
    loaded = mlflow.sklearn.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_proba(X), pipeline.predict_proba(X))
    assert "aucbench" in (tmp_path / "model" / "requirements.txt").read_text()


def test_a_model_that_forgot_its_rows_scores_alike_and_holds_none():
    model = AUCClassifier("solam", random_state=0).partial_fit(X, Y)
    scores, size = model.decision_function(X), len(skops.io.dumps(model))
    assert model.forget_rows() is model
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert len(skops.io.dumps(model)) < size - X.nbytes / 2
    with pytest.raises(ParameterError, match="call fit"):
        model.partial_fit(X, Y)
    model.fit(X, Y).partial_fit(X, Y)


def test_no_scaling_is_none_or_its_name_and_class_weight_is_refused_with_the_reason():
    models = [AUCClassifier("psam", scaling=scaling, random_state=0).fit(X, Y) for scaling in (None, "none")]
    np.testing.assert_array_equal(*[model.coef_ for model in models])
    with pytest.raises(ParameterError, match="sample_weight"):
        AUCClassifier(class_weight="balanced")
    with pytest.raises(TypeError, match="nosuch"):
        AUCClassifier(nosuch=1)
