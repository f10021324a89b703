"""Trying how fast a method is, whatever it does."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import pytest

import aucbench
from aucbench.execution.cost_estimate import estimate
from aucbench.execution.prepared_data import PreparedData
from aucbench.execution.trial_run import TrialRuns
from aucbench.studies.default_settings import Budget, Limits
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid
from aucbench_features import Nystroem
from tests.helpers.studies import entry, plan_of, run_entries
from tests.helpers.study_methods import Clouds, Exiting, Gentle, Greedy, Other, Raising, Sleeper

pytestmark = pytest.mark.usefixtures("process")


@dataclass(frozen=True)
class Lazy(Gentle):
    """Takes 20 ms an iteration, and wants to know how many there are."""

    name: ClassVar[str] = "fake_lazy"
    plans: ClassVar[bool] = True

    def step(self, w, batch):
        time.sleep(0.02 * len(batch))
        return super().step(w, batch)


@dataclass(frozen=True)
class LateKernel(Gentle):
    """Takes two seconds at its first call in a process, as a compiler does, and 1 ms an iteration."""

    name: ClassVar[str] = "fake_late_kernel"
    compiled: ClassVar[list[bool]] = []

    def step(self, w, batch):
        if not self.compiled:
            self.compiled.append(True)
            time.sleep(2.0)
        time.sleep(0.001 * len(batch))
        return super().step(w, batch)


@dataclass(frozen=True)
class Busy(Gentle):
    """Computes for 1 ms an iteration."""

    name: ClassVar[str] = "fake_busy"

    def step(self, w, batch):
        until = time.thread_time() + 0.001 * len(batch)
        while time.thread_time() < until:
            pass
        return super().step(w, batch)


@dataclass(frozen=True)
class Shared(Gentle):
    """Alone it takes 1 ms an iteration; settings together take no longer."""

    name: ClassVar[str] = "fake_shared"
    eta: float = 0.1
    grid: ClassVar[dict] = {"eta": tuple(0.1 * k for k in range(1, 9))}

    def step(self, w, batch):
        time.sleep(0.001 * len(batch))
        return super().step(w, batch)

    @classmethod
    def together(cls, algorithms, states):
        return _Abreast(algorithms, states)


@dataclass(frozen=True)
class Bounded(Gentle):
    """Computes for 1 ms an iteration, and diverges at once with steps above 1."""

    name: ClassVar[str] = "fake_bounded"
    eta: float = 0.1
    grid: ClassVar[dict] = {"eta": (2.0, 3.0, 4.0, 5.0, 0.1, 0.2, 6.0, 7.0)}

    def step(self, w, batch):
        until = time.thread_time() + 0.001 * len(batch)
        while time.thread_time() < until:
            pass
        return super().step(w, batch) * (float("nan") if self.eta > 1.0 else 1.0)


class _Abreast:
    def __init__(self, algorithms, states):
        self.first, self.states = algorithms[0], list(states)

    def step(self, batch):
        self.states = [self.first.step(self.states[0], batch)] * len(self.states)

    def state(self, number):
        return self.states[number]

    def drop(self, number):
        pass


@pytest.fixture(scope="module")
def trials():
    with TrialRuns() as found:
        yield found


def price(trials, subject, points=()):
    return trials.price(subject, subject.cells()[0], points)


def test_a_method_has_a_price_and_those_after_a_bad_one_too(trials):
    assert price(trials, entry(Gentle())).cell > 0.0
    for bad in (Exiting(), Raising()):
        assert price(trials, entry(bad)) is None
        assert price(trials, entry(Gentle())).cell > 0.0


def test_a_method_that_hangs_or_takes_all_memory_has_no_price(trials):
    limits = Limits(seconds=0.5, grace=15.0, memory="300MB")
    assert price(trials, entry(Greedy(), limits=limits)) is None
    assert price(trials, entry(Sleeper(), limits=limits)).cell == float("inf")


def test_a_slow_method_is_tried_on_few_rows_although_it_plans_its_iterations(trials):
    begun = time.monotonic()
    found = price(trials, entry(Lazy(), Clouds(n=5_000), budget=Budget(iterations=10_000)))
    assert found.cell == pytest.approx(200.0, rel=0.5)
    assert time.monotonic() - begun < 20.0  # all iterations take 200 s


def test_what_the_first_call_takes_is_not_part_of_the_price(trials):
    found = price(trials, entry(LateKernel(), budget=Budget(iterations=100)))
    assert 0.1 < found.cell < 1.0


def test_settings_that_train_together_are_priced_together(trials):
    points = [{"eta": eta} for eta in Shared.grid["eta"]]
    found = price(trials, entry(Shared(), budget=Budget(iterations=100), tuning=Grid(folds=2)), points)
    assert 0.1 < found.cell < 0.5
    assert 0.1 / 8 < found.trial < 0.5 * found.cell


def test_settings_that_diverge_cost_nothing_afterwards(trials):
    points = [{"eta": eta} for eta in Bounded.grid["eta"]]
    found = price(trials, entry(Bounded(), budget=Budget(iterations=5000), tuning=Grid(folds=2)), points)
    assert found.cell == pytest.approx(5.0, rel=0.5)
    assert 0.15 < found.trial / found.cell < 0.4  # two of eight settings go on


def test_a_budget_in_seconds_is_its_own_price(trials):
    assert price(trials, entry(Gentle(), budget=Budget(seconds=7.0))).cell == 7.0


def test_the_map_of_a_split_is_paid_once_and_wider_rows_have_a_price_of_their_own(tmp_path):
    store = Store(tmp_path)
    run_entries([entry(Gentle(), Clouds(n=2_000))], store)
    mapped = {"features": Nystroem(landmarks=200), "dataset": Clouds(n=2_000)}
    entries = [entry(Gentle(eta=0.2), Clouds(n=2_000)), entry(Gentle(), **mapped), entry(Other(), **mapped)]
    plain, first, second = estimate(plan_of(entries, store), store, PreparedData())
    assert [each.measured for each in (plain, first, second)] == [True, False, False]
    assert first.memory == 2_000 * 200 * 8 > plain.memory
    tuned = entry(Gentle(), **mapped, tuning=Grid(folds=3))
    (whole,) = estimate(plan_of([tuned], store), store, PreparedData())
    with TrialRuns() as trials:
        of_map = price(trials, entries[1]).feature_map
    assert of_map > 0.0
    assert first.seconds - second.seconds > 0.3 * of_map
    assert whole.seconds > 1.5 * of_map  # of the split and of three inner ones


def test_other_processes_that_want_the_processor_do_not_raise_the_price(trials):
    price(trials, entry(Gentle()))  # the process is there before the others
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(3 * len(os.sched_getaffinity(0)))
    ]
    try:
        found = price(trials, entry(Busy(), budget=Budget(iterations=100)))
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert found.cell == pytest.approx(0.1, rel=0.6)


@pytest.mark.usefixtures("process")
def test_a_run_of_more_than_a_minute_is_announced_and_a_short_one_is_not_even_tried():
    told = []

    class StopError(Exception):
        pass

    class Told(aucbench.Observer):
        def estimated(self, seconds):
            told.append(seconds)
            raise StopError

        def stage(self, text):
            told.append(text)

    wide = ["dataset=sparse_text", "dataset.n=1000", "dataset.d=3000", "tracking=none", "store.path=null"]
    with pytest.raises(StopError):
        aucbench.run_study(["algo=opauc", "budget.epochs=200", *wide], Told())
    assert told[0] == "estimating the time"
    assert told[1] > 60
    planned = aucbench.plan_study(["algo=opauc", "budget.epochs=200", *wide])
    # Both are measured, on a machine that other programs use: they agree in their order of magnitude.
    assert planned.seconds / 5 < told[1] < 5 * planned.seconds
    told.clear()
    aucbench.run_study(["algo=psam", *wide], Told())
    assert "estimating the time" not in told
