"""The estimator is the benchmark: the same rows, settings and seed give the same model and AUC."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import roc_auc_score

import aucbench
from aucbench.data import loader
from aucbench.data.splits.protocols import Holdout
from aucbench.sklearn import AUCClassifier

SEED = 3


def sides(dataset, **fields):
    """The rows of a hold-out of the seed, as a run takes them."""
    instance = aucbench.catalog().dataset(dataset)(**fields)
    split = Holdout().split(lambda part: loader.load(instance, part), loader.Part.train, SEED)
    return (split.train.X[split.train.rows], split.train.y), (split.test.X[split.test.rows], split.test.y)


@pytest.fixture(scope="module")
def breast_cancer():
    return sides("breast_cancer")


SETTINGS = [
    {},
    {"algo": "fsauc"},  # planned
    {"algo": "solam", "algo_params": {"zeta": 3.0}, "scaling": "minmax", "epochs": 2},
    {"algo": "opauc", "order": "stored", "iterations": 700, "scaling": "maxabs_unit"},
    {"algo": "psam", "epochs": 3},
    {"algo": "mba", "epochs": 5},
    {"algo": "spam", "rescale": False, "scaling": "unit"},
    {"algo": "ls_svm"},
    {"algo": "asam", "loss": "logistic", "epochs": 2},
    {"algo": "solam", "features": "nystroem", "features_params": {"landmarks": 40}},
]
BUDGETS = {"epochs": "budget.epochs", "iterations": "budget.iterations"}


def overrides_of(parameters):
    """The overrides of a run with these parameters."""
    for name, value in ({"algo": "auto"} | parameters).items():
        if name.endswith("_params"):
            yield from (f"{name.removesuffix('_params')}.{field}={item}" for field, item in value.items())
        else:
            yield f"{BUDGETS.get(name, name)}={value}"


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_a_run_of_the_benchmark_has_the_same_auc(breast_cancer, parameters):
    train, (X_test, y_test) = breast_cancer
    model = AUCClassifier(**parameters, random_state=SEED).fit(*train)
    result = aucbench.run("dataset=breast_cancer", f"seed={SEED}", *overrides_of(parameters))
    scores = model.decision_function(X_test)
    assert roc_auc_score(y_test, scores) == pytest.approx(result.auc, abs=1e-12)
    np.testing.assert_allclose(scores - scores[0], result.scores - result.scores[0], rtol=1e-9, atol=1e-12)
    assert model.n_iter_ == result.record["result"]["iterations"]
    assert (model.algo, model.scaling) == (result.record["algorithm"]["name"], result.record["scaling"])


def test_sparse_rows_give_the_same_model_too(tmp_path):
    path = tmp_path / "wide.txt"
    rng = np.random.default_rng(0)
    rows = sparse.random_array((300, 5_000), density=0.004, format="csr", rng=rng)
    y = np.where(rows @ rng.standard_normal(5_000) + 0.1 * rng.standard_normal(300) > 0.3, 1, -1)
    rows = rows @ sparse.diags_array(rng.choice([0.1, 1.0, 1e3], 5_000))  # deviations on both sides of 1
    dump_svmlight_file(rows, y, str(path), zero_based=False)
    train, (X_test, y_test) = sides("libsvm", path=str(path))
    assert sparse.issparse(X_test)
    for algo in ("solam", "psam"):
        model = AUCClassifier(algo, random_state=SEED).fit(*train)
        result = aucbench.run(f"algo={algo}", "dataset=libsvm", f"dataset.path={path}", f"seed={SEED}")
        scores = model.decision_function(X_test)
        assert roc_auc_score(y_test, scores) == pytest.approx(result.auc, abs=1e-12)
        np.testing.assert_allclose(scores - scores[0], result.scores - result.scores[0], atol=1e-12)
        np.testing.assert_allclose(X_test @ model.coef_[0] + model.intercept_[0], scores, rtol=0, atol=1e-12)
