"""The audit of a function that claims to be an AUC loss: what it computes, where it departs, by how much."""

import math
from collections.abc import Callable, Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from aucbench.errors import ParameterError
from aucbench.registry import Catalog
from aucbench.testing.audited_function import AuditedFunction, Outcome
from aucbench.testing.square_terms import SquareTerms, square_terms
from aucbench.testing.surrogates import COMPOSITIONS, LAWS, Batch, Identification, surrogates

OK, NOTE, DEPARTS = "ok", "note", "departs"
HUGE = 1e30  # a surrogate above this may overflow
LEVELS = (1.0, 40.0, 100.0, 800.0)  # of saturated scores; e^100 overflows in float32, e^800 in float64


class Line(NamedTuple):
    """The outcome for one property."""

    status: str  # ok, note or departs
    text: str = ""


class Audit(NamedTuple):
    """The report on a function."""

    name: str
    library: str
    computes: str
    lines: dict[str, Line]  # by property

    @property
    def departures(self) -> int:
        """The number of properties that do not hold."""
        return sum(line.status == DEPARTS for line in self.lines.values())


def audit(function: AuditedFunction, catalog: Catalog) -> Audit:
    """Try a function against exact sums over all pairs, of the losses of a catalog and a few others.

    Raises ParameterError if the function raises an error for some random scores.
    """
    try:
        trial = _Trial(function, catalog)
    except ParameterError:
        raise
    except Exception as error:
        raise ParameterError(f"{function.name} raised {_sentence(error)}") from error
    lines = {}
    for name, check in trial.properties.items():
        try:
            lines[name] = check()
        except Exception as error:  # whatever the function raises is a finding
            lines[name] = Line(DEPARTS, f"It raised {_sentence(error)}")
    return Audit(function.name, function.library, trial.verdict()[0], lines)


class _Trial:
    """A function, its identification, and the checks of its properties."""

    def __init__(self, function: AuditedFunction, catalog: Catalog):
        self._f = function
        known = list(surrogates(catalog))
        found = [Identification(function, coding, known) for coding in function.codings]
        self._by = min(found, key=lambda each: each.match.residual)
        self._match, self._unit, function.negative = self._by.match, self._by.unit, self._by.coding
        self._is_of_rows = False
        self._terms: SquareTerms | None = None
        if not self._is_known:
            self._match = self._by.of_margins() or self._match
        if not self._is_known:
            self._is_of_rows = not self._couples_classes()
            self._terms = square_terms(function, 0.5 if self._unit else 0.0)
        self._tolerance = 1e-2 if function.single else 1e-6
        self.properties: dict[str, Callable[[], Line]] = {
            "value": lambda: self.verdict()[1],
            "gradient": self._gradient,
            "direction": self._direction,
            "shift": self._shift,
            "scale": self._scale,
            "ties": self._ties,
            "one class": self._one_class,
            "saturation": self._saturation,
            "infinite": self._infinite,
            "order of rows": self._order,
        }

    @property
    def _is_known(self) -> bool:
        return self._match.residual <= self._by.exact

    def _couples_classes(self) -> bool:
        """Whether some mixed difference of the value by scores of both classes exceeds rounding."""
        step, allowed = 0.02 if self._unit else 0.5, 2e-6 if self._f.single else 1e-12
        scores, positive = self._by.batches[1][-1]
        here = self._f.value(scores, positive)
        rows = np.eye(scores.size) * step
        alone = [self._f.value(scores + row, positive) - here for row in rows]
        for i in np.flatnonzero(positive):
            for j in np.flatnonzero(~positive):
                both = self._f.value(scores + rows[i] + rows[j], positive) - here
                size = max(abs(here), abs(alone[i]), abs(alone[j]))
                if not abs(both - alone[i] - alone[j]) <= allowed * size:
                    return True
        return False

    def _exact(self, scores: np.ndarray, positive: np.ndarray) -> float:
        """The value that a batch should have, NaN if unknown."""
        return self._match.value(scores, positive) if self._is_known else math.nan

    def _batches(self) -> list[Batch]:
        """Some batches of several compositions, and one with equal scores."""
        spread = [batch for own in self._by.batches[:4] for batch in (own[0], own[-1])]
        return [*spread, self._tied()["some scores are equal"]]

    def _large(self) -> Batch:
        """A batch of more rows than a function may be meant for."""
        rng, n = np.random.default_rng(6), 400
        return rng.uniform(0.05, 0.95, n) if self._unit else rng.standard_normal(n), np.arange(n) % 8 == 0

    def verdict(self) -> tuple[str, Line]:
        """One sentence on what the function computes, and the outcome for its value."""
        if self._is_known:
            count = sum(map(len, self._by.batches))
            text = f"{count} batches agree with the sums over all pairs to {self._match.residual:.1g}."
            return f"{self._match}.", Line(OK, text)
        if self._is_of_rows:
            text = "What the score of a row adds does not depend on those of the other class."
            return "no loss over pairs, but a sum over rows, such as cross entropy.", Line(DEPARTS, text)
        if self._terms is not None:
            computes = (
                "no known surrogate, but the terms of the square loss over all pairs, or of the min-max "
                f"margin loss, with margin {self._terms.margin:.4g}, some of which depart."
            )
            return computes, Line(DEPARTS, " ".join(self._terms.departures))
        text = (
            f"It departs from {self._match.surrogate.name} by up to {self._match.residual:.2g} of the value, "
            "even with the best factor and constant for each composition of the batch."
        )
        return f"no known surrogate; the nearest is {self._match}.", Line(DEPARTS, text)

    def _gradient(self) -> Line:
        step, allowed = (1e-2, 5e-2) if self._f.single else (1e-5, 1e-5)
        worst = 0.0
        for scores, positive in self._batches():
            gradient = self._f(scores, positive).gradient
            if gradient is None:
                return Line(NOTE, "It gives none.")
            if not np.isfinite(gradient).all():
                return Line(DEPARTS, f"An entry is {gradient[~np.isfinite(gradient)][0]} at finite scores.")
            worst = max(worst, self._miss(scores, positive, gradient, step))
        if worst > allowed:
            return Line(DEPARTS, f"It departs from numeric differences by {worst:.2g} of the largest entry.")
        return Line(OK, f"It agrees with numeric differences to {worst:.1g}.")

    def _miss(self, scores: np.ndarray, positive: np.ndarray, slopes: np.ndarray, step: float) -> float:
        """The largest distance of a gradient from the one-sided differences, over the largest entry."""
        value = self._f.value
        here, misses, size = value(scores, positive), [], float(np.abs(slopes).max())
        for i, slope in enumerate(slopes):
            move = step * (np.arange(scores.size) == i)
            sides = (
                (here - value(scores - move, positive)) / step,
                (value(scores + move, positive) - here) / step,
            )
            middle, half = sum(sides) / 2.0, abs(sides[1] - sides[0]) / 2.0
            # A smooth curve has its tangent in the middle of both chords, a kink anywhere between them.
            misses.append(max(0.0, abs(slope - middle) - half) if half > 10.0 * step else abs(slope - middle))
            size = max(size, abs(middle))
        return max(misses) / max(size, 1e-5 if self._f.single else 1e-8)

    def _relation(self, change: str, outcomes: Iterable[tuple[Outcome, Outcome]]) -> Line:
        """Compare the outcomes before and after a change that should have no effect."""
        worst = max(one.apart(other) for one, other in outcomes)
        if worst <= self._tolerance:
            return Line(OK, f"{change} changes nothing (relative difference {worst:.1g}).")
        return Line(DEPARTS, f"{change} changes the value or gradient by up to {worst:.2g} of its size.")

    def _order(self) -> Line:
        outcomes = []
        for scores, positive in (*self._batches(), self._large()):
            order, before = np.random.default_rng(4).permutation(scores.size), self._f(scores, positive)
            slopes = None if before.gradient is None else before.gradient[order]
            outcomes.append((self._f(scores[order], positive[order]), Outcome(before.value, slopes)))
        return self._relation("Another order of the rows", outcomes)

    def _shift(self) -> Line:
        factor, most = (0.5, 0.3) if self._unit else (1.0, 10.0)
        batches = [(factor * scores, positive) for scores, positive in self._batches()]
        outcomes = ((self._f(scores + most, own), self._f(scores, own)) for scores, own in batches)
        return self._relation(f"Adding {most:g} to all scores, and so to no margin,", outcomes)

    def _direction(self) -> Line:
        for positives, negatives in COMPOSITIONS:
            positive = np.arange(positives + negatives) < positives
            centre = np.full(positive.size, 0.5 * self._unit)
            up, down = (self._f.value(centre + side * 0.1 * positive, positive) for side in (1.0, -1.0))
            if up > down:
                return Line(
                    DEPARTS,
                    f"With {positives} positives and {negatives} negatives of equal scores it rises by "
                    f"{up - down:.3g} when the positives do: its sign or its labels are the wrong way round.",
                )
        return Line(OK, "It falls when the scores of the positives rise from a tie.")

    def _scale(self) -> Line:
        if not self._is_known:
            return Line(NOTE, "Unknown, as the surrogate is.")
        law = self._match.law
        if law is None:
            told = (
                f"{r:.4g} at {k} + {m}" for (k, m), r in zip(COMPOSITIONS, self._match.factors, strict=True)
            )
            return Line(DEPARTS, f"The factor by positives + negatives follows no law: {', '.join(told)}.")
        if not law[0]:
            return Line(OK, "It does not depend on the rows or the share of positives.")
        ratio = LAWS[law[0]](0.1, 100) / LAWS[law[0]](0.5, 100)
        return Line(
            NOTE, f"The factor {law[0]} of 100 rows with 10 % positives is {ratio:.3g} of that with 50 %."
        )

    def _tied(self) -> dict[str, Batch]:
        rng, mask = np.random.default_rng(2), np.arange(12) < 3
        coarse = rng.choice([-0.7, 0.1, 0.43, 1.9], 12)
        spread = rng.standard_normal(12)
        at_mean = np.array([-0.5, 0.25, 1.0, -1.0, 0.0, 0.5, 2.5, -0.25, -0.75, 0.75, 1.25, 1.5])
        cases = {
            "some scores are equal": (coarse, mask),
            "all scores are equal": (np.full(12, 0.5), mask),
            "all positives have one score": (np.where(mask, 1.0, spread), mask),
            "all negatives have one score": (np.where(mask, spread, 0.0), mask),
            "a score is the mean of its class": (at_mean, mask),
            "there is one positive": (spread, np.arange(12) < 1),
            "there is one negative": (spread, np.arange(12) < 11),
        }
        if self._unit:
            return {name: (0.5 + scores / 8.0, own) for name, (scores, own) in cases.items()}
        return cases

    def _ties(self) -> Line:
        jitter, faults = np.random.default_rng(3).standard_normal(12) * 1e-7, []
        for when, (scores, positive) in self._tied().items():
            found, exact = self._f(scores, positive), self._exact(scores, positive)
            if math.isnan(exact):  # unknown: what nearly equal scores give, which must be close
                exact = self._f.value(scores + jitter, positive)
            fault = found.fault(exact, self._tolerance if self._is_known else 1e-3)
            faults += [f"When {when}, {fault}."] if fault else []
        return _line(faults, [], "Equal scores give the exact value.")

    def _one_class(self) -> Line:
        notes, faults = [], []
        for name, positive in (("positives", np.ones(12, bool)), ("negatives", np.zeros(12, bool))):
            try:
                found = self._f(np.linspace(0.2, 0.8, 12), positive)
            except Exception as error:
                notes.append(f"A batch of {name} alone raises {_sentence(error)}")
                continue
            slopes = np.zeros(1) if found.gradient is None else found.gradient
            if not math.isfinite(found.value):
                value = f"{found.value}".replace("nan", "NaN")
                notes.append(f"A batch of {name} alone, which has no pairs, gives {value}.")
            elif not np.isfinite(slopes).all():
                faults.append(f"A batch of {name} alone gives {found.value:.4g}, but a gradient of NaN.")
            elif np.abs(slopes).max() > 1e-9:
                notes.append(f"A batch of {name} alone has no pairs, yet the gradient is not zero.")
        return _line(faults, notes, "The value is finite, and no gradient moves the scores.")

    def _saturation(self) -> Line:
        positive, faults = np.arange(12) < 3, dict[str, str]()
        for level, kind in product(LEVELS[:1] if self._unit else LEVELS, (np.float64, np.float32)):
            if kind is np.float32 and level > 100.0:
                continue
            close = kind is np.float64 and self._is_known and not self._f.single
            low = 0.0 if level == 1.0 else -level
            # Scores of the positives and of the negatives.
            for high, rest in ((level, low), (low, level), (level, level), (low, low)):
                scores = np.where(positive, high, rest)
                exact = self._exact(scores, positive)
                if abs(exact) > HUGE:
                    continue
                found = self._f(scores.astype(kind), positive)
                fault = found.fault(exact, self._tolerance if close else math.inf)
                if not fault and close and found.gradient is not None:
                    miss = self._miss(scores, positive, found.gradient, 1e-4)
                    fault = f"the gradient departs by {miss:.2g} of its size" if miss > 1e-2 else ""
                if fault:
                    ends = f"positives at {high:g} and negatives at {rest:g}, {kind.__name__}"
                    faults.setdefault(fault.partition(";")[0], f"When the scores saturate ({ends}), {fault}.")
        return _line([*faults.values()], [], "Saturated scores give finite values and gradients.")

    def _infinite(self) -> Line:
        notes, faults, positive = [], [], np.arange(12) < 3
        for name, row, extreme in (
            ("a positive at infinity", 0, math.inf),
            ("a negative at -infinity", 11, -math.inf),
            ("a score that is NaN", 0, math.nan),
        ):
            scores = np.linspace(0.2, 0.8, 12)
            scores[row] = extreme
            try:
                found = self._f.value(scores, positive)
            except Exception as error:
                notes.append(f"It refuses {name}: {_sentence(error)}")
                continue
            exact = self._exact(scores, positive)
            if math.isnan(extreme):
                faults += [f"With {name} the value is {found:.4g}, not NaN."] if math.isfinite(found) else []
            elif math.isnan(found):
                notes.append(f"With {name} the value is NaN.")
            elif math.isfinite(exact) and abs(found - exact) > self._tolerance * max(1.0, abs(exact)):
                faults.append(f"With {name} the value is {found:.4g}; {exact:.4g} is exact.")
        return _line(faults, notes, "Infinite scores and NaN are treated as such.")


def _line(faults: list[str], notes: list[str], fine: str) -> Line:
    if faults:
        more = [f"{len(faults) - 3} more cases."] * (len(faults) > 3)
        return Line(DEPARTS, " ".join([*faults[:3], *more, *notes]))
    return Line(NOTE, " ".join(notes)) if notes else Line(OK, fine)


def _sentence(error: Exception) -> str:
    text = str(error).partition("\n")[0].rstrip(".")
    return f"{text}." if isinstance(error, ParameterError) else f"{type(error).__name__}: {text}."
