"""Promises of losses beyond their checks."""

import math

import pytest

import aucbench
from aucbench import kernels
from aucbench.contracts.validation import Family


@pytest.mark.parametrize(
    "plugin", aucbench.catalog().plugins[Family.losses].values(), ids=lambda each: each.name
)
def test_a_margin_that_is_not_a_number_has_no_loss(plugin):
    loss = plugin.cls()
    assert math.isnan(loss.value(math.nan, kernels.theta(loss)))
