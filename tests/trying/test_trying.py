"""``aucbench try``: what it runs, shows, says and refuses."""

import io
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import aucbench
from aucbench.cli import main
from aucbench.registry import Catalog, Family, Plugin
from aucbench.result import CellResult
from aucbench.trying import Contest, Standing, contest, hold, show, verdict
from tests.fakes import Perceptron
from tests.third_party.my_methods import PairSgd


@dataclass(frozen=True)
class Bursting(Perceptron):
    """It diverges with a large step, which is its default."""

    name: ClassVar[str] = "bursting"
    grid: ClassVar = {"eta": (0.01, 0.1)}
    eta: float = 1e200

    def step(self, state, batch):
        for x, label in batch:
            state = state._replace(w=state.w + self.eta * label * x * (1.0 + self.eta * 1e200))
        return state


@dataclass(frozen=True)
class DenseOnly(Perceptron):
    name: ClassVar[str] = "dense_only"
    requires: ClassVar = {"dense": "its solver knows nothing else."}


@dataclass(frozen=True)
class AnyLoss(PairSgd):
    name: ClassVar[str] = "any_loss"
    losses: ClassVar = ("*",)


@dataclass(frozen=True)
class Raising(Perceptron):
    name: ClassVar[str] = "raising"

    def step(self, state, batch):
        raise KeyError("no such thing")


@pytest.fixture(scope="module")
def catalog():
    plugins = {family: dict(known) for family, known in aucbench.catalog().plugins.items()}
    for cls in (Perceptron, Bursting, DenseOnly, AnyLoss, Raising):
        plugins[Family.algorithms][cls.name] = Plugin(Family.algorithms, cls.name, cls, "mine", "1.0")
    return Catalog(plugins)


@pytest.fixture
def small(monkeypatch):
    """One real data set and one with sparse rows, one rival, few settings."""
    monkeypatch.setattr(
        contest,
        "DATASETS",
        {"breast_cancer": (455, ()), "sparse_text": (160, ("dataset.n=200", "dataset.d=300"))},
    )
    monkeypatch.setattr(contest, "STOCHASTIC", ("psam",))
    monkeypatch.setattr(contest, "BATCH", ("ls_svm",))
    monkeypatch.setattr(contest, "TRIALS", 4)


def tried(catalog, name, epochs=1.0):
    return hold(catalog, name, epochs, lambda text: None)


def printed(found):
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    show(found, out)
    out.seek(0)
    return out.read()


def test_a_method_meets_its_rivals_and_the_optimum_and_is_judged(small, catalog):
    found = tried(catalog, "perceptron")
    assert found.datasets == ["breast_cancer", "sparse_text"]
    assert found.labels == ["perceptron", "psam", "ls_svm"]
    text = printed(found)
    for words in (
        "test AUC on breast_cancer", "samples seen", "ns/iter", "batch optimum of ls_svm", "ns per iteration",
        "Note: it declares no grid and was not tuned.", "Next: ",
    ):  # fmt: skip
        assert words in text
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_a_method_that_diverges_with_its_defaults_is_tuned_and_both_is_said(small, catalog):
    found = tried(catalog, "bursting")
    assert found.at("bursting", "breast_cancer").diverged_at is not None
    text = " ".join(printed(found).split())
    assert "diverged" in text
    assert "a smaller default step" in text


def test_a_method_that_needs_dense_rows_gets_its_sentence_where_rows_are_sparse(small, catalog):
    found = tried(catalog, "dense_only")
    assert "sparse_text: it did not run: dense_only needs dense rows: its solver knows nothing else." in (
        verdict(found)
    )
    assert found.at("dense_only", "breast_cancer") is not None
    assert not any("shows on small inputs" in line for line in verdict(found))


def test_a_method_that_takes_any_loss_gets_one_and_it_is_named(small, catalog):
    found = tried(catalog, "any_loss")
    assert found.at("any_loss", "breast_cancer").auc > 0.9
    assert "it takes any loss and has no default: logistic was used" in found.remarks


def test_a_method_that_raises_is_shown_with_the_command_that_explains_it(small, catalog):
    lines = verdict(tried(catalog, "raising"))
    assert any("breast_cancer: it did not run: " in line and "KeyError" in line for line in lines)
    assert any("aucbench check raising" in line for line in lines)


def test_the_command_shows_it_and_refuses_names_and_epochs_in_one_sentence(
    small, catalog, monkeypatch, capsys
):
    monkeypatch.setattr(aucbench, "catalog", lambda: catalog)
    assert main(["try", "perceptron", "--epochs", "1"]) == 0
    shown = capsys.readouterr()
    assert "Next: " in shown.out
    assert "training perceptron" in shown.err
    assert main(["try", "raising"]) == 1
    capsys.readouterr()
    for words, sentence in (
        (["perceptrn"], "Unknown algorithm 'perceptrn'. Did you mean perceptron?"),
        (["hinge"], "'hinge' is a loss; only methods are tried: aucbench check hinge tests it"),
        (["perceptron", "--epochs", "0"], "--epochs must be > 0, got 0."),
    ):
        assert main(["try", *words]) == 2
        assert capsys.readouterr().err.startswith(f"aucbench: {sentence}")


def standing(label, aucs, ns=100.0, stop="budget", tuned=None):
    samples = np.arange(1.0, 101.0)
    cells = tuple(
        CellResult(
            {
                "result": {
                    "auc": auc, "ns_per_iteration": ns, "iterations": 50, "stop_reason": stop,
                },
                "tuned": {"parameters": tuned} if tuned else None,
            },
            {"samples": samples, "auc": np.full(100, 0.5 if auc is None else auc), "iteration": samples},
            None,
        )
        for auc in aucs
    )  # fmt: skip
    return Standing(label, "data", cells)


def judged(*standings, access="stream", grid=None):
    known = {(each.label, each.dataset): each for each in standings}
    return " ".join(verdict(Contest("mine", access, 5.0, known, grid or {})))


def test_what_differs_less_than_the_seeds_is_level():
    level = judged(standing("mine", [0.90, 0.80, 0.85]), standing("psam", [0.80, 0.90, 0.86]))
    assert "first of 2; level with psam's 0.8533" in level
    below = judged(standing("mine", [0.80, 0.81]), standing("psam", [0.90, 0.91]))
    assert "second of 2; below psam's 0.9050" in below


def test_the_optimum_is_the_better_batch_method_and_the_gap_is_a_number():
    text = judged(standing("mine", [0.9]), standing("ls_svm", [0.95]), standing("svm_or", [0.97]))
    assert "0.0700 below the batch optimum of svm_or" in text
    assert "does its objective fit the AUC?" in text


def test_speed_is_told_as_a_multiple_and_a_slow_loop_is_to_be_compiled():
    text = judged(standing("mine", [0.9], ns=5000.0), standing("psam", [0.9], ns=100.0))
    assert "5,000 ns per iteration, 50 times psam's" in text
    assert "aucbench.kernels.kernel" in text
    text = judged(standing("mine", [0.9], ns=50.0), standing("psam", [0.9], ns=100.0))
    assert "1/2 of psam's" in text
    assert "aucbench.kernels.kernel" not in text


def test_a_tuning_that_ends_at_the_edge_of_its_grid_is_said():
    tuned = standing("mine tuned", [0.9, 0.9], tuned={"eta": 9.0})
    text = judged(standing("mine", [0.8, 0.8]), tuned, grid={"eta": (0.1, 1.0, 10.0)})
    assert "the edge of the grid of eta (high end)" in text
    assert "this is tuned, with its defaults 0.8000" in text


def test_a_run_that_diverged_is_said_with_its_iteration():
    text = judged(standing("mine", [None], stop="diverged"), standing("psam", [0.9]))
    assert "data: it diverged, at iteration 50; a diverged run has no AUC." in text


def test_an_output_without_braille_gets_letters(small, catalog):
    found = tried(catalog, "perceptron")
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    show(found, out)
    out.seek(0)
    assert "***" in out.read()
