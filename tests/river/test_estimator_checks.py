"""river's own checks of an estimator, all of them."""

import pytest
from river import checks

from aucbench.river import AUCClassifier
from tests.river.methods import RESUMABLE, classifier

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("algo", RESUMABLE)
def test_every_method_does_what_river_expects_of_a_classifier(algo):
    checks.check_estimator(classifier(algo))


@pytest.mark.parametrize(
    "model",
    [
        *(AUCClassifier(**parameters) for parameters in AUCClassifier._unit_test_params()),
        AUCClassifier("opauc", {"eta": 0.1}, n_features=2, warmup=16),
        AUCClassifier("solam", rescale=False, warmup=1, chunk=32),
        AUCClassifier("solam_l1", n_features=2**13),
    ],
    ids=str,
)
def test_settings_do_what_river_expects(model):
    checks.check_estimator(model)


def test_no_check_is_left_out():
    assert AUCClassifier()._unit_test_skips() == set()
