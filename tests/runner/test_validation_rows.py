"""Validation rows of methods that declare a share."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import aucbench
from aucbench import DataError, Interval, ParameterError
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Task, hold_out
from aucbench.sklearn import AUCClassifier
from tests.helpers.fake_plugins import Perceptron, two_clouds

X_TEST, Y_TEST = two_clouds(seed=1)
given_rows = []


@dataclass(frozen=True)
class Watched(Perceptron):
    """A method that records its problems and their validation rows."""

    name: ClassVar[str] = "watched"
    weighted: ClassVar[bool] = True
    validation: Annotated[float, Interval(low=0.0, high=1.0, open_high=True)] = 0.25

    def init(self, problem, rng):
        given_rows.append((problem, problem.validation))
        return super().init(problem, rng)


def numbered(n, positives, kind=np.asarray):
    """A task with row numbers in the first column, and with row numbers plus one as weights."""
    y = np.where(np.arange(n) < positives, 1, -1).astype(np.int8)
    X = kind(np.column_stack([np.arange(n, dtype=float), np.ones(n)]))
    return Task(Watched(), None, X, y, X_TEST[:, :2], Y_TEST, iterations=5, weights=np.arange(n) + 1.0)


def numbers(X):
    return set((X.toarray() if sparse.issparse(X) else X)[:, 0].astype(int))


@given(
    st.integers(2, 40),
    st.integers(2, 40),
    st.floats(0.01, 0.99),
    st.integers(0, 5),
    st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_a_share_of_each_class_is_held_out_and_no_row_is_lost_or_kept_twice(n_pos, n_neg, share, seed, kind):
    n = n_pos + n_neg
    original = replace(numbered(n, n_pos, kind), algorithm=Watched(validation=share))
    (task,) = hold_out([original], seed)
    validation = task.validation
    assert numbers(task.X) | numbers(validation.X) == set(range(n))
    assert len(task.y) + len(validation.y) == n
    for label, count in ((1, n_pos), (-1, n_neg)):
        number = np.count_nonzero(validation.y == label)
        assert abs(number - share * count) <= 0.5 + 1e-9 or number in (1, count - 1)
        assert 1 <= number <= count - 1
    for X, y, weights in ((task.X, task.y, task.weights), validation):
        rows = np.array(sorted(numbers(X)))
        np.testing.assert_array_equal(y, original.y[rows])
        np.testing.assert_array_equal(weights, rows + 1.0)
    (repeated,) = hold_out([original], seed)
    assert numbers(repeated.X) == numbers(task.X)


@given(st.integers(8, 60), st.floats(0.1, 0.6), st.integers(0, 5))
def test_rows_of_a_group_are_held_out_together_and_both_sides_have_both_classes(pairs, share, seed):
    groups = np.tile(np.arange(pairs), 2)  # two rows each
    original = numbered(2 * pairs, pairs)
    original = replace(original, algorithm=Watched(validation=share), groups=groups)
    (task,) = hold_out([original], seed)
    assert not set(groups[sorted(numbers(task.X))]) & set(groups[sorted(numbers(task.validation.X))])
    assert set(task.y) == set(task.validation.y) == {1, -1}
    one_group = replace(original, groups=np.zeros(2 * pairs, np.int64))
    with pytest.raises(DataError):
        hold_out([one_group], seed)


def test_the_rows_depend_on_seed_and_fold_and_not_on_the_method_or_its_order():
    original = numbered(200, 60)
    drawn = {
        (seed, fold): frozenset(numbers(hold_out([replace(original, fold=fold)], seed)[0].validation.X))
        for seed in (0, 1)
        for fold in (0, 1)
    }
    assert len(set(drawn.values())) == 4
    (variant,) = hold_out([replace(original, seed=9, order_seed=7, algorithm=Watched(eta=0.7))], 0)
    assert numbers(variant.validation.X) == drawn[0, 0]


def test_cells_and_grids_give_a_method_its_rows_and_none_to_a_method_that_asks_for_none():
    original = numbered(40, 20)
    settings = [Watched(), Watched(eta=0.2), Watched(validation=0.0)]
    first, second, plain = hold_out([replace(original, algorithm=setting) for setting in settings], 0)
    assert first.X is second.X
    assert plain.X is original.X
    run_cell(first)
    given_rows.clear()
    single, together = run_cell(first), run_grid([first, second])[0]
    np.testing.assert_array_equal(single.weights, together.weights)
    problem, validation = given_rows[-1]
    assert validation is first.validation
    assert numbers(problem.X) == set(range(40)) - numbers(validation.X)
    given_rows.clear()
    run_cell(plain)
    assert given_rows[-1][1] is None


def test_a_class_without_two_rows_and_a_share_outside_of_its_range_are_refused():
    with pytest.raises(DataError):
        hold_out([numbered(10, 1)], 0)
    wrong = type("Wrong", (Perceptron,), {"validation": 1.5})()
    with pytest.raises(ParameterError):
        hold_out([replace(numbered(10, 5), algorithm=wrong)], 0)


def test_an_estimator_holds_rows_out_in_fit_and_refuses_parts():
    X, y = two_clouds()
    given_rows.clear()
    AUCClassifier(Watched(), scaling="none", rescale=False).fit(X, y)
    problem, validation = given_rows[-1]
    assert len(problem.y) + len(validation.y) == len(y)
    assert len(validation.y) == pytest.approx(0.25 * len(y), abs=1)
    with pytest.raises(AttributeError) as caught:
        AUCClassifier(Watched()).partial_fit  # noqa: B018
    assert "validation" in str(caught.value.__cause__)
    with pytest.raises(ParameterError):
        aucbench.replay(Watched(), X, y, np.arange(20))
    assert aucbench.replay(Watched(validation=0.0), X, y, np.arange(20)).shape == (X.shape[1],)
