"""Parameters, metrics and tags of runs."""

from pathlib import Path

import pytest

import aucbench
from aucbench.studies.execution.prepared_data import prepared_data
from aucbench.studies.method_look import colour
from aucbench.studies.rerun_command import words
from aucbench.studies.result import FinishedEntry
from aucbench.tracking.run_data import note, run_name, tags
from tests.helpers.board_cells import altered
from tests.helpers.studies import study_of


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
    "a file": ["algo=ls_svm", "dataset=libsvm", "dataset.path=it's mine.txt", "dataset.positive=1"],
    "a loss": ["algo=sauc", "loss=logistic", "budget.iterations=500"],
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_command_in_the_description_runs_the_same_entry(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("it's mine.txt").write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(60)))
    entry = logged(*CASES[case])
    assert key(command_of(entry)) == key([*CASES[case], "study=s"])


@pytest.mark.parametrize("commit", ["0123abc+changes", "0123abc", None])
def test_the_commit_of_a_checkout_is_where_mlflow_looks_for_it(commit):
    cell = altered(logged("algo=psam").cells[0], git_commit=commit)
    found = tags(FinishedEntry("key", None, (cell,)))
    assert found.get("mlflow.source.git.commit") == (commit and "0123abc")


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


def test_tags_and_description_name_what_was_chosen_whom_to_cite_and_how_to_read_the_curve():
    grid = ["algo=ls_svm", "tuning=grid", "tuning.folds=2", "runs=2"]
    entry = logged(*grid, "tuning.grid={ls_svm: {lam: [100, 1000]}}")
    assert tags(entry)["tuned"] == "lam=100"
    assert all(part in note(entry) for part in ("Suykens", "W. N. Street", "2 runs", "`cost/train_seconds`"))


def test_a_method_that_is_not_installed_is_described_by_its_record_alone():
    entry = logged("algo=ls_svm")
    assert "tuned" not in tags(entry)
    cell = altered(entry.cells[0], algorithm={"name": "gone"})
    assert "**gone** on **breast_cancer**" in note(FinishedEntry("key", None, (cell,)))
    assert run_name(cell.record).startswith("gone")
