"""Parameters, metrics and tags of runs."""

import pytest

import aucbench
from aucbench.studies.method_look import colour
from aucbench.studies.rerun_command import words
from aucbench.studies.result import FinishedEntry
from aucbench.tracking.run_data import note, run_name, tags
from tests.helpers.board_cells import altered, result
from tests.helpers.studies import study_of


def logged(*overrides):
    """The entry of some overrides as for logging."""
    return FinishedEntry("key", "s", aucbench.run(*overrides).cells)


CASES = {
    "a plain run": ["algo=solam", "runs=2"],
    "the default": [],
    "fields": ["algo=solam", "algo.zeta=3", "algo.norm=l1", "loss=square", "order=stored"],
    "seeds": ["algo=ls_svm", "seed=3", "runs=2", "split_seed=7", "scaling=unit", "dtype=float32"],
    "folds": ["algo=ls_svm", "protocol=kfold", "protocol.folds=3", "max_train_rows=200"],
    "tuned": ["algo=solam", "tuning=grid", "tuning.folds=2", "tuning.grid={solam:{zeta:[1,10]}}"],
    "a file": ["algo=ls_svm", "dataset=libsvm", "dataset.path=it's mine.txt", "dataset.positive=1"],
    "a loss": ["algo=sauc", "loss=logistic", "budget.iterations=500"],
}


@pytest.mark.parametrize("case", CASES)
def test_the_command_in_the_description_runs_the_same_entry(case):
    (entry,) = study_of(*CASES[case], "study=s").entries
    (rerun,) = study_of(*words(entry.describe(), entry.cells(), "s")).entries
    assert rerun.key(("data",)) == entry.key(("data",))


@pytest.mark.parametrize("commit", ["0123abc+changes", "0123abc", None])
def test_the_commit_of_a_checkout_is_where_mlflow_looks_for_it(commit):
    cell = altered(result(0.9), git_commit=commit)
    run_tags = tags(FinishedEntry("key", None, (cell,)))
    assert run_tags.get("mlflow.source.git.commit") == (commit and "0123abc")


def test_rows_of_one_method_are_told_apart_by_name_and_colour():
    settings = (
        ["algo=solam"],
        ["algo=solam", "algo.zeta=3"],
        ["algo=solam", "tuning=grid", "tuning.folds=2", "tuning.grid={solam:{zeta:[1,10]}}"],
        ["algo=solam", "features=fourier"],
    )
    names = [run_name(entry.describe()) for setting in settings for entry in study_of(*setting).entries]
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
    assert "tuned" not in tags(FinishedEntry("key", "s", (result(0.9),)))
    cell = altered(result(0.9), algorithm={"name": "gone"})
    assert "**gone** on **" in note(FinishedEntry("key", None, (cell,)))
    assert run_name(cell.record).startswith("gone")
