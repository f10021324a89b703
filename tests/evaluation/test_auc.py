"""The exact AUC against all pairs, and the examples of the documentation."""

import doctest

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aucbench.evaluation import auc, delong, exact_auc, functions

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


def test_the_examples_of_the_documentation_hold():
    for module in (auc, delong, functions):
        assert doctest.testmod(module).failed == 0
