"""The rate at which a method approaches the certified minimum of its objective, beside the claimed one.

The suboptimality F(w) - F* is known at checkpoints evenly spaced in log t, F exactly over all pairs and F*
with a certificate. Only what lies well above the gap of the certificate counts. For a rate such as 1/t the
measured exponent is that of the suboptimality against t on the tail of each curve. For `linear` and
`superlinear` it is the p of exp(-c (t - t0)^p), t0 being the first t of the tail, which is 1 for a linear
rate; for `exact` only the first iteration is used. Where a method that knows when it has converged declares
no objective, the squared distance from its last weights takes the place of the suboptimality.
"""

import math
import re
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import aucbench
from aucbench import Access, AucbenchError, CellError, kernels
from studies.claims.power_law import Finding, Interval, Verdict, exponent, group_interval, verdict

TOLERANCE = 0.15  # tolerance of an exponent of t
CHECKPOINTS = 40
TAIL = 1.5  # decades of t whose points are fitted
FEWEST_POINTS = 5
PLANNED_RUNS = 8  # run lengths of a method that must know the number of iterations in advance
ABOVE_GAP = 10.0  # a suboptimality below so many gaps of the certificate is not known
ROUNDING = 1e-14  # rounding error of F
EXACT = 1e-8  # relative suboptimality of an exact method
PROBE_ITERATIONS = 2_000  # iterations of the run that measures the speed
MOST_ITERATIONS = 1_000_000
MOST_PASSES = 50  # most passes over all rows
POWERS = {"1/t": 1.0, "1/sqrt(t)": 0.5, "1/t^2": 2.0}
ORDERS = ("linear", "superlinear", "quadratic")
DATASETS = {
    "gaussian": ["dataset.n=1000", "dataset.d=10", "dataset.positive_rate=0.3"],
    "breast_cancer": [],
    "label_noise": ["dataset.n=1000", "dataset.d=10"],
    "hard_margin": ["dataset.n=1000", "dataset.d=10"],
    "wine": [],
    "digits": [],
}


class Effort(NamedTuple):
    """The extent of the measurements."""

    seeds: int  # runs on each data set
    seconds: float  # approximate processor time of a run
    datasets: int = len(DATASETS)


def claimed_exponent(rate: str) -> float | None:
    """The power of t in a claimed rate, such as -0.5 for 1/sqrt(t); None if it is not a power of t."""
    if rate in POWERS:
        return -POWERS[rate]
    if match := re.fullmatch(r"t\^\(?-(\d+)(?:/(\d+))?\)?", rate):
        return -int(match[1]) / int(match[2] or 1)
    return None


def can_be_measured(method: Any) -> bool:
    """Whether a method declares an objective, or stops at weights that it approaches at some order."""
    return hasattr(method, "objective") or (
        method.claims.rate in ORDERS and all(hasattr(method, name) for name in ("done", "weights"))
    )


def rate_finding(overrides: Sequence[str], effort: Effort) -> Finding:
    """Measure the rate of the method that overrides of a run name, on several data sets."""
    slopes: dict[str, list[float]] = {}
    troubles, blown_up = [], []
    with tempfile.TemporaryDirectory() as store:
        for name in list(DATASETS)[: effort.datasets]:
            runs = Runs((*overrides, f"dataset={name}", *DATASETS[name]), store)
            try:
                curves = runs.curves(effort) if hasattr(runs.method, "objective") else [runs.distances()]
            except AucbenchError as error:
                troubles.append(f"{name}: {error}")
                continue
            if count := sum(curve.blows_up for curve in curves):
                blown_up.append(f"{name}: {count} of {len(curves)} run{'s'[: len(curves) > 1]}")
                continue
            values = [statistic(runs.claimed, *curve[:4]) for curve in curves]
            finite = [value for value in values if not math.isnan(value)]
            if finite:
                slopes[name] = finite
            else:
                troubles.append(f"{name}: too few points above the gap of the certificate")
    claimed = runs.claimed
    if blown_up:
        note = f"runs diverge, or end with a larger objective than zero weights have ({', '.join(blown_up)})"
        return Finding(claimed, "", Verdict.unknown, note)
    if not slopes:
        return Finding(claimed, "", Verdict.unknown, troubles[0])
    measured = group_interval(list(slopes.values()))
    text = f"{measured.estimate:.0e} after one iteration" if claimed == "exact" else str(measured)
    if claimed in ORDERS:
        text = f"p = {text}"
    return Finding(claimed, text, rate_verdict(claimed, measured), "; ".join(troubles))


class Curve(NamedTuple):
    """Suboptimality over iterations."""

    t: np.ndarray  # (k,) iterations, from 1
    suboptimality: np.ndarray  # (k,)
    least: float  # smaller values are not known
    size: float  # scale of the relative suboptimality
    blows_up: bool = False  # diverges, or ends with a larger objective than zero weights have


def statistic(claimed: str, t: np.ndarray, s: np.ndarray, least: float, size: float) -> float:
    """The measured exponent of a curve, see the module; NaN where the curve is too short."""
    if claimed == "exact":
        return float(max(s[0], ROUNDING * size) / size)
    mask = s > least
    if not mask.all():  # a curve that has reached the minimum stays there
        mask[np.argmin(mask) :] = False
    t, s = t[mask], s[mask]
    tail = t >= (t[-1] if len(t) else 0) / 10.0**TAIL
    t, s = t[tail], s[tail]
    if claimed in ORDERS:
        # From the first point on: any decrease before it is not part of the law.
        falling = s < 0.5 * s[:1]
        enough = falling.sum() > 1
        return exponent((t - t[:1])[falling], np.log(s[:1] / s[falling])) if enough else math.nan
    return exponent(t, s) if len(t) >= FEWEST_POINTS else math.nan


def rate_verdict(claimed: str, measured: Interval) -> Verdict:
    """The verdict of an interval of the measured exponent on a claimed rate."""
    if claimed == "exact":
        return Verdict.holds if measured.estimate <= EXACT else Verdict.slower
    if claimed == "linear":
        return verdict(-measured, -1.0, -1.0, TOLERANCE)
    if claimed in ORDERS:  # above 1, without an upper bound
        return verdict(-measured, -math.inf, -1.0, 0.0)
    power = claimed_exponent(claimed)
    return Verdict.unknown if power is None else verdict(measured, power, power, TOLERANCE)


class Runs:
    """Runs of a method on the same training rows of a data set; minima are found once and kept in a store."""

    def __init__(self, overrides: Sequence[str], store: str):
        self._overrides = (*overrides, f"store.path={store}", "split_seed=0")
        name = next(override for override in overrides if override.startswith("algo=")).partition("=")[2]
        self.method = aucbench.catalog().algorithm(name)
        self.claimed: str = self.method.claims.rate

    def run(self, *overrides: str) -> tuple[Any, ...]:
        """The cells of a run with more overrides."""
        return aucbench.run(*self._overrides, *overrides).cells

    def curves(self, effort: Effort) -> list[Curve]:
        """One curve for each seed."""
        count, is_full = MOST_PASSES, self.method.access == Access.full
        if not is_full:
            (probe,) = self.run(f"budget.iterations={PROBE_ITERATIONS}", "budget.checkpoints=2")
            speed = probe.curve["cpu_seconds"][-1] / probe.curve["iteration"][-1]
            count = int(np.clip(effort.seconds / speed, PROBE_ITERATIONS, MOST_ITERATIONS))
        options = ("metrics=[objective]", f"runs={1 if is_full else effort.seeds}")
        if getattr(self.method, "plans", False):
            lengths = np.geomspace(count / 10.0**TAIL, count, PLANNED_RUNS).astype(int).tolist()
            groups = [self.run(*options, f"budget.iterations={k}", "budget.checkpoints=1") for k in lengths]
            return [_curve(cells) for cells in zip(*groups, strict=True)]
        cells = self.run(*options, f"budget.iterations={count}", f"budget.checkpoints={CHECKPOINTS}")
        return [_curve([cell]) for cell in cells]

    def distances(self) -> Curve:
        """The squared distance from the weights at which a method stops.

        It falls at the same order as the suboptimality where an objective is strongly convex. The weights at
        the end are no exact minimum: distances as short as the last step do not count.
        """
        (cell,) = self.run(
            f"budget.iterations={MOST_PASSES}",
            f"budget.checkpoints={CHECKPOINTS}",
            "store.weights=checkpoints",
        )
        weights = cell.checkpoint_weights
        if cell.record.result.stop_reason != "converged" or weights is None or len(weights) < 2:
            raise CellError(f"it did not converge within {MOST_PASSES} iterations")
        distances = ((weights[:-1] - weights[-1]) ** 2).sum(axis=1)
        size = float(weights[-1] @ weights[-1])
        least = ABOVE_GAP * max(float(distances[-1]), ROUNDING * size)
        return Curve(cell.curve["iteration"][:-1], distances, least, size)


def _curve(cells: Sequence[Any]) -> Curve:
    """The curve of a run, or of the ends of several runs of different lengths."""
    if any(cell.diverged for cell in cells):
        return Curve(np.empty(0), np.empty(0), 0.0, 1.0, blows_up=True)
    measured = cells[0].record.measures["objective"]
    minimum = measured.minimum
    if not minimum or minimum.value is None:
        raise CellError(minimum.reason if minimum else measured.reason)
    t = np.concatenate([cell.curve["iteration"] for cell in cells])
    values = np.concatenate([cell.curve["objective"] for cell in cells])
    least = ABOVE_GAP * (minimum.gap + ROUNDING * minimum.size)
    blows_up = bool(values[-1] > _objective_at_zero(cells[0].record))
    return Curve(t, values - minimum.value, least, minimum.size, blows_up)


def _objective_at_zero(record: Any) -> float:
    """The loss of a margin of 0, as regularisers vanish at zero weights."""
    _, loss = instances(record)
    return float(loss.value(0.0, kernels.theta(loss)))


def instances(record: Any) -> tuple[Any, Any]:
    """The method of a record with its parameters, and its loss or None."""
    catalog, loss = aucbench.catalog(), record.loss
    return (
        catalog.algorithm(record.algorithm.name)(**record.algorithm.parameters),
        loss and catalog.loss(loss.name)(**loss.parameters),
    )
