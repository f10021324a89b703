"""What runs say of themselves."""

import numpy as np
import pytest

import aucbench
from aucbench.execution.worker import prepared_data
from aucbench.studies.method_look import colour
from aucbench.studies.rerun_command import words
from aucbench.studies.result import FinishedEntry
from aucbench.tracking.run_data import note, over_log_time, params, run_name, series, tags
from tests.helpers.board_cells import altered
from tests.helpers.studies import study_of

# Ottosson's Oklab, in which equal distances look alike, and what remains of a colour without the green
# receptor, after Machado, Oliveira and Fernandes (2009); both of linear red, green and blue.
LMS = np.array(
    [[0.4122215, 0.5363325, 0.0514460], [0.2119035, 0.6806995, 0.1073970], [0.0883025, 0.2817188, 0.6299787]]
)
OKLAB = np.array(
    [
        [0.2104543, 0.7936178, -0.0040720],
        [1.9779985, -2.4285922, 0.4505937],
        [0.0259040, 0.7827718, -0.8086758],
    ]
)
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)


def command_of(entry):
    return words(entry.record, [cell.record.seeds for cell in entry.cells], entry.study)


def logged(*overrides, study="s"):
    """The entry of some overrides as it would be logged."""
    result = aucbench.run(*overrides, f"study={study}")
    return FinishedEntry("key", study, result.cells)


def key(overrides):
    (entry,) = study_of(*overrides).entries
    return entry.key(prepared_data().digests(entry))


CASES = {
    "a plain run": ["algo=solam", "runs=2"],
    "the default": [],
    "fields": ["algo=solam", "algo.zeta=3", "algo.norm=l1", "loss=square", "order=stored", "dtype=float32"],
    "seeds": ["algo=ls_svm", "seed=3", "runs=2", "split_seed=7", "scaling=unit", "max_train_rows=200"],
    "folds": ["algo=ls_svm", "protocol=kfold", "protocol.folds=3", "budget.checkpoints=5"],
    "tuned": ["algo=solam", "tuning=grid", "tuning.folds=2", "tuning.grid={solam:{zeta:[1,10]}}"],
    "a loss": ["algo=sauc", "loss=logistic", "budget.iterations=500"],
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_command_in_the_description_runs_the_same_entry(case):
    entry = logged(*CASES[case])
    assert key(command_of(entry)) == key([*CASES[case], "study=s"])


def test_params_name_the_positive_labels_and_the_counts_of_both_classes():
    found = params(logged("algo=psam", "dataset=breast_cancer"))
    assert {key: value for key, value in found.items() if key.startswith("data.")} == {
        "data.positive": "0",
        "data.negative": "1",
        "data.train_rows": 455,
        "data.train_positives": 170,
        "data.test_rows": 114,
        "data.test_positives": 42,
    }


def test_tags_name_the_settings_that_were_chosen_and_those_on_an_edge():
    grid = ["algo=ls_svm", "tuning=grid", "tuning.folds=2", "runs=2"]
    found = tags(logged(*grid, "tuning.grid={ls_svm: {lam: [100, 1000]}}"))
    assert found["tuned"] == "lam=100"
    assert found["tuned_at_edge"].startswith("lam at the lower edge of its grid in 2 of 2 runs")
    inside = tags(logged(*grid, "tuning.grid={ls_svm: {lam: [100, 1000]}}", "tuning.extend=true"))
    assert "tuned_at_edge" not in inside
    assert "tuned" not in tags(logged("algo=ls_svm"))


def test_the_command_of_a_file_of_ones_own_quotes_its_path(tmp_path):
    file = tmp_path / "it's mine.txt"
    file.write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(60)))
    path = str(file).replace("'", "\\'")
    overrides = ["algo=ls_svm", "dataset=libsvm", f"dataset.path='{path}'", "dataset.positive=1"]
    entry = logged(*overrides)
    assert key(command_of(entry)) == key([*overrides, "study=s"])


def test_the_auc_over_log_time_is_that_of_the_last_checkpoint_by_then():
    entry = logged("algo=solam", "runs=2", "budget.epochs=3")
    curve, _ = series(entry)
    found = over_log_time(entry, curve)
    points = [(s, a) for s, a in zip(curve["train_seconds"], curve["auc"], strict=True) if s > 0]
    assert len(found) > 1
    assert all(step % 10 == 0 for step in found)
    for step, auc in found.items():
        assert auc == [a for s, a in points if s <= 10 ** (step / 100) * (1 + 1e-12)][-1]
    assert list(found) == list(range(min(found), max(found) + 1, 10))
    assert 10 ** (min(found) / 100 - 0.1) < points[0][0] <= 10 ** (min(found) / 100) * (1 + 1e-12)
    assert found[max(found)] == points[-1][1] == pytest.approx(np.mean([cell.auc for cell in entry.cells]))


def test_the_commit_of_a_checkout_is_where_mlflow_looks_for_it():
    entry = logged("algo=psam")
    found = tags(entry)
    cell = altered(entry.cells[0], git_commit="0123abc+changes")
    changed = tags(FinishedEntry("key", None, (cell,)))
    assert changed["mlflow.source.git.commit"] == "0123abc"
    assert changed["git_commit"] == "0123abc+changes"
    assert found.get("mlflow.source.git.commit", "") == (entry.record.git_commit or "").partition("+")[0]
    gone = altered(entry.cells[0], git_commit=None)
    assert "mlflow.source.git.commit" not in tags(FinishedEntry("key", None, (gone,)))


def test_rows_of_one_method_are_told_apart_by_name_and_colour():
    settings = (
        ["algo=solam"],
        ["algo=solam", "algo.zeta=3"],
        ["algo=solam", "tuning=grid", "tuning.folds=2", "tuning.grid={solam:{zeta:[1,10]}}"],
        ["algo=solam", "features=fourier"],
    )
    names = [run_name(logged(*setting).record) for setting in settings]
    assert names[:3] == ["solam", "solam zeta=3", "solam tuned"]
    assert len(set(names)) == len(names)
    assert all(name.startswith("solam") for name in names)
    assert len({colour("solam", name) for name in names}) == len(names)


def test_the_description_cites_method_and_data_and_says_how_to_read_the_curve():
    text = note(logged("algo=solam", "runs=2"))
    for words_of_it in (
        "**solam** on **breast_cancer**",
        "Yiming Ying, Longyin Wen, Siwei Lyu",
        "Stochastic Online AUC Maximization",
        "convergence rate 1/sqrt(t)",
        "W. N. Street",
        "the mean of 2 runs",
        "relative time axis",
        "aucbench study=s algo=solam",
    ):
        assert words_of_it in text


def test_a_method_that_is_not_installed_is_described_by_its_record_alone():
    entry = logged("algo=ls_svm")
    cell = altered(entry.cells[0], algorithm={"name": "gone"})
    gone = FinishedEntry("key", None, (cell,))
    assert "**gone** on **breast_cancer**" in note(gone)
    assert run_name(cell.record).startswith("gone")
