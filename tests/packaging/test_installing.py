"""A wheel works in a new environment, and a third party's package joins without edits."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from aucbench.studies.archives.archive_file import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.package, pytest.mark.timeout(1500), pytest.mark.usefixtures("process")]


def call(*command, cwd):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def new_environment(folder):
    """The python of a virtual environment that sees the packages of the running one, pip among them."""
    call(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python, borrowed = folder / "bin" / "python", Path(sysconfig.get_paths()["purelib"])
    site = call(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])", cwd="/").strip()
    Path(site, "borrowed.pth").write_text(f"{borrowed}\n")
    return python


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the project's files, so that building leaves nothing behind in the original."""
    folder = tmp_path_factory.mktemp("checkout") / "aucbench"
    ignored = shutil.ignore_patterns(
        ".git", "__pycache__", "outputs", "multirun", "mlruns", "aucbench-store", "*.db", ".*"
    )
    shutil.copytree(ROOT, folder, ignore=ignored)
    return folder


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    archive = checkout / "docs" / "results" / SHIPPED
    if not archive.exists():  # a checkout without the reference study
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.touch()
    call(sys.executable, "-m", "build", "--wheel", "--outdir", folder, checkout, cwd=folder)
    return next(folder.glob("aucbench-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The python of an environment in which the wheel is installed; its dependencies are borrowed."""
    python = new_environment(tmp_path_factory.mktemp("installed") / "venv")
    call(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel, cwd=python.parent)
    return python


def run_job(python, folder, *overrides):
    """The job as a user starts it, and its record in the store; the reference, if trained, comes after it."""
    cells = folder / "aucbench-store" / "cells"
    before = set(cells.rglob("*.npz"))
    output = call(python, "-m", "aucbench", *overrides, cwd=folder)
    cell = min(set(cells.rglob("*.npz")) - before, key=lambda path: path.stat().st_mtime_ns)
    code = f"import numpy as np; print(np.load({str(cell)!r})['record'].tobytes().decode())"
    return output, json.loads(call(python, "-c", code, cwd=folder))


def test_an_installed_wheel_runs_the_main_job_and_a_third_partys_plugins(installed, tmp_path):
    python = installed
    output, record = run_job(python, tmp_path)
    assert "test AUC" in output
    assert (tmp_path / "mlflow.db").exists()
    assert record["algorithm"]["name"] == "psam"
    assert record["algorithm"]["version"] == record["environment"]["packages"]["aucbench"]

    package = shutil.copytree(ROOT / "tests" / "third_party", tmp_path / "third_party")
    call(python, "-m", "pip", "install", "--quiet", "--no-deps", package, cwd=tmp_path)
    overrides = ["algo=pair_sgd", "dataset=my_moons", "loss=ramp", "algo.eta=0.2", "loss.scale=2"]
    _, record = run_job(python, tmp_path, *overrides, "dataset.n=300", "tracking=none")
    assert record["algorithm"]["parameters"] == {"eta": 0.2}
    assert record["algorithm"]["distribution"] == "my-methods"
    assert record["loss"]["parameters"] == {"scale": 2.0}
    assert record["dataset"]["parameters"] == {"n": 300}
    assert record["result"]["auc"] > 0.9
    _, record = run_job(python, tmp_path, "algo=pair_sgd", "loss=hinge", "tracking=none")
    assert record["loss"]["distribution"] == "aucbench"
    code = "from aucbench.studies.archives.archive_file import shipped; print(shipped())"
    path = call(python, "-c", code, cwd=tmp_path)
    assert Path(path.strip()).is_relative_to(python.parents[1])
    listed = call(python, "-m", "aucbench", "list", "algorithms", cwd=tmp_path)
    assert "Stochastic gradient steps on random pairs." in listed
    details = call(python, "-m", "aucbench", "list", "algorithms", "pair_sgd", cwd=tmp_path)
    assert "my-methods 0.3.0" in details
