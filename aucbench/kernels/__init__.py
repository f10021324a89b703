"""What compiled methods are made of: rows of dense or CSR data, pairs of rows, calls of a loss, projections.

Public, and imported by plugins; it imports the contracts only.
"""

from aucbench.kernels import buffers, pairs, rows, saddle, symmetric, thresholded, vectors, weights
from aucbench.kernels.compiled_loss import CompiledLoss, call, compile_loss, theta
from aucbench.kernels.jit import fast_kernel, kernel, source_hash
from aucbench.kernels.rule_method import RuleMethod, RuleState
from aucbench.kernels.rules import Move, Row, Rule, rule, scalar
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
    "layout",
    "pairs",
    "rows",
    "rule",
    "saddle",
    "scalar",
    "source_hash",
    "symmetric",
    "theta",
    "thresholded",
    "two_vectors",
    "vectors",
    "weights",
]
