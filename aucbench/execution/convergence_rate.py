"""The rate at which a method approaches the certified minimum of its objective, beside the claimed one.

The suboptimality F(w) - F* is known at checkpoints evenly spaced in log t, F exactly over all pairs and F*
with a certificate. Only what lies well above the gap of the certificate counts. Of a rate such as 1/t the
exponent is that of the suboptimality against t on the tail of each curve. For `linear` and `superlinear` it
is the p of exp(-c (t - t0)^p), t0 being the first t of the tail, which is 1 for a linear rate; for `exact`
the first iteration alone is looked at. Where a method that knows when it has converged declares no objective,
the squared distance from its last weights takes the place of the suboptimality.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from aucbench.contracts import Access, Objective
from aucbench.errors import AucbenchError, CellError
from aucbench.evaluation.pair_objective import declared_objective, objective_value
from aucbench.evaluation.power_law import Interval, Verdict, exponent, group_interval, verdict
from aucbench.execution.optimum import SMOOTH, entry_optimum
from aucbench.execution.work_units import CellUnit
from aucbench.execution.worker import prepared_data, task_of
from aucbench.humanize import counted
from aucbench.registry import Catalog
from aucbench.runner.cell import run_cell
from aucbench.runner.task import StopReason, Task
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.optimum_record import OptimumRecord
from aucbench.studies.store import Store

TOLERANCE = 0.15  # of an exponent of t
CHECKPOINTS = 40
TAIL = 1.5  # decades of t whose points are fitted
FEWEST_POINTS = 5
PLANNED = 8  # runs in the place of a curve, of a method that must know the number of iterations
ABOVE = 10.0  # times the gap and the rounding of F that a suboptimality must be to count
ROUNDING = 1e-14
FEW = 64  # whose time is that of a start; blocks of pairs need some
TRIED = 2_000  # iterations after which the speed is known
MOST_ITERATIONS = 1_000_000
MOST_PASSES = 50  # over all rows
POWERS = {"1/t": 1.0, "1/sqrt(t)": 0.5, "1/t^2": 2.0}
OF_DISTANCE = " of |w - w_end|^2"  # of a method that declares no objective
ORDERS = ("linear", "superlinear", "quadratic")


class Effort(NamedTuple):
    """How much is measured."""

    seeds: int  # of each data set
    seconds: float  # of a run, at most
    datasets: int | None = None  # the first of the experiment; None for all


class RateFinding(Struct, frozen=True, kw_only=True):
    """What was measured of a claimed rate."""

    claimed: str
    verdict: Verdict
    why: str = ""  # there is nothing measured
    quantity: str = ""  # in words
    measured: Interval | None = None
    by_dataset: dict[str, list[float]] = {}  # of each seed
    iterations: dict[str, int] = {}  # of a run


def claimed_exponent(rate: str) -> float | None:
    """The power of t in a claimed rate, such as -0.5 for 1/sqrt(t); None where it is no power of t."""
    if rate in POWERS:
        return -POWERS[rate]
    if found := re.fullmatch(r"t\^\(?-(\d+)(?:/(\d+))?\)?", rate):
        return -int(found[1]) / int(found[2] or 1)
    return None


def can_be_measured(algorithm: Any) -> bool:
    """Whether a method declares an objective, or stops at weights that it approaches at some order."""
    return hasattr(algorithm, "objective") or (
        algorithm.claims.rate in ORDERS and all(hasattr(algorithm, name) for name in ("done", "weights"))
    )


def rate_finding(catalog: Catalog, entries: Sequence[Entry], store: Store, effort: Effort) -> RateFinding:
    """Measure the rate of a method on several data sets, one entry each."""
    cls = entries[0].algorithm.cls
    claimed: str = cls.claims.rate
    slopes: dict[str, list[float]] = {}
    lengths: dict[str, int] = {}
    troubles, blown_up = [], []
    declares = hasattr(cls, "objective")
    for entry in entries[: effort.datasets]:
        title = entry.dataset.title
        try:
            curves = _curves(catalog, entry, store, effort) if declares else _distances(entry)
        except AucbenchError as error:
            troubles.append(f"{title}: {error}")
            continue
        if count := sum(curve.blows_up for curve in curves):
            blown_up.append(f"{title}: {count} of {counted(len(curves), 'run')}")
            continue
        found = [statistic(claimed, *curve[:4]) for curve in curves]
        slopes[title] = [value for value in found if not math.isnan(value)]
        lengths[title] = max(int(curve.t[-1]) for curve in curves)
        if not slopes[title]:
            del slopes[title]
            troubles.append(f"{title}: too few points above the gap of the certificate")
    if blown_up:
        why = f"runs diverge, or end with a larger objective than zero weights have ({', '.join(blown_up)})"
        return RateFinding(claimed=claimed, verdict=Verdict.unknown, why=why)
    if not slopes:
        return RateFinding(claimed=claimed, verdict=Verdict.unknown, why=troubles[0])
    measured = group_interval(list(slopes.values()))
    return RateFinding(
        claimed=claimed,
        verdict=rate_verdict(claimed, measured),
        why="; ".join(troubles),
        quantity=_quantity(claimed) + ("" if declares else OF_DISTANCE),
        measured=measured,
        by_dataset=slopes,
        iterations=lengths,
    )


class Curve(NamedTuple):
    """Suboptimality over iterations."""

    t: np.ndarray  # (k,) iterations, from 1
    suboptimality: np.ndarray  # (k,)
    least: float  # from which on a suboptimality is known
    size: float  # that it is relative to
    blows_up: bool = False  # diverges, or ends with a larger objective than zero weights have


def statistic(claimed: str, t: np.ndarray, s: np.ndarray, least: float, size: float) -> float:
    """What a curve says of a claim (see the module); NaN where it says nothing."""
    if claimed == "exact":
        return float(max(s[0], ROUNDING * size) / size)
    known = s > least
    if not known.all():  # a curve that has reached the minimum stays there
        known[np.argmin(known) :] = False
    t, s = t[known], s[known]
    tail = t >= (t[-1] if len(t) else 0) / 10.0**TAIL
    t, s = t[tail], s[tail]
    if claimed in ORDERS:
        # From the first point on, as what was gained before it is no part of the law.
        falling = s < 0.5 * s[:1]
        enough = falling.sum() > 1
        return exponent((t - t[:1])[falling], np.log(s[:1] / s[falling])) if enough else math.nan
    return exponent(t, s) if len(t) >= FEWEST_POINTS else math.nan


def rate_verdict(claimed: str, measured: Interval) -> Verdict:
    """What an interval of the statistic says of a claimed rate."""
    if claimed == "exact":
        return Verdict.holds if measured.estimate <= SMOOTH else Verdict.slower
    if claimed == "linear":
        return verdict(-measured, -1.0, -1.0, TOLERANCE)
    if claimed in ORDERS:  # above 1, without an end
        return verdict(-measured, -math.inf, -1.0, 0.0)
    power = claimed_exponent(claimed)
    return Verdict.unknown if power is None else verdict(measured, power, power, TOLERANCE)


def _quantity(claimed: str) -> str:
    if claimed == "exact":
        return "relative suboptimality after one iteration"
    return "p of exp(-c (t - t0)^p)" if claimed in ORDERS else "exponent of t"


def _curves(catalog: Catalog, entry: Entry, store: Store, effort: Effort) -> list[Curve]:
    """Of each seed; rows and minimum are the same for all."""
    found = entry_optimum(catalog, prepared_data(), entry, store)
    task = _task(entry)
    objective = declared_objective(entry.algorithm.instance, task.problem(None))
    task = replace(
        task, keep_weights=True, epochs=None, iterations=_iterations(task, effort.seconds), seconds=None
    )
    curves = []
    for seed in range(effort.seeds if task.access is not Access.full else 1):
        curve = _curve(replace(task, seed=seed, order_seed=seed), objective, found.record)
        if len(curve.t) or curve.blows_up:
            curves.append(curve)
    return curves


def _distances(entry: Entry) -> list[Curve]:
    """The squared distance from the weights at which a method stops, in the place of a suboptimality.

    Both fall at the same order where an objective is strongly convex. The weights at the end are no exact
    minimum: distances as short as the last step do not count.
    """
    task = _task(entry)
    task = replace(task, keep_weights=True, epochs=None, iterations=MOST_PASSES, seconds=None)
    outcome = run_cell(task)
    kept = outcome.checkpoint_weights
    if outcome.stop_reason is not StopReason.converged or kept is None or len(kept) < 2:
        raise CellError(f"it did not converge within {MOST_PASSES} iterations")
    distances = ((kept[:-1] - kept[-1]) ** 2).sum(axis=1)
    size = float(kept[-1] @ kept[-1])
    return [
        Curve(outcome.iteration[:-1], distances, ABOVE * max(float(distances[-1]), ROUNDING * size), size)
    ]


def _task(entry: Entry) -> Task:
    """The first cell of an entry."""
    unit = CellUnit("", prepared_data().digests(entry), entry, entry.cells()[0])
    return task_of(unit, prepared_data().prepared(unit), {}, CHECKPOINTS)


def _iterations(task: Task, seconds: float) -> int:
    """As many as take about so long; a method that ends when it has converged has an end of its own."""
    if task.access is Access.full:
        return MOST_PASSES
    times = []
    for count in (FEW, FEW, TRIED):  # the first one compiles
        begun = thread_time()
        run_cell(replace(task, epochs=None, iterations=count, seconds=None, checkpoints=2))
        times.append(thread_time() - begun)
    spent = max(times[2] - times[1], 1e-9)  # drawing the rows included, which may take longer than the method
    return int(np.clip(seconds / spent * (TRIED - FEW), TRIED, MOST_ITERATIONS))


def _curve(task: Task, objective: Objective, optimum: OptimumRecord) -> Curve:
    points: list[tuple[int, np.ndarray]] = []
    diverges = False
    if getattr(task.algorithm, "plans", False):
        total = int(task.iterations or 0)
        for count in np.geomspace(total / 10.0**TAIL, total, PLANNED).astype(int).tolist():
            outcome = run_cell(replace(task, iterations=count, checkpoints=1))
            diverges |= outcome.stop_reason is StopReason.diverged
            if outcome.stop_reason is not StopReason.diverged and outcome.weights is not None:
                points.append((count, outcome.weights))
    else:
        outcome = run_cell(task)
        kept, diverges = outcome.checkpoint_weights, outcome.stop_reason is StopReason.diverged
        points = list(zip(outcome.iteration.tolist(), [] if kept is None else kept, strict=False))
    with np.errstate(over="ignore", invalid="ignore"):
        values = [objective_value(objective, w, task.X @ w, task.y) for _, w in points]
    start = objective_value(objective, np.zeros(task.X.shape[1]), np.zeros(len(task.y)), task.y)
    return Curve(
        np.array([t for t, _ in points]),
        np.array(values) - optimum.value,
        ABOVE * (optimum.gap + ROUNDING * optimum.size),
        optimum.size,
        diverges or bool(values and values[-1] > start),
    )
