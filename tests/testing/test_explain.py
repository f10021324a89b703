"""Mistakes that are easily made: one failure each, in words that say what was done and what to do."""

import inspect
import linecache
import re

import numpy as np
import pytest

from aucbench.testing import ALGORITHM_CHECKS, Status, check_algorithm
from tests.helpers import mistaken_plugins as mistaken
from tests.helpers.findings import failures
from tests.helpers.mistaken_plugins import MARK, Centring, Plain


def other(**functions):
    return type("Other", (Plain,), functions)


MISTAKES = {  # the check that fails, and the values and the advice in its message
    mistaken.InitReturnsNothing: ("runs", "`init` returned None: .*`return`"),
    other(score=lambda self, w, X: None): ("scores", "`score` of 2 rows returned None"),
    mistaken.Column: ("scores", r"ndarray of shape \(2, 1\); .*\(2,\)"),
    other(score=lambda self, w, X: float((X @ w).sum())): (
        "scores",
        r"`score` of 2 rows returned float of shape \(\)",
    ),
    other(score=lambda self, w, X: (1e6 * (X @ w)).astype(np.int64)): (
        "scores",
        r"returned int64: .*\.astype\(float\)",
    ),
    mistaken.DenseOnly: ("runs", r"`score` raised .*CSR.*X @ w.*requires:.* 2 x 1 CSR rows"),
    mistaken.NumberOfRows: ("declared", "`batch_size`"),
    mistaken.Exiting: ("runs", r"`step` .*sys.exit, 3"),
    mistaken.NotANumber: ("scores", "2 of 2 scores are NaN; the state is finite.*`score`"),
    other(step=lambda self, w, batch: w / 0.0 if len(batch) else w): (
        "scores",
        "scores are NaN; the state is not finite",
    ),
    other(score=lambda self, w, X: -(X @ w)): ("auc", r"opposite order.*\+1"),
    mistaken.Generating: ("pickling", r"pickled \(TypeError: .*generators"),
    mistaken.Untypable: ("runs", r"TypingError: No implementation of .*add\(array\(float64"),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # dividing by zero is the mistake
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda cls: cls.__name__)
def test_a_mistake_is_one_failure_in_plain_words_at_its_line(mistake):
    (found,) = failures(check_algorithm(mistake, raise_on_failure=False)).values()
    check, words = MISTAKES[mistake]
    assert found.check == check
    assert re.search(words, found.message), found.message
    if mistake.__module__ == mistaken.__name__ and MARK in inspect.getsource(mistake):
        file, number, line = found.place.split(":", 2)
        assert file == mistaken.__file__
        assert MARK in line
        assert linecache.getline(file, int(number)).strip() == line.strip()


def test_a_failure_at_the_same_line_is_not_told_twice():
    class Unfinished(Plain):
        def finalize(self, w):
            if len(w) and not w.any():
                raise RuntimeError("nothing was learned")
            return w

    (found,) = failures(check_algorithm(Unfinished, raise_on_failure=False)).values()
    assert found.place.endswith(': raise RuntimeError("nothing was learned")')


def test_rows_that_are_changed_are_the_first_cause():
    (found,) = failures(check_algorithm(Centring, raise_on_failure=False)).values()
    assert found.check == "inputs_untouched"
    assert found.message.startswith("`step` changes X, which is not its own; work on a copy.")


def test_scores_that_are_nan_on_both_sides_do_not_differ():
    checks = {check.name: check for check in ALGORITHM_CHECKS}
    assert checks["sparse_rows"](mistaken.NotANumber).status is Status.passed
