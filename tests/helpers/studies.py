"""Helpers of tests of studies: entries made of objects, stores, and a package for other processes."""

import os
import subprocess
import sys
from pathlib import Path

from msgspec.structs import replace

from aucbench.config.build import build_study
from aucbench.config.words import parse
from aucbench.data.loader import Part
from aucbench.data.scaler import Scaling
from aucbench.data.splits.protocols import Holdout
from aucbench.registry import catalog
from aucbench.studies.codec import to_dict
from aucbench.studies.default_settings import Budget, Isolation, Limits, Running, Settings, Timing
from aucbench.studies.entry_and_keys import BoundPlugin, Entry
from aucbench.studies.execution.executor import LocalExecutor
from aucbench.studies.execution.plan import plan_study
from aucbench.studies.execution.prepared_data import PreparedData
from aucbench.studies.execution.scheduler import Scheduler
from aucbench.studies.store import Store
from aucbench.studies.study import Observer, Study
from aucbench.studies.tuners import NoTuning, Tuning, resolve
from aucbench_features import Identity
from tests.helpers.study_methods import COUNTER, Clouds

ROOT = Path(__file__).resolve().parents[2]
TIMINGS = (
    "train_seconds", "train_cpu_seconds", "process_cpu_seconds", "ns_per_iteration", "cpu_ns_per_iteration",
)  # fmt: skip

# The studies of `conf/experiment`, and further commands of three of them for other columns of their tables.
EXPERIMENTS = [
    *((name,) for name in ("fsauc_table2", "opauc_table2", "opauc_table4", "sauc_table2", "spdam_table3")),
    *((name,) for name in ("psam_table2", "psam_table3", "try", "losses", "smoke")),
    *((name,) for name in ("reference", "reference_defaults")),
    (
        "opauc_table2", "algo=uni_log,svm_or,ls_svm", "dataset=epsilon", "max_train_rows=2000",
        "matrix.skip=null",
    ),
    ("opauc_table4", "algo=opauc", "features=subset,projection"),
    ("opauc_table4", "algo=opauc", "features=pca", "dataset=sector,sector_lvr,news20,rcv1v2"),
    ("sauc_table2", "algo=sauc", "loss=logistic"),
]  # fmt: skip


def bound(instance):
    return BoundPlugin(instance, "tests", "1.0")


def entry(algorithm, dataset=None, *, tuning=None, features=None, **named):
    """An entry of fakes; its defaults are small."""
    parts = {
        "protocol": Holdout(), "scaling": Scaling.maxabs, "budget": Budget(checkpoints=4),
        "limits": Limits(), "part": Part.train, "loss": None,
    }  # fmt: skip
    parts = {name: named.pop(name, None) or default for name, default in parts.items()}
    choice = tuning or NoTuning()
    return Entry(
        algorithm=bound(algorithm),
        dataset=bound(dataset or Clouds()),
        features=bound(features or Identity()),
        tuning=Tuning(choice, resolve(algorithm, choice.grid) if tuning else {}),
        settings=Settings(**named),
        **parts,
    )


def study_of(*overrides):
    """The study of overrides on the command line, not run."""
    return build_study(catalog(), parse(overrides))


def prepared_apart(overrides, seed=0):
    """The arrays of a run, prepared apart from it."""
    (planned,) = study_of(*overrides).entries
    return PreparedData().rows_of(planned, next(cell for cell in planned.cells() if cell.seed == seed))


def plan_of(entries, store, exclusive=False, **options):
    running = Running(isolation=Isolation.none, timing=Timing.exclusive if exclusive else Timing.shared)
    return plan_study(Study(list(entries), running, **options), store)


def run_entries(entries, store, executor=None, exclusive=False, stop_after=None, **options):
    """Plan and run entries here; returns the outcome."""
    plan = plan_of(entries, store, exclusive, only_failed=options.pop("only_failed", False))
    scheduler = Scheduler(plan, store, executor or LocalExecutor(Observer()), **options)
    return scheduler.run(stop_after)


def untimed(value):
    """A record or a trial without the parts that differ from run to run."""
    if isinstance(value, dict):
        left_out = ("environment", "git_commit", "traceback", "features_seconds", "limits", *TIMINGS)
        return {key: untimed(item) for key, item in value.items() if key not in left_out}
    return [untimed(item) for item in value] if isinstance(value, list | tuple) else value


def contents(store):
    """Everything a store holds that two runs of a study must agree on, bit for bit."""
    store = Store(store) if not isinstance(store, Store) else store
    cells = {}
    for cell in store:
        weights = None if cell.weights is None else cell.weights.tobytes()
        curve = {key: cell.curve[key].tobytes() for key in ("iteration", "samples", "auc")}
        cells[cell.record.key] = (untimed(to_dict(cell.record)), curve, weights)
    trials = {
        file.stem: sorted(repr(untimed(to_dict(trial))) for trial in store.trials(file.stem))
        for file in (store.path / "trials").rglob("*.jsonl")
    }
    failures = {key: untimed(to_dict(store.failure(key))) for key in store.listed()[1]}
    return {"cells": cells, "trials": trials, "failures": failures}


def trials_of(store):
    """The trials of all searches of a store, ordered, without timings."""
    files = sorted((store.path / "trials").rglob("*.jsonl"))
    trials = [replace(trial, train_seconds=0.0) for file in files for trial in store.trials(file.stem)]
    return sorted(trials, key=lambda trial: (trial.number, trial.fold))


def results(store):
    """Test AUC and weights of all cells by (method, seed, fold)."""
    outcomes = {}
    for cell in store:
        key = cell.record.algorithm.name, cell.record.seed, cell.record.fold
        outcomes[key] = cell.record.result.auc, None if cell.weights is None else cell.weights.tobytes()
    return outcomes


METHODS = "aucbench-test-methods", "tests.helpers.study_methods"


def write_metadata(folder, name=METHODS[0], module=METHODS[1], version="1.0", required=()):
    """Metadata of a distribution with a module of plugins, by default the methods for tests of studies."""
    info = Path(folder) / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    (info / "METADATA").write_text("\n".join([*lines, *(f"Requires-Dist: {dist}" for dist in required)]))
    (info / "entry_points.txt").write_text(f"[aucbench]\n{name} = {module}\n" if module else "")
    return Path(folder)


def process_environment(site, counter=None):
    """Environment of a process that sees the plugins of the tests."""
    paths = [str(ROOT), str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return environment | ({COUNTER: str(counter)} if counter else {})


def started(overrides, folder, environment):
    """A process of the command line, in its own process group."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "aucbench", *overrides]
    return subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **pipes)


def finished(overrides, folder, environment):
    """(exit status, standard output, standard error) of the command line."""
    process = started(overrides, folder, environment)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err
