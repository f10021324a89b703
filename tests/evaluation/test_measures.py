"""The AUC and other measures against all pairs, scikit-learn and each other, and values by chance."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from aucbench import DataError, ParameterError
from aucbench.evaluation import (
    auc,
    average_precision,
    delong,
    exact_auc,
    functions,
    partial_auc,
    precision_at,
    recall_at,
    two_way_partial_auc,
)
from aucbench.evaluation.auc import measure_columns
from aucbench.evaluation.delong import chance_half_width
from aucbench.evaluation.measures import MEASURES, listed, named, restored

SCORES = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, 5e-324, -5e-324, 1.0 + 2**-52, 1e300, -1e300]),
)


def labels(rng, n):
    y = np.where(rng.random(n) < 0.3, 1, -1).astype(np.int8)
    y[:2] = 1, -1
    return y


def test_the_examples_of_the_documentation_hold():
    for module in (auc, delong, functions):
        assert doctest.testmod(module).failed == 0


SMALL = (
    np.array([0.9, 0.9, 0.8, 0.7, 0.7, 0.7, 0.6, 0.5, 0.5, 0.4, 0.3, 0.3, 0.2, 0.1]),
    np.array([1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, -1, -1, -1], np.int8),
)
FUNCTIONS = (exact_auc, average_precision, partial_auc, two_way_partial_auc, precision_at, recall_at)
SAMPLES = st.lists(st.tuples(SCORES, st.booleans(), st.integers(0, 3)), min_size=2, max_size=120)


@pytest.mark.filterwarnings("ignore:invalid value")  # from scikit-learn, for infinite scores
@given(SAMPLES, st.sampled_from([1.0, 0.1, 5e307, 1e-320]), st.sampled_from([0.03, 0.2, 1.0]))
def test_any_scores_and_weights_give_the_values_of_all_pairs_and_of_sklearn(samples, unit, rate):
    scores, (_, positive, times) = np.array([score for score, *_ in samples]), zip(*samples, strict=True)
    y, times = np.where(positive, 1, -1).astype(np.int8), np.array(times)
    y[:2], times[:2] = (1, -1), 1
    high, low = scores[y == 1][:, None], scores[y == -1]
    assert exact_auc(scores, y) == (2 * (high > low).sum() + (high == low).sum()) / (2 * high.size * low.size)
    # scikit-learn adds up the differences of neighbouring scores; ranks have the same order.
    ranks, weights, mask = np.unique(scores, return_inverse=True)[1], times * unit, times > 0
    options = {"sample_weight": times}
    expected = roc_auc_score(y, ranks, **options)
    assert exact_auc(scores, y, weights) == pytest.approx(expected, abs=1e-12)
    expected = average_precision_score(y, ranks, **options)
    assert average_precision(scores, y, weights) == pytest.approx(expected, abs=1e-12)
    expected = roc_auc_score(y, ranks, max_fpr=rate, **options)
    assert partial_auc(scores, y, rate, weights) == pytest.approx(expected, abs=1e-12)
    often = np.repeat(scores, times), np.repeat(y, times)
    for function in FUNCTIONS[:4]:  # a row of weight k counts as k rows
        assert function(scores, y, weights=weights) == pytest.approx(function(*often), abs=1e-12)
        some = function(scores[mask], y[mask], weights=weights[mask])
        assert function(scores, y, weights=weights) == pytest.approx(some, abs=1e-12)
    fpr, tpr, _ = roc_curve(y, ranks, drop_intermediate=False)
    assert recall_at(scores, y, rate) == pytest.approx(tpr[fpr <= rate + 1e-12].max(), abs=1e-12)


def by_integration(scores, y, min_tpr, max_fpr, steps=200_000):
    """The two-way area by a midpoint rule over scikit-learn's curve."""
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    f = (np.arange(steps) + 0.5) / steps * max_fpr
    after = np.searchsorted(fpr, f, side="right")  # fpr[after - 1] <= f < fpr[after]
    part = (f - fpr[after - 1]) / (fpr[after] - fpr[after - 1])
    r = tpr[after - 1] + part * (tpr[after] - tpr[after - 1])
    return np.maximum(0.0, r - min_tpr).mean() / (1 - min_tpr)


@pytest.mark.parametrize("digits", [15, 1, 0, -1])  # scores without ties, with some ties, all equal
@pytest.mark.parametrize("bounds", [(0.0, 0.3), (0.4, 0.3), (0.7, 0.9), (0.5, 1.0)])
def test_the_two_way_area_is_that_of_a_numeric_integration(digits, bounds):
    rng = np.random.default_rng(1)
    y = labels(rng, 90)
    scores = np.round(rng.normal(size=90) + 0.5 * (y == 1), digits)
    assert two_way_partial_auc(scores, y, *bounds) == pytest.approx(
        by_integration(scores, y, *bounds), abs=1e-4
    )


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=9), st.integers(1, 9))
def test_precision_is_the_mean_over_all_orders_of_ties(samples, count):
    scores = np.array([float(score) for score, _ in samples])
    y = np.where([positive for _, positive in samples], 1, -1).astype(np.int8)
    if abs(y.sum()) == len(y):
        y[0] = -y[0]
    n, rows = len(y), min(count, len(y))
    # The rows of a group of ties that is cut are equally likely to be among the first.
    edge = np.sort(scores)[::-1][rows - 1]
    inside, tied = scores > edge, scores == edge
    expected = ((y == 1) & inside).sum() + (rows - inside.sum()) * (y[tied] == 1).mean()
    assert precision_at(scores, y, rows / n) == pytest.approx(expected / rows, abs=1e-12)


def test_scores_that_are_all_equal_have_the_value_of_chance_and_the_whole_range_is_the_auc():
    rng = np.random.default_rng(0)
    y = labels(rng, 200)
    share = float((y == 1).mean())
    for metric in (*(cls() for cls in MEASURES.values()), MEASURES["tpauc"](0.2, 0.6), MEASURES["pauc"](0.7)):
        value = measure_columns(np.zeros((200, 1)), y, [metric])[0, 0]
        # No threshold splits equal scores; random ones reach a recall of about the rate.
        assert value == pytest.approx(0.0 if metric.name == "recall_at_fpr" else metric.chance(share)), metric
    scores = rng.normal(size=200) + 0.8 * y
    assert partial_auc(scores, y, 1.0) == pytest.approx(exact_auc(scores, y), abs=1e-12)
    assert two_way_partial_auc(scores, y, 0.0, 1.0) == pytest.approx(exact_auc(scores, y), abs=1e-12)
    assert recall_at(np.zeros(200), y, 1.0) == 1.0


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, lambda scores: scores.astype(np.float32)])
def test_columns_give_what_each_column_gives_alone(form):
    rng = np.random.default_rng(0)
    scores, y = form(np.round(rng.normal(size=(400, 3)), 1)), labels(rng, 400)
    columns = measure_columns(scores, y, [cls() for cls in MEASURES.values()])
    assert columns.tolist() == [[function(column, y) for function in FUNCTIONS] for column in scores.T]


@pytest.mark.parametrize(
    ("function", "parameter", "message"),
    [
        (partial_auc, 2.0, r"pauc: max_fpr must be .* got 2"),
        (partial_auc, 9e-13, "max_fpr must be .* got 9e-13"),  # areas are divided by it
        (two_way_partial_auc, 1.0, "tpauc: min_tpr must be >= 0 and < 1, got 1"),
        (precision_at, 0, r"precision_at: share .* got 0"),
        (recall_at, -1, r"recall_at_fpr: max_fpr .* got -1"),
    ],
)
def test_a_parameter_out_of_range_is_refused_with_a_reason(function, parameter, message):
    with pytest.raises(ParameterError, match=message):
        function(*SMALL, parameter)


Y = SMALL[1]
NO_NUMBERS = (SMALL[0] + 1j, [str(score) for score in SMALL[0]], [None, *SMALL[0][:-1]])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"y": -np.ones(14)}, "both classes, got 0 positives and 14 negatives"),
        ({"y": Y[:13]}, "14 scores for 13 labels"),
        ({"y": np.where(Y == 1, 2, 1)}, r"got \[1 2\]"),
        ({"y": np.where(np.arange(14) < 2, 0, Y)}, r"got \[-1  0  1\]"),
        ({"y": np.where(Y == 1, 1.0, np.nan)}, "nan"),
        ({"y": np.arange(14)}, r"got \[0 1 2 3 4\]"),
        ({"y": np.where(Y == 1, "yes", "no")}, "labels must be real numbers, .*'yes'"),
        ({"y": [None, *Y[1:]]}, "labels must be real numbers, .*None"),
        ({"scores": np.where(np.arange(14) == 1, np.nan, 0.5)}, "score 1 is NaN"),
        ({"weights": [1.0] * 13}, "13 weights"),
        ({"weights": [-1.0] * 14}, "got -1"),
        ({"weights": (Y == 1) * 1.0}, "no weight"),
        *(({"scores": values}, "scores must be real numbers") for values in NO_NUMBERS),
        *(({"weights": values}, "weights must be real numbers") for values in NO_NUMBERS),
    ],
)
def test_what_has_no_value_is_refused_with_a_reason(wrong, message):
    for weights in (None, np.ones(14)):
        arguments = {"scores": SMALL[0], "y": Y, "weights": weights} | wrong
        for function in (exact_auc, average_precision, partial_auc):
            with pytest.raises(DataError, match=message):
                function(**arguments)


def test_labels_are_minus_one_or_zero_and_one_of_any_type():
    scores, y = SMALL
    expected = exact_auc(scores, y)
    for kind in (int, float, np.uint8, bool, object):
        assert exact_auc(scores, ((y + 1) // 2).astype(kind)) == expected
    assert exact_auc(scores, list(y)) == exact_auc(scores, y.astype(float), np.ones(14)) == expected


def test_measures_are_found_by_name_and_restored_from_their_parameters():
    for name, cls in MEASURES.items():
        assert named(name) is cls
        assert restored(name, cls().parameters) == cls()
    with pytest.raises(ParameterError, match=r"'prauc'.*pauc"):
        named("prauc")
    assert listed([MEASURES["ap"](), MEASURES["tpauc"]()]) == "ap, tpauc(min_tpr=0.5, max_fpr=0.5)"


@pytest.mark.parametrize(("positives", "negatives"), [(10, 10), (25, 500), (300, 30)])
def test_random_scores_are_outside_as_often_as_the_confidence_says(positives, negatives):
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], [positives, negatives])
    gaps = [abs(exact_auc(rng.normal(size=y.size), y) - 0.5) for _ in range(4000)]
    outside = np.mean(np.array(gaps) > chance_half_width(positives, negatives))
    assert 0.035 < outside < 0.065
    assert chance_half_width(0, negatives) == chance_half_width(positives, 0) == np.inf
