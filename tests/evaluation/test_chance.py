"""The interval of the AUC of random scores, and what a summary says of an AUC below one half."""

from types import SimpleNamespace

import numpy as np
import pytest

from aucbench.cli.entry_summary import advice_on
from aucbench.evaluation.auc import exact_auc
from aucbench.evaluation.delong import chance_half_width


@pytest.mark.parametrize(("positives", "negatives"), [(10, 10), (25, 500), (300, 30)])
def test_random_scores_are_outside_as_often_as_the_confidence_says(positives, negatives):
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], [positives, negatives])
    far = [abs(exact_auc(rng.normal(size=y.size), y) - 0.5) for _ in range(4000)]
    outside = np.mean(np.array(far) > chance_half_width(positives, negatives))
    assert 0.035 < outside < 0.065
    assert chance_half_width(0, negatives) == chance_half_width(positives, 0) == np.inf


def cell(auc, positives, rows):
    data = SimpleNamespace(test_positives=positives, test_rows=rows)
    record = SimpleNamespace(result=SimpleNamespace(converged=None), data=data)
    return SimpleNamespace(auc=auc, diverged=False, record=record)


@pytest.mark.parametrize(
    ("auc", "positives", "named"),
    [(0.42, 25, "25 positive"), (0.42, 2500, "0.5800"), (0.1, 25, "0.9000"), (0.1, 0, "0 positive")],
)
def test_scores_are_called_reversed_only_where_chance_is_excluded(auc, positives, named):
    said = advice_on([cell(auc, positives, 10_000)] * 3)
    assert named in said
    assert ("reversed" in said) == ("positive" not in named)


@pytest.mark.parametrize(("auc", "positives"), [(0.5, 25), (0.9, 25), (0.4, None)])
def test_nothing_is_said_above_chance_or_without_counts(auc, positives):
    assert not advice_on([cell(auc, positives, 10_000)])
