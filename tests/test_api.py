import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

import aucbench
from aucbench import DataError, ParameterError, TrackingError, analysis
from aucbench.api import plan_study, run_study
from aucbench.cli.main import main
from aucbench.studies.study import Observer
from tests.helpers.fake_plugins import Weightless, two_clouds

X, Y = two_clouds()
ORDER = np.random.default_rng(0).permutation(200)
SOLAM = aucbench.catalog().algorithm("solam")(zeta=0.5)
PSAM = aucbench.catalog().algorithm("psam")()


def test_a_run_prints_nothing_writes_nothing_and_returns_its_result(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    result = aucbench.run("algo=solam", "dataset=breast_cancer")
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []
    assert 0.9 < result.auc <= 1.0
    assert list(result.curve.columns) == ["iteration", "samples", "train_seconds", "auc"]
    assert result.curve["auc"].iloc[-1] == result.auc
    assert result.weights.shape == (30,)
    assert result.record["data"]["train_rows"] + result.record["data"]["test_rows"] == 569


ROWS = np.random.default_rng(3).normal(size=(120, 4))
CLASSES = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)


@pytest.fixture(scope="module")
def of_file(tmp_path_factory):
    """The result on a file of the rows."""
    file = tmp_path_factory.mktemp("rows") / "own.npz"
    np.savez(file, X=ROWS, y=CLASSES)
    return aucbench.run("algo=solam", "dataset=npz", f"dataset.path={file}")


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (ROWS.tolist(), CLASSES.tolist()),
        (np.asfortranarray(ROWS), CLASSES == 1),
        (ROWS.astype(object), np.where(CLASSES, "yes", "no").astype(object)),
        (sparse.csc_matrix(ROWS), CLASSES),
        (pd.DataFrame(ROWS, index=range(9, 129)), pd.Series(CLASSES)),
        (pd.DataFrame(ROWS, columns=["y", "y_", "a", "b"]), pd.Categorical(CLASSES)),
    ],
)
def test_rows_and_labels_in_memory_are_run_like_a_file_of_them(rows, labels, of_file):
    positive = "dataset.positive=yes" if "yes" in labels else "dataset.positive=1"
    result = aucbench.run("algo=solam", positive, X=rows, y=labels)
    np.testing.assert_allclose(result.weights, of_file.weights, rtol=1e-9)


def test_the_record_of_rows_in_memory_has_their_digest():
    digests = [
        aucbench.run(f"algo={method}", X=ROWS[:n], y=CLASSES[:n]).record["data"]["sha256"]
        for method, n in (("solam", 120), ("ls_svm", 120), ("ls_svm", 100))
    ]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("overrides", "rows", "labels", "error"),
    [
        ((), ROWS, None, ParameterError),
        (("dataset=a9a",), ROWS, CLASSES, ParameterError),
        ((), ROWS, CLASSES[:5], DataError),
        ((), ROWS[0], CLASSES, DataError),
        ((), [["a", "b"]] * 2, [0, 1], DataError),
        ((), np.where(ROWS > 2, np.nan, ROWS), CLASSES, DataError),
        ((), pd.DataFrame(ROWS, columns=list("aabb")), CLASSES, DataError),
    ],
)
def test_rows_and_labels_that_do_not_fit_are_refused(overrides, rows, labels, error):
    with pytest.raises(error):
        aucbench.run("algo=solam", *overrides, X=rows, y=labels)


def test_replay_follows_the_given_rows_and_stops_at_checkpoints():
    end = aucbench.replay(SOLAM, X, Y, ORDER)
    assert end.shape == (5,)
    path = aucbench.replay(SOLAM, X, Y, ORDER, checkpoints=[0, 10, 200])
    assert path.shape == (3, 5)
    np.testing.assert_array_equal(path[0], 0.0)
    np.testing.assert_array_equal(path[1], aucbench.replay(SOLAM, X, Y, ORDER[:10]))
    assert path[2].tobytes() == end.tobytes()
    assert roc_auc_score(Y, X @ end) > 0.8
    # Sparse rows, plain lists, and the empty rows of a full method.
    np.testing.assert_allclose(aucbench.replay(SOLAM, sparse.csr_array(X), Y, ORDER), end, rtol=1e-12)
    np.testing.assert_array_equal(aucbench.replay(SOLAM, X.tolist(), Y.tolist(), ORDER.tolist()), end)
    ls_svm = aucbench.catalog().algorithm("ls_svm")(lam=0.1)
    assert aucbench.replay(ls_svm, X, Y, np.empty((1, 0))).shape == (5,)


NOT_FINITE = np.where(np.arange(1000).reshape(200, 5) == 16, np.nan, X)
PAIRS = np.zeros((3, 2), int)
MESSAGE = "rows must be whole numbers from 0 to 199, got "


@pytest.mark.parametrize(
    ("method", "arguments", "options", "error", "named"),
    [
        (SOLAM, (X, Y, PAIRS), {}, DataError, r"stream have the shape \(k,\), got \(3, 2\)"),
        (SOLAM, (X, Y, [0, 200]), {}, DataError, f"{MESSAGE}int64, 0 to 200"),
        (SOLAM, (X, Y, np.array([1.5])), {}, DataError, f"{MESSAGE}float64"),
        (SOLAM, (X, np.zeros(200), ORDER), {}, DataError, "y must be 200 labels in -1, 1"),
        (SOLAM, (X, Y, ORDER), {"checkpoints": [5, 3]}, ParameterError, "checkpoints must ascend"),
        (SOLAM, (NOT_FINITE, Y, ORDER), {}, DataError, "X contains NaN"),
        (PSAM, (X, Y, PAIRS), {}, DataError, "a positive and a negative row each"),
        (PSAM, (X, Y, PAIRS[:0]), {"loss": "square"}, ParameterError, "accepts the losses hinge"),
        (Weightless(), (X, Y, ORDER), {}, TypeError, "weightless has no `weights`"),
    ],
)
def test_replay_says_what_does_not_fit(method, arguments, options, error, named):
    with pytest.raises(error, match=named):
        aucbench.replay(method, *arguments, **options)


OVERRIDES = ["-m", "algo=solam,ls_svm", "dataset=breast_cancer", "budget.checkpoints=3", "tracking=none"]


class Recorder(Observer):
    """Records the names of its calls."""

    def __init__(self):
        self.reports = []
        for name in vars(Observer):
            if not name.startswith("_"):
                setattr(self, name, lambda *report, name=name: self.reports.append(name))


@pytest.mark.slow
def test_a_study_from_python_is_that_of_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    observer = Recorder()
    finished = []
    observer.entry_finished = finished.append
    planned = plan_study([*OVERRIDES, "study=mine"])
    assert (planned.trainings, len(planned.plan.entries)) == (2, 2)
    assert list(tmp_path.iterdir()) == []
    result = run_study([*OVERRIDES, "study=mine"], observer)
    assert (result.cells, result.stored, result.finished) == (2, 0, 2)
    assert not result.failures
    assert not result.refused
    assert capsys.readouterr().out == ""
    assert {report.entry.algorithm.name for report in finished} == {"solam", "ls_svm"}
    assert [name for name in dict.fromkeys(observer.reports) if name not in ("stage", "progress")] == [
        "study_begun", "planned", "started", "cell_finished", "study_finished",
    ]  # fmt: skip
    assert result.page.resolve() == tmp_path / "aucbench-store" / "boards" / "mine" / "leaderboard.html"
    assert result.page.is_file()
    assert main([*OVERRIDES, "study=mine"]) == 0
    assert "2 cells, 2 of them in the store" in capsys.readouterr().err
    assert plan_study([*OVERRIDES, "study=mine"]).trainings == 0
    assert run_study([*OVERRIDES, "study=mine"]).finished == 0


def test_a_study_from_python_says_what_was_refused_and_what_cannot_be_logged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    result = run_study(
        [*OVERRIDES[:-1], "algo=solam,fsauc", "budget.seconds=0.01", "tracking.uri=http://127.0.0.1:9"]
    )
    (refused,) = result.refused
    assert "fsauc" in refused.why
    assert isinstance(result.untracked, TrackingError)
    assert result.finished == 1


def test_a_run_is_no_sweep_and_a_study_no_other_command_and_an_entry_no_experiment():
    for line in ("--help", "--dry-run", "--cfg job", "-sc install=bash", "algo=solam,psam"):
        with pytest.raises(ParameterError):
            run_study(line.split())
    for argument in ("-m", "+experiment=smoke", "algo=solam,psam", 3):
        with pytest.raises(ParameterError):
            aucbench.run(argument)
    for arguments in ("dataset=wine", [1]):
        with pytest.raises(ParameterError, match="list of words"):
            run_study(arguments)
    with pytest.raises(ParameterError, match="overrides of one method and data set, got those of 30"):
        analysis.entry_of(["+experiment=smoke"])
