"""The published golden values, on the formula-made data."""

import numpy as np
import pytest
from scipy import sparse

from aucbench.evaluation import exact_auc
from aucbench_algorithms import Fsauc, LsSvm, Opauc, Psam, Solam
from tests.algorithms.formula_data import GOLDEN, formula_data, formula_order, formula_pairs
from tests.helpers.training import weights

ONE_PASS = np.zeros((1, 0), np.int64)
CASES = {
    "solam author init": (Solam(zeta=0.5, radius=2, kappa=1, start="author"), formula_order()),
    "solam zero init, l1": (
        Solam(zeta=0.5, radius=0.5, kappa=1, average="after", norm="l1"),
        formula_order(),
    ),
    "fsauc halve": (Fsauc(radius=1, eta=0.25, kappa=1), formula_order(10)),
    "fsauc paper rule, average before": (
        Fsauc(radius=1, eta=0.01, kappa=1, eta_rule="paper", average="before", p_scope="stage"),
        formula_order(10),
    ),
    "fsauc capped, F/2": (Fsauc(radius=1, eta=0.125, kappa=1, eta_rule="capped"), formula_order(10)),
    "opauc": (Opauc(eta=0.05, lam=0.02), formula_order()),
    "psam": (Psam(gamma=1e-3), formula_pairs()),
    "ls-svm": (LsSvm(lam=0.02), ONE_PASS),
}


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("case", CASES)
def test_a_method_reproduces_its_golden_weights_and_auc(case, layout):
    algorithm, rows = CASES[case]
    X, y = formula_data()
    w = weights(algorithm, layout(X), y, rows)
    np.testing.assert_allclose(w, GOLDEN[case]["w"], rtol=1e-10, atol=0)
    assert exact_auc(X @ w, y) == pytest.approx(GOLDEN[case]["auc"], rel=1e-12)
