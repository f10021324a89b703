"""Measures other than the AUC: along runs, in tunings, and computed later from stored cells."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import aucbench
from aucbench.analysis import rescore
from aucbench.cli.main import main
from aucbench.evaluation.measures import AveragePrecision, PrecisionAt
from aucbench.studies.codec import canonical
from aucbench.studies.execution.worker import labels_of
from aucbench.studies.store import Store
from tests.helpers.studies import entry, prepared_apart, run_entries, study_of
from tests.helpers.study_methods import Gentle
from tests.studies.conftest import run_in

pytestmark = pytest.mark.slow  # whole studies

SHORT = ("algo=psam", "dataset=digits", "budget.epochs=0.5", "budget.checkpoints=6")
METRICS = ("metrics=[ap,pauc,recall_at_fpr]", "pauc.max_fpr=0.2")
NAMES = ["ap", "pauc", "recall_at_fpr"]
WEIGHTS = ("store.weights=checkpoints",)


class Weightless(Gentle):
    """A method with scores and without weights that counts its trainings."""

    name = "weightless"
    weights = property()  # hidden from hasattr
    trainings = 0

    def init(self, problem, rng):
        type(self).trainings += 1
        return super().init(problem, rng)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A run with measures and with the weights of all checkpoints, and its store."""
    path = tmp_path_factory.mktemp("measured")
    result = aucbench.run(*SHORT, *METRICS, f"store.path={path}", *WEIGHTS)
    return result, Store(path)


def test_measures_are_those_of_the_weights_at_each_checkpoint_and_change_neither_key_nor_curve(measured):
    result, store = measured
    rows = prepared_apart(SHORT)
    X, y = rows.X_test, rows.y_test
    (cell,) = store
    assert len(cell.checkpoint_weights) == len(cell.curve["auc"]) == 6
    np.testing.assert_array_equal(cell.checkpoint_weights[-1], cell.weights)
    for at, w in enumerate(cell.checkpoint_weights):
        assert cell.curve["ap"][at] == pytest.approx(average_precision_score(y, X @ w), abs=1e-9)
        assert cell.curve["pauc"][at] == pytest.approx(roc_auc_score(y, X @ w, max_fpr=0.2), abs=1e-9)
    assert cell.record.measures["pauc"].parameters == {"max_fpr": 0.2}
    assert result.measures == {"auc": result.auc} | {name: cell.curve[name][-1] for name in NAMES}
    assert list(result.curve.columns)[-3:] == NAMES
    assert result.record["result"]["measures"]["ap"]["value"] == cell.curve["ap"][-1]
    plain = aucbench.run(*SHORT).cells[0]
    assert plain.record.key == cell.record.key
    assert plain.curve["auc"].tolist() == cell.curve["auc"].tolist()
    assert not plain.record.measures


@pytest.mark.parametrize("weights", ["final", "checkpoints"])
def test_a_stored_cell_that_lacks_measures_gets_them_without_training(weights, measured, tmp_path):
    (complete,) = measured[1]
    overrides = (*SHORT, f"store.path={tmp_path}", f"store.weights={weights}")
    first = aucbench.run(*overrides).cells[0]
    second = aucbench.run(*overrides, *METRICS).cells[0]
    # A second training would not take exactly as long.
    assert second.curve["train_seconds"].tolist() == first.curve["train_seconds"].tolist()
    assert second.record.measures == complete.record.measures
    for name in NAMES:
        curve, expected = second.curve[name], complete.curve[name]
        points = slice(None) if weights == "checkpoints" else slice(-1, None)
        np.testing.assert_allclose(curve[points], expected[points], rtol=0, atol=1e-12)
        assert np.isnan(curve[:-1]).all() == (weights == "final")
    (stored,) = Store(tmp_path)
    assert stored.record.measures == complete.record.measures
    wider = aucbench.run(*overrides, *METRICS[:1], "pauc.max_fpr=0.5").cells[0]
    assert wider.record.measures["pauc"].parameters == {"max_fpr": 0.5}
    assert np.isfinite(wider.curve["pauc"]).all()  # with final weights only, the cell was trained again
    same_time = wider.curve["train_seconds"].tolist() == first.curve["train_seconds"].tolist()
    assert same_time == (weights == "checkpoints")


def test_runs_without_weights_get_measures_from_their_scores_or_are_trained_again_where_these_are_not_kept(
    tmp_path,
):
    for keep in (True, False):
        store, trainings = Store(tmp_path / str(keep)), []
        Weightless.trainings = 0
        for measures in ((), (AveragePrecision(),), (PrecisionAt(),), (AveragePrecision(),)):
            run_entries([replace(entry(Weightless()), measures=measures, keep_scores=keep)], store)
            trainings.append(Weightless.trainings)
        (cell,) = store
        assert (cell.weights is None, cell.scores is not None) == (True, keep)
        assert set(cell.record.measures) == {"ap", "precision_at"}
        for name in ("ap", "precision_at"):
            assert np.isfinite(cell.curve[name][-1])
            assert np.isfinite(cell.curve[name][:-1]).all() != keep
        assert (trainings[0] == trainings[3]) == keep
        assert keep or trainings[0] < trainings[1] < trainings[2] == trainings[3]


@pytest.mark.parametrize("method", ["psam", "sklearn"])
def test_a_result_has_scores_and_labels_that_give_its_auc_whatever_the_model(method, tmp_path):
    overrides = (f"algo={method}", "dataset=digits", "max_train_rows=200", "runs=2", f"store.path={tmp_path}")
    result, second = aucbench.run(*overrides), aucbench.run(*overrides)
    assert [record["seed"] for record in result.record] == [0, 1]
    assert result.auc == pytest.approx(np.mean([cell.auc for cell in result.cells]))
    for at in range(2):
        rows = prepared_apart(overrides, at)
        X, y = rows.X_test, rows.y_test
        np.testing.assert_array_equal(result.y_test[at], y)
        np.testing.assert_array_equal(second.scores[at], result.scores[at])
        assert roc_auc_score(y, result.scores[at]) == pytest.approx(result.cells[at].auc, abs=1e-6)
        if method == "psam":
            np.testing.assert_allclose(result.scores[at], X @ result.weights[at], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("factor", "offset", "kind"), [(1, 0, "f4"), (1e-9, 1, "f8"), (1e300, 0, "f8")])
def test_scores_are_kept_in_single_precision_unless_ties_or_overflow_changed_the_auc(
    factor, offset, kind, tmp_path, monkeypatch
):
    monkeypatch.setattr(Weightless, "score", lambda self, state, X: (X @ state) * factor + offset)
    store, planned = Store(tmp_path), entry(Weightless())
    run_entries([planned], store)
    (cell,) = store
    y = labels_of(planned, cell)
    assert cell.scores.dtype == kind
    assert np.isfinite(cell.scores).all()
    assert roc_auc_score(y, cell.scores) == pytest.approx(cell.auc, abs=1e-6)


def test_a_model_is_kept_as_the_method_gives_it_and_anything_but_bytes_is_refused(tmp_path, monkeypatch):
    store, no_model, wrong = (Store(tmp_path / name) for name in ("store", "bare", "wrong"))
    monkeypatch.setattr(Weightless, "model", lambda self, state: state.tobytes(), raising=False)
    run_entries([entry(Weightless())], store)
    (cell,) = store
    assert np.isfinite(np.frombuffer(cell.model)).all()
    run_entries([replace(entry(Weightless()), keep_model=False)], no_model)
    assert [stored.model for stored in no_model] == [None]
    monkeypatch.setattr(Weightless, "model", lambda self, state: state)
    (failure,) = run_entries([entry(Weightless())], wrong).failures
    assert "ndarray" in failure.message


def test_a_diverged_cell_has_no_value_says_why_and_is_not_trained_again(tmp_path):
    overrides = ("algo=opauc", "algo.eta=1e6", "algo.bounded=false", "budget.epochs=3", *WEIGHTS)
    overrides = (*overrides, f"store.path={tmp_path}")
    plain, cell, repeat = (aucbench.run(*overrides, *metrics).cells[0] for metrics in ((), METRICS, ()))
    assert cell.diverged
    assert {measure.value for measure in cell.record.measures.values()} == {None}
    assert all("diverged" in measure.reason for measure in cell.record.measures.values())
    assert aucbench.run(*overrides[:-1], *METRICS).cells[0].record.measures == cell.record.measures
    assert len({run.record.result.train_seconds for run in (plain, cell, repeat)}) == 1


STUDY = ["-m", "algo=psam,ls_svm", *SHORT[1:3], "runs=2", "study=mine", "tracking=none"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A store with a study that has the AUC as its only measure."""
    return run_in(tmp_path_factory.mktemp("plain"), STUDY).path


@pytest.fixture
def study(plain, tmp_path):
    """A copy of the store `plain`."""
    return Store(shutil.copytree(plain, tmp_path / "store"))


def test_rescore_computes_what_a_run_would_have_measured_and_keeps_other_parameters_unless_told(
    tmp_path, capsys
):
    store = run_in(tmp_path / "store", [*STUDY, "metrics=[pauc],[pauc,ap]", "pauc.max_fpr=0.05"])
    before = {cell.record.key: cell for cell in store}
    assert all("ap" in cell.record.measures for cell in store)  # equal runs share their measures

    def printed(*arguments):
        assert main(["rescore", "mine", *arguments, "--store", str(store.path)]) == 0
        return capsys.readouterr().out

    options = ("--metrics", "recall_at_fpr,pauc", "pauc.max_fpr=0.2")
    first = printed(*options)
    assert "4 cells measured" in first
    assert "4 cells kept pauc(max_fpr=0.05)" in first
    fresh = run_in(tmp_path / "fresh", [*STUDY, "metrics=[recall_at_fpr]"])
    for cell in store:
        earlier, name = before[cell.record.key], "recall_at_fpr"
        assert cell.record.measures[name] == fresh.get(cell.record.key).record.measures[name]
        assert cell.record.result.train_seconds == earlier.record.result.train_seconds
        assert cell.record.measures["pauc"] == earlier.record.measures["pauc"]
        assert cell.curve["pauc"].tolist() == earlier.curve["pauc"].tolist()
    page = (store.board_folder("mine") / "results.csv").read_text()
    assert "recall_at_fpr_mean" in page.splitlines()[0]
    assert "0 cells measured" in printed(*options)
    assert "4 cells measured" in printed("--metrics", "pauc", "pauc.max_fpr=0.2", "--replace")
    for cell in store:
        assert cell.record.measures["pauc"].parameters == {"max_fpr": 0.2}
        assert np.isnan(cell.curve["pauc"][:-1]).all()


def test_rescore_names_methods_without_weights_and_refuses_weights_of_other_rows(study, capsys):
    cells = {cell.record.algorithm.name: cell for cell in study if cell.record.seed == 0}
    weightless, moved = cells["ls_svm"], cells["psam"]
    study.put(weightless.record.key, replace(weightless, weights=None))
    study.put(moved.record.key, replace(moved, weights=-moved.weights))
    summary = rescore(study, "mine", ["ap"])
    assert (summary.scored, summary.without_scores) == (2, {"ls_svm": 1})
    (sentence,) = summary.failed
    assert "psam" in sentence
    assert f"{1 - moved.auc:.6f}" in sentence
    assert not study.get(moved.record.key).record.measures
    assert main(["rescore", "mine", "--metrics", "ap", "--store", str(study.path)]) == 1
    assert "ls_svm: 1 cell without" in capsys.readouterr().out


def test_bad_input_is_said_in_one_sentence(plain, capsys):
    for command, reason in {
        "mine --metrics prap": "'prap'",
        "mine --metrics ap runs=3": "'runs=3'",
        "mine --metrics auc": "[auc]",
        "other --metrics ap": "'other'",
    }.items():
        assert main(["rescore", *command.split(), "--store", str(plain)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert reason in line


GRID = ("algo=solam", "dataset=label_noise", "tuning=grid", "tuning.folds=2", "budget.epochs=0.2",
        "tuning.grid={solam:{zeta:[0.001,0.1,1,10],radius:[0.1,10]}}")  # fmt: skip


@pytest.mark.parametrize("metric", ["auc", "pauc"])
def test_a_tuning_selects_by_the_metric(metric):
    tuned = aucbench.run(*GRID, f"tuning.metric={metric}", "pauc.max_fpr=0.05").cells[0].record.tuned
    values = {}
    for trial in tuned.trials:
        value = trial.auc if metric == "auc" else trial.value
        values.setdefault(canonical(trial.parameters), []).append(value)
    means = {point: np.mean(scores) for point, scores in values.items()}
    assert canonical(tuned.parameters) == max(means, key=means.get)
    assert (tuned.validation_value or 0) == pytest.approx(max(means.values()) if metric == "pauc" else 0)
    assert metric == "auc" or all(trial.value != trial.auc for trial in tuned.trials)


def test_the_metric_of_a_tuning_and_its_parameters_are_part_of_the_key():
    def key(*overrides):
        (planned,) = study_of(*GRID, *overrides).entries
        return planned.key(("data",)), planned.describe().tuning.parameters

    plain, parameters = key()
    assert "metric" not in parameters  # as in versions without other metrics
    assert key("tuning.metric=auc")[0] == key("metrics=[ap]")[0] == key("pauc.max_fpr=0.3")[0] == plain
    wider = key("tuning.metric=pauc", "pauc.max_fpr=0.3")
    assert len({plain, key("tuning.metric=ap")[0], key("tuning.metric=pauc")[0], wider[0]}) == 4
    assert wider[1]["pauc.max_fpr"] == 0.3


OBJECTIVE = (*SHORT, "metrics=[ap,objective]")


def test_the_objective_is_the_same_whatever_weights_are_kept_and_when_it_is_asked_for(tmp_path):
    result = aucbench.run(*OBJECTIVE, f"store.path={tmp_path / 'all'}", *WEIGHTS)
    (cell,) = Store(tmp_path / "all")
    objective = cell.curve["objective"]
    assert result.measures["objective"] == cell.record.measures["objective"].value == objective[-1]
    plain = aucbench.run(*SHORT, f"store.path={tmp_path / 'later'}", *WEIGHTS)
    assert plain.auc == result.auc
    np.testing.assert_array_equal(plain.weights, result.weights)
    aucbench.run(*OBJECTIVE, f"store.path={tmp_path / 'later'}", *WEIGHTS)
    aucbench.run(*OBJECTIVE, f"store.path={tmp_path / 'final'}")
    for name in ("later", "final"):
        (cell,) = Store(tmp_path / name)
        np.testing.assert_array_equal(cell.curve["objective"], objective)
        assert (cell.checkpoint_weights is None) == (name == "final")
