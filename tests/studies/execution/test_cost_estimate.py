"""Trying how fast a method is, whatever it does."""

import time
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from aucbench.pool import Pool
from aucbench.studies.default_settings import Budget, Limits
from aucbench.studies.execution import cost_estimate
from aucbench.studies.execution.cost_estimate import estimate, seconds_of
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid
from aucbench_features import Nystroem
from tests.helpers.studies import entry, plan_of, run_entries
from tests.helpers.study_methods import Clouds, Exiting, Gentle, Greedy, Raising, Sleeper

pytestmark = pytest.mark.usefixtures("process")


def compute(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@dataclass(frozen=True)
class Costly(Gentle):
    """Takes its time in each iteration, and twice in a process as a compiler does: first, and later in a run.

    It wants to know how many iterations there are.
    """

    name: ClassVar[str] = "fake_costly"
    plans: ClassVar[bool] = True
    compiled: ClassVar[set[tuple[float, bool]]] = set()
    iterations: ClassVar[list[int]] = [0]  # of this run
    computes: float = 0.0  # seconds a feature and iteration
    compiles: float = 0.0  # seconds

    def init(self, problem, rng):
        self.iterations[0] = 0
        return super().init(problem, rng)

    def step(self, w, batch):
        self.iterations[0] += len(batch)
        kernel = self.compiles, self.iterations[0] > 8
        if kernel not in self.compiled:
            self.compiled.add(kernel)
            compute(self.compiles)
        compute(self.computes * len(w) * len(batch))
        return super().step(w, batch)


@pytest.fixture(scope="module")
def pool():
    with Pool() as pool:
        yield pool


@pytest.fixture
def patient(monkeypatch):
    """Probes are waited for, however busy the machine is."""
    monkeypatch.setattr(cost_estimate, "WAIT_SECONDS", 120.0)


def seconds(pool, subject, limit=60.0):
    return seconds_of(subject, pool, limit)


def planned(subject, store):
    (found,) = estimate(plan_of([subject], store), store)
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
    found = seconds(
        pool, entry(Costly(computes=0.01), Clouds(n=5_000, d=2), budget=Budget(iterations=10_000))
    )
    assert found == pytest.approx(200.0, rel=0.5)


def test_what_is_compiled_in_a_run_is_not_part_of_the_price(pool):
    subject = entry(Costly(computes=5e-4, compiles=2.0), Clouds(d=2), budget=Budget(iterations=100))
    assert 0.05 < seconds(pool, subject) < 1.0


def test_a_trial_of_a_tuning_costs_a_training_on_its_inner_rows(patient, tmp_path):
    store, alone = Store(tmp_path), entry(Costly(computes=1e-4), budget=Budget(epochs=2.0))
    tuned = replace(alone, tuning=entry(Costly(), tuning=Grid(folds=2)).tuning)
    one, many = estimate(plan_of([alone, tuned], store), store)
    assert (one.trainings, many.trainings) == (1, 7)
    assert many.seconds == pytest.approx(one.seconds * (1 + 6 / 2), rel=0.5)


def test_a_budget_in_seconds_is_its_own_price(tmp_path):
    assert planned(entry(Gentle(), budget=Budget(seconds=7.0)), Store(tmp_path)).seconds == 7.0


def test_what_the_store_has_measured_is_not_probed(tmp_path):
    store = Store(tmp_path)
    run_entries([entry(Gentle())], store)
    (cell,) = store
    found = planned(entry(Gentle(), runs=3), store)
    assert (found.measured, found.trainings) == (True, 2)
    assert found.seconds == pytest.approx(2 * cell.record.result.train_seconds)


def test_rows_of_another_length_have_a_price_by_the_law_of_the_method(patient, tmp_path):
    widths = (10, 40, 160)
    entries = [entry(Costly(computes=1e-5), Clouds(d=d), budget=Budget(iterations=1000)) for d in widths]
    store = Store(tmp_path)
    found = estimate(plan_of(entries, store), store)
    for width, each in zip(widths, found, strict=True):
        assert each.seconds == pytest.approx(0.01 * width, rel=0.5)


def test_wider_rows_of_a_feature_map_take_more_memory(patient, tmp_path):
    store, clouds = Store(tmp_path), Clouds(n=2_000)
    entries = [entry(Gentle(), clouds), entry(Gentle(), clouds, features=Nystroem(landmarks=200))]
    plain, mapped = estimate(plan_of(entries, store), store)
    assert mapped.memory == 2_000 * 200 * 8 > plain.memory
