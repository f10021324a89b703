"""A study does not wait for a server that is down, and loses nothing."""

import socket

import pytest

from aucbench.cli.main import main
from aucbench.tracking import client
from tests.tracking.conftest import runs_of

WORDS = ["-m", "algo=solam,psam,ls_svm", "study=lonely"]


@pytest.mark.faults
def test_a_study_says_once_that_its_server_never_answers_and_is_sent_later(
    uri, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(client, "PROBE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:  # the server accepts connections and never answers
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert main([*WORDS, f"tracking.uri={address}"]) == 2
        server.settimeout(0.5)
        server.accept()
        with pytest.raises(TimeoutError):
            server.accept()
    output = capsys.readouterr()
    assert "3 cells done, 0 failed" in output.out
    assert output.err.count("could not be logged") == 1
    (sentence,) = (line for line in output.err.splitlines() if "could not be logged" in line)
    assert f"aucbench sync --store aucbench-store --uri {address} sends it" in sentence
    for sent, present in ((3, 0), (0, 3)):
        assert main(["sync", "--uri", uri, "--study", "lonely"]) == 0
        assert f"{sent} entries sent, {present} were there, 0 are not complete yet" in capsys.readouterr().out
    assert len(runs_of(uri)) == 3


@pytest.mark.parametrize(
    ("flags", "sentence"), [("--uri sqlite:////proc/nowhere/x.db", "/proc"), ("--study other", "Known: pair")]
)
def test_what_cannot_be_sent_gets_one_sentence_and_status_2(flags, sentence, finished, capsys):
    assert main(["sync", "--store", str(finished), *flags.split()]) == 2
    output = capsys.readouterr().err
    assert sentence in output
    assert len(output.splitlines()) == 1
