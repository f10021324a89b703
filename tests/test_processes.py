"""Processes of our own find the modules that this one finds."""

import os
import subprocess
import sys

import pytest

from aucbench import processes

pytestmark = pytest.mark.usefixtures("process")

WORDS = ("-m", "algo=solam", "runs=2", "parallel=2", "tracking=none", "study=x")


@pytest.mark.skipif(processes.METHOD != "forkserver", reason="processes are not forked here")
def test_workers_do_not_import_from_the_current_folder_what_the_command_does_not(tmp_path):
    (tmp_path / "distributed.py").write_text("raise RuntimeError('hidden')")
    code = f"import sys; from aucbench.cli.main import main; sys.exit(main({WORDS!r}))"
    # Like the console script, which does not look into the current folder.
    words = [sys.executable, "-P", "-c", f"if __name__ == '__main__':\n    {code}"]
    environment = {name: value for name, value in os.environ.items() if name != processes.SAFE_PATH}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 cells done, 0 failed" in done.stdout
