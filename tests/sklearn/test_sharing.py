"""A classifier leaves the house: MLflow stores it with the public list of types, its rows stay behind."""

import mlflow
import numpy as np
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucbench.errors import ParameterError
from aucbench.sklearn import TRUSTED_TYPES, AUCClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=200) > 0, 1, 0)


def test_mlflow_saves_a_pipeline_with_the_public_list_and_names_aucbench(tmp_path):
    model = CalibratedClassifierCV(AUCClassifier("psam", features="nystroem", random_state=0), ensemble=False)
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


def test_the_weights_are_an_onnx_model_of_three_lines():
    import onnx.parser
    import onnxruntime

    model = AUCClassifier(random_state=0).fit(X, Y)
    found = onnx.parser.parse_model(onnx_text(model))
    onnx.checker.check_model(found)
    (scores,) = onnxruntime.InferenceSession(found.SerializeToString()).run(None, {"X": X})
    np.testing.assert_allclose(scores.ravel(), model.decision_function(X), rtol=1e-12, atol=1e-12)


def onnx_text(model):
    """The model of the page on serving, in ONNX's own text."""
    w, b = ", ".join(map(repr, model.coef_[0].tolist())), float(model.intercept_[0])
    d = model.n_features_in_
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    weights = f"<double[{d}, 1] w = {{{w}}}, double[1] b = {{{b}}}>"
    graph = f"auc (double[n, {d}] X) => (double[n, 1] s) {weights}"
    return f"{head} {graph} {{ z = MatMul(X, w) s = Add(z, b) }}"


def test_no_scaling_is_none_or_its_name_and_class_weight_is_refused_with_the_reason():
    models = [AUCClassifier("psam", scaling=each, random_state=0).fit(X, Y) for each in (None, "none")]
    np.testing.assert_array_equal(*[model.coef_ for model in models])
    with pytest.raises(ParameterError, match="sample_weight"):
        AUCClassifier(class_weight="balanced")
    with pytest.raises(TypeError, match="nosuch"):
        AUCClassifier(nosuch=1)
