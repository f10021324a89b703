"""Fitted classifiers of each kind of state survive pickle, copy and skops, by which MLflow stores models."""

import copy
import pickle

import numpy as np
import pytest
import skops.io

from aucbench.sklearn import AUCClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, "ill", "well")


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
    scores, others = model.decision_function(X), []
    for store in (lambda each: pickle.loads(pickle.dumps(each)), copy.deepcopy, through_skops):
        other = store(model)
        np.testing.assert_array_equal(other.decision_function(X), scores)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        others.append(other)
    if hasattr(model, "partial_fit"):
        # A stream goes on where it stopped, random numbers included.
        first, *rest = [each.partial_fit(X, Y).decision_function(X) for each in (model, *others)]
        for each in rest:
            np.testing.assert_array_equal(each, first)
