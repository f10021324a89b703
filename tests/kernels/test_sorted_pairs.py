"""Sums over pairs from sorted scores; tests/test_objectives.py compares them with the pairs written out."""

import numpy as np

from aucbench.kernels import sorted_pairs


def test_the_sum_over_a_short_window_is_exact_however_far_along_it_stands():
    rng = np.random.default_rng(2)
    low = np.sort(rng.random(200_000)) * 1e6
    scores = np.concatenate([[low[-2]], low])
    y = np.full(scores.size, -1, np.int8)
    y[0] = 1
    ranking = sorted_pairs.rank(scores, y)
    pairs = sorted_pairs.window(ranking, 1e-9, -1e-9)
    assert sorted_pairs.count(pairs) == 1
    assert sorted_pairs.laplacian(ranking, pairs, scores)[0] == 0.0
