"""What runs say of themselves."""

import itertools

import pytest

import aucbench
from aucbench.config import binding, composing
from aucbench.studies.performing import workshop
from aucbench.tracking import LoggedEntry, colour
from aucbench.tracking.commanding import words
from aucbench.tracking.content import run_name
from aucbench.tracking.describing import note


def logged(*overrides, study="s"):
    """The entry of some overrides as it would be logged."""
    result = aucbench.run(*overrides, f"study={study}")
    return LoggedEntry("key", study, result.cells)


def key(overrides):
    entry = binding.bind(aucbench.catalog(), composing.compose(aucbench.catalog(), overrides))
    return entry.key(workshop().digests(entry))


CASES = {
    "a plain run": ["algo=solam", "runs=2"],
    "the default": [],
    "fields": ["algo=solam", "algo.zeta=3", "algo.norm=l1", "loss=square", "order=stored", "dtype=float32"],
    "seeds": ["algo=ls_svm", "seed=3", "runs=2", "split_seed=7", "scaling=unit", "max_train_rows=200"],
    "folds": ["algo=ls_svm", "protocol=kfold", "protocol.folds=3", "budget.checkpoints=5"],
    "tuned": ["algo=solam", "tuning=grid", "tuning.folds=2", "tuning.grid={solam:{zeta:[1,10]}}"],
    "a loss": ["algo=sauc", "loss=logistic", "budget.iterations=500"],
}


@pytest.mark.parametrize("case", CASES)
def test_the_command_in_the_description_runs_the_same_entry(case):
    entry = logged(*CASES[case])
    assert key(words(entry)) == key([*CASES[case], "study=s"])


def test_the_command_of_a_file_of_ones_own_quotes_its_path(tmp_path):
    file = tmp_path / "it's mine.txt"
    file.write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(60)))
    path = str(file).replace("'", "\\'")
    overrides = ["algo=ls_svm", "dataset=libsvm", f"dataset.path='{path}'", "dataset.positive=1"]
    entry = logged(*overrides)
    assert key(words(entry)) == key([*overrides, "study=s"])


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


def test_no_two_built_in_methods_have_like_colours():
    def parts(name):
        text = colour(name)
        return [int(text[at : at + 2], 16) for at in (1, 3, 5)]

    names = list(aucbench.catalog().plugins["algorithms"])
    nearest = min(
        (sum(abs(a - b) for a, b in zip(parts(one), parts(other), strict=True)), one, other)
        for one, other in itertools.combinations(names, 2)
    )
    assert nearest[0] > 25, nearest


def test_the_description_cites_method_and_data_and_says_how_to_read_the_curve():
    text = note(logged("algo=solam", "runs=2"))
    for words_of_it in (
        "**solam** on **breast_cancer**",
        "Yiming Ying, Longyin Wen, Siwei Lyu. Stochastic Online AUC Maximization.",
        "convergence rate 1/sqrt(t)",
        "W. N. Street",
        "the mean of 2 runs",
        "relative time axis",
        "aucbench study=s algo=solam",
    ):
        assert words_of_it in text


def test_a_method_that_is_not_installed_is_described_by_its_record_alone():
    entry = logged("algo=ls_svm")
    record = entry.record | {"algorithm": entry.record["algorithm"] | {"name": "gone"}}
    cell = type(entry.cells[0])(record, entry.cells[0].curve, None)
    gone = LoggedEntry("key", None, (cell,))
    assert "**gone** on **breast_cancer**" in note(gone)
    assert run_name(record).startswith("gone")
