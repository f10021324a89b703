"""The command line in a folder, and the form of every refusal."""

import pytest

from aucbench.cli.main import main


@pytest.fixture
def folder(tmp_path):
    """The folder in which commands run."""
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run a command line; returns the exit status and both outputs."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)

    def run(*args):
        status = main([str(argument) for argument in args])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def output(run):
    """Run a command line that ends with the status, 0 by default; returns its output."""

    def output(*args, status=0):
        code, out, err = run(*args)
        assert code == status, err
        return out

    return output


@pytest.fixture
def refused(run):
    """Run a command line that is refused with status 2 in one sentence; returns the sentence."""

    def refused(*args):
        status, _, err = run(*args)
        lines = [line for line in err.splitlines() if not line.endswith(" ...")]
        assert (status, len(lines)) == (2, 1), err
        assert lines[0].startswith("aucbench: ")
        return lines[0]

    return refused
