"""An exported model has the decision values of the benchmark, and needs no package of the benchmark."""

import sys
from functools import partial

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow.models import Model
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import aucbench
from aucbench import data
from aucbench.data.loader import Part
from aucbench.data.scaler import Scaling
from aucbench.data.splits.protocols import Holdout
from aucbench.errors import AucbenchError
from aucbench.evaluation import exact_auc
from aucbench.studies.store import Store
from aucbench.tracking.linear_model import _load_pyfunc
from aucbench.tracking.model_export import export_model, from_store
from tests.helpers.processes import forked

pytestmark = pytest.mark.slow  # whole studies


def scored_without_aucbench(folder, table, scores):
    """Score a table in a process that cannot import aucbench."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "aucbench"]:
        del sys.modules[name]
    sys.modules["aucbench"] = None
    np.save(scores, mlflow.pyfunc.load_model(str(folder)).predict(pd.read_csv(table)))


def test_rows(name, seed, **fields):
    """The raw test rows of the default hold-out, and their labels."""
    dataset = aucbench.catalog().dataset(name)(**fields)
    test = Holdout().split(lambda part: data.load(dataset, part), Part.train, seed).test
    return test.X[test.rows], test.y


test_rows.__test__ = False


def exported(cell, folder):
    """The model of a cell as MLflow loads it, in this process."""
    return _load_pyfunc(str(export_model(cell, folder / "model") / "data" / "model.npz"))


@pytest.mark.parametrize(
    ("scaling", "dtype"), [*((scaling, "float64") for scaling in Scaling), (Scaling.standard, "float32")]
)
def test_every_scaling_is_that_of_the_benchmark_whatever_the_rows_are_in(scaling, dtype, tmp_path):
    result = aucbench.run("algo=ls_svm", f"scaling={scaling}", f"dtype={dtype}", "seed=2")
    model, (X, y) = exported(result.cells[0], tmp_path), test_rows("breast_cancer", 2)
    scores = model.predict(X)
    precision = 1e-6 if dtype == "float32" else 1e-12
    assert exact_auc(scores, y) == pytest.approx(result.auc, abs=precision)
    assert list(model.predict(pd.DataFrame(X))) == list(scores)
    close = partial(np.testing.assert_allclose, rtol=0, atol=10 * precision * np.abs(scores).max())
    close(model.predict(sparse.csr_matrix(X)), scores)
    close(scores, result.scores)
    with pytest.raises(ValueError, match=r"30 features.*29"):
        model.predict(X[:, 1:])


@pytest.mark.parametrize("scaling", ["auto", "standard", "maxabs_unit"])
def test_a_sparse_data_set_is_scored_from_its_raw_rows(scaling, tmp_path):
    rows = sparse.random(200, 5000, 0.002, random_state=0, format="csr")
    rows.data[::2] *= 100.0  # standard deviations below and above 1
    dense = np.random.default_rng(0).normal(5.0, 0.01, (200, 1))
    rows = sparse.hstack([rows, dense], format="csr")
    dump_svmlight_file(rows, np.arange(200) % 3 == 0, str(tmp_path / "wide.txt"))
    path = str(tmp_path / "wide.txt")
    result = aucbench.run("algo=ls_svm", "dataset=libsvm", f"dataset.path={path}", f"scaling={scaling}")
    X, y = test_rows("libsvm", 0, path=path)
    assert sparse.issparse(X)
    scores = exported(result.cells[0], tmp_path).predict(X)
    assert exact_auc(scores, y) == pytest.approx(result.auc, abs=1e-12)
    np.testing.assert_allclose(scores, result.scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ("algo=solam features=fourier", "features=fourier"),
        ("algo=opauc algo.eta=1e6 algo.bounded=false", "opauc diverged"),
    ],
)
def test_what_is_no_linear_model_of_raw_features_is_refused_in_one_sentence(overrides, reason, tmp_path):
    cell = aucbench.run(*overrides.split(), "budget.epochs=3").cells[0]
    with pytest.raises(AucbenchError, match=reason) as caught:
        export_model(cell, tmp_path / "model")
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "model").exists()


def test_a_store_names_the_settings_among_which_to_choose(finished, tmp_path):
    store = Store(finished)
    assert from_store(store, "solam", "breast_cancer", None, None).record.seed == 0
    assert from_store(store, "solam", "breast_cancer", 1, None).record.seed == 1
    with pytest.raises(AucbenchError, match="opauc on breast_cancer"):
        from_store(store, "opauc", "breast_cancer", None, None)
    second = Store(tmp_path / "own")
    for zeta in (2, 3):
        aucbench.run("algo=solam", f"algo.zeta={zeta}", f"store.path={second.path}")
    with pytest.raises(AucbenchError, match="--key") as caught:
        from_store(second, "solam", "breast_cancer", None, None)
    key = str(caught.value).split("--key: ")[1][:12]
    assert "algo.zeta=3" in str(caught.value)
    assert from_store(second, "solam", "breast_cancer", None, key).record.key.startswith(key)


def test_a_column_of_a_notation_of_numbers_is_refused_by_its_name(tmp_path):
    lines = [f"{7 * k % 60}.5%,{k % 2}" for k in range(60)]
    (tmp_path / "own.csv").write_text("\n".join(["share,y", *lines]))
    cell = aucbench.run("algo=ls_svm", "dataset=csv", f"dataset.path={tmp_path / 'own.csv'}").cells[0]
    with pytest.raises(AucbenchError, match="'share' is read as percent"):
        export_model(cell, tmp_path / "model")


def test_changed_data_are_refused(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(60)))
    cell = aucbench.run("algo=ls_svm", "dataset=libsvm", f"dataset.path={file}").cells[0]
    export_model(cell, tmp_path / "model")
    with pytest.raises(AucbenchError, match=str(tmp_path / "model")):
        export_model(cell, tmp_path / "model")
    file.write_text("".join(f"{i % 2} 1:{i % 8} 2:{i % 5}\n" for i in range(60)))
    with pytest.raises(AucbenchError, match=r"mine\.txt"):
        export_model(cell, tmp_path / "other")


@pytest.fixture
def table(tmp_path):
    """A CSV file by pandas with all kinds of columns, and the cell of a run on the file."""
    rng = np.random.default_rng(0)
    n, path = 200, tmp_path / "own.csv"
    frame = pd.DataFrame(
        {"town": rng.choice(["Ulm", "Bonn", "Linz"], n), "grade": rng.choice([7.0, 8.0, 9.0], n)}
    )
    frame["when"] = pd.Timestamp("2024-01-01 12:00") + pd.to_timedelta(rng.permutation(n), "D")
    frame["age"] = rng.integers(20, 60, n)
    frame["ill"] = np.where(
        frame["age"] + 20 * (frame["town"] == "Ulm") + rng.normal(size=n) > 45, "yes", "no"
    )
    frame.loc[3, ["town", "when"]] = None
    frame["age"] = frame["age"].astype(float).where(rng.random(n) > 0.1, -999)
    frame.to_csv(path)
    config = ["algo=log_reg", "dataset=csv", f"dataset.path={path}", "dataset.missing=median"]
    config += ["dataset.add_indicator=true", "dataset.missing_words=[-999]"]
    with pytest.warns(UserWarning, match="written"):  # the index is left out
        run = aucbench.run(*config, "dataset.types={grade: categories}", f"store.path={tmp_path / 'store'}")
    (cell,) = Store(tmp_path / "store")
    assert cell.auc == run.auc
    return path, cell


def test_a_model_of_a_table_takes_a_frame_as_the_file_had_it_without_aucbench(table, tmp_path):
    path, cell = table
    folder = export_model(cell, tmp_path / "model")
    assert forked(partial(scored_without_aucbench, folder, path, tmp_path / "scores.npy")) == [0]
    scores = np.load(tmp_path / "scores.npy")
    dataset = aucbench.catalog().dataset("csv")(**cell.record.dataset.parameters)
    test = Holdout().split(lambda part: data.load(dataset, part), Part.train, 0).test
    assert exact_auc(scores[test.rows], test.y) == pytest.approx(cell.auc, abs=1e-12)


def test_a_model_of_a_table_names_its_columns_and_takes_gaps_and_new_categories(table, tmp_path):
    path, cell = table
    folder = export_model(cell, tmp_path / "model")
    model, described = mlflow.pyfunc.load_model(str(folder)), Model.load(folder)
    expected = ["town", "grade", "when", "age"]
    assert (described.metadata["columns"], described.metadata["positive"]) == (expected, ["no"])
    columns = data.columns_of(aucbench.catalog().dataset("csv")(**cell.record.dataset.parameters))
    example = pd.read_csv(path, nrows=3)
    assert np.isfinite(model.predict(example)).all()
    with pytest.raises(ValueError, match="town"):
        model.predict(example.drop(columns="town"))
    median = next(column.median for column in columns if column.name == "age")
    gap, filled = example.assign(age=np.nan), example.assign(age=median)
    np.testing.assert_array_equal(model.predict(gap), model.predict(example.assign(age=-999)))
    assert (model.predict(gap) != model.predict(filled)).all()  # a missing value is indicated
    assert (model.predict(example.assign(town="Graz")) != model.predict(example.assign(town=None))).all()


@pytest.mark.parametrize("written", [("True", "False"), ("true", "false"), ("1", "0"), ("TRUE", "FALSE")])
def test_true_and_false_and_categories_of_pandas_are_read_as_the_file_has_them(written, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.random(120) < 0.5
    frame = pd.DataFrame({"x": rng.normal(size=120), "smokes": truth, "place": rng.choice(["a", "b"], 120)})
    frame["y"] = (frame.x + truth + rng.normal(size=120) > 0.5).map({True: "ill", False: "well"})
    file = tmp_path / "mine.csv"
    frame.assign(smokes=np.where(truth, *written)).to_csv(file, index=False)
    cell = aucbench.run("algo=ls_svm", "dataset=csv", f"dataset.path={file}", "dataset.target=y").cells[0]
    model = mlflow.pyfunc.load_model(str(export_model(cell, tmp_path / "model")))
    inputs = frame.drop(columns="y")
    expected = model.predict(pd.read_csv(file, dtype={"smokes": str}))
    assert len({*expected}) > 100
    texts = np.where(truth, "true", "FALSE")
    for smokes in (truth, truth.astype(int), pd.Series(truth).astype("category"), texts):
        variant = inputs.assign(smokes=smokes, place=inputs.place.astype("category"))
        np.testing.assert_array_equal(model.predict(variant), expected)
