"""Parts of compiled methods: rows of dense or CSR data, pairs of rows, calls of a loss, projections.

Public API for plugins; it imports only the contracts.

Some vectors are stored in a form in which a step costs the non-zeros of its row. Their functions share names:
`score` (product with a row), `step` (add a multiple of a row), `shrink` (scale or threshold), `project` (on a
ball), `accumulate` (add to the sum for the average) and `fold` (set the scale to one before digits are lost).
Their scalars are a NamedTuple, or fields of a record if they outlive a call.
"""

from aucbench.kernels import (
    buffers,
    lanes,
    loss_pieces,
    pair_loss,
    pairs,
    rows,
    saddle,
    sorted_pairs,
    symmetric,
    thresholded,
    vectors,
    weights,
)
from aucbench.kernels.compiled_loss import CompiledLoss, call, compile_loss, theta
from aucbench.kernels.jit import fast_helper, fast_kernel, helper, kernel, overloaded, scalar, source_hash
from aucbench.kernels.rule_method import RuleMethod, RuleState
from aucbench.kernels.rules import Move, Row, Rule, rule
from aucbench.kernels.weights import Layout, layout, two_vectors

__all__ = [
    "CompiledLoss",
    "Layout",
    "Move",
    "Row",
    "Rule",
    "RuleMethod",
    "RuleState",
    "buffers",
    "call",
    "compile_loss",
    "fast_helper",
    "fast_kernel",
    "helper",
    "kernel",
    "lanes",
    "layout",
    "loss_pieces",
    "overloaded",
    "pair_loss",
    "pairs",
    "rows",
    "rule",
    "saddle",
    "scalar",
    "sorted_pairs",
    "source_hash",
    "symmetric",
    "theta",
    "thresholded",
    "two_vectors",
    "vectors",
    "weights",
]
