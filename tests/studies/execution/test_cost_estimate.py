"""Trying how fast a method is, whatever it does."""

import time
from dataclasses import dataclass
from typing import ClassVar

import pytest

from aucbench.pool import Pool
from aucbench.studies.default_settings import Budget, Limits
from aucbench.studies.execution import cost_estimate
from aucbench.studies.execution.cost_estimate import estimate, seconds_of
from aucbench.studies.execution.prepared_data import PreparedData
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid
from aucbench_features import Nystroem
from tests.helpers.studies import entry, plan_of, run_entries
from tests.helpers.study_methods import Clouds, Exiting, Gentle, Greedy, Other, Raising, Sleeper

pytestmark = pytest.mark.usefixtures("process")


def compute(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@dataclass(frozen=True)
class Costly(Gentle):
    """Takes its time in each iteration, and at its first call in a process, as a compiler does.

    It wants to know how many iterations there are, and diverges at once with steps above 1.
    """

    name: ClassVar[str] = "fake_costly"
    plans: ClassVar[bool] = True
    grid: ClassVar[dict] = {"eta": (2.0, 3.0, 4.0, 5.0, 0.1, 0.2, 6.0, 7.0)}
    compiled: ClassVar[list[bool]] = []
    sleeps: float = 0.0  # seconds an iteration
    computes: float = 0.0  # seconds a feature and iteration
    compiles: float = 0.0  # seconds

    def step(self, w, batch):
        if not self.compiled:
            self.compiled.append(True)
            time.sleep(self.compiles)
        if self.sleeps:
            time.sleep(self.sleeps * len(batch))
        compute(self.computes * len(w) * len(batch))
        return super().step(w, batch) * (float("nan") if self.eta > 1.0 else 1.0)


@dataclass(frozen=True)
class Shared(Costly):
    """Settings together take no longer than one alone."""

    name: ClassVar[str] = "fake_shared"
    grid: ClassVar[dict] = {"eta": tuple(0.1 * k for k in range(1, 9))}
    sleeps: float = 0.001

    @classmethod
    def together(cls, algorithms, states):
        return _Abreast(algorithms, states)


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
def pool():
    with Pool() as pool:
        yield pool


@pytest.fixture
def patient(monkeypatch):
    """Probes are waited for, however busy the machine is."""
    monkeypatch.setattr(cost_estimate, "WAIT_SECONDS", 120.0)
    monkeypatch.setattr(cost_estimate, "PROBE_WAIT_SECONDS", 60.0)


def seconds(pool, subject, limit=60.0):
    return seconds_of(subject, pool, limit)


def planned(subject, store):
    (found,) = estimate(plan_of([subject], store), store, PreparedData())
    return found


def test_a_method_has_a_price_and_those_after_a_bad_one_too(pool):
    assert seconds(pool, entry(Gentle())) > 0.0
    for bad in (Exiting(), Raising(), Greedy()):
        assert seconds(pool, entry(bad, limits=Limits(memory="300MB"))) is None
        assert seconds(pool, entry(Gentle())) > 0.0


def test_a_method_that_hangs_has_no_price_and_keeps_nobody_waiting(pool, tmp_path):
    assert seconds(pool, entry(Sleeper()), limit=5.0) == float("inf")
    begun = time.monotonic()
    assert planned(entry(Sleeper()), Store(tmp_path)).seconds is None
    assert time.monotonic() - begun < 15.0


def test_a_slow_method_is_tried_in_short_runs_although_it_plans_its_iterations(pool):
    found = seconds(pool, entry(Costly(sleeps=0.02), Clouds(n=5_000), budget=Budget(iterations=10_000)))
    assert found == pytest.approx(200.0, rel=0.5)


def test_what_the_first_call_takes_is_not_part_of_the_price(pool):
    assert (
        0.05 < seconds(pool, entry(Costly(sleeps=0.001, compiles=2.0), budget=Budget(iterations=100))) < 1.0
    )


def test_settings_that_train_together_are_priced_together(patient, tmp_path):
    alone = planned(entry(Shared(), budget=Budget(iterations=1000)), Store(tmp_path))
    tuned = planned(entry(Shared(), budget=Budget(iterations=1000), tuning=Grid(folds=2)), Store(tmp_path))
    assert tuned.trainings == 17
    # Eight settings on each of two folds are two runs beside that of the choice; one by one they are 16.
    assert tuned.seconds < 8.0 * alone.seconds


def test_settings_that_diverge_cost_nothing_afterwards(patient, tmp_path):
    subject = entry(Costly(computes=2.5e-4), budget=Budget(iterations=5000), tuning=Grid(folds=2))
    assert planned(subject, Store(tmp_path)).seconds == pytest.approx(25.0, rel=0.5)  # two settings go on


def test_a_budget_in_seconds_is_its_own_price(pool):
    assert seconds(pool, entry(Gentle(), budget=Budget(seconds=7.0))) == 7.0


def test_what_the_store_has_measured_is_not_probed(tmp_path):
    store = Store(tmp_path)
    run_entries([entry(Gentle())], store)
    found = planned(entry(Gentle(eta=0.2)), store)
    assert found.measured
    assert found.seconds > 0.0


def test_rows_of_another_length_have_a_price_by_the_law_of_the_method(patient, tmp_path):
    widths = (10, 40, 160)
    entries = [entry(Costly(computes=1e-5), Clouds(d=d), budget=Budget(iterations=1000)) for d in widths]
    store = Store(tmp_path)
    found = estimate(plan_of(entries, store), store, PreparedData())
    for width, each in zip(widths, found, strict=True):
        assert each.seconds == pytest.approx(0.01 * width, rel=0.5)


def test_the_map_of_a_split_is_paid_once_and_wider_rows_take_more_memory(patient, tmp_path):
    store = Store(tmp_path)
    mapped = {"features": Nystroem(landmarks=200), "dataset": Clouds(n=2_000)}
    entries = [entry(Gentle(), Clouds(n=2_000)), entry(Gentle(), **mapped), entry(Other(), **mapped)]
    plain, first, second = estimate(plan_of(entries, store), store, PreparedData())
    assert first.memory == second.memory == 2_000 * 200 * 8 > plain.memory
    tuned = entry(Gentle(), **mapped, tuning=Grid(folds=3))
    assert planned(tuned, store).seconds > first.seconds > 0.0
