"""Estimates of studies that are only planned, from finished cells and from probes."""

import time
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from aucbench.studies.default_settings import Budget, Limits
from aucbench.studies.execution import cost_estimate
from aucbench.studies.execution.cost_estimate import estimate, probed, seconds_alone
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
    """A method that computes in each iteration, and compiles twice in a process: at first, and later."""

    name: ClassVar[str] = "fake_costly"
    plans: ClassVar[bool] = True
    compiled: ClassVar[set[tuple[float, bool]]] = set()
    iterations: ClassVar[list[int]] = [0]  # in this run
    computes: float = 0.0  # seconds per feature and iteration
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


class SlowToScore(Gentle):
    """A method without weights, whose scores take far longer than its training."""

    name: ClassVar[str] = "fake_slow_to_score"
    plans: ClassVar[bool] = True
    weights = None

    def score(self, w, X):
        compute(0.01)
        return X @ w


def estimates(entries, folder):
    store = Store(folder)
    return estimate(plan_of(entries, store), store)


def test_a_method_has_a_price_those_after_a_bad_one_too_and_one_that_hangs_has_none(tmp_path, monkeypatch):
    bad = [entry(method, limits=Limits(memory="300MB")) for method in (Exiting(), Raising(), Greedy())]
    probes = probed([bad[0], entry(Gentle()), *bad[1:], entry(Gentle())], 60.0)
    assert [probe is None for probe in probes] == [True, False, True, True, False]
    assert seconds_alone([entry(Gentle(), runs=2), bad[0]], 60.0) > 0.0
    monkeypatch.setattr(cost_estimate, "WAIT_SECONDS", 1.0)
    begun = time.monotonic()
    (cost,) = estimates([entry(Sleeper())], tmp_path)
    assert cost.seconds is None
    assert time.monotonic() - begun < 15.0


def test_a_slow_method_is_tried_in_short_runs_and_what_is_compiled_in_a_run_is_not_part_of_the_price():
    budget, rows = Budget(iterations=10_000), Clouds(n=5_000, d=2)
    slow = seconds_alone([entry(Costly(computes=0.01), rows, budget=budget)], 60.0)
    assert slow == pytest.approx(200.0, rel=0.5)
    compiled = Costly(computes=5e-4, compiles=0.4)
    subject = entry(compiled, Clouds(d=2), budget=Budget(iterations=100))
    assert 0.05 < seconds_alone([subject], 60.0) < 1.0


def test_scoring_is_part_of_the_price_once_per_checkpoint_and_not_per_iteration():
    subject = entry(SlowToScore(), Clouds(n=5_000), budget=Budget(iterations=10_000, checkpoints=20))
    assert 0.05 < seconds_alone([subject], 60.0) < 1.0


def test_trials_mapped_rows_and_rows_of_another_length_have_their_price(monkeypatch, tmp_path):
    monkeypatch.setattr(cost_estimate, "WAIT_SECONDS", 120.0)  # however busy the machine is
    untuned = entry(Costly(computes=1e-4), budget=Budget(epochs=2.0))
    tuned = replace(untuned, tuning=entry(Costly(), tuning=Grid(folds=2)).tuning)
    widths, rows = (10, 40, 160), Clouds(n=2_000)
    lengths = [entry(Costly(computes=1e-5), Clouds(d=d), budget=Budget(iterations=1000)) for d in widths]
    features = [entry(Gentle(), rows), entry(Gentle(), rows, features=Nystroem(landmarks=200))]
    single, search = estimates([untuned, tuned], tmp_path)
    assert (single.trainings, search.trainings) == (1, 7)
    assert search.seconds == pytest.approx(single.seconds * (1 + 6 / 2), rel=0.5)
    for width, cost in zip(widths, estimates(lengths, tmp_path), strict=True):
        assert cost.seconds == pytest.approx(0.01 * width, rel=0.5)
    plain, mapped = estimates(features, tmp_path)
    assert mapped.memory == 2_000 * 200 * 8 > plain.memory


def test_what_the_store_has_measured_is_not_probed_and_a_budget_in_seconds_is_its_own_price(tmp_path):
    run_entries([entry(Gentle())], Store(tmp_path))
    (cell,) = Store(tmp_path)
    runs, timed = estimates([entry(Gentle(), runs=3), entry(Gentle(), budget=Budget(seconds=7.0))], tmp_path)
    assert (runs.measured, runs.trainings) == (True, 2)
    assert runs.seconds == pytest.approx(2 * cell.record.result.train_seconds)
    assert timed.seconds == 7.0
