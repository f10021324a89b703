"""Promises of single methods beyond their formulas and beyond those of all methods."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import aucbench_algorithms as methods
from aucbench import Batch, ParameterError, Problem
from aucbench_algorithms import _partners
from tests.algorithms import reference, reference_pairs
from tests.helpers.training import difference, problem_of, random_problem, train, weights

X, Y = random_problem(6, 250, 40, density=0.05)
ORDER = np.concatenate([np.random.default_rng(seed).permutation(250) for seed in range(6)])
LAYOUTS = (np.asarray, sparse.csr_array)
each_layout = pytest.mark.parametrize("layout", LAYOUTS)


@pytest.mark.parametrize("planned", [methods.Fsauc(), methods.Sauc(degree=3), methods.Pesg()], ids=str)
def test_a_planned_method_refuses_an_unplanned_length(planned):
    with pytest.raises(ParameterError, match=rf"{planned.name}.*budget\.epochs"):
        planned.init(problem_of(planned, X, Y, None), np.random.default_rng(0))


@pytest.mark.parametrize("planned", [methods.Fsauc(), methods.Sauc(degree=3)], ids=str)
def test_a_planned_method_plans_even_few_iterations_and_ignores_rows_after_its_last_stage(planned):
    for n in range(1, 12):
        assert np.isfinite(weights(planned, X, Y, ORDER[:n])).all()
    state = train(planned, X, Y, ORDER)
    before = pickle.dumps(state)
    assert pickle.dumps(planned.step(state, Batch(X, Y, ORDER))) == before


@pytest.mark.parametrize(
    ("algorithm", "advice"),
    [
        (methods.Opauc(), "opauc_r, or features=projection"),
        (methods.AdaOam(), "opauc_r, or features=projection"),
        (methods.OpaucR(tau=100_000), "tau"),
        (methods.Cbr(), "cbr_diag, or features=projection"),
        (methods.Mba(), "features=projection"),
    ],
    ids=str,
)
def test_matrices_beyond_the_memory_are_refused_with_what_to_do(algorithm, advice):
    wide = sparse.csr_array((3, 3_000_000))
    with pytest.raises(ParameterError, match=advice):
        algorithm.init(Problem(wide, np.array([1, -1, 1], np.int8), 3), np.random.default_rng(0))


def test_minibatches_are_a_share_or_a_number_of_the_rows():
    assert [methods.Spdam(batch_fraction=0.1).batch_size(n) for n in (2, 10, 200, 201)] == [1, 1, 20, 21]
    assert [methods.Mba(block=1000).batch_size(n) for n in (400, 2000)] == [400, 1000]


def test_uni_exp_caps_its_exponent():  # no row of the transcriptions reaches the cap
    rows, y = np.array([[2000.0], [1.0], [1.5]]), np.array([1, 1, -1], np.int8)
    algorithm = methods.UniExp(eta=1.0)
    expected, _ = reference_pairs.uni_exp(rows, y, [0, 2], **vars(algorithm))
    assert np.isfinite(expected).all()
    assert difference(weights(algorithm, rows, y, np.array([0, 2])), expected) < 1e-9


def test_roc_sgd_shrinks_nothing_at_lam_zero_unless_the_schedule_needs_it():
    assert methods.RocSgd(lam=0.0).lam == 0.0
    with pytest.raises(ParameterError, match="lam must be > 0 for the Pegasos"):
        methods.RocSgd(lam=0.0, schedule="pegasos")


@pytest.mark.parametrize("density", [0.05, 0.2, 0.5])
def test_adaoam_moves_no_weight_whose_gradient_is_exactly_zero(density):
    rng = np.random.default_rng(0)
    binary, y = (rng.random((150, 60)) < density).astype(float), np.where(rng.random(150) < 0.3, 1, -1)
    order = rng.permutation(150)
    expected = reference.opauc(binary, y, order, eta=2.0**-4, lam=2.0**-8, delta=1e-8)
    actual = weights(methods.AdaOam(eta=2.0**-4, lam=2.0**-8), binary, y.astype(np.int8), order)
    assert difference(actual, expected) < 1e-9
    binary[:, [3, 44]] = 0.3
    assert not weights(methods.AdaOam(), binary, y.astype(np.int8), order)[[3, 44]].any()


@each_layout
def test_a_pair_of_equal_rows_moves_nothing_and_one_of_nearly_equal_rows_is_exact(layout):
    rows, y = random_problem(4, 20, 30, density=0.3)
    pair = np.array([np.flatnonzero(y == 1)[0], np.flatnonzero(y == -1)[0]])
    pairs, order = np.tile(pair, (3, 1)), np.tile(pair, 3)
    rows[pair[1]] = rows[pair[0]]
    psam, oam_seq = methods.Psam(1e-7), methods.OamSeq(C=1e9, average=False)
    assert not weights(psam, layout(rows), y, pairs).any()
    assert not weights(methods.OamSeq(C=1.0, average=False), layout(rows), y, order).any()
    rows[pair[1], 3] += 1e-7
    expected = reference.psam(rows, pairs, **vars(psam))
    assert difference(weights(psam, layout(rows), y, pairs), expected) < 1e-9
    expected = reference_pairs.oam(rows, y, order, "seq", **vars(oam_seq))
    assert difference(weights(oam_seq, layout(rows), y, order), expected) < 1e-9


@each_layout
@pytest.mark.parametrize("partner", ["previous", "opposite"])
def test_partners_are_those_of_one_pass_however_many_differences_fit_at_once(partner, layout, monkeypatch):
    for algorithm in (methods.FifoOgd(partner=partner, radius=1.0), methods.Aogd(partner=partner)):
        expected = weights(algorithm, layout(X), Y, ORDER)
        with monkeypatch.context() as patch:
            patch.setattr(_partners, "ROOM", 100)
            assert np.array_equal(expected, weights(algorithm, layout(X), Y, ORDER))
