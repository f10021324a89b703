"""Compares the estimates of `--dry-run` with real runs, on real data of AUCBENCH_MIRROR or the cache.

Both count the seconds in which methods are initialised, trained and scored. A study is planned first, and run
then; entries that take a fraction of a second show the limits of a probe. Tunings are left out, since a trial
counts as a training by itself.
"""

from collections.abc import Iterator
from statistics import median
from time import process_time
from typing import Any

from aucbench import api
from aucbench.studies.execution import worker
from benchmarks.measuring import Measure

ALONE = ["runs=5", "budget.epochs=3"]
STUDIES: tuple[tuple[str, str, list[str]], ...] = (
    ("solam", "a9a,covtype,w8a", ALONE),
    ("psam", "ijcnn1,usps", ALONE),
    ("fsauc", "a9a", ALONE),
    ("opauc", "usps", ALONE),
    ("oam_gra", "a9a", ALONE),
    ("cbr_diag", "splice", ["runs=5", "budget.epochs=20"]),
    ("uni_exp", "connect_4", ALONE),
    ("roc_sgd", "letter", ["runs=5", "budget.epochs=20"]),
    ("log_reg", "a9a", ["runs=2"]),
    ("svm_or", "german", ["runs=2"]),
)
WITHIN = 0.3  # largest median relative error of the estimates
FACTOR = 2.0  # largest factor between an estimate and the time


def taken(overrides: list[str]) -> float:
    """Processor seconds of the method's own work and of scoring in all trainings of a study."""
    seconds = 0.0

    def timed(run: Any) -> Any:
        def wrapped(*arguments: Any) -> Any:
            nonlocal seconds
            begun = process_time()
            result = run(*arguments)
            seconds += process_time() - begun
            return result

        return wrapped

    before = worker.run_cell, worker.run_grid
    worker.run_cell, worker.run_grid = map(timed, before)
    try:
        api.run_study(overrides)
    finally:
        worker.run_cell, worker.run_grid = before
    return seconds


def estimates() -> Iterator[Measure]:
    """The factor between estimate and time of every study, and the median deviation of the ratio from 1."""
    deviations = []
    for names, datasets, options in STUDIES:
        for data in datasets.split(","):
            overrides = [f"algo={names}", f"dataset={data}", *options]
            overrides += ["tracking=none", "store.path=null", "parallel=1"]
            (estimate,) = api.plan_study([*overrides, "--dry-run"]).estimates
            promised = estimate.seconds or float("nan")
            seconds = taken(overrides)
            ratio = promised / seconds
            deviations.append(abs(ratio - 1.0))
            note = f"{ratio:.2f}: {promised:.2f} s promised, {seconds:.2f} s taken"
            factor = max(ratio, 1.0 / ratio)
            name = f"factor between estimate and run: {names}, {data}"
            yield Measure(name, factor, FACTOR, at_most=True, note=note)
    yield Measure(
        f"median deviation of {len(deviations)} estimates", median(deviations), WITHIN, at_most=True
    )


MEASURES = {"estimates": estimates}
