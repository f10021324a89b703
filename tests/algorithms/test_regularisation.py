"""The regularisation of a method refers to the scaled columns, whatever factor the rows are multiplied by."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import aucbench
from aucbench.contracts import MethodFacts, for_rows
from aucbench.data.scaler import Scaling
from aucbench.data.splits.protocols import Side, Split
from aucbench.errors import ParameterError
from aucbench.evaluation.auc import exact_auc
from aucbench.runner.task import default_passes
from tests.helpers import training

SOLVERS = {"bam": "C", "log_reg": "C"} | dict.fromkeys(("ls_svm", "svm_or", "uni_log", "uni_square"), "lam")
FORMS = {"dense": np.array, "sparse": sparse.csr_matrix}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 6)) * [0.1, 1.0, 1.0, 3.0, 30.0, 1.0] * (RNG.random((240, 6)) < 0.7)
Y = np.where(X @ [3.0, 1.0, -1.0, 0.0, 0.05, 0.5] + RNG.normal(size=240) > 0.8, 1, -1).astype(np.int8)


def prepared(form, scaling, rescale):
    sides = [Side(FORMS[form](X[part]), Y[part], None) for part in (slice(180), slice(180, None))]
    return training.prepared(Split(*sides), scaling, rescale)


def trained(method, rows):
    """The outcome, and its weights for the scaled columns."""
    outcome = training.outcome_on(method, rows)
    return outcome, outcome.weights * (1.0 if rows.rescaling is None else rows.rescaling.factor)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scaling", Scaling)
def test_log_reg_at_its_defaults_is_the_balanced_logistic_regression_of_scikit_learn(scaling, form):
    columns = prepared(form, scaling, rescale=False)
    model = LogisticRegression(C=1.0, class_weight="balanced", tol=1e-10, max_iter=10_000)
    model.fit(columns.X, columns.y)
    outcome, weights = trained(
        aucbench.catalog().algorithm("log_reg")(), prepared(form, scaling, rescale=True)
    )
    np.testing.assert_allclose(weights, model.coef_[0], rtol=1e-4, atol=1e-5)
    assert outcome.auc[-1] == pytest.approx(
        exact_auc(columns.X_test @ model.coef_[0], columns.y_test), abs=1e-9
    )


@pytest.mark.parametrize("value", [0.03, 1.0])
@pytest.mark.parametrize("name", SOLVERS)
def test_the_optimum_of_a_method_does_not_depend_on_rescaling(name, value):
    method = replace(aucbench.catalog().algorithm(name)(), **{SOLVERS[name]: value})
    plain, rescaled = (
        trained(method, prepared("dense", Scaling.standard, rescale))[1] for rescale in (False, True)
    )
    np.testing.assert_allclose(rescaled, plain, rtol=1e-5, atol=1e-6 * np.abs(plain).max())


def test_every_declared_field_is_stated_for_the_rows_and_none_stays_none():
    for name, plugin in aucbench.catalog().plugins["algorithms"].items():
        method = aucbench.catalog().algorithm(name)()
        powers = MethodFacts(plugin.cls).regularisation
        for field, power in powers.items():
            value = getattr(method, field)
            expected = None if value is None else pytest.approx(value * 0.5**power)
            assert getattr(for_rows(method, 0.5), field) == expected


@pytest.mark.parametrize(("C", "factor"), [(1e308, 0.1), (1e-308, 1e100)])
def test_a_strength_that_overflows_on_the_rows_is_refused(C, factor):
    with pytest.raises(ParameterError, match="log_reg: C must be"):
        for_rows(aucbench.catalog().algorithm("log_reg")(C=C), factor)


def test_a_run_says_what_regularisation_refers_to_and_the_old_meaning_can_be_asked_for():
    overrides = ["algo=log_reg", "algo.C=0.01", "dataset=wine"]
    columns, rows = (aucbench.run(*overrides, f"regularisation={unit}") for unit in ("columns", "rows"))
    assert columns.record["regularisation"] == "columns"
    assert rows.record["regularisation"] == "rows"
    factor = columns.record["data"]["row_factor"]
    stated = aucbench.run("algo=log_reg", f"algo.C={0.01 / factor**2}", "dataset=wine", "regularisation=rows")
    np.testing.assert_allclose(stated.weights, columns.weights, rtol=1e-6)
    assert not np.allclose(rows.weights, columns.weights, rtol=0.1)


@pytest.mark.parametrize(("rows", "visits"), [(20, 4_000), (100, 20_000), (500, 20_000), (5_000, 50_000)])
def test_few_rows_are_visited_more_often_by_default(rows, visits):
    assert round(default_passes(rows) * rows) == visits
