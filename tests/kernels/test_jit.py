"""Compiled code is kept between processes, and never served when what it is made of has changed."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("process")

METHOD = """
from aucbench.kernels import kernel
from stranger import helper
from stranger.inlined import thrice

@kernel
def run(x):
    return helper.factor(x) + thrice(x)
"""
HELPER = """
from aucbench.kernels import kernel

@kernel
def factor(x):
    return {} * x
"""
INLINED = """
import numba

@numba.njit
def thrice(x):
    return {} * x
"""
CALL = """
import numba
from stranger.method import run
print(run(1.0), sum(run.stats.cache_hits.values()), numba.config.CACHE_DIR)
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


def output(program, *paths):
    # Bytecode of a file that is edited within a second, and no longer than before, would be taken for it.
    python = {"PYTHONPATH": os.pathsep.join([*map(str, paths), *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = os.environ | python
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.split()


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """The result of a kernel of a third-party package, and how often its cache had it, in a new process."""
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    package = tmp_path / "stranger"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "method.py").write_text(METHOD)

    def result(helper, inlined, comment=""):
        (package / "helper.py").write_text(f"{HELPER.format(helper)}# {comment}\n")
        (package / "inlined.py").write_text(INLINED.format(inlined))
        number, hits, folder = output(CALL, tmp_path)
        assert folder.startswith(str(tmp_path / "cache" / "kernels"))
        return float(number), int(hits)

    return result


def test_a_kernel_is_compiled_anew_when_a_helper_in_another_file_has_changed_but_for_its_comments(stranger):
    assert stranger(helper=10, inlined=3) == (13.0, 0)
    assert stranger(helper=10, inlined=3, comment="edited") == (13.0, 1)
    assert stranger(helper=20, inlined=3) == (23.0, 0)
    assert stranger(helper=20, inlined=4) == (24.0, 0)


def test_shared_kernels_survive_types_that_cannot_be_imported_and_a_damaged_index(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "foreign.py").write_text(FOREIGN)
    output("import foreign", tmp_path)
    assert output(BUILT_IN) == ["2.0", "0"]
    assert [output("import foreign", tmp_path), output(BUILT_IN)] == [[], ["2.0", "1"]]
    for index in tmp_path.rglob("*.nbi"):
        index.write_bytes(index.read_bytes()[:-20])
    assert output(BUILT_IN) == ["2.0", "0"]  # a cache miss


def test_a_kernel_whose_code_a_full_disk_cannot_keep_runs_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    assert output(FULL_DISK + BUILT_IN) == ["2.0", "0"]
    assert output(BUILT_IN) == ["2.0", "0"]
