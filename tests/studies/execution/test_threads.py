"""A plugin whose module starts threads when it is imported, as JAX does, runs like any other."""

import subprocess
import sys

import pytest

from tests.helpers.studies import process_environment, write_metadata

pytestmark = pytest.mark.usefixtures("process")

# A fork of a process that imported the module lacks the thread, and waits for it for ever.
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


def test_it_runs_where_the_calling_script_has_used_its_threads(tmp_path):
    site = write_metadata(tmp_path, "threaded-plugin", "threaded_plugin")
    (tmp_path / "threaded_plugin.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(CALL)
    options = {"cwd": tmp_path, "env": process_environment(site), "timeout": 100.0, "capture_output": True}
    process = subprocess.run([sys.executable, "script.py"], text=True, check=False, **options)
    assert process.stdout.strip() == "True", process.stderr
