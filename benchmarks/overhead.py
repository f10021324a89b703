"""Cost of a study besides training and evaluating: composing, planning, resuming, and each cell.

The study of `planning` has 42 methods, 150 data sets and 10 runs, 63,000 cells; all figures are seconds of
processor time of one process.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median
from time import process_time
from typing import Any

import numpy as np

import aucbench
from aucbench.config.build import build_study
from aucbench.config.words import Request
from aucbench.contracts.validation import Family
from aucbench.registry import Catalog
from aucbench.studies.execution import worker
from aucbench.studies.execution.execute import execute_study, plan_study
from aucbench.studies.store import Store
from aucbench.studies.study import Observer, Study
from benchmarks.measuring import Measure
from benchmarks.real_sets import catalog_with

METHODS = ("solam", "fsauc", "psam")
SETS, RUNS = 150, 10
PLANNED, RESUMED = 20.0, 30.0  # s for the whole study
A_CELL = 3.0  # ms besides training


def _tiny(number: int) -> type:
    """A data set of sixty rows that are drawn from a normal distribution."""

    @dataclass(frozen=True)
    class Tiny:
        """Sixty rows of five features."""

        name = f"tiny_{number}"

        def load(self) -> aucbench.Samples:
            X = np.random.default_rng(number).normal(size=(60, 5))
            return aucbench.Samples(X, np.where(X[:, 0] > 0.2, 1, -1))

    return Tiny


def _catalog() -> Catalog:
    """All plugins, and the tiny data sets."""
    return catalog_with(tuple(map(_tiny, range(SETS))))


def _study(catalog: Catalog, methods: "tuple[str, ...]", sets: int) -> Study:
    names = ",".join(f"tiny_{number}" for number in range(sets))
    overrides = (f"algo={','.join(methods)}", f"dataset={names}", f"runs={RUNS}")
    common = ("tracking=none", "store.path=null", "budget.iterations=50", "budget.checkpoints=5")
    return build_study(catalog, Request((*overrides, *common), multirun=True))


def planning() -> Iterator[Measure]:
    """A study of all methods on 150 data sets is composed and planned, and resumed when all is stored."""
    catalog = _catalog()
    methods = tuple(catalog.plugins[Family.algorithms])
    with tempfile.TemporaryDirectory() as folder:
        store, start = Store(folder), process_time()
        study = _study(catalog, methods, SETS)
        plan = plan_study(study, store)
        planned = process_time() - start
        note = f"{len(plan.entries)} entries, {len(plan.cells())} cells"
        yield Measure("s to compose and plan a study", planned, PLANNED, at_most=True, note=note)
        sample = replace(study, entries=[e for e in study.entries if e.algorithm.name == METHODS[0]][:1])
        execute_study(sample, store)
        (content, *_) = [file.read_bytes() for file in (store.path / "cells").rglob("*.npz")]
        for cell in plan.cells():  # each gets the bytes of the cell that was run
            file = store.path / "cells" / cell.key[:2] / f"{cell.key}.npz"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        start = process_time()
        result = execute_study(_study(catalog, methods, SETS), store)
        assert result.stored == len(plan.cells())
        note = f"{result.stored} cells in the store"
        yield Measure(
            "s to resume a study that is done", process_time() - start, RESUMED, at_most=True, note=note
        )


class _Clock(Observer):
    """Milliseconds of processor time from the end of one cell to the end of the next, without training."""

    def __init__(self) -> None:
        self.overheads: list[float] = []
        self._trained = 0.0
        self._last = process_time()

    def cell_finished(self, entry: Any, failure: Any) -> None:
        end = process_time()
        self.overheads.append(1e3 * (end - self._last - self._trained))
        self._last, self._trained = end, 0.0

    def timed(self, task: Any, *args: Any) -> Any:
        """`run_cell`, whose training does not count."""
        outcome = _RUN_CELL(task, *args)
        self._trained += outcome.total_cpu_seconds
        return outcome


_RUN_CELL = worker.run_cell


def cells() -> Iterator[Measure]:
    """Nine hundred cells, of three methods on thirty small data sets, in this process."""
    study, clock = _study(_catalog(), METHODS, 30), _Clock()
    for _ in range(2):  # the first round compiles
        clock = _Clock()
        worker.run_cell = clock.timed
        try:
            with tempfile.TemporaryDirectory() as folder:
                execute_study(study, Store(folder), clock)
        finally:
            worker.run_cell = _RUN_CELL
    costs = clock.overheads
    note = f"mean {sum(costs) / len(costs):.2f}, largest {max(costs):.1f} ms, of {len(costs)}"
    yield Measure("ms a cell beside its training", median(costs), A_CELL, at_most=True, note=note)


MEASURES = {"overhead": cells, "planning": planning}
