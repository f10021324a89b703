"""``aucbench try``: its runs, output, messages and refusals."""

import re

import pytest

import aucbench
from aucbench import api
from aucbench.cli.commands import try_method
from aucbench.cli.main import main
from aucbench.contracts.validation import Family
from aucbench.registry import Catalog, Plugin
from aucbench.studies.store import Store
from tests.helpers import try_methods

pytestmark = pytest.mark.slow

# One real data set and one with sparse rows, one stochastic rival and one that is solved to its optimum.
SMALL = (
    *try_method.EXPERIMENT,
    "algo=psam,ls_svm",
    "dataset=breast_cancer,sparse_text",
    "matrix.for_dataset={sparse_text:['dataset.n=200','dataset.d=300']}",
)


@pytest.fixture(scope="module")
def catalog():
    plugins = {family: dict(classes) for family, classes in aucbench.catalog().plugins.items()}
    for cls in try_methods.METHODS:
        plugins[Family.algorithms][cls.name] = Plugin(Family.algorithms, cls.name, cls, "mine", "1.0")
    return Catalog(plugins)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Keeps the cells of the rivals, which are the same in every test."""
    return tmp_path_factory.mktemp("tried") / "store"


@pytest.fixture
def tried(catalog, store, monkeypatch, capsys, tmp_path):
    """Try a method; returns the exit status, the output, its sentences in one line each."""
    monkeypatch.setattr(api, "catalog", lambda: catalog)
    monkeypatch.setattr(try_method, "EXPERIMENT", SMALL)
    monkeypatch.chdir(tmp_path)

    def tried(name, *args, epochs=1, seconds=300):
        default = () if "--store" in args else ("--store", str(store))
        options = ("--epochs", str(epochs), "--seconds", str(seconds), *default)
        status = main(["try", name, *options, *args])
        out, err = capsys.readouterr()
        return status, out, re.sub(r"\n  +", " ", out).splitlines(), err

    return tried


def starting(lines, *begins):
    return [line for line in lines if line.startswith(begins)]


def cells_of(store, name):
    return [cell for cell in Store(store, writable=False) if cell.record.algorithm.name == name]


def test_a_method_meets_its_rivals_on_every_data_set_and_is_judged(tried, store):
    status, out, lines, err = tried("perceptron")
    assert status == 0
    for dataset in ("breast_cancer", "sparse_text"):
        (cell, *_) = [c for c in cells_of(store, "perceptron") if c.record.dataset.name == dataset]
        assert cell.record.budget.epochs == 1.0
        (sentence,) = starting(lines, f"{dataset}: test AUC")
        mean = sum(c.auc for c in cells_of(store, "perceptron") if c.record.dataset.name == dataset) / 3
        assert f"{mean:.4f}" in sentence
    assert len(cells_of(store, "perceptron")) == len(cells_of(store, "psam")) == 6
    assert re.search(r"│ perceptron +│", out)
    assert starting(lines, "Speed: ")
    assert "\x1b" not in out
    assert "training perceptron with its defaults" in err


def test_nothing_is_kept_unless_a_store_is_named_which_then_spares_the_work(
    tried, store, tmp_path, monkeypatch
):
    assert tried("perceptron")[0] == 0
    times = {path: path.stat().st_mtime_ns for path in (store / "cells").rglob("*.npz")}
    assert tried("perceptron")[0] == 0
    assert {path: path.stat().st_mtime_ns for path in (store / "cells").rglob("*.npz")} == times
    assert main(["leaderboard", "--store", str(store), "--study", "try_perceptron"]) == 0
    args = (*try_method.EXPERIMENT, "algo=log_reg", "runs=1", "dataset=breast_cancer")
    monkeypatch.setattr(try_method, "EXPERIMENT", args)
    assert main(["try", "perceptron", "--epochs", "1"]) == 0
    assert list(tmp_path.iterdir()) == []


CHECK = ("Next: aucbench check ",)
FAILED = ("Failed on ", "breast_cancer", "sparse_text")
NOTE = ("Note: sparse_text: it did not run: dense_only needs dense rows",)
EXPLAINED = {  # the exit status, and parts of sentences, the beginning first
    "bursting": (1, [("breast_cancer: diverged in 3 of 3 runs",)]),
    "dense_only": (0, [NOTE, ("breast_cancer: test AUC",)]),
    "raising": (1, [(*FAILED, "KeyError: 'no such thing'", "(try_methods.py, line "), CHECK]),
    "any_loss": (0, [("Note: it takes any loss", "logistic")]),
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_what_is_wrong_with_a_method_is_explained_in_one_sentence_and_what_to_do(name, tried):
    expected, sentences = EXPLAINED[name]
    status, out, lines, _ = tried(name)
    assert status == expected
    for begin, *parts in sentences:
        (sentence,) = starting(lines, begin)
        assert all(part in sentence for part in parts)
    assert len(starting(lines, "Failed on ", f"Next: aucbench check {name}")) == 2 * (CHECK in sentences)
    assert re.search(r"│ psam +│", out)


def test_the_summary_of_a_run_says_that_the_scores_look_reversed(catalog, monkeypatch, capsys):
    monkeypatch.setattr(api, "catalog", lambda: catalog)
    args = ["algo=reversed_scores", "budget.epochs=1", "tracking=none", "store.path=null", "reference=null"]
    assert main([*args, "-m"]) == 0
    out = capsys.readouterr().out
    auc = float(re.search(r"test AUC +([\d.]+)", out).group(1))
    assert f"the scores look reversed: with the sign changed, the AUC is {1 - auc:.4f}" in out


def test_a_slow_method_gets_the_epochs_there_is_time_for_and_that_is_said(tried, store):
    name = "slow"
    _, _, lines, _ = tried(name, seconds=15)
    cells = {cell.record.dataset.name: cell for cell in cells_of(store, name)}
    assert 0 < cells["breast_cancer"].record.result.iterations < 455
    (note,) = starting(lines, f"Note: {name} takes")
    assert f"there was time for {cells['breast_cancer'].record.budget.epochs:.2g} (" in note
    assert starting(lines, "breast_cancer: test AUC")


def test_a_method_that_hangs_is_ended_and_the_others_are_compared(tried, monkeypatch):
    monkeypatch.setattr(try_method, "GRACE", 1.0)
    status, out, lines, _ = tried("hanging", seconds=4)
    assert status == 1
    assert starting(lines, "Failed on breast_cancer: timeout")
    assert re.search(r"│ psam +│", out)
