"""Parts of compiled methods: rows of dense or CSR data, pairs of rows, calls of a loss, projections.

Public, and imported by plugins; it imports the contracts only.

A vector that is not kept plainly, because a step shall cost the non-zeros of its row, has functions of these
names wherever it is defined: `score` (its product with a row), `step` (add a multiple of a row), `shrink`
(scale it, or threshold it), `project` (on a ball), `accumulate` (add it to the sum of which the average is
made) and `fold` (make its scale one before digits are lost). Its scalars are a NamedTuple, or the fields of a
record where they outlive a call.
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
from aucbench.kernels.jit import fast_kernel, kernel, scalar, source_hash
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
    "fast_kernel",
    "kernel",
    "lanes",
    "layout",
    "loss_pieces",
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
