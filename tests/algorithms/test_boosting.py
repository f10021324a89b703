"""algo=boosting against the libraries themselves, and against losses summed pair by pair."""

from types import SimpleNamespace

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.metrics import roc_auc_score

import aucbench
from aucbench import Batch, ParameterError, Problem
from aucbench_algorithms import Boosting
from tests.helpers.training import random_problem, train

pytestmark = pytest.mark.boosters

X, Y = random_problem(0, 400, 6, unit=False)
X_TEST, Y_TEST = random_problem(1, 300, 6, unit=False)
ZERO_ONE = (Y == 1).astype(float)
SEED = int(np.random.default_rng(0).integers(2**31 - 1))
ROUNDS = 12
LIBRARIES = ("lightgbm", "xgboost")
CRITERIA = ("pairs", "log_loss", "balanced_log_loss", "ranking")


def passes(count):
    return np.zeros((count, 0), np.int64)


def loss(name):
    return aucbench.catalog().loss(name)()


def squared_hinge_objective(scores, y):
    """Written out by hand: sum over pairs of max(0, 1 - m)^2, times n / (n+ n-)."""
    positive = y == 1
    slack = np.maximum(0.0, 1.0 - (scores[positive][:, None] - scores[~positive]))
    factor = len(y) / (positive.sum() * (~positive).sum())
    gradient, curvature = np.zeros((2, len(y)))
    gradient[positive], gradient[~positive] = -2.0 * slack.sum(axis=1), 2.0 * slack.sum(axis=0)
    active = 2.0 * (slack > 0.0)
    curvature[positive], curvature[~positive] = active.sum(axis=1), active.sum(axis=0)
    classes = np.where(positive, positive.sum(), (~positive).sum())
    return factor * gradient, np.maximum(factor * curvature, 1e-3 * len(y) / classes)


def by_lightgbm(params, objective=None, weights=None):
    fixed = {"seed": SEED, "num_threads": 1, "verbosity": -1, "force_col_wise": True, "deterministic": True}
    params = {**fixed, "learning_rate": 0.1, **params}
    data = lightgbm.Dataset(X, ZERO_ONE, weight=weights, params=params)
    booster = lightgbm.train(params | ({"objective": objective} if objective else {}), data, ROUNDS)
    return booster.predict(X_TEST, raw_score=True)


def by_xgboost(params, objective=None, weights=None):
    data = xgboost.DMatrix(X, ZERO_ONE, weight=weights)
    params = {"seed": SEED, "nthread": 1, "learning_rate": 0.1, **params}
    booster = xgboost.train(params, data, ROUNDS, obj=objective)
    return booster.predict(xgboost.DMatrix(X_TEST), output_margin=True)


def scores_of(algorithm, rows=X, new=X_TEST, parts=1, labels=Y, **more):
    return algorithm.score(train(algorithm, rows, labels, passes(ROUNDS), parts, **more), new)


@pytest.mark.parametrize(("library", "by_library"), [("lightgbm", by_lightgbm), ("xgboost", by_xgboost)])
def test_a_loss_over_pairs_gives_what_the_library_gives_with_the_objective_written_by_hand(
    library, by_library
):
    expected = by_library({}, lambda scores, data: squared_hinge_objective(scores, data.get_label()))
    scores = scores_of(Boosting(library=library), loss=loss("squared_hinge"))
    np.testing.assert_allclose(scores - scores[0], expected - expected[0], atol=1e-4)


@pytest.mark.parametrize("balanced", [False, True])
def test_log_loss_is_that_of_the_libraries_with_the_same_parameters(balanced):
    criterion = "balanced_log_loss" if balanced else "log_loss"
    n_pos, n_neg = (Y == 1).sum(), (Y == -1).sum()
    weights = np.where(Y == 1, len(Y) / (2 * n_pos), len(Y) / (2 * n_neg)) if balanced else None
    fields = {"num_leaves": 7, "max_depth": 3, "reg_lambda": 2.0, "min_child_weight": 0.5, "subsample": 0.7}
    params = {
        "objective": "binary", "num_leaves": 7, "max_depth": 3, "lambda_l2": 2.0,
        "min_sum_hessian_in_leaf": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1, "min_data_in_leaf": 5,
    }  # fmt: skip
    scores = scores_of(Boosting(criterion=criterion, params={"min_data_in_leaf": 5}, **fields))
    np.testing.assert_allclose(scores, by_lightgbm(params, weights=weights), rtol=1e-9)
    params = {
        "objective": "binary:logistic", "max_leaves": 7, "grow_policy": "lossguide", "max_depth": 3,
        "reg_lambda": 2.0, "min_child_weight": 0.5, "subsample": 0.7, "gamma": 0.1,
    }  # fmt: skip
    scores = scores_of(Boosting(library="xgboost", criterion=criterion, params={"gamma": 0.1}, **fields))
    np.testing.assert_allclose(scores, by_xgboost(params, weights=weights), rtol=1e-6)


@pytest.mark.parametrize(
    ("library", "criterion"), [("lightgbm", "log_loss"), *(("xgboost", name) for name in CRITERIA[:3])]
)
def test_rows_of_weight_k_are_k_copies_where_leaves_count_no_rows(library, criterion):
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 4, (200, 3)) + 1.0  # few values: the bins do not depend on counts
    y = np.where(rows[:, 0] + rng.normal(size=200) > 2.5, 1, -1).astype(np.int8)
    counts = rng.integers(1, 4, 200)
    params = {"min_data_in_leaf": 0, "min_data_in_bin": 1} if library == "lightgbm" else {}
    algorithm = Boosting(library=library, criterion=criterion, params=params, min_child_weight=1.0)
    scores = []
    copied = np.repeat(rows, counts, axis=0), np.repeat(y, counts), None
    for matrix, labels, weights in ((rows, y, counts.astype(float)), copied):
        problem = Problem(matrix, labels, ROUNDS, loss("square"), weights)
        state = algorithm.init(problem, np.random.default_rng(0))
        state = algorithm.step(state, Batch(matrix, labels, passes(ROUNDS), weights=weights))
        scores.append(algorithm.score(state, rows))
    np.testing.assert_allclose(*scores, atol=1e-6)


def with_validation(algorithm, validation, rounds=200):
    """The finalised state after as many rounds as the method takes, and their number."""
    problem = Problem(X, Y, rounds, loss("logistic"))
    problem.validation = validation
    state, batch = algorithm.init(problem, np.random.default_rng(0)), Batch(X, Y, passes(1))
    while not algorithm.done(state):
        state = algorithm.step(state, batch)
    return algorithm.finalize(state), state.rounds


@pytest.mark.parametrize("library", LIBRARIES)
def test_training_ends_when_patience_does_and_the_model_is_the_best_round(library):
    validation = SimpleNamespace(
        X=X[::3] + 0.7, y=np.roll(Y[::3], 1) * np.where(np.arange(134) % 4, Y[::3], 1), weights=None
    )
    algorithm = Boosting(library=library, patience=7, validation=0.1, rounds=None)
    final, rounds = with_validation(algorithm, validation)
    aucs = []
    for count in range(1, rounds + 1):
        plain = Boosting(library=library, rounds=None)
        scores = plain.score(train(plain, X, Y, passes(count)), validation.X)
        aucs.append(roc_auc_score(validation.y == 1, scores))
    best = int(np.argmax(aucs)) + 1
    assert (final.scored, rounds) == (best, best + 7)
    base = Boosting(library=library, rounds=best)
    assert np.array_equal(algorithm.score(final, X_TEST), base.score(train(base, X, Y, passes(best)), X_TEST))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_budget_ends_training_before_the_rounds_do_and_rounds_before_a_budget(library):
    for rounds, budget, expected in ((5, 9, 5), (9, 5, 5), (None, 7, 7)):
        algorithm = Boosting(library=library, criterion="log_loss", rounds=rounds)
        assert train(algorithm, X, Y, passes(budget)).rounds == expected
    result = aucbench.run("algo=boosting", f"algo.library={library}", "algo.criterion=log_loss")
    assert result.curve["iteration"].iloc[-1] == 100
    assert result.auc > 0.98


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_bytes_of_a_model_are_read_by_the_library(library):
    algorithm = Boosting(library=library, criterion="log_loss")
    state = train(algorithm, X, Y, passes(ROUNDS))
    saved = algorithm.model(state)
    if library == "lightgbm":
        scores = lightgbm.Booster(model_str=saved.decode()).predict(X_TEST, raw_score=True)
    else:
        booster = xgboost.Booster(model_file=bytearray(saved))
        scores = booster.predict(xgboost.DMatrix(X_TEST), output_margin=True)
    assert np.array_equal(scores, algorithm.score(state, X_TEST))
    assert algorithm.state_bytes(state) == len(saved) > 1000


def test_scores_that_overflow_end_training_as_diverged():
    algorithm = Boosting(learning_rate=1e6, rounds=None)
    with np.errstate(all="ignore"):
        state = train(algorithm, X, Y, passes(5), loss=loss("exponential"))
    assert np.isnan(state.largest[0])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"validation": 0.2}, r"patience and validation belong together.*validation=0.2"),
        ({"params": {"nthread": 4}}, r"params\.nthread cannot be set.*got 4"),
        ({"params": {"lambda_l2": 4}}, r"params\.lambda_l2 cannot be set: it is a field"),
        ({"params": {"objective": "l2"}}, r"params\.objective cannot be set: it is `criterion`"),
        ({"params": {"forcedsplits_filename": "/etc/passwd"}}, r"forcedsplits_filename cannot be set"),
        ({"params": {"max_bin": -3}}, r"lightgbm refuses params=.*max_bin"),
        ({"library": "xgboost", "params": {"max_bins_": 4}}, r"xgboost has no parameter 'max_bins_'"),
        ({"params": {"boosting": "dart"}, "patience": 5, "validation": 0.1}, r"dart changes earlier rounds"),
        ({"library": "xgboost", "params": {"booster": "gblinear"}}, r"gblinear grows no trees"),
        ({"params": 4}, r"params must be a mapping.*got 4"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(fields, message):
    with pytest.raises(ParameterError, match=message):
        Boosting(**fields)


def test_a_loss_is_given_for_pairs_alone():
    overrides = ["algo=boosting", "loss=square"]
    assert aucbench.run(*overrides, "algo.rounds=10").auc > 0.98
    with pytest.raises(ParameterError, match="takes no loss"):
        aucbench.run(*overrides, "algo.criterion=log_loss")


def test_validation_rows_count_by_their_weights():
    single = SimpleNamespace(X=X, y=Y, weights=np.ones(len(Y)))
    copies = SimpleNamespace(X=np.repeat(X, 2, axis=0), y=np.repeat(Y, 2), weights=None)
    algorithm = Boosting(patience=5, validation=0.5, rounds=20)
    finals = [with_validation(algorithm, rows)[0] for rows in (single, copies)]
    assert finals[0].best_auc == pytest.approx(finals[1].best_auc, abs=1e-12)


def test_lambdarank_takes_more_rows_than_a_group_of_lightgbm_holds():
    rows, y = random_problem(2, 2500, 4, unit=False)
    assert roc_auc_score(y == 1, scores_of(Boosting(criterion="ranking"), rows, rows, labels=y)) > 0.85


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_list_has_a_value_for_each_feature(library):
    rows = np.column_stack([X[:, 0], -X[:, 0]])
    free, bound = (
        scores_of(Boosting(library=library, criterion="log_loss", params=params), rows, rows)
        for params in (None, {"monotone_constraints": [1, -1]})
    )
    order = np.argsort(X[:, 0])
    assert np.all(np.diff(bound[order]) >= 0)
    assert not np.all(np.diff(free[order]) >= 0)
