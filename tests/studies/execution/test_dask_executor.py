"""Studies on workers: the same numbers as in this process, whatever the workers do."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager

import pytest
from distributed import LocalCluster

from aucbench import ParameterError
from aucbench.data.splits.protocols import KFold, TrainValidTest
from aucbench.studies.default_settings import Limits
from aucbench.studies.execution import dask_executor as cluster_module
from aucbench.studies.execution.dask_executor import DaskExecutor
from aucbench.studies.execution.executor import LocalExecutor
from aucbench.studies.store import Store
from aucbench.studies.study import Observer
from aucbench.studies.tuners import Grid, Optuna
from tests.helpers import study_methods as methods
from tests.helpers.studies import ROOT, contents, entry, process_environment, run_entries, trials_of
from tests.helpers.study_methods import Diverging, Exiting, Gentle, Other, Raising, Slow

pytestmark = pytest.mark.usefixtures("process")

STUDY = (
    entry(Gentle(), tuning=Grid(folds=2), protocol=KFold(folds=3)),
    entry(Gentle(), tuning=Optuna(folds=2, trials=4), runs=2),
    entry(Other(), runs=3),
    entry(Diverging(), runs=2),
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The contents of the store after the study in this process."""
    store = Store(tmp_path_factory.mktemp("here"))
    run_entries(STUDY, store)
    return contents(store)


@pytest.fixture(scope="module")
def workers():
    """Two workers of this machine."""
    with closing(LocalExecutor(Observer(), 2)) as cluster:
        yield cluster


def concurrencies(store):
    return sorted(cell.record.environment.concurrency for cell in store)


def test_two_workers_give_what_one_process_gives_bit_for_bit(workers, expected, tmp_path):
    store = Store(tmp_path)
    outcome = run_entries(STUDY, store, workers)
    assert contents(store) == expected
    assert outcome.finished == len(expected["cells"]) == 10
    assert set(concurrencies(store)) == {2}


def test_exclusive_timing_changes_no_number_and_leaves_every_cell_timed_alone(workers, tmp_path):
    study = [entry(Gentle(), tuning=Grid(folds=2), runs=2), entry(Other(), runs=2)]
    store, shared = Store(tmp_path / "alone"), Store(tmp_path / "shared")
    run_entries(study, shared, workers)
    handed = []
    outcome = run_entries(study, store, workers, exclusive=True, listeners=[handed.append])
    assert contents(store) == contents(shared)
    assert (concurrencies(shared), concurrencies(store)) == ([2] * 4, [1] * 4)
    assert outcome.finished == 4
    assert len({executed.key for executed in handed}) == len(handed) == 2
    assert all(cell.record.environment.concurrency == 1 for executed in handed for cell in executed.cells)
    for executed in handed:
        shared.mark_tracked("address", executed.key, "run")
    run_entries(study, shared, exclusive=True)  # trains cells again that were not timed alone
    assert {shared.tracked("address", executed.key) for executed in handed} == {""}  # to be logged again
    assert concurrencies(shared) == [1] * 4
    assert contents(shared) == contents(store)


@pytest.mark.faults
def test_whatever_some_methods_do_the_healthy_ones_finish_and_each_reason_is_recorded(workers, tmp_path):
    quick = Limits(seconds=0.5, grace=1.0)
    study = [
        entry(methods.Sleeper(), limits=quick),
        entry(Exiting()),
        entry(Gentle(), runs=3),
        entry(methods.Greedy(), limits=Limits(memory="200MB")),
        entry(Raising()),
        entry(Slow(nap=0.2), limits=Limits(seconds=0.5)),
        entry(Diverging()),
        entry(Other(), tuning=Grid(grid={"fake_other": {"eta": [0.1, 1.0]}}), runs=2),
        entry(Raising(), tuning=Grid(grid={"fake_raising": {"eta": [0.1, 0.2]}})),
    ]
    store = Store(tmp_path)
    outcome = run_entries(study, store, workers)
    cases = {(f.algorithm.name, f.tuning.name): f for f in outcome.failures}
    expected = {
        ("fake_sleeper", "none"): ("timeout", "its process was ended"),
        ("fake_slow", "none"): ("timeout", "ran for more than limits.seconds=0.5"),
        ("fake_exiting", "none"): ("failed", "ended, 2 times"),
        ("fake_raising", "none"): ("failed", "out of luck"),
        ("fake_raising", "grid"): ("failed", "(study_methods.py, line "),
        ("fake_greedy", "none"): ("out-of-memory", ""),
    }
    assert {key: failure.reason for key, failure in cases.items()} == {k: r for k, (r, _) in expected.items()}
    assert [key for key, (_, part) in expected.items() if part not in cases[key].message] == []
    assert re.search(r"(?s)in harm.*RuntimeError: out of luck", cases["fake_raising", "none"].traceback)
    stops = {(cell.record.algorithm.name, cell.record.result.stop_reason) for cell in store}
    assert stops == {("fake_gentle", "budget"), ("fake_other", "budget"), ("fake_diverging", "diverged")}
    assert len(list(store)) == 6


def test_of_settings_that_train_together_only_the_one_to_blame_fails(workers, tmp_path):
    """One setting ends its process; the other settings of the unit are still tried."""
    store = Store(tmp_path)
    study = [entry(methods.Moody(), tuning=Grid(), protocol=TrainValidTest())]
    assert run_entries(study, store, workers).failures == []
    stops = [(trial.parameters["eta"], trial.stop_reason) for trial in trials_of(store)]
    assert stops == [(0.01, "budget"), (0.1, "budget"), (1.0, "failed")]
    (cell,) = store
    assert cell.record.tuned.parameters["eta"] < 1.0


def test_a_wider_limit_makes_timeouts_run_again_and_an_equal_one_does_not(workers, tmp_path):
    store = Store(tmp_path)

    def tried(seconds, **options):
        limits = Limits(seconds=seconds) if seconds else None
        study = [
            entry(Slow(nap=0.1), limits=limits),
            entry(Slow(nap=0.1), tuning=Grid(folds=2, grid={"fake_slow": {"eta": [0.1]}}), limits=limits),
        ]
        return [failure.reason for failure in run_entries(study, store, workers, **options).failures]

    assert tried(0.05) == ["timeout"] * 2
    first = {key: store.failure(key) for key in store.listed()[1]}
    assert tried(0.05) == ["timeout"] * 2
    assert {key: store.failure(key) for key in store.listed()[1]} == first
    assert tried(0.06, only_failed=True) == ["timeout"] * 2
    assert tried(60.0) == []
    assert len(list(store)) == 2
    assert not store.listed()[1]


class _Scheduler:
    """A scheduler and workers of the system's Dask, as processes on loopback."""

    def __init__(self, folder):
        self.file, self.processes = folder / "scheduler.json", []
        self._start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file))
        wait_until(lambda: self.file.exists() and self.file.read_text().endswith("}"))
        self.address = json.loads(self.file.read_text())["address"]

    def worker(self):
        options = ("--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        return self._start("worker", self.address, *options, "--local-directory", str(self.file.parent))

    def _start(self, kind, *arguments):
        command = [sys.executable, "-m", "dask", kind, *arguments, "--host", "127.0.0.1"]
        options = {"env": process_environment(ROOT), "cwd": self.file.parent, "stdout": subprocess.DEVNULL}
        self.processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, **options))
        return self.processes[-1]

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
        for process in self.processes:
            process.wait()


@contextmanager
def running_scheduler(folder):
    """A scheduler without workers; it is ended afterwards with the workers that joined."""
    scheduler = _Scheduler(folder)
    try:
        yield scheduler
    finally:
        scheduler.stop()


def wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    with running_scheduler(tmp_path_factory.mktemp("dask")) as scheduler:
        yield scheduler


def test_a_scheduler_without_workers_is_named_and_those_that_join_give_what_one_process_gives(
    monkeypatch, expected, tmp_path
):
    monkeypatch.setattr(cluster_module, "WAIT_SECONDS", 0.2)
    # Threads of this process start more quickly than processes.
    options = {"n_workers": 0, "processes": False, "protocol": "tcp://", "dashboard_address": ":0"}
    with LocalCluster(**options) as dask, closing(DaskExecutor(dask.scheduler_address)) as executor:
        with pytest.raises(ParameterError, match=r"scheduler: no worker joined within 0\.2 s; start some"):
            run_entries(STUDY, Store(tmp_path), executor)
        dask.scale(1)
        dask.wait_for_workers(1)
        run_entries(STUDY, Store(tmp_path), executor)
    assert contents(tmp_path) == expected


def test_an_address_without_a_scheduler_and_a_file_that_none_wrote_are_named_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    addresses = {
        "tcp://127.0.0.1:9": r"nothing answers at tcp://127\.0\.0\.1:9",
        "file:///absent.json": r"/absent\.json is not",
        "foo://bar": "",
    }
    for number, content in enumerate(('{"type": "Sched', "[]", '{"type": "Scheduler"}')):
        (file := tmp_path / f"{number}.json").write_text(content)
        addresses[f"file://{file}"] = rf".*{file.name} is not what a scheduler writes"
    for address, pattern in addresses.items():
        with pytest.raises(ParameterError, match=f"scheduler: {pattern}"):
            DaskExecutor(address)


@contextmanager
def killing(condition, kill):
    """Kill something from a thread, once a condition holds."""
    killer = threading.Thread(target=lambda: (wait_until(condition), kill()))
    killer.start()
    try:
        yield
    finally:
        killer.join()


@pytest.mark.faults
def test_workers_of_a_running_scheduler_are_used_and_one_that_is_killed_is_replaced(
    scheduler, expected, tmp_path
):
    victim, survivor = scheduler.worker(), scheduler.worker()
    store = Store(tmp_path)
    study = (*STUDY, entry(Slow(nap=0.05), runs=4))
    killer = killing(lambda: len(list(store)) > 2, victim.kill)
    with closing(DaskExecutor(f"file://{scheduler.file}")) as cluster, killer:
        outcome = run_entries(study, store, cluster)
    assert outcome.failures == []
    assert victim.wait() == -signal.SIGKILL
    assert survivor.poll() is None
    actual = contents(store)
    assert {key: actual["cells"][key] for key in expected["cells"]} == expected["cells"]
    assert actual["trials"] == expected["trials"]
    assert outcome.finished == len(actual["cells"]) == 14


@pytest.mark.faults
def test_a_lost_scheduler_ends_the_study_which_keeps_its_cells(tmp_path):
    store, msg = Store(tmp_path / "store"), "scheduler: the connection to it was lost"
    with running_scheduler(tmp_path) as dask:
        dask.worker()
        killer = killing(lambda: len(list(store)) > 1, dask.stop)
        with closing(DaskExecutor(dask.address)) as cluster, killer, pytest.raises(ParameterError, match=msg):
            run_entries([entry(Slow(nap=0.1), runs=20)], store, cluster)
    assert len(list(store)) > 1


@pytest.mark.faults
def test_the_end_of_a_study_ends_its_processes_and_those_of_a_killed_one_but_no_others(scheduler, tmp_path):
    scheduler.worker()
    going, killed, ended = (DaskExecutor(scheduler.address) for _ in range(3))
    outcomes, store = [], Store(tmp_path / "going")

    def served():
        return set().union(*going._client.run(lambda: set(cluster_module._pools), on_error="ignore").values())

    study = threading.Thread(
        target=lambda: outcomes.append(run_entries([entry(Slow(nap=0.05), runs=6)], store, going))
    )
    study.start()
    try:
        wait_until(lambda: len(list(store)))
        for number, cluster in enumerate((killed, ended)):
            run_entries([entry(Other())], Store(tmp_path / f"{number}"), cluster)
        assert served() >= {going._client.id, killed._client.id, ended._client.id}
        killed._client.close()
        ended.close()
        assert served() == {going._client.id}
    finally:
        study.join()
        going.close()
    assert outcomes[0].finished == 6
