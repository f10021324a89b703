"""What single methods promise beyond what all do."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch, ParameterError, Problem
from aucbench_algorithms import AdaOam, Asam, Fsauc, LsSvm, Opauc, OpaucR, Psam, Sauc, Spdam, UniExp
from aucbench_losses import Hinge, Square
from tests.helpers.training import difference, problem_of, random_pairs, random_problem, train, weights

X, Y = random_problem(6, 250, 40, density=0.05)
ORDER = np.concatenate([np.random.default_rng(seed).permutation(250) for seed in range(6)])
PAIRS = random_pairs(7, Y, 1500)


@pytest.mark.parametrize("planned", [Fsauc(), Sauc(degree=3)], ids=str)
def test_a_planned_method_refuses_an_unplanned_length_and_ignores_rows_after_its_last_stage(planned):
    with pytest.raises(ParameterError, match=r"budget\.epochs"):
        planned.init(problem_of(planned, X, Y, None), np.random.default_rng(0))
    state = train(planned, X, Y, ORDER)
    before = pickle.dumps(state)
    state = planned.step(state, Batch(X, Y, ORDER))
    assert pickle.dumps(state) == before


@pytest.mark.parametrize("n", range(1, 12))
@pytest.mark.parametrize("planned", [Fsauc(), Sauc()], ids=str)
def test_a_planned_method_plans_even_a_few_iterations(planned, n):
    assert np.isfinite(weights(planned, X, Y, ORDER[:n])).all()


@pytest.mark.parametrize(
    ("algorithm", "advice"),
    [
        (Opauc(), "opauc_r, or features=projection"),
        (AdaOam(), "opauc_r, or features=projection"),
        (OpaucR(tau=100_000), "tau"),
    ],
    ids=str,
)
def test_matrices_beyond_the_memory_are_refused_with_what_to_do(algorithm, advice):
    wide = sparse.csr_array((3, 2_000_000))
    with pytest.raises(ParameterError, match=advice):
        algorithm.init(Problem(wide, np.array([1, -1, 1], np.int8), 3), np.random.default_rng(0))


def test_psam_takes_the_margin_of_its_loss():
    # twice the margin on twice the rows leaves every slack at its double
    doubled = weights(Psam(gamma=1e-10), X, Y, PAIRS, loss=Hinge(margin=2.0))
    single = weights(Psam(gamma=1e-10), X, Y, PAIRS, loss=Hinge())
    assert difference(doubled, 2 * single) < 1e-9


def test_ls_svm_is_done_after_one_pass_and_stays():
    algorithm = LsSvm()
    state = algorithm.init(problem_of(algorithm, X, Y, 1), np.random.default_rng(0))
    assert not algorithm.done(state)
    state = algorithm.step(state, Batch(X, Y, np.zeros((1, 0), np.int64)))
    assert algorithm.done(state)
    assert algorithm.step(state, Batch(X, Y, np.zeros((5, 0), np.int64))) is state


def test_spdam_takes_a_share_of_the_rows():
    assert [Spdam(batch_fraction=0.1).batch_size(n) for n in (2, 10, 200, 201)] == [1, 1, 20, 21]


def test_a_divergence_shows_in_the_weights():
    assert not np.isfinite(weights(Asam(t0=0.0, gamma=1e-9), X, Y, PAIRS, loss=Square())).all()
    assert not np.isfinite(weights(UniExp(eta=1e300), X, Y, ORDER)).all()
