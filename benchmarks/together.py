"""Settings of one method run together over one order beside separate runs, init and scoring included.

With the rows in the cache and drawn once, a run is left with the arithmetic of its steps, nine tenths of the
time at 22 to 123 features; the share of the arithmetic in a separate run bounds the gain. Methods of access
`full` share work that does not depend on the setting, and most begin at the solution of a neighbour.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle, islice, product
from statistics import median
from typing import Any

import numpy as np

import aucbench
from aucbench.contracts import MethodFacts
from aucbench.errors import ParameterError
from aucbench.runner import cell
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Outcome, Task
from benchmarks import shapes
from benchmarks.measuring import Measure, seconds
from benchmarks.shapes import Shape

FAST = ("solam", "regsolam", "spam", "psam", "uni_exp", "roc_sgd")  # rules, which train settings in lockstep
SETTINGS = 32  # settings in each grid
ROUNDS = 3
FEW = 4  # settings of every other method
BUFFERED = ("oam_seq", "oam_gra", "cbr_diag")  # keep rows, which all settings share
EIGHT = 8  # settings of each method in `BUFFERED`
ITERATIONS = {"adaoam": 5_000, "cbr": 5_000, "opauc": 5_000, "mba": 100, "spdam": 20}  # fewer than one epoch
MOMENTS = ("opauc", "adaoam")  # methods with one matrix product instead of many
SPEEDUPS = {"ijcnn1": 3.0, "a9a": 3.0, "mnist": 6.0}  # least speed-up of `MOMENTS`
TOLERANCE = 1e-9  # largest relative difference from settings trained alone
ON_A_PATH = {  # methods of access full: data, and least speed-up
    "ls_svm": ("mnist", 10.0),
    "uni_square": ("mnist", 6.0),
    "uni_log": ("a9a", 1.0),
    "log_reg": ("a9a", 1.2),
    "bam": ("ijcnn1", 1.5),
    "svm_or": ("ijcnn1", 1.0),
}
VALUES = tuple(2.0**power for power in range(-10, 11))  # values of lam or C, as in the table of OPAUC's paper
NOISE = 0.5  # noise of the scores behind the labels, relative to their standard deviation
CERTIFIED = 1e-9  # difference of AUCs that the tolerance of a method of access full allows
WANTED = {"covtype": 3.0, "a9a": 3.0, "ijcnn1": 3.0}


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


def path(name: str) -> list[Any]:
    """The method with each of VALUES in the only field of its grid."""
    cls: Any = aucbench.catalog().algorithm(name)
    (field,) = cls.grid
    return [cls(**{field: value}) for value in VALUES]


@cache
def learnable(data: str) -> Shape:
    """The shape with labels that a linear method can learn, for the work of a solver depends on them."""
    shape = getattr(shapes, data)()
    X: Any = shape.X
    rng = np.random.default_rng(2)
    scores = X @ rng.standard_normal(X.shape[1])
    scores += NOISE * scores.std() * rng.standard_normal(len(scores))
    is_positive = scores > np.quantile(scores, np.mean(shape.y == -1))
    return shape._replace(y=np.where(is_positive, 1, -1).astype(np.int8))


def tasks(name: str, shape: Shape, chosen: Sequence[Any]) -> list[Task]:
    """Tasks of the settings: a fifth of the rows for testing, the rest for training, scored at the end."""
    X: Any = shape.X
    catalog, cut = aucbench.catalog(), X.shape[0] // 5
    losses = MethodFacts(catalog.algorithm(name)).losses
    loss = catalog.loss(losses[0])() if losses else None
    arrays = X[cut:], shape.y[cut:], X[:cut], shape.y[:cut]
    iterations = ITERATIONS.get(name)
    return [Task(algorithm, loss, *arrays, iterations=iterations, checkpoints=1) for algorithm in chosen]


def compared(
    name: str, data: str, shape: Shape, chosen: Sequence[Any], target: float, rounds: int = ROUNDS
) -> Measure:
    """Separate runs beside one run together, the results of which must be the same.

    They are the same to the last bit where each setting is trained by its own steps, up to rounding where the
    method trains them at once, and to its tolerance where it is solved along a path.
    """
    cell.WORTH_COMPILING = 0.0  # compile always; the median leaves out the first round
    outcomes: dict[str, list[Any]] = {}
    group, count = tasks(name, shape, chosen), len(chosen)

    def together() -> None:
        outcomes["together"] = run_grid(group)

    def separate() -> None:
        outcomes["separate"] = [run_cell(task) for task in group]

    run_grid(group[:1])
    times = [(seconds(separate), seconds(together)) for _ in range(rounds)]
    for joint, single in zip(outcomes["together"], outcomes["separate"], strict=True):
        assert _same(name, joint, single), f"{name} on {data}: {joint} together, {single} alone"
    ms_alone, ms_together = (1e3 / count * median(column) for column in zip(*times, strict=True))
    ratio = median(slow / fast for slow, fast in times)
    note = f"{ms_together:.2f} ms each, {ms_alone:.2f} ms alone"
    return Measure(f"{count} separate / together: {name}, {data}", ratio, target, note=note)


def _same(name: str, first: Outcome, second: Outcome) -> bool:
    if first.stop_reason is not second.stop_reason:
        return False
    if name in ON_A_PATH:
        return bool(abs(first.auc[-1] - second.auc[-1]) <= CERTIFIED)
    tolerance = TOLERANCE if MethodFacts(aucbench.catalog().algorithm(name)).together else 0.0
    pairs = [(first.auc, second.auc)]
    if first.weights is not None and second.weights is not None:
        pairs.append((first.weights, second.weights))
    return all(np.allclose(*pair, rtol=0, atol=tolerance * np.abs(pair).max(initial=0.0)) for pair in pairs)


def grids() -> Iterator[Measure]:
    """The fast methods over their grids, and every other method, which must not become slower."""
    for data, target in WANTED.items():
        for name in FAST:
            yield compared(name, data, getattr(shapes, data)(), settings(name, SETTINGS), target)
    for name in BUFFERED:
        yield compared(name, "a9a", shapes.a9a(), settings(name, EIGHT), 3.0)
    for name in sorted(aucbench.catalog().plugins["algorithms"]):  # type: ignore[index]
        if name not in (*FAST, *BUFFERED, *ON_A_PATH):
            yield compared(name, "a9a", shapes.a9a(), settings(name, FEW), 0.95)
    for name in MOMENTS:
        for data, target in SPEEDUPS.items():
            yield compared(name, data, getattr(shapes, data)(), settings(name, SETTINGS), target)


def paths() -> Iterator[Measure]:
    """The methods of access full along a path of lam or C."""
    for name, (data, target) in ON_A_PATH.items():
        yield compared(name, data, learnable(data), path(name), target, rounds=1)


MEASURES = {"together": grids, "paths": paths}
