"""Studies on workers: the same numbers as in this process, whatever the workers do."""

import json
import signal
import subprocess
import sys
import threading
import time

import pytest

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
    """What the study comes to in this process."""
    store = Store(tmp_path_factory.mktemp("here"))
    run_entries(STUDY, store)
    return contents(store)


@pytest.fixture(scope="module")
def workers():
    """Two workers of this machine."""
    cluster = LocalExecutor(Observer(), 2)
    yield cluster
    cluster.close()


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
    assert len({each.key for each in handed}) == len(handed) == 2
    assert all(cell.record.environment.concurrency == 1 for executed in handed for cell in executed.cells)
    for each in handed:
        shared.mark_tracked("address", each.key, "run")
    run_entries(study, shared, exclusive=True)  # of what an earlier study timed beside others
    assert {shared.tracked("address", each.key) for each in handed} == {""}  # to be logged again
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
    reasons = {(f.algorithm.name, f.tuning.name): f for f in outcome.failures}
    assert {key: failure.reason for key, failure in reasons.items()} == {
        ("fake_sleeper", "none"): "timeout",
        ("fake_slow", "none"): "timeout",
        ("fake_exiting", "none"): "failed",
        ("fake_raising", "none"): "failed",
        ("fake_raising", "grid"): "failed",
        ("fake_greedy", "none"): "out-of-memory",
    }
    assert "its process was ended" in reasons["fake_sleeper", "none"].message
    assert "ran for more than limits.seconds=0.5" in reasons["fake_slow", "none"].message
    assert "ended, 2 times" in reasons["fake_exiting", "none"].message
    assert "RuntimeError: out of luck" in reasons["fake_raising", "none"].traceback
    assert "in harm" in reasons["fake_raising", "none"].traceback
    assert "(study_methods.py, line " in reasons["fake_raising", "grid"].message
    stops = {(cell.record.algorithm.name, cell.record.result.stop_reason) for cell in store}
    assert stops == {("fake_gentle", "budget"), ("fake_other", "budget"), ("fake_diverging", "diverged")}
    assert len(list(store)) == 6


def test_of_settings_that_train_together_only_the_one_to_blame_fails(workers, tmp_path):
    """One setting ends its process; the others of the same unit are tried all the same."""
    store = Store(tmp_path)
    study = [entry(methods.Moody(), tuning=Grid(), protocol=TrainValidTest())]
    assert run_entries(study, store, workers).failures == []
    found = [(trial.parameters["eta"], trial.stop_reason) for trial in trials_of(store)]
    assert found == [(0.01, "budget"), (0.1, "budget"), (1.0, "failed")]
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

    def __init__(self, folder, environment, host="127.0.0.1", security=()):
        self._file, self._environment = folder / "scheduler.json", environment
        self._folder, self._security = folder, security
        self.processes = [self._start("scheduler", "--port", "0", "--no-dashboard", "--host", host,
                                      "--scheduler-file", str(self._file))]  # fmt: skip
        wait_until(lambda: self._file.exists() and self._file.read_text().endswith("}"))
        self.address = json.loads(self._file.read_text())["address"]

    def worker(self, host="127.0.0.1", before=()):
        words = ("--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", host)
        place = ("--local-directory", str(self._folder))
        process = self._start("worker", self.address, *words, *place, before=before)
        self.processes.append(process)
        return process

    def _start(self, kind, *words, before=()):
        command = [*before, sys.executable, "-m", "dask", kind, *words, *self._security]
        return subprocess.Popen(
            command, env=self._environment, cwd=self._folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
        for process in self.processes:
            process.wait()


def wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dask")
    scheduler = _Scheduler(folder, process_environment(ROOT))
    yield scheduler
    scheduler.stop()


def test_a_scheduler_without_workers_is_named(scheduler, monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_module, "WAIT_SECONDS", 0.2)
    cluster = DaskExecutor(scheduler.address)
    try:
        with pytest.raises(ParameterError, match=r"scheduler: no worker joined within 0\.2 s; start some"):
            run_entries([entry(Other())], Store(tmp_path), cluster)
    finally:
        cluster.close()


def test_nothing_at_the_address_of_a_scheduler_is_said_so(monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ParameterError, match=r"scheduler: nothing answers at tcp://127\.0\.0\.1:9"):
        DaskExecutor("tcp://127.0.0.1:9")
    with pytest.raises(ParameterError, match=r"scheduler: /absent\.json is not"):
        DaskExecutor("file:///absent.json")
    with pytest.raises(ParameterError, match="scheduler: "):
        DaskExecutor("foo://bar")


@pytest.mark.parametrize("content", ['{"type": "Sched', "[]", '{"type": "Scheduler"}'])
def test_a_half_written_file_of_a_scheduler_is_refused_at_once(tmp_path, content):
    file = tmp_path / "sched.json"
    file.write_text(content)
    with pytest.raises(ParameterError, match=r"scheduler: .*sched\.json is not what a scheduler writes"):
        DaskExecutor(f"file://{file}")


@pytest.mark.faults
def test_workers_of_a_running_scheduler_are_used_and_one_that_is_killed_is_replaced(
    scheduler, expected, tmp_path
):
    victim, other = scheduler.worker(), scheduler.worker()
    cluster = DaskExecutor(f"file://{scheduler._file}")
    store = Store(tmp_path)
    study = (*STUDY, entry(Slow(nap=0.05), runs=4))

    def kill():
        wait_until(lambda: len(list(store)) > 2)
        victim.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        outcome = run_entries(study, store, cluster)
    finally:
        killer.join()
        cluster.close()
    assert outcome.failures == []
    assert victim.wait() == -signal.SIGKILL
    assert other.poll() is None
    found = contents(store)
    assert {key: found["cells"][key] for key in expected["cells"]} == expected["cells"]
    assert found["trials"] == expected["trials"]
    assert outcome.finished == len(found["cells"]) == 14


@pytest.mark.faults
def test_a_lost_scheduler_ends_the_study_which_keeps_its_cells(tmp_path):
    own = _Scheduler(tmp_path, process_environment(ROOT))
    own.worker()
    cluster, store = DaskExecutor(own.address), Store(tmp_path / "store")

    def kill():
        wait_until(lambda: len(list(store)) > 1)
        own.stop()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(ParameterError, match="scheduler: the connection to it was lost"):
            run_entries([entry(Slow(nap=0.1), runs=20)], store, cluster)
    finally:
        killer.join()
        cluster.close()
    assert len(list(store)) > 1


@pytest.mark.faults
def test_the_end_of_a_study_ends_its_processes_and_those_of_a_killed_one_but_no_others(scheduler, tmp_path):
    scheduler.worker()
    going, killed, ended = (DaskExecutor(scheduler.address) for _ in range(3))
    outcomes, store = [], Store(tmp_path / "going")

    def served():
        return set().union(*going._client.run(served_clients, on_error="ignore").values())

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


def served_clients():
    return set(cluster_module._pools)
