"""Tests of the tests: one line of each package is changed, and the tests of that package must fail.

``python -m benchmarks mutations`` prints a row for each line and the first test that fails with it. A defect
is caught when that test fails with the changed line and passes without it. The checkout is not touched: the
lines are changed in a copy.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COPIED = ("aucbench", "plugins", "conf", "docs", "tests", "pyproject.toml", "README.md", "CONTRIBUTING.md")
FAILED = re.compile(r"^FAILED (\S+::\w+(?:\[.*?\])?)(?: - |$)", re.MULTILINE)
IGNORED = shutil.ignore_patterns("__pycache__", "_build", "generated", ".*")


class Mutation(NamedTuple):
    """A line of a package, what it is changed to, and the tests of the package."""

    file: str
    line: str
    changed: str
    tests: str


MUTATIONS = (
    Mutation(  # the pair is turned round
        "aucbench/kernels/rule_loops.py",
        "            pairs.subtract(X, i, j, Z)",
        "            pairs.subtract(X, j, i, Z)",
        "tests/algorithms",
    ),
    Mutation(  # checkpoints are evenly spaced
        "aucbench/runner/task.py",
        "np.geomspace(1, iterations, count)",
        "np.linspace(1, iterations, count)",
        "tests/runner",
    ),
    Mutation(  # negative values do not count for the largest absolute value
        "aucbench/data/scaler.py",
        "largest = np.maximum(np.abs(low), np.abs(high))",
        "largest = np.abs(high)",
        "tests/data",
    ),
    Mutation(  # ties count nothing
        "aucbench/evaluation/auc.py",
        "doubled += (positives - i) * (j + below)",
        "doubled += (positives - i) * (j + j)",
        "tests/evaluation",
    ),
    Mutation(  # a setting is chosen by the AUC also if another measure is set
        "aucbench/studies/execution/tuning_search.py",
        "np.mean([trial.judged for trial in chosen])",
        "np.mean([trial.auc for trial in chosen])",
        "tests/studies",
    ),
    Mutation(  # the correction for overlapping training sets is lost
        "aucbench/reports/statistics/over_runs.py",
        "std * np.sqrt(1.0 / n + np.nan_to_num(test_train_ratio))",
        "std * np.sqrt(1.0 / n)",
        "tests/reports",
    ),
    Mutation(  # an exported model forgets that rows were rescaled
        "aucbench/tracking/model_export.py",
        "weights = weights * record.data.row_factor",
        "weights = weights * 1.0",
        "tests/tracking",
    ),
    Mutation(  # the threshold maximises a balanced accuracy in which the positive class counts more
        "aucbench/sklearn/_threshold.py",
        "np.where(positive, -shares / shares[positive].sum()",
        "np.where(positive, -2.0 * shares / shares[positive].sum()",
        "tests/sklearn",
    ),
    Mutation(  # a proximal step does not shrink with the weights
        "plugins/aucbench_algorithms/psam.py",
        "step = 0.0 if slack <= 0.0 or pair.square == 0.0 else min(step, slack / pair.square)\n"
        "    keep, average = _shrinking_and_average(pair.t, params)\n"
        "    return Move(keep * step, keep, before=0.0, after=average), scalars",
        "step = 0.0 if slack <= 0.0 or pair.square == 0.0 else min(step, slack / pair.square)\n"
        "    keep, average = _shrinking_and_average(pair.t, params)\n"
        "    return Move(step, keep, before=0.0, after=average), scalars",
        "tests/algorithms",
    ),
)


@dataclass(frozen=True)
class Mutated:
    """A changed line and the test that noticed it, if any did."""

    file: str
    test: str

    reached = property(lambda self: bool(self.test))

    def __str__(self) -> str:
        return f"| {self.file} | {self.test or 'nobody noticed'} |"


def mutations() -> Iterator[Mutated]:
    """Each changed line as the row of a table."""
    print("| changed | the first test that fails |\n|---|---|")
    for mutation in MUTATIONS:
        yield Mutated(mutation.file, caught(mutation))


def caught(mutation: Mutation) -> str:
    """The first test that fails with the changed line and passes without it; empty when there is none."""
    with tempfile.TemporaryDirectory(prefix="aucbench-mutation-") as folder:
        copy = Path(folder)
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, copy / name, ignore=IGNORED)
            else:
                shutil.copy(ROOT / name, copy / name)
        file = copy / mutation.file
        text = file.read_text(encoding="utf-8")
        if text.count(mutation.line) != 1:
            raise LookupError(f"{mutation.file} does not have this line once: {mutation.line}")
        file.write_text(text.replace(mutation.line, mutation.changed), encoding="utf-8")
        for lane in ("fast", "not fast"):
            failed = FAILED.search(pytest_of(copy, mutation.tests, "-m", lane))
            if failed:
                file.write_text(text, encoding="utf-8")
                return "" if FAILED.search(pytest_of(copy, failed[1])) else failed[1]
    return ""


def pytest_of(folder: Path, *which: str) -> str:
    """The output of pytest, up to the first failure, on tests in a copy of the checkout, which it imports."""
    paths = os.pathsep.join([str(folder), str(folder / "plugins")])
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "--tb=no", "-rf", "-p", "no:cacheprovider", *which],
        cwd=folder, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode not in (0, 1, 5):  # passed, failed, and no test chosen
        raise RuntimeError(
            f"pytest {' '.join(which)} ended with {run.returncode}:\n{run.stdout[-2000:]}{run.stderr}"
        )
    return run.stdout


MEASURES = {"mutations": mutations}
