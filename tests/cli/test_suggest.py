"""``aucbench suggest``: what is printed, exit statuses, help and bad input."""

import shutil

import pytest

from aucbench.archives import file as archive_file
from aucbench.cli.main import main
from tests.archives.conftest import tuned_file, tuned_store  # noqa: F401  (fixtures)


@pytest.fixture
def run(tuned_file, tmp_path, monkeypatch, capsys):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    shutil.copy(tuned_file, tmp_path / "tuned.zip")

    def run(*words):
        status = main(["suggest", *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.mark.slow
def test_methods_come_with_the_data_sets_that_they_rest_on(run):
    status, out, err = run("wine", "--with", "tuned.zip", "--count", "2")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("wine: 142 training rows, 13 features")
    assert [line.split()[0] for line in lines if "algo=" in line and line[0].isdigit()] == ["1.", "2."]
    assert sum("wine" in line and "distance 0.00" in line for line in lines) == 2


def test_a_file_of_ones_own_is_read_as_by_run(run, tmp_path):
    rows = "\n".join(f"{i % 7},{i % 5},{'ill' if i % 3 == 0 else 'well'}" for i in range(200))
    (tmp_path / "rows.csv").write_text(f"a,b,state\n{rows}\n")
    status, out, _ = run("rows.csv", "dataset.target=state", "--with", "tuned.zip")
    assert out.startswith("rows.csv: 160 training rows, 2 features")
    assert status in (0, 1)


def test_without_evidence_the_reason_is_said_and_the_status_is_1(run):
    status, out, err = run("wine", "--with", "tuned.zip", "--seconds", "1e-9")
    assert (status, err.count("\n")) == (1, 1)
    assert "no method is expected to end" in err
    assert "algo=" not in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing", "--with", "tuned.zip"), "Unknown data set 'nothing'"),
        (("wine", "--with", "none.zip"), "There is no archive none.zip"),
        (("wine", "--with", "tuned.zip", "--seconds", "0"), "0"),
        (("wine", "--with", "tuned.zip", "runs=none"), "runs"),
        (("wine", "wrong"), "wrong"),
        (("wine", "dataset=german"), "given twice"),
        ((), "Missing argument"),
    ],
)
def test_bad_input_gets_one_sentence(run, words, sentence):
    status, _, err = run(*words)
    assert status == 2
    assert sentence in err
    assert "Traceback" not in err


def test_the_shell_completes_data_sets_and_archives(run, monkeypatch, capsys):
    for line, expected in (
        ("aucbench suggest germ", "german"),
        ("aucbench suggest wine --with tu", "tuned.zip"),
        ("aucbench leaderboard --with ", "tuned.zip"),
    ):
        monkeypatch.setenv("COMP_LINE", line)
        assert main(["-sc", "query=bash"]) == 0
        assert capsys.readouterr().out.split() == [expected]


def test_an_installation_without_an_archive_says_so(run, monkeypatch):
    monkeypatch.setattr(archive_file, "SHIPPED", "none.zip")
    status, _, err = run("wine")
    assert (status, err.count("\n")) == (2, 1)
    assert "--with FILE" in err
