"""Claimed costs are read as formulas."""

import pytest

from aucbench.contracts.claimed_formula import evaluate

VALUES = {"d": 8.0, "nnz": 2.0, "n": 4.0}


@pytest.mark.parametrize(
    ("text", "value"),
    {
        "d": 8.0,
        "d^2": 64.0,
        "nnz": 2.0,
        "buffer nnz": 2.0,  # a name without a value counts as 1
        "n d min(n, d)": 128.0,
        "nnz^2 + 2 d": 20.0,
        "(n + d) nnz": 24.0,
        "O(d)": 8.0,
        "n*d/nnz": 16.0,
    }.items(),
)
def test_a_formula_has_its_value(text, value):
    assert evaluate(text, VALUES) == value


@pytest.mark.parametrize("text", ["", "d, or nnz when inactive", "O(", "d ? 1"])
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ValueError, match="is not a formula"):
        evaluate(text, VALUES)
