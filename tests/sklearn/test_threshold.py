"""The threshold at which scores are cut, beside every other cut; the classes differ much in size."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from aucbench.sklearn._threshold import best_threshold


def accuracy(cut, scores, y, weights):
    return balanced_accuracy_score(y, np.where(scores > cut, 1, -1), sample_weight=weights)


@pytest.mark.parametrize("share", [0.03, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_cut_has_a_larger_balanced_accuracy(share, weighted):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(300) < share, 1, -1).astype(np.int8)
        scores = np.round(rng.normal(size=300) + 0.7 * y, 1)  # with ties
        weights = rng.integers(1, 5, 300).astype(float) if weighted else None
        found = accuracy(best_threshold("any", scores, y, weights), scores, y, weights)
        best = max(accuracy(cut, scores, y, weights) for cut in np.unique(scores))
        assert found == pytest.approx(best, abs=1e-12)
