"""The map in CONTRIBUTING.md agrees with the tree, and the tree with its rules."""

import re
import sys
from pathlib import Path

import pytest

from aucbench.cli.main import main

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "CONTRIBUTING.md").read_text()
NAMED = sorted(
    set(re.findall(r"`((?:aucbench|plugins|conf|tests)/[\w/.]*)`", MAP))
    - {"plugins/aucbench_algorithms/NAME.py"}
)


def test_every_path_of_the_map_exists_and_every_room_is_on_it():
    assert [path for path in NAMED if not (ROOT / path).exists()] == []
    rooms = {path.parent.name for path in (ROOT / "aucbench").glob("*/__init__.py")}
    assert {f"aucbench/{room}/" for room in rooms} <= set(NAMED)


@pytest.fixture(scope="module")
def stacks(tmp_path_factory):
    """The frames from `main` to the first step of a run that is trained, and to the run of MLflow."""
    folder, calls = tmp_path_factory.mktemp("path"), {}

    def record(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_qualname in ("RuleMethod.step", "MlflowClient.create_run"):
            frames = []
            while frame is not None and not (frames and frames[-1] == ("main", "aucbench/cli/main.py")):
                file = Path(frame.f_code.co_filename)
                inside = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
                frames.append((frame.f_code.co_qualname, inside))
                frame = frame.f_back
            if ("Trainer.advance", "aucbench/runner/trainer.py") in frames or "create_run" in code.co_name:
                calls.setdefault(code.co_name, frames[::-1])

    args = ["algo=psam", "budget.iterations=50", "reference=null"]
    args += [f"store.path={folder / 'store'}", f"tracking.uri=sqlite:///{folder / 'mlflow.db'}"]
    before = sys.getprofile()
    sys.setprofile(record)
    try:
        assert main(args) == 0
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.slow
def test_the_documented_path_of_a_run_is_the_real_one_and_takes_few_calls_as_does_that_to_mlflow(stacks):
    path = MAP.split("### The path of a run")[1].split("###")[0]
    assert re.findall(r"\| `([\w.]+)\(.*?\)`.* \| `([\w/.]+)` \|", path) == stacks["step"]
    assert all(len(stacks[end]) <= 12 for end in ("step", "create_run")), stacks
