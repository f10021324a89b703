"""The exact AUC against all pairs and scikit-learn."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from aucbench import DataError
from aucbench.evaluation import auc, exact_auc
from aucbench.evaluation.auc import measure_columns
from aucbench.evaluation.measures import AUC

SCORES = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, 5e-324, -5e-324, 1.0 + 2**-52, 1e300, -1e300]),
)


def brute_force(scores, y):
    positives, negatives = scores[y == 1][:, None], scores[y == -1][None]
    wins, ties = (positives > negatives).sum(), (positives == negatives).sum()
    return (2 * wins + ties) / (2 * positives.size * negatives.size)


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=2, max_size=120))
def test_any_scores_give_the_auc_of_all_pairs(samples):
    scores = np.array([score for score, _ in samples])
    y = np.where([positive for _, positive in samples], 1, -1).astype(np.int8)
    if abs(y.sum()) == len(y):
        y[0] = -y[0]
    assert exact_auc(scores, y) == brute_force(scores, y)


FAMILIES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: np.round(rng.normal(size=n), 2),
    "two values": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "constant": lambda rng, n: np.full(n, 0.3),
    "equal but for the last bits": lambda rng, n: 1.0 + rng.integers(0, 50, n) * 2.0**-52,
    "one far outlier": lambda rng, n: np.where(np.arange(n) == 5, 1e12, rng.normal(size=n)),
    "an outlier and ties": lambda rng, n: np.where(np.arange(n) == 5, -1e9, np.round(rng.normal(size=n), 1)),
    "subnormal": lambda rng, n: rng.integers(-100, 100, n) * 5e-324,
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 5,
    "huge": lambda rng, n: rng.normal(size=n) * 1e307,
    "signed zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "descending": lambda rng, n: -np.arange(n, dtype=float),
}


@pytest.mark.filterwarnings("ignore:invalid value")  # scikit-learn's, over the huge ones
@pytest.mark.parametrize("n", [2, 3, 33, 5000])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_kind_of_scores_gives_the_auc_of_all_pairs_and_of_sklearn(family, n):
    rng = np.random.default_rng(n)
    scores = FAMILIES[family](rng, n)
    y = np.where(rng.random(n) < 0.3, 1, -1).astype(np.int8)
    y[:2] = 1, -1
    assert exact_auc(scores, y) == brute_force(scores, y)
    assert exact_auc(scores, y) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


def test_infinite_scores_are_ordered():
    y = np.array([1, -1, 1, -1, -1], np.int8)
    assert exact_auc(np.array([np.inf, -np.inf, 0.0, 0.0, np.inf]), y) == (2 + 0.5 + 1 + 0.5) / 6


def test_columns_give_the_auc_of_each_and_other_types_of_scores_are_taken():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 4))
    y = np.where(rng.random(300) < 0.5, 1, -1).astype(np.int8)
    expected = [exact_auc(column, y) for column in scores.T]
    assert measure_columns(scores, y, [AUC()]).ravel().tolist() == expected
    assert measure_columns(np.asfortranarray(scores), y, [AUC()]).ravel().tolist() == expected
    single = scores[:, 0].astype(np.float32)
    assert exact_auc(single, y) == brute_force(single, y)


def test_what_has_no_auc_is_refused_with_a_reason():
    y = np.array([1, -1, -1], np.int8)
    with pytest.raises(DataError, match="score 1 is NaN"):
        exact_auc(np.array([0.0, np.nan, 1.0]), y)
    with pytest.raises(DataError, match="both classes, got 3 positives and 0 negatives"):
        exact_auc(np.zeros(3), np.ones(3, np.int8))
    with pytest.raises(DataError, match="2 scores for 3 labels"):
        exact_auc(np.zeros(2), y)


def test_the_example_of_the_documentation_holds():
    assert doctest.testmod(auc).failed == 0
