"""Checks of losses."""

import ctypes
import inspect
import math
from dataclasses import fields
from itertools import product

import numpy as np
from numpy.typing import NDArray

from aucbench import kernels
from aucbench.contracts import LossFacts
from aucbench.contracts.validation import Family
from aucbench.kernels import loss_pieces
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken

GRID: NDArray[np.float64] = np.round(np.linspace(-8.0, 8.0, 161), 1)
# Smallest first, so that a failure shows the smallest failing margin.
MARGINS = np.array(sorted([*GRID, -30.0, -17.3, 17.3, 30.0, 1e-9, -1e-9], key=abs))
STEP = 1e-6  # step of finite differences
SLOPE = 1e-5  # relative tolerance of a derivative outside the one-sided slopes
EQUAL = 1e-12
WEIGHTS = (1e-3, 0.5, 20.0)  # weights of the loss in prox
AROUND = np.geomspace(1e-6, 100.0, 81)  # distances of the points compared with a prox
PROX_MARGINS = np.array(sorted(np.linspace(-5.0, 5.0, 21), key=abs))
FACTS = ("convex", "lipschitz", "smoothness")


class LossSubject(Subject):
    """A loss, and its functions at its parameter."""

    family = Family.losses

    @property
    def theta(self) -> float:
        """The parameter."""
        return kernels.theta(self.plugin)

    def value(self, m: float, name: str = "value") -> float:
        """The loss, or another of its functions, in plain Python."""
        function = getattr(self.plugin, name)
        result = function(float(m), self.theta)
        if not np.isscalar(result) or isinstance(result, str):
            advice = "end it with `return`" if result is None else "it must return a number"
            raise self.broken(name, f"of {m:g} and {self.theta:g} returned {result!r:.40}: {advice}.")
        return float(result)  # type: ignore[arg-type]  # np.isscalar does not narrow the type


def form(loss: LossSubject) -> None:
    """A loss has at most one parameter, a number; its functions are static methods of numbers."""
    cls, names = type(loss.plugin), [field.name for field in fields(loss.plugin)]
    if len(names) > 1:
        raise Broken(f"It has the fields {', '.join(names)}; compiled losses take one parameter at most.")
    if names and not isinstance(getattr(loss.plugin, names[0]), int | float):
        raise Broken(f"Its field {names[0]!r} must be a number, got {getattr(loss.plugin, names[0])!r}.")
    for name in ("value", "derivative", "prox"):
        if hasattr(cls, name) and not isinstance(inspect.getattr_static(cls, name), staticmethod):
            raise loss.broken(name, "is no static method: write @staticmethod above it, without self.")


def finite(loss: LossSubject) -> None:
    """Value and derivative are finite for margins from -30 to 30."""
    for m in MARGINS:
        for name in ("value", "derivative"):
            if not math.isfinite(result := loss.value(m, name)):
                raise Broken(f"{name}({m:g}, {loss.theta:g}) is {result}.")


def derivative(loss: LossSubject) -> None:
    """The derivative equals finite differences; at a kink it lies between the one-sided slopes."""
    for m in MARGINS:
        before, after = ((loss.value(m + step) - loss.value(m)) / step for step in (-STEP, STEP))
        slope, allowed = loss.value(m, "derivative"), SLOPE * (1.0 + abs(before) + abs(after))
        if not min(before, after) - allowed <= slope <= max(before, after) + allowed:
            raise Broken(
                f"derivative({m:g}, {loss.theta:g}) is {slope:.9g}, the slopes of `value` to the "
                f"left and right of that margin are {before:.9g} and {after:.9g}."
            )


def compiled(loss: LossSubject) -> None:
    """Value, derivative and prox give the same results when compiled as in plain Python."""
    addresses = kernels.compile_loss(loss.plugin)
    for name in ("value", "derivative", "prox")[: 3 if addresses.prox else 2]:
        margins, weights = (PROX_MARGINS, [0.5]) if name == "prox" else (MARGINS, [])
        kind = ctypes.CFUNCTYPE(*[ctypes.c_double] * (3 + len(weights)))
        function, plain = kind(getattr(addresses, name)), getattr(loss.plugin, name)
        for m in margins:
            arguments = (float(m), *weights, loss.theta)
            fast, expected = function(*arguments), float(plain(*arguments))
            if fast != expected and not abs(fast - expected) <= EQUAL * max(1.0, abs(expected)):
                raise Broken(f"{name}{arguments} is {fast!r} compiled and {expected!r} in plain Python.")


def prox(loss: LossSubject) -> str | None:
    """`prox` minimises c value(z) + (z - m)^2 / 2: no other tested point has a smaller value."""
    if LossFacts(loss.plugin).prox is None:
        return "has no `prox`"
    for c, m in product(WEIGHTS, PROX_MARGINS):
        closed = float(loss.plugin.prox(float(m), c, loss.theta))
        points = np.concatenate([closed + AROUND, closed - AROUND, m + MARGINS])
        value, *values = (c * loss.value(z) + (z - m) ** 2 / 2.0 for z in (closed, *points))
        if not value <= (least := min(values)) + 1e-10 * (1.0 + abs(least)):
            raise Broken(
                f"prox({m:g}, {c:g}, {loss.theta:g}) is {closed:.9g}, where the objective is {value:.9g}; "
                f"at {points[np.argmin(values)]:.9g} it is {least:.9g}."
            )
    return None


def facts(loss: LossSubject) -> str | None:
    """The declared facts hold: convexity, the Lipschitz constant, smoothness."""
    loss_facts = LossFacts(loss.plugin)
    declared = [name for name in FACTS if getattr(loss_facts, name) is not None]
    if not declared:
        return "declares no facts"
    margins = np.random.default_rng(0).permutation(GRID)
    for a, b in zip(margins[:80], margins[80:160], strict=True):
        va, vb = loss.value(a), loss.value(b)
        chord = (va + vb) / 2.0 + EQUAL * (1.0 + abs(va) + abs(vb))
        if loss_facts.convex and loss.value((a + b) / 2.0) > chord:
            raise Broken(f"It is not convex between the margins {min(a, b):g} and {max(a, b):g}.")
        bend = loss.value(a, "derivative") - loss.value(b, "derivative")
        for name, change in (("lipschitz", abs(va - vb)), ("smoothness", abs(bend))):
            constant = getattr(loss_facts, name)
            if constant is not None and change > constant * abs(a - b) * (1.0 + EQUAL) + EQUAL:
                subject = "The value" if name == "lipschitz" else "The derivative"
                raise Broken(
                    f"{subject} changes by {change:.6g} between the margins {a:g} and {b:g}, more than "
                    f"{name} = {constant:g} allows."
                )
    return f"declares {', '.join(declared)}"


def structure(loss: LossSubject) -> str | None:
    """`pieces` and `multiplicative`, used for means over pairs, agree with `value`."""
    loss_facts = LossFacts(loss.plugin)
    if loss_facts.multiplicative:
        for a, b in zip(GRID[:40], GRID[-40:], strict=True):
            product, combined = loss.value(a) * loss.value(b), loss.value(a + b)
            if not math.isclose(product, combined, rel_tol=SLOPE):
                raise Broken(
                    f"It is declared multiplicative, but value({a:g}) value({b:g}) is {product:.9g} and "
                    f"value({a + b:g}) is {combined:.9g}."
                )
    if loss_facts.pieces is None:
        return None if loss_facts.multiplicative else "declares no structure"
    parts = loss_pieces.pieces(loss.plugin) or ()
    uppers = [part.upper for part in parts]
    if not uppers or uppers[-1] != math.inf or uppers != sorted(set(uppers)):
        raise loss.broken("pieces", f"must have upper ends that ascend and end with inf, got {uppers}.")
    knots = [upper + side for upper in uppers[:-1] for side in (-STEP, 0.0, STEP)]
    for m in sorted([*MARGINS, *knots], key=abs):
        part = next(part for part in parts if m <= part.upper)
        actual, expected = part.c0 + part.c1 * m + part.c2 * m * m, loss.value(m)
        if not math.isclose(actual, expected, rel_tol=SLOPE, abs_tol=EQUAL):
            message = f"gives {actual:.9g} at the margin {m:g}, where value gives {expected:.9g}."
            raise loss.broken("pieces", message)
    return f"has {len(parts)} pieces"
