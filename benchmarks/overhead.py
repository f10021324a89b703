"""Cost of a cell of a study besides its training and its evaluations: planning, preparing, storing."""

import tempfile
from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

import aucbench
from aucbench.config.build import build_study
from aucbench.config.compose import compose_jobs
from aucbench.config.overrides import Request
from aucbench.execution import worker
from aucbench.execution.execute import execute_study
from aucbench.studies.default_settings import Running
from aucbench.studies.store import Store
from aucbench.studies.study import Observer, Study
from benchmarks.measuring import Measure

METHODS = ("solam", "fsauc", "psam")
DATA = ("seed=0", "seed=1", "seed=2", "seed=3")
WANTED = 10.0  # ms


class _Clock(Observer):
    """Seconds from the end of one cell to the end of the next, and of its training and evaluations."""

    def __init__(self) -> None:
        self.ends = [perf_counter()]
        self.inside = [0.0]

    def cell_finished(self, entry: Any, failure: Any) -> None:
        self.ends.append(perf_counter())
        self.inside.append(0.0)

    def timed(self, task: Any, *rest: Any) -> Any:
        """`run_cell`, on the clock."""
        start = perf_counter()
        try:
            return _RUN_CELL(task, *rest)
        finally:
            self.inside[-1] += perf_counter() - start

    def overheads(self) -> list[float]:
        """Milliseconds of each cell."""
        whole = [end - start for start, end in zip(self.ends, self.ends[1:], strict=False)]
        return [1e3 * (total - inside) for total, inside in zip(whole, self.inside, strict=False)]


_RUN_CELL = worker.run_cell


def cells() -> Iterator[Measure]:
    """Sixty cells, of three methods on four generated data sets with five seeds, in this process."""
    catalog = aucbench.catalog()
    jobs = [
        (f"algo={name}", "dataset=gaussian", f"dataset.{data}", "runs=5") for data in DATA for name in METHODS
    ]
    entries = [build_study(catalog, compose_jobs(catalog, Request(job))).entries[0] for job in jobs]
    clock = _Clock()
    for _ in range(2):  # the first compiles
        clock = _Clock()
        worker.run_cell = clock.timed
        try:
            with tempfile.TemporaryDirectory() as folder:
                execute_study(Study(entries, Running(parallel=1)), Store(folder), clock)
        finally:
            worker.run_cell = _RUN_CELL
    found = clock.overheads()
    note = f"median of {len(found)}; largest {max(found):.1f} ms"
    yield Measure("ms a cell beside training and evaluation", median(found), WANTED, at_most=True, note=note)


MEASURES = {"overhead": cells}
