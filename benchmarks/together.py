"""Settings of one method run together over one order beside separate runs, init and scoring included.

What is left of a run whose rows lie in the cache and are drawn once is the arithmetic of its steps, nine
tenths of the time at 22 to 123 features; its share of a separate run bounds what can be gained.
"""

from collections.abc import Iterator
from itertools import cycle, islice, product
from statistics import median
from typing import Any

import numpy as np

import aucbench
from aucbench.errors import ParameterError
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Outcome, Task
from benchmarks import shapes
from benchmarks.measuring import Measure, seconds
from benchmarks.shapes import Shape

FAST = ("solam", "spam", "psam", "asam", "uni_exp", "roc_sgd")  # bound by memory where rows are many
SETTINGS = 32  # of their grids
ROUNDS = 3
FEW = 4  # settings of every other method
BUFFERED = ("oam_seq", "oam_gra", "cbr_diag", "cbr")  # keep rows, which all settings share
EIGHT = 8  # settings of those
ITERATIONS = {"adaoam": 5_000, "cbr": 5_000, "opauc": 5_000, "mba": 100, "spdam": 20}  # not a whole epoch
# of access full, which run one after the other
UNMEASURED = ("bam", "log_reg", "ls_svm", "svm_or", "uni_log", "uni_square")
MOMENTS = {"opauc": 3.0, "adaoam": 3.0}  # one matrix product instead of many
TOLERANCE = 1e-9  # of methods that train settings at once
WANTED = {"covtype": 1.6, "a9a": 2.0, "ijcnn1": 1.6}


def settings(name: str, count: int) -> list[Any]:
    """`count` points of a method's own grid, evenly spaced, repeated where the grid is smaller."""
    cls: Any = aucbench.catalog().algorithm(name)
    points = []
    for values in product(*cls.grid.values()):
        try:
            points.append(cls(**dict(zip(cls.grid, values, strict=True))))
        except ParameterError:  # values that do not go together
            continue
    return list(islice(cycle(points[:: max(1, len(points) // count)]), count))


def tasks(name: str, shape: Shape, count: int) -> list[Task]:
    """The settings on a fifth of the rows for testing and the others for training, scored at the end."""
    X: Any = shape.X
    catalog, cut = aucbench.catalog(), X.shape[0] // 5
    losses = getattr(catalog.algorithm(name), "losses", ())
    loss = catalog.loss(losses[0])() if losses else None
    arrays = X[cut:], shape.y[cut:], X[:cut], shape.y[:cut]
    iterations = ITERATIONS.get(name)
    return [
        Task(algorithm, loss, *arrays, iterations=iterations, checkpoints=1)
        for algorithm in settings(name, count)
    ]


def compared(name: str, data: str, shape: Shape, count: int, wanted: float) -> Measure:
    """Separate runs beside one run together, the results of which must be the same.

    To the last bit, unless the method trains its settings at once, in sums of another order.
    """
    found: dict[str, list[Any]] = {}
    group = tasks(name, shape, count)

    def together() -> None:
        found["together"] = run_grid(group)

    def separate() -> None:
        found["separate"] = [run_cell(task) for task in group]

    rounds = [(seconds(separate), seconds(together)) for _ in range(1 + ROUNDS)][1:]
    for one, other in zip(found["together"], found["separate"], strict=True):
        tolerance = TOLERANCE if hasattr(aucbench.catalog().algorithm(name), "together") else 0.0
        assert _agree(one, other, tolerance), f"{name} on {data}: {one} together, {other} alone"
    alone, each = (1e3 / count * median(times) for times in zip(*rounds, strict=True))
    ratio = median(slow / fast for slow, fast in rounds)
    note = f"{each:.2f} ms each, {alone:.2f} ms alone"
    return Measure(f"{count} separate / together: {name}, {data}", ratio, wanted, note=note)


def _agree(one: Outcome, other: Outcome, tolerance: float) -> bool:
    if one.stop_reason is not other.stop_reason or one.iteration.tobytes() != other.iteration.tobytes():
        return False
    pairs = [(one.auc, other.auc)]
    if one.weights is not None and other.weights is not None:
        pairs.append((one.weights, other.weights))
    return all(np.allclose(*pair, rtol=0, atol=tolerance * np.abs(pair).max(initial=0.0)) for pair in pairs)


def grids() -> Iterator[Measure]:
    """The fast methods over their grids, and every other method, which must not become slower."""
    for data, wanted in WANTED.items():
        for name in FAST:
            yield compared(name, data, getattr(shapes, data)(), SETTINGS, wanted)
    for name in BUFFERED:
        yield compared(name, "a9a", shapes.a9a(), EIGHT, 3.0)
    for name in sorted(aucbench.catalog().plugins["algorithms"]):  # type: ignore[index]
        if name not in FAST + BUFFERED + UNMEASURED:
            yield compared(name, "a9a", shapes.a9a(), FEW, 0.95)
    for name, wanted in MOMENTS.items():
        for data in ("ijcnn1", "a9a", "mnist"):
            yield compared(name, data, getattr(shapes, data)(), SETTINGS, wanted)


MEASURES = {"together": grids}
