"""Standard streams that are closed, full or of few characters."""

import errno
import os
import subprocess
import sys

import pytest

from aucbench.cli.main import Output

pytestmark = pytest.mark.slow

COMMAND = f"{sys.executable} -m aucbench"
# Its own reference, since all kernels are compiled anew.
RUN = f"{COMMAND} algo=log_reg tracking=none store.path=store"


def shell(command, cwd, **environment):
    opts = {"cwd": cwd, "env": os.environ | environment, "capture_output": True, "text": True, "timeout": 300}
    return subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], **opts)


def test_a_run_whose_output_and_kernels_nobody_takes_is_stored_all_the_same(tmp_path):
    (tmp_path / "file").touch()
    result = shell(f"{RUN} > /dev/full", tmp_path, AUCBENCH_CACHE=str(tmp_path / "file" / "cache"))
    assert (result.returncode, "Traceback" in result.stderr) == (2, False)
    assert "standard output could not be written (No space left on device)" in result.stderr
    assert len(list((tmp_path / "store" / "cells").rglob("*.npz"))) == 1


def test_a_command_whose_output_is_closed_goes_on(tmp_path):
    result = shell(f"{COMMAND} list datasets >&-", tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert shell(f"{COMMAND} leaderbord 2> /dev/full", tmp_path).returncode == 2  # as if it were written


def test_a_reader_that_left_is_no_trouble_and_a_full_disk_is():
    reading, writing = os.pipe()
    os.close(reading)
    for file, trouble in ((writing, ""), ("/dev/full", os.strerror(errno.ENOSPC))):
        with open(file, "w") as stream:
            out = Output(stream)
            for text in ("lost", "as well"):
                assert out.write(text) == len(text)
                out.flush()
            assert out.trouble == trouble


def test_characters_that_the_terminal_lacks_are_replaced(tmp_path):
    (tmp_path / "größe.csv").write_text("a,b,y\n1,2,0\n3,1,1\n5,7,0\n2,2,1\n")
    args = "data describe größe.csv"
    result = shell(f"{COMMAND} {args}", tmp_path, PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert "gr??e.csv" in result.stdout or "gr????e.csv" in result.stdout


def test_a_full_disk_is_one_sentence(output, refused, monkeypatch):
    output("algo=log_reg", "tracking=none")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "none left")  # the message of libraries

    for broken, command in {
        "os.fsync": "algo=log_reg seed=1 tracking=none",
        "pandas.DataFrame.to_parquet": "leaderboard --out out --no-pictures",
        "pandas.DataFrame.to_csv": "leaderboard --out out --no-pictures",
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr(broken, full)
            sentence = refused(*command.split())
        assert os.strerror(errno.ENOSPC) in sentence or "none left" in sentence
