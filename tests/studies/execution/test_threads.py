"""A plugin whose module starts threads when it is imported, as JAX does, runs like any other."""

import subprocess
import sys

import pytest

from tests.helpers.studies import finished, process_environment, write_metadata

pytestmark = pytest.mark.usefixtures("process")

# A fork of a process that has imported it lacks the thread, and waits for it for good.
MODULE = """
from concurrent.futures import ThreadPoolExecutor

import aucbench
import numpy as np
from tests.helpers.study_methods import Gentle

THREAD = ThreadPoolExecutor(1)
THREAD.submit(int).result()


class Threaded(Gentle):
    name = "threaded"

    def init(self, problem, rng):
        return THREAD.submit(np.zeros, problem.n_features).result()

    def step(self, w, batch):
        return THREAD.submit(super().step, w, batch).result()


@aucbench.hookimpl
def aucbench_algorithms():
    return (Threaded,)
"""

CALL = """
import aucbench
from threaded_plugin import THREAD

THREAD.submit(int).result()
print(aucbench.run("algo=threaded", "dataset=wine", "budget.epochs=1").auc > 0.5)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "threaded_plugin.py").write_text(MODULE)
    return write_metadata(folder, "threaded-plugin", "threaded_plugin")


def test_it_runs_and_is_checked(site, tmp_path):
    words = ("algo=threaded", "dataset=wine", "budget.epochs=1", "tracking=none", "parallel=2", "runs=2")
    for command in (words, ("check", "threaded")):
        status, out, err = finished(command, tmp_path, process_environment(site))
        assert status == 0, out + err


def test_it_runs_where_the_calling_script_has_used_its_threads(site, tmp_path):
    (tmp_path / "script.py").write_text(CALL)
    how = {"cwd": tmp_path, "env": process_environment(site), "timeout": 100.0, "capture_output": True}
    done = subprocess.run([sys.executable, "script.py"], text=True, check=False, **how)
    assert done.stdout.strip() == "True", done.stderr
