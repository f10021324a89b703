"""``aucbench try``: what it runs, shows, says and refuses."""

import io
import os
import re
import signal
import subprocess
import sys

import pytest

import aucbench
from aucbench.cli.main import main
from aucbench.errors import ParameterError
from aucbench.registry import Catalog, Family, Plugin
from aucbench.trying import contest, hold, holding, show, verdict
from tests.studies.support import process_environment, write_metadata
from tests.trying.methods import OWN
from tests.trying.support import printed


@pytest.fixture(scope="module")
def catalog():
    plugins = {family: dict(known) for family, known in aucbench.catalog().plugins.items()}
    for cls in OWN:
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
    monkeypatch.setattr(holding, "TRIALS", 4)


def tried(catalog, name, epochs=1.0, seconds=300.0):
    return hold(catalog, name, epochs, seconds, lambda text: None)


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
    found = tried(catalog, "raising")
    lines = verdict(found)
    assert any(line.startswith("breast_cancer and sparse_text: it failed: raising of") for line in lines)
    assert any(
        re.search(r"KeyError: 'no such thing' \(methods.py, line \d+, in step\)", line) for line in lines
    )
    assert any("aucbench check raising" in line for line in lines)
    assert found.at("psam", "breast_cancer") is not None


def test_scores_of_a_wrong_shape_are_a_failure_like_any_other(small, catalog):
    found = tried(catalog, "wrong_shape")
    text = " ".join(printed(found).split())
    assert "breast_cancer: it failed: wrong_shape: `score` of" in text
    assert re.search(r"\(methods.py, line \d+, in score\)", text)
    assert re.search(r"wrong_shape +failed", printed(found))
    assert found.at("psam", "breast_cancer") is not None


def test_reversed_scores_are_said_with_the_auc_of_the_other_sign(small, catalog):
    found = tried(catalog, "reversed")
    auc = found.own("breast_cancer").auc
    text = " ".join(verdict(found))
    assert "scores look reversed: AUC" in text
    assert f"AUC {auc:.4f} on breast_cancer, with the sign changed {1 - auc:.4f}" in text
    assert "change the sign of what score returns" in text


@pytest.mark.parametrize("name", ["slow", "slow_planner"])
def test_a_slow_method_sees_as_many_rows_as_there_is_time_for_and_that_is_said(small, catalog, name):
    found = tried(catalog, name, seconds=8.0)
    own = found.own("breast_cancer")
    assert 0 < own.iterations < own.planned == 455
    samples, _ = own.curve
    assert samples[-1] == 2 * own.iterations
    text = " ".join(verdict(found))
    assert re.search(
        rf"{name} takes [\d.]+ ms an iteration: it did .*{own.iterations} of 455 on breast_", text
    )
    assert "was not tuned" in text
    assert f"after {own.iterations} of 455 iterations" in text
    assert "after as many samples" in text
    assert found.labels == [name, "psam", "ls_svm"]


def test_a_method_that_hangs_is_ended_and_the_others_are_compared(small, catalog):
    found = tried(catalog, "hanging", seconds=10.0)
    text = " ".join(verdict(found))
    assert "breast_cancer: it failed: hanging was ended, as an iteration, with its scores, had not" in text
    assert "sparse_text: it failed: it was not tried, as it hung on breast_cancer." in text


def test_epochs_that_take_the_others_longer_than_all_may_are_refused(catalog):
    with pytest.raises(ParameterError, match=r"--epochs 1e\+06 may take the other methods .*: set --seconds"):
        tried(catalog, "perceptron", epochs=1e6, seconds=60.0)


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
        (["perceptron", "--seconds", "nan"], "--seconds must be > 0, got nan."),
    ):
        assert main(["try", *words]) == 2
        assert capsys.readouterr().err.startswith(f"aucbench: {sentence}")


def test_an_output_without_braille_gets_letters(small, catalog):
    found = tried(catalog, "perceptron")
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    show(found, out)
    out.seek(0)
    assert "***" in out.read()


def test_ctrl_c_ends_a_trial_with_one_line(tmp_path):
    site = write_metadata(tmp_path / "site")
    (tmp_path / "counter").mkdir()
    environment = process_environment(site, tmp_path / "counter")
    words = [sys.executable, "-m", "aucbench", "try", "fake_sleeper", "--seconds", "100"]
    running = subprocess.Popen(
        words, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    first = running.stderr.readline()
    assert first.startswith("aucbench: measuring an iteration of fake_sleeper")
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    _, said = running.communicate()
    assert running.returncode == 130
    assert [line for line in said.splitlines() if not line.endswith(" ...")] == [
        "aucbench: interrupted; a trial keeps nothing"
    ]
