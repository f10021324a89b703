"""Processes of our own find the modules that this one finds, and end with it."""

import multiprocessing
import os
import subprocess
import sys
import time

import psutil
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


STARTED = """
import multiprocessing, sys, time
from aucbench.processes import ChildProcess

def sleep(connection):
    connection.send("begun")
    time.sleep(60)

if __name__ == "__main__":
    child = ChildProcess(multiprocessing.get_context(sys.argv[1]), sleep)
    child.connection.recv()
    print(child.process.pid, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_child_process_ends_with_one_that_is_killed(method, tmp_path):
    (tmp_path / "start.py").write_text(STARTED)
    words = [sys.executable, str(tmp_path / "start.py"), method]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    for _ in range(100):
        if not child.is_running() or child.status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.1)
    child.kill()
    pytest.fail("it was still there")
