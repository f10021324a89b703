"""river's own checks of an estimator, all of them, on six estimators."""

import pytest
from river import checks

from aucbench.river import AUCClassifier

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "model",
    [
        *(AUCClassifier(**parameters) for parameters in AUCClassifier._unit_test_params()),
        AUCClassifier("opauc", {"eta": 0.1}, n_features=2, warmup=16),
        AUCClassifier("sgd_log", rescale=False, warmup=1, chunk=32),
        AUCClassifier("solam", n_features=2**13),
    ],
    ids=str,
)
def test_it_does_what_river_expects_of_a_classifier(model):
    checks.check_estimator(model)
    assert model._unit_test_skips() == set()
