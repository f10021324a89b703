"""The command line in a folder, and what holds of every refusal."""

import pytest

from aucbench.cli.main import main


@pytest.fixture
def folder(tmp_path):
    """The folder in which commands run."""
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run a command line; gives the exit status and both outputs."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)

    def run(*words):
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def done(run):
    """Run a command line that ends with a status, 0 if none is named; gives what it prints."""

    def done(*words, status=0):
        found, out, err = run(*words)
        assert found == status, err
        return out

    return done


@pytest.fixture
def refused(run):
    """Run a command line that is refused with status 2 in one sentence; gives the sentence."""

    def refused(*words):
        status, _, err = run(*words)
        lines = [line for line in err.splitlines() if not line.endswith(" ...")]
        assert (status, len(lines)) == (2, 1), err
        assert lines[0].startswith("aucbench: ")
        return lines[0]

    return refused
