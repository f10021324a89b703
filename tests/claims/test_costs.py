"""Costs under test: the terms of a claim, and the detection of methods with a known fault."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from aucbench import Access, Claims, kernels
from aucbench.kernels import rows
from studies.claims.costs import cost_exponents
from studies.claims.power_law import Verdict


@kernels.kernel
def _run(X, y, order, w, shrinks):
    for i in order:
        rows.axpy(0.1 * y[i] * (1.0 - y[i] * rows.dot(X, i, w)), X, i, w)
        if shrinks:
            for j in range(w.size):
                w[j] *= 0.999


@dataclass(frozen=True)
class Linear:
    """Least squares row by row; it claims the cost of the non-zeros, and has it unless it shrinks."""

    name: ClassVar[str] = "linear"
    access: ClassVar[Access] = Access.stream
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="nnz")
    shrinks: bool = False

    def init(self, problem, rng):
        return np.zeros(problem.n_features)

    def step(self, state, batch):
        _run(batch.rows_view, batch.y, batch.rows, state, self.shrinks)
        return state

    def score(self, state, X):
        return X @ state


def exponents_of(method):
    return cost_exponents(method, None, 3, 0.002)


@pytest.mark.slow
def test_a_loop_over_all_columns_that_claims_the_non_zeros_is_caught():
    honest, slow = exponents_of(Linear()), exponents_of(Linear(shrinks=True))
    assert [verdict for _, verdict in honest.values()] == [Verdict.holds] * 3
    assert slow["d"][1] is Verdict.slower
    assert slow["d"][0].estimate == pytest.approx(1.0, abs=0.2)
    assert slow["n"][1] is Verdict.holds
