"""Compiled code is kept between processes, and never served after its sources have changed."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("process")

METHOD = """
import os
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
from aucbench import Access, kernels
from stranger import helper
from stranger.inlined import thrice

OUTSIDE = float(os.environ["OUTSIDE"])

@kernels.kernel
def run(x):
    return helper.factor(x) + thrice(x)

class Params(NamedTuple):
    eta: float

@kernels.rule
def step(row, scalars, params):
    return kernels.Move(2.0 * params.eta * helper.size(row.s) * OUTSIDE, 1.0, 0.0, 0.0), scalars

@dataclass(frozen=True)
class Own(kernels.RuleMethod):
    access: ClassVar[Access] = Access.stream
    rule: ClassVar[kernels.Rule] = step

    def init(self, problem, rng):
        return self.first_state(problem, Params(1.0))
"""
HELPER = """
from aucbench import kernels

@kernels.helper
def factor(x):
    return {0} * x

@kernels.scalar
def size(s):
    return {0} + 0.0 * s
"""
INLINED = """
import numba

@numba.njit
def thrice(x):
    return {} * x
"""
CALL = """
import numba
import numpy as np
from aucbench import Batch, Problem
from stranger.method import Own, run

print(run(1.0), sum(run.stats.cache_hits.values()), numba.config.CACHE_DIR)
X, y, own = np.ones((1, 1)), np.ones(1, np.int8), Own()
w = own.weights(own.step(own.init(Problem(X, y), None), Batch(X, y, np.zeros(1, np.int64))))
print(w[0], sum(sum(loop.stats.cache_hits.values()) for loop in Own.rule._loops.values()))
"""

FOREIGN = """
from typing import NamedTuple
import numpy as np
from aucbench.kernels import thresholded

class Vector(NamedTuple):
    numbers: np.ndarray

thresholded.accumulate(Vector(np.ones(1, thresholded.NUMBERS)), 1.0)
"""
BUILT_IN = """
from aucbench.kernels import thresholded
vector = thresholded.thresholded(3)
thresholded.accumulate(vector, 2.0)
print(vector.numbers["weight"][0], sum(thresholded.accumulate.stats.cache_hits.values()))
"""

FULL_DISK = """
import resource, signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
"""


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    # Else the old bytecode of a file is used if an edit within a second keeps its size.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def output(program, *paths):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, paths), *sys.path])}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()


def test_kernels_and_loops_of_rules_are_compiled_anew_when_what_they_call_or_read_has_changed(
    tmp_path, monkeypatch
):
    package = tmp_path / "stranger"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "method.py").write_text(METHOD)

    def stranger(helper, inlined=3, comment="", outside=1.0):
        """Results of a kernel and of a rule, and their numbers of cache hits, in a new process."""
        (package / "helper.py").write_text(f"{HELPER.format(helper)}# {comment}\n")
        (package / "inlined.py").write_text(INLINED.format(inlined))
        monkeypatch.setenv("OUTSIDE", str(outside))
        number, hits, folder, weight, loaded = output(CALL, tmp_path)
        assert folder.startswith(str(tmp_path / "cache" / "kernels"))
        return float(number), int(hits), float(weight), int(loaded)

    assert stranger(helper=10) == (13.0, 0, 20.0, 0)
    assert stranger(helper=10, comment="edited") == (13.0, 1, 20.0, 1)
    assert stranger(helper=20, inlined=4) == (24.0, 0, 40.0, 0)
    assert stranger(helper=20, inlined=4, outside=2.0)[2:] == (80.0, 0)


def test_shared_kernels_survive_types_that_cannot_be_imported_and_a_damaged_index(tmp_path):
    (tmp_path / "foreign.py").write_text(FOREIGN)
    output("import foreign", tmp_path)
    assert output(BUILT_IN) == ["2.0", "0"]
    assert output(BUILT_IN) == ["2.0", "1"]
    for index in tmp_path.rglob("*.nbi"):
        index.write_bytes(index.read_bytes()[:-20])
    assert output(BUILT_IN) == ["2.0", "0"]  # a cache miss


def test_a_kernel_whose_code_a_full_disk_cannot_keep_runs_all_the_same():
    assert output(FULL_DISK + BUILT_IN) == ["2.0", "0"]
    assert output(BUILT_IN) == ["2.0", "0"]
