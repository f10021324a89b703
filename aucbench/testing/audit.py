"""The audit of a function that claims to be an AUC loss: what it computes, where it departs, by how much."""

import math
from collections.abc import Callable, Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from aucbench.errors import ParameterError
from aucbench.humanize import sentence_of
from aucbench.registry import Catalog
from aucbench.testing.audited_function import AuditedFunction, Outcome
from aucbench.testing.square_terms import square_terms
from aucbench.testing.surrogates import COMPOSITIONS, LAWS, Batch, Identification, surrogates

OK, NOTE, DEPARTS = "ok", "note", "departs"
HUGE = 1e30  # a surrogate above this value may overflow
LEVELS = (1.0, 40.0, 800.0)  # levels of saturated scores; e^800 overflows
POSITIVE = np.arange(12) < 3  # rows of most batches


class Line(NamedTuple):
    """The outcome for one property."""

    status: str  # ok, note or departs
    text: str = ""


class Audit(NamedTuple):
    """The report on a function."""

    name: str
    library: str
    computes: str
    lines: dict[str, Line]  # lines by property

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
        computes, value = trial.verdict()
    except ParameterError:
        raise
    except Exception as error:
        raise ParameterError(f"{function.name} raised {sentence_of(error)}.") from error
    lines = {"value": value}
    for name, check in trial.properties.items():
        try:
            lines[name] = check()
        except Exception as error:  # any exception of the function is a finding
            lines[name] = Line(DEPARTS, f"It raised {sentence_of(error)}.")
    return Audit(function.name, function.library, computes, lines)


class _Trial:
    """A function, its identification, and the checks of its properties."""

    def __init__(self, function: AuditedFunction, catalog: Catalog):
        self._f = function
        candidates = list(surrogates(catalog))
        fits = [Identification(function, coding, candidates) for coding in function.codings]
        self._by = min(fits, key=lambda fit: fit.match.residual)
        self._unit, function.negative = self._by.unit, self._by.coding
        if not self._by.is_known:
            self._by.try_margins()
        self._tolerance = 1e-2 if function.single else 1e-5
        self.properties: dict[str, Callable[[], Line]] = {
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

    def verdict(self) -> tuple[str, Line]:
        """One sentence on what the function computes, and the outcome for its value."""
        match = self._by.match
        if self._by.is_known:
            count = sum(map(len, self._by.batches))
            text = f"{count} batches agree with the sums over all pairs to {match.residual:.1g}."
            return f"{match}.", Line(OK, text)
        if self._is_of_rows():
            text = "What the score of a row adds does not depend on those of the other class."
            return "no loss over pairs, but a sum over rows, such as cross entropy.", Line(DEPARTS, text)
        terms = square_terms(self._f, 0.5 if self._unit else 0.0)
        if terms is not None and terms[1]:
            margin, departures = terms
            computes = (
                "no known surrogate, but the terms of the square loss over all pairs, or of the min-max "
                f"margin loss, with margin {margin:.4g}, some of which depart."
            )
            return computes, Line(DEPARTS, " ".join(departures))
        text = (
            f"It departs from {match.surrogate.name} by up to {match.residual:.2g} of the value, "
            "even with the best factor and constant for each composition of the batch."
        )
        return f"no known surrogate; the nearest is {match}.", Line(DEPARTS, text)

    def _is_of_rows(self) -> bool:
        """Whether the value is a sum of one function of the positives and one of the negatives."""
        (first, positive), (second, _) = self._by.batches[1][-1], self._by.batches[1][-2]
        mixed = [np.where(positive, *pair) for pair in product((first, second), repeat=2)]
        values = np.array([self._f.value(scores, positive) for scores in mixed])
        return bool(abs(values @ [1, -1, -1, 1]) <= (2e-6 if self._f.single else 1e-12) * abs(values).max())

    def _batches(self) -> list[Batch]:
        """Some batches of several compositions, and one with equal scores."""
        spread = [batch for group in self._by.batches[:4] for batch in (group[0], group[-1])]
        return [*spread, self._tied()["some scores are equal"]]

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
        base, moves = self._f.value(scores, positive), step * np.eye(scores.size)
        below = np.array([(base - self._f.value(scores - move, positive)) / step for move in moves])
        above = np.array([(self._f.value(scores + move, positive) - base) / step for move in moves])
        middle, half = (below + above) / 2.0, np.abs(above - below) / 2.0
        # A smooth curve has its tangent in the middle of both chords, a kink anywhere between them.
        misses = np.maximum(0.0, np.abs(slopes - middle) - np.where(half > 10.0 * step, half, 0.0))
        size = max(np.abs(slopes).max(), np.abs(middle).max(), 1e-5)
        return float(misses.max() / size)

    def _relation(self, change: str, outcomes: Iterable[tuple[Outcome, Outcome]]) -> Line:
        """Compare the outcomes before and after a change that should have no effect."""
        worst = max(before.apart(after) for before, after in outcomes)
        if worst <= self._tolerance:
            return Line(OK, f"{change} changes nothing (relative difference {worst:.1g}).")
        return Line(DEPARTS, f"{change} changes the value or gradient by up to {worst:.2g} of its size.")

    def _order(self) -> Line:
        rng, outcomes = np.random.default_rng(6), []
        sample = rng.uniform(0.05, 0.95, 400) if self._unit else rng.standard_normal(400)
        for scores, positive in (*self._batches(), (sample, np.arange(400) % 8 == 0)):
            order, before = rng.permutation(scores.size), self._f(scores, positive)
            slopes = None if before.gradient is None else before.gradient[order]
            outcomes.append((self._f(scores[order], positive[order]), Outcome(before.value, slopes)))
        return self._relation("Another order of the rows", outcomes)

    def _shift(self) -> Line:
        factor, shift = (0.5, 0.3) if self._unit else (1.0, 10.0)
        batches = [(factor * scores, positive) for scores, positive in self._batches()]
        outcomes = ((self._f(scores + shift, mask), self._f(scores, mask)) for scores, mask in batches)
        return self._relation(f"Adding {shift:g} to all scores, and so to no margin,", outcomes)

    def _direction(self) -> Line:
        for k, m in COMPOSITIONS:
            positive = np.arange(k + m) < k
            sides = (0.5 * self._unit + side * 0.1 * positive for side in (1.0, -1.0))
            up, down = (self._f.value(scores, positive) for scores in sides)
            if up > down:
                return Line(
                    DEPARTS,
                    f"With {k} positives and {m} negatives of equal scores it rises by {up - down:.3g} when "
                    "the positives do: its sign or its labels are the wrong way round.",
                )
        return Line(OK, "It falls when the scores of the positives rise from a tie.")

    def _scale(self) -> Line:
        if not self._by.is_known:
            return Line(NOTE, "Unknown, as the surrogate is.")
        law, factors = self._by.match.law, self._by.match.factors
        if law is None:
            text = ", ".join(f"{r:.4g} at {k} + {m}" for (k, m), r in zip(COMPOSITIONS, factors, strict=True))
            return Line(DEPARTS, f"The factor by positives + negatives follows no law: {text}.")
        if not law.name:
            return Line(OK, "It does not depend on the rows or the share of positives.")
        ratio = LAWS[law.name](0.1, 100) / LAWS[law.name](0.5, 100)
        text = f"The factor {law.name} of 100 rows with 10 % positives is {ratio:.3g} of that with 50 %."
        return Line(NOTE, text)

    def _tied(self) -> dict[str, Batch]:
        rng = np.random.default_rng(2)
        coarse, spread = rng.choice([-0.7, 0.1, 0.43, 1.9], 12), rng.standard_normal(12)
        at_mean = np.array([-0.5, 0.25, 1.0, -1.0, 0.0, 0.5, 2.5, -0.25, -0.75, 0.75, 1.25, 1.5])
        cases = {
            "some scores are equal": (coarse, POSITIVE),
            "all scores are equal": (np.full(12, 0.5), POSITIVE),
            "all positives have one score": (np.where(POSITIVE, 1.0, spread), POSITIVE),
            "all negatives have one score": (np.where(POSITIVE, spread, 0.0), POSITIVE),
            "a score is the mean of its class": (at_mean, POSITIVE),
            "there is one positive": (spread, np.arange(12) < 1),
            "there is one negative": (spread, np.arange(12) < 11),
        }
        if self._unit:
            return {name: (0.5 + scores / 8.0, mask) for name, (scores, mask) in cases.items()}
        return cases

    def _ties(self) -> Line:
        jitter, faults = np.random.default_rng(3).standard_normal(12) * 1e-7, []
        for case, (scores, positive) in self._tied().items():
            exact, tolerance = self._by.exact_value(scores, positive), self._tolerance
            if math.isnan(exact):  # unknown: must be close to the value at nearly equal scores
                exact, tolerance = self._f.value(scores + jitter, positive), 1e-3
            if fault := self._f(scores, positive).fault(exact, tolerance):
                faults.append(f"When {case}, {fault}.")
        return _line(faults, [], "Equal scores give the exact value.")

    def _one_class(self) -> Line:
        notes, faults = [], []
        for name in ("positives", "negatives"):
            subject = f"A batch of {name} alone, which has no pairs,"
            outcome = self._tried(np.linspace(0.2, 0.8, 12), np.full(12, name == "positives"))
            if isinstance(outcome, str):
                notes.append(f"{subject} raises {outcome}.")
                continue
            slopes = np.zeros(1) if outcome.gradient is None else outcome.gradient
            if not math.isfinite(outcome.value):
                notes.append(f"{subject} gives {outcome.value}.".replace("nan", "NaN"))
            elif not np.isfinite(slopes).all():
                faults.append(f"{subject} gives {outcome.value:.4g}, but a gradient of NaN.")
            elif np.abs(slopes).max() > 1e-9:
                notes.append(f"{subject} has a gradient that is not zero.")
        return _line(faults, notes, "The value is finite, and no gradient moves the scores.")

    def _saturation(self) -> Line:
        faults, is_known = [], self._by.is_known and not self._f.single
        for level in LEVELS[:1] if self._unit else LEVELS:
            for high, low in product((level, 0.0 if level == 1.0 else -level), repeat=2):
                scores = np.where(POSITIVE, high, low)
                exact = self._by.exact_value(scores, POSITIVE)
                if abs(exact) > HUGE:
                    continue
                outcome = self._f(scores, POSITIVE)
                fault = outcome.fault(exact, self._tolerance if is_known else math.inf)
                if not fault and is_known and outcome.gradient is not None:
                    miss = self._miss(scores, POSITIVE, outcome.gradient, 1e-6)
                    fault = f"the gradient departs by {miss:.2g} of its size" if miss > 1e-2 else ""
                if fault:
                    faults.append(f"With positives at {high:g} and negatives at {low:g}, {fault}.")
        return _line(faults, [], "Saturated scores give finite values and gradients.")

    def _infinite(self) -> Line:
        notes, faults = [], []
        for name, row, extreme in (
            ("a positive at infinity", 0, math.inf),
            ("a negative at -infinity", 11, -math.inf),
            ("a score that is NaN", 0, math.nan),
        ):
            scores = np.linspace(0.2, 0.8, 12)
            scores[row] = extreme
            outcome = self._tried(scores, POSITIVE, slopes=False)
            if isinstance(outcome, str):
                notes.append(f"It refuses {name}: {outcome}.")
                continue
            value, exact = outcome.value, self._by.exact_value(scores, POSITIVE)
            if math.isnan(extreme):
                faults += [f"With {name} the value is {value:.4g}, not NaN."] if math.isfinite(value) else []
            elif math.isnan(value):
                notes.append(f"With {name} the value is NaN.")
            elif math.isfinite(exact) and abs(value - exact) > self._tolerance * max(1.0, abs(exact)):
                faults.append(f"With {name} the value is {value:.4g}; {exact:.4g} is exact.")
        return _line(faults, notes, "Infinite scores and NaN are treated as such.")

    def _tried(self, scores: np.ndarray, positive: np.ndarray, slopes: bool = True) -> Outcome | str:
        """The outcome of a batch, or the error that the function raises."""
        try:
            return self._f(scores, positive, slopes)
        except Exception as error:
            return sentence_of(error)


def _line(faults: list[str], notes: list[str], fine: str) -> Line:
    if faults:
        more = [f"{len(faults) - 3} more cases."] * (len(faults) > 3)
        return Line(DEPARTS, " ".join([*faults[:3], *more, *notes]))
    return Line(NOTE, " ".join(notes)) if notes else Line(OK, fine)
