"""The cost of an iteration as a power of n, d, nnz and hyperparameters, beside the claimed formula.

Problems are designed: along a line one size doubles from point to point while the others stay. Each size has
two lines, at different values of the others. A time is that of many iterations in one call, in CPU time of
the thread, less that of a call with one iteration. The whole design is repeated several times with new
states, and each time gives one exponent of every variable, the mean over both lines. The interval is over the
repetitions: they lie as far apart in time as the measurement lasts, so that other work on the machine widens
it, and they are few, so that its quantiles are Student's.

The rows that are visited, and the columns in which sparse rows have values, are equally many at all sizes:
otherwise the data outgrow one cache after the other on the way, which looks like a power. A loop over all
columns, or all rows, is seen none the less.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import thread_time_ns
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucbench import Access, AucbenchError, Batch, CellError, ParameterError, Problem
from aucbench.contracts.claimed_formula import FUNCTIONS, evaluate
from studies.claims.power_law import Finding, Interval, Verdict, exponent, group_interval, verdict

TOLERANCE = 0.25  # tolerance of an exponent, for effects of caches and fixed costs
VISITED = 128  # rows that iterations visit
COLUMNS = 8192  # columns of the sparse data
Axes = dict[str, tuple[int, ...]]  # the sizes along each axis
WIDE = {"n": 1000, "d": 20_000, "nnz": 64}
WIDE_AXES: Axes = {
    "n": (500, 1000, 2000, 4000, 8000),
    "d": (20_000, 40_000, 80_000, 160_000, 320_000),
    "nnz": (64, 128, 256, 512, 1024),
}
WIDE_FULL = {"n": 4_000, "d": COLUMNS, "nnz": 64}  # size for methods that visit all rows in an iteration
WIDE_FULL_AXES: Axes = {
    "n": (2_000, 4_000, 8_000, 16_000),
    "d": (8_192, 16_384, 32_768, 65_536),
    "nnz": (16, 32, 64, 128, 256),
}
DENSE = {"n": 2000, "d": 64}  # more rows than columns
DENSE_AXES: Axes = {"n": (1000, 2000, 4000, 8000), "d": (48, 96, 192, 384)}
FULL_SIZES = 2  # factor of the sizes for methods that visit all rows: small products are slow
FIELD_AXIS = (8, 16, 32, 64, 128, 256)  # values of a hyperparameter
FEWEST_POINTS = 4  # fewest points of a line; sizes that a method refuses are left out
OTHER = 2  # factor of the other sizes on the second line
LARGEST_CALL = 1 << 16  # most iterations in a call
FEWEST = 4  # fewest iterations in a call
WARM = 4  # iterations that fill the buffers, relative to the largest hyperparameter of the claim
LONGEST = 20.0  # time limit without convergence, relative to the seconds of a call


class Sizes(NamedTuple):
    """A point of the design."""

    n: int
    d: int
    nnz: int  # non-zeros of a row
    fields: Mapping[str, int]  # hyperparameters


def cost_finding(algorithm: Any, loss: Any, repeats: int, seconds: float) -> Finding:
    """Measure the cost law of a method; a single time takes about `seconds`."""
    claimed: str = type(algorithm).claims.cost
    try:
        exponents = cost_exponents(algorithm, loss, repeats, seconds)
    except (AucbenchError, ValueError) as error:
        return Finding(claimed, "", Verdict.unknown, str(error))
    verdicts = [judged for _, judged in exponents.values()]
    worst = (Verdict.slower, Verdict.unknown, Verdict.faster, Verdict.holds)
    text = ", ".join(f"{name} {measured}" for name, (measured, _) in exponents.items())
    notes = [f"{judged} in {name}" for name, (_, judged) in exponents.items() if judged is not Verdict.holds]
    return Finding(claimed, text, next(kind for kind in worst if kind in verdicts), "; ".join(notes))


def cost_exponents(
    algorithm: Any, loss: Any, repeats: int, seconds: float
) -> dict[str, tuple[Interval, Verdict]]:
    """The measured exponent of each variable and its verdict; a ValueError as in `design`."""
    claimed = type(algorithm).claims.cost
    lines = design(algorithm, claimed)
    slopes: dict[str, list[float]] = {name: [] for name in lines}
    with threadpool_limits(1), np.errstate(all="ignore"):
        timers = {name: [_timers(algorithm, loss, line, seconds) for line in lines[name]] for name in lines}
        for _ in range(repeats):
            for name, pair in timers.items():
                slopes[name].append(float(np.mean([_slope(name, line) for line in pair])))
    exponents = {}
    for name, values in slopes.items():
        measured = group_interval([values])
        smallest, largest = claimed_exponents(algorithm, claimed, name, lines[name][0])
        exponents[name] = measured, verdict(measured, smallest, largest, TOLERANCE)
    return exponents


def names(claimed: str) -> set[str]:
    """The variables of a formula of a cost."""
    return set(re.findall(r"[a-z_]\w*", claimed)) - FUNCTIONS.keys()


def design(algorithm: Any, claimed: str) -> dict[str, list[list[Sizes]]]:
    """Lines of points for each variable; a ValueError where the claim has a variable that is no size."""
    parameters = names(claimed) - {"n", "d", "nnz"}
    if not all(isinstance(getattr(algorithm, name, None), int) for name in parameters):
        raise ValueError(f"'{claimed}' is no formula of n, d, nnz and hyperparameters")
    fields = {name: int(getattr(algorithm, name)) for name in parameters}
    is_full = Access(algorithm.access) is Access.full
    if _is_wide(algorithm, claimed):
        base, axes = (WIDE_FULL, WIDE_FULL_AXES) if is_full else (WIDE, WIDE_AXES)
    elif is_full:
        base, axes = {**DENSE, "n": FULL_SIZES * DENSE["n"]}, _times(DENSE_AXES, FULL_SIZES)
    else:
        base, axes = DENSE, DENSE_AXES

    def line(variable: str, values: Sequence[int], factor: int) -> list[Sizes]:
        points = []
        for value in values:
            sizes = {name: size * (factor if name in ("nnz", "d") else 1) for name, size in base.items()}
            sizes[variable] = value
            nnz = sizes.get("nnz", sizes["d"])
            point_fields = {name: sizes.get(name, default) for name, default in fields.items()}
            points.append(Sizes(sizes["n"], sizes["d"], nnz, point_fields))
        return points

    all_axes = {**axes, **dict.fromkeys(sorted(parameters), FIELD_AXIS)}
    return {name: [line(name, values, 1), line(name, values, OTHER)] for name, values in all_axes.items()}


def _times(axes: Axes, factor: int) -> Axes:
    return {name: tuple(factor * value for value in values) for name, values in axes.items()}


def _is_wide(algorithm: Any, claimed: str) -> bool:
    """Whether to use sparse rows: the claim is at most linear in d, and the method takes sparse rows."""
    linear = evaluate(claimed, {"d": 4.0}) <= 4.0 * evaluate(claimed, {"d": 1.0}) and "min" not in claimed
    return linear and "dense" not in getattr(algorithm, "requires", {})


def _timers(algorithm: Any, loss: Any, line: list[Sizes], seconds: float) -> list["_Timer"]:
    """Timers of the points that a method accepts; raises its refusal if too few points are left."""
    timers, refusal = [], None
    for point in line:
        try:
            timers.append(_Timer(replace(algorithm, **point.fields), loss, point, seconds))
        except ParameterError as error:
            refusal = error
    if refusal and len(timers) < FEWEST_POINTS:
        raise refusal
    return timers


def _slope(variable: str, timers: Sequence["_Timer"]) -> float:
    """The exponent of a variable along a line, measured once."""
    times = [timer.time() for timer in timers]
    return exponent(np.array([_size(timer.sizes, variable) for timer in timers]), np.array(times))


def claimed_exponents(
    algorithm: Any, claimed: str, variable: str, points: Sequence[Sizes]
) -> tuple[float, float]:
    """The smallest and the largest exponent of a variable in the terms of a claim, on a line of points."""
    is_full = Access(algorithm.access) is Access.full
    rises = []
    first, last = points[0], points[-1]
    for term in re.split(r" \+ (?![^(]*\))", claimed):
        ends = []
        for n, d, nnz, fields in (first, last):
            total = nnz * n if is_full else nnz
            ends.append(evaluate(term, {"n": n, "d": d, "nnz": total, **fields}))
        rises.append(math.log(ends[1] / ends[0]) / math.log(_size(last, variable) / _size(first, variable)))
    if variable == "nnz" and "nnz" not in claimed and "d" in names(claimed):
        rises.append(1.0)  # nnz is at most d
    return min(rises), max(rises)


def _size(point: Sizes, variable: str) -> int:
    return int(point.fields[variable] if variable in point.fields else getattr(point, variable))


class _Timer:
    """Iterations of a method on one designed problem, call after call."""

    def __init__(self, algorithm: Any, loss: Any, sizes: Sizes, seconds: float):
        self._algorithm, self._access = algorithm, Access(algorithm.access)
        self.sizes, self._seconds = sizes, seconds
        X, y = _rows(sizes, _is_wide(algorithm, type(algorithm).claims.cost))
        self._problem = Problem(X, y, LARGEST_CALL, loss)
        self._batch = Batch(X, y, np.zeros((1, 0), np.int64), self._access)
        if self._access is Access.full:
            self._solve()  # compiles
            return
        size = int(algorithm.batch_size(len(y))) if self._access is Access.minibatch else 1
        self._draw = _sampler(self._access, y[: max(VISITED, size)], size)
        self._begin()
        self._count = FEWEST
        while (spent := self._call(self._count)) < seconds and self._count < LARGEST_CALL:
            growth = min(8.0, 1.2 * seconds / max(spent, 1e-9))
            self._count = min(LARGEST_CALL, max(self._count + 1, int(self._count * growth)))

    def time(self) -> float:
        """Seconds of an iteration, from a new state on."""
        if self._access is Access.full:
            return self._solve()
        self._begin()
        fixed = float(np.median([self._call(1) for _ in range(3)]))
        total = self._call(self._count)
        self._check_finite(self._state)
        return (total - min(fixed, 0.5 * total)) / (self._count - 1)

    def _begin(self) -> None:
        """Start from a state with full buffers and compiled functions."""
        self._state = self._algorithm.init(self._problem, np.random.default_rng(0))
        self._call(2)
        self._call(max([FEWEST, *(WARM * value for value in self.sizes.fields.values())]))

    def _check_finite(self, state: Any) -> None:
        """Raise `CellError` for weights that are not finite: their steps may cost less, or more."""
        weights = getattr(self._algorithm, "weights", None)
        if weights is not None and not np.all(np.isfinite(weights(self._finalize(state)))):
            raise CellError("the weights do not stay finite in the runs that are timed")

    def _finalize(self, state: Any) -> Any:
        return self._algorithm.finalize(state) if hasattr(self._algorithm, "finalize") else state

    def _call(self, count: int) -> float:
        batch = self._batch.take(self._draw(count))
        begun = thread_time_ns()
        self._state = self._algorithm.step(self._state, batch)
        return max(1, thread_time_ns() - begun) * 1e-9

    def _solve(self) -> float:
        """Seconds of an iteration of a whole solution, including its share of the start."""
        problem = Problem(self._problem.X, self._problem.y, None, self._problem.loss)
        begun, count = thread_time_ns(), 0
        state = self._algorithm.init(problem, np.random.default_rng(0))
        limit = begun + LONGEST * self._seconds * 1e9
        while not count or (thread_time_ns() < limit and not self._algorithm.done(state)):
            state = self._algorithm.step(state, self._batch)
            count += 1
        self._finalize(state)
        spent = (thread_time_ns() - begun) * 1e-9 / count
        self._check_finite(state)
        return spent


def _sampler(access: Access, y: np.ndarray, size: int) -> Callable[[int], np.ndarray]:
    """A function that draws the rows of the next iterations, in the shape of the access."""
    rng = np.random.default_rng(0)
    if access is Access.pairs:
        classes = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
        return lambda count: np.column_stack([rng.choice(rows, count) for rows in classes])
    if access is Access.minibatch:
        return lambda count: np.stack([rng.choice(len(y), size, replace=False) for _ in range(count)])
    return lambda count: rng.integers(0, len(y), count)


def _rows(sizes: Sizes, is_sparse: bool) -> tuple[Any, np.ndarray]:
    """Rows of unit norm that a direction ranks better than chance, and alternating labels."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(sizes.n) % 2 == 0, 1, -1).astype(np.int8)
    if not is_sparse:
        X = rng.standard_normal((sizes.n, sizes.d)) + 0.3 * y[:, None]
        return X / np.linalg.norm(X, axis=1, keepdims=True), y
    nnz = min(sizes.nnz, COLUMNS)
    start, stride = rng.integers(0, COLUMNS, (2, sizes.n, 1))
    columns = np.sort((start + (2 * stride + 1) * np.arange(nnz)) % COLUMNS, axis=1)
    values = (rng.standard_normal(columns.shape) + 0.3 * y[:, None]) / math.sqrt(nnz)
    pointers = np.arange(sizes.n + 1) * nnz
    matrix = sparse.csr_matrix(
        (values.ravel(), columns.ravel().astype(np.int32), pointers), shape=(sizes.n, sizes.d)
    )
    return matrix, y
