"""Standard streams that are closed, full or of few characters."""

import errno
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

COMMAND = f"{sys.executable} -m aucbench"
RUN = f"{COMMAND} algo=ls_svm tracking=none store.path=store"


def shell(command, cwd, **environment):
    how = {"cwd": cwd, "env": os.environ | environment, "capture_output": True, "text": True, "timeout": 300}
    return subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], **how)


@pytest.mark.parametrize(
    ("redirected", "status", "message"),
    [
        ("| head -c 1 > first", 0, ""),
        ("> /dev/full", 2, "standard output could not be written (No space left on device)"),
    ],
)
def test_a_run_whose_output_nobody_takes_is_stored_all_the_same(tmp_path, redirected, status, message):
    done = shell(f"{RUN} {redirected}", tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False)
    assert message in done.stderr
    assert len(list((tmp_path / "store" / "cells").rglob("*.npz"))) == 2  # and that of the reference


@pytest.mark.parametrize("redirected", ["| head -1 > /dev/null", ">&-", "2> /dev/full"])
def test_a_listing_ends_with_its_reader(tmp_path, redirected):
    done = shell(f"{COMMAND} list datasets {redirected}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_characters_that_the_terminal_lacks_are_replaced(tmp_path):
    (tmp_path / "größe.csv").write_text("a,b,y\n1,2,0\n3,1,1\n5,7,0\n2,2,1\n")
    words = "data describe größe.csv"
    done = shell(f"{COMMAND} {words}", tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "gr??e.csv" in done.stdout or "gr????e.csv" in done.stdout


def test_a_full_disk_is_one_sentence(done, refused, monkeypatch):
    done("algo=solam", "tracking=none")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "none left")  # as libraries say it

    for broken, command in {
        "os.fsync": "algo=ls_svm tracking=none",
        "pandas.DataFrame.to_parquet": "leaderboard --out out --no-pictures",
        "pandas.DataFrame.to_csv": "leaderboard --out out --no-pictures",
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr(broken, full)
            sentence = refused(*command.split())
        assert os.strerror(errno.ENOSPC) in sentence or "none left" in sentence


def test_a_cache_that_cannot_be_written_costs_no_result(tmp_path):
    (tmp_path / "file").touch()
    run = RUN.replace("ls_svm", "log_reg")  # its own reference, since all kernels are compiled anew
    done = shell(run, tmp_path, AUCBENCH_CACHE=str(tmp_path / "file" / "cache"))
    assert done.returncode == 0
    assert len(list((tmp_path / "store" / "cells").rglob("*.npz"))) == 1
