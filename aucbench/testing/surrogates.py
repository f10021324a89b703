"""Identification of a function of scores and labels as a known surrogate of the AUC, by its values alone.

The values over batches of several sizes and shares of positives are fitted by r M + d, with M the mean over
all pairs, by brute force, of each registered loss, whose parameter, or a scale of the scores, is unknown.
r and d may differ between compositions of the batch, not within one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from aucbench import kernels
from aucbench.contracts.validation import Family
from aucbench.registry import Catalog
from aucbench.testing.audited_function import AuditedFunction

# Positives and negatives of a batch: few sizes, as JAX compiles for each.
COMPOSITIONS = ((2, 3), (3, 9), (9, 3), (6, 6), (2, 14), (2, 38))
FEW = 2  # compositions on which unknown parameters are searched
WIDTHS = (0.3, 0.3, 0.3, 1.0, 1.0, 1.0, 1.0, 2.5, 2.5, 2.5)  # standard deviations of the scores of a batch
SCALES = np.log(np.geomspace(0.05, 20.0, 53))  # logarithms of parameters tried first
EXACT, EXACT_SINGLE = 1e-6, 1e-3  # relative residuals up to which a function is a surrogate
LAWS: dict[str, Callable[[float, float], float]] = {  # factor, given the share of positives p and n rows
    "": lambda p, n: 1.0,
    "n+ n-": lambda p, n: p * (1.0 - p) * n * n,
    "p (1 - p)": lambda p, n: p * (1.0 - p),
    "n": lambda p, n: n,
    "n+": lambda p, n: p * n,
    "n-": lambda p, n: (1.0 - p) * n,
    "p": lambda p, n: p,
    "1 - p": lambda p, n: 1.0 - p,
    "p^2": lambda p, n: p * p,
    "(1 - p)^2": lambda p, n: (1.0 - p) ** 2,
    "1 / n": lambda p, n: 1.0 / n,
    "1 / p": lambda p, n: 1.0 / p,
    "1 / (1 - p)": lambda p, n: 1.0 / (1.0 - p),
    "n+ n- / n": lambda p, n: p * (1.0 - p) * n,
}

Batch = tuple[np.ndarray, np.ndarray]  # scores (n,) and a mask (n,) of the positive rows


class Surrogate(NamedTuple):
    """A function of a batch with one unknown parameter."""

    name: str
    sign: str  # sign of the parameter
    mean: Callable[[np.ndarray, np.ndarray, float], float]  # mean, given scores, mask and parameter
    usual: float = 1.0  # value of the parameter tried first


class Law(NamedTuple):
    """A factor that depends on the composition of a batch."""

    name: str
    constant: float

    def at(self, p: float, n: float) -> float:
        """The factor of n rows with a share p of positives."""
        return self.constant * LAWS[self.name](p, n)

    def __str__(self) -> str:
        parts = [f"{self.constant:.6g}"] * (abs(self.constant - 1.0) > EXACT) + [self.name] * bool(self.name)
        return " ".join(parts)


class Match(NamedTuple):
    """The surrogate that is nearest to a function, and its residual."""

    surrogate: Surrogate
    parameter: float
    factors: tuple[float, ...]  # r of each composition
    offsets: tuple[float, ...]  # d of each composition
    residual: float  # largest relative residual

    @property
    def law(self) -> Law | None:
        """The factor as a law of the share of positives p and the rows n."""
        return law(self.factors)

    def value(self, scores: np.ndarray, positive: np.ndarray) -> float:
        """The exact value of a batch with both classes, NaN if the factor follows no law."""
        if self.law is None or len(set(self.offsets)) > 1:
            return math.nan
        with np.errstate(all="ignore"):
            mean = self.surrogate.mean(scores, positive, self.parameter)
        return self.law.at(positive.mean(), positive.size) * mean + self.offsets[0]

    def __str__(self) -> str:
        text = self.surrogate.name
        if self.surrogate.sign and (self.surrogate.sign == "margin" or self.parameter != 1.0):
            text += f" with {self.surrogate.sign} {self.parameter:.6g}"
        if self.law is None:
            return f"{text}, times a factor that depends on the composition of the batch"
        factor = str(self.law)
        return text + f", times {factor}" * bool(factor) + ", plus a constant" * any(self.offsets)


def law(factors: Sequence[float]) -> Law | None:
    """The first law with a constant that gives the factors of all compositions, None if there is none."""
    for name, factor in LAWS.items():
        constants = np.array(factors) / [factor(k / (k + m), k + m) for k, m in COMPOSITIONS]
        constant = float(np.median(constants))
        if constant and np.abs(constants - constant).max() <= 1e-5 * abs(constant):
            rounded = float(f"{constant:.5g}")
            return Law(name, rounded if math.isclose(rounded, constant, rel_tol=1e-6) else constant)
    return None


def batches(unit: bool) -> list[list[Batch]]:
    """Batches of random scores by composition, in (0, 1) if `unit`, in random order of rows."""
    rng = np.random.default_rng(35)

    def batch(positives: int, n: int, width: float) -> Batch:
        scores = rng.uniform(0.05, 0.95, n) if unit else width * rng.standard_normal(n)
        return scores, rng.permutation(n) < positives

    return [[batch(k, k + m, width) for width in WIDTHS] for k, m in COMPOSITIONS]


def surrogates(catalog: Catalog) -> Iterator[Surrogate]:
    """The means over pairs of all registered losses and some more, and the min-max margin loss."""

    def over_pairs(name: str, sign: str, value: Callable[..., float], usual: float = 1.0) -> Surrogate:
        return Surrogate(f"the mean over all pairs of the {name}", sign, partial(pair_mean, value), usual)

    for plugin in catalog.plugins[Family.losses].values():
        loss: Any = plugin.cls()
        theta, name = kernels.theta(loss), f"{plugin.name.replace('_', ' ')} loss"
        if vars(loss):
            yield over_pairs(name, next(iter(vars(loss))), loss.value, theta)
        else:
            scaled = partial(lambda value, theta, m, scale: value(m / scale, theta), loss.value, theta)
            yield over_pairs(name, "scores divided by", scaled)
    yield over_pairs("linear loss -(s+ - s-)", "", lambda m, _: -m)
    name = "sigmoid loss 1 / (1 + e^(s+ - s-))"
    yield over_pairs(name, "scores divided by", lambda m, scale: math.exp(-np.logaddexp(0.0, m / scale)))
    name = "0-1 loss (1 - AUC, which has no gradient)"
    yield over_pairs(name, "", lambda m, _: 0.5 * float(1.0 - np.sign(m)))
    yield Surrogate("the min-max margin loss at the best a, b and alpha", "margin", min_max)


def min_max(scores: np.ndarray, positive: np.ndarray, margin: float) -> float:
    """var+ s + var- s + max(0, margin - (mean+ s - mean- s))^2, the saddle of the min-max margin loss."""
    high, low = scores[positive], scores[~positive]
    return float(high.var() + low.var() + max(0.0, margin - (high.mean() - low.mean())) ** 2)


def pair_mean(
    value: Callable[..., float], scores: np.ndarray, positive: np.ndarray, parameter: float
) -> float:
    """The mean over all pairs of a function of the margin and a parameter, by brute force."""
    margins = (scores[positive][:, None] - scores[~positive]).ravel().tolist()
    return math.fsum(value(m, parameter) for m in margins) / len(margins)


class Identification:
    """The values of a function over the batches with a coding of labels, and the nearest surrogate."""

    def __init__(self, function: AuditedFunction, coding: int, known: Sequence[Surrogate]):
        self._function, self.exact = function, EXACT_SINGLE if function.single else EXACT
        self.coding = function.negative = coding
        self.unit = not _is_finite_everywhere(function)  # scores are probabilities
        self.batches = batches(self.unit)
        self._values = np.array([[function.value(*batch) for batch in group] for group in self.batches])
        self.match = min((self._fit(item, item.usual) for item in known), key=lambda match: match.residual)
        if not self.is_known:
            matches = [self.match, *(self._searched(item) for item in known if item.sign)]
            self.match = min(matches, key=lambda match: match.residual)

    @property
    def is_known(self) -> bool:
        """Whether the function is the nearest surrogate, up to rounding."""
        return self.match.residual <= self.exact

    def exact_value(self, scores: np.ndarray, positive: np.ndarray) -> float:
        """The value that a batch should have, NaN if unknown."""
        return self.match.value(scores, positive) if self.is_known else math.nan

    def _fit(self, surrogate: Surrogate, parameter: float, few: bool = False) -> Match:
        """Fit r and d of each composition by least squares of relative residuals, with d = 0 if that fits."""
        fits = []
        for group, values in list(zip(self.batches, self._values, strict=True))[: FEW if few else None]:
            means = np.array([surrogate.mean(*batch, parameter) for batch in group])
            if not (np.isfinite(means).all() and np.isfinite(values).all()):
                return Match(surrogate, parameter, (), (), math.inf)
            weights = 1.0 / np.maximum(np.abs(values), 1e-3 * np.abs(values).max() + 1e-300)
            for columns in (1, 2):
                matrix = np.vander(means, 2, increasing=False)[:, :columns] * weights[:, None]
                fit = np.linalg.lstsq(matrix, values * weights, rcond=1e-13)[0]
                miss = float(np.abs(matrix @ fit - values * weights).max())
                if miss <= self.exact:
                    break
            fits.append((float(fit[0]), float(fit[1]) if columns == 2 else 0.0, miss))
        factors, offsets, misses = zip(*fits, strict=True)
        if np.ptp(offsets) <= self.exact * np.abs(offsets).max():
            offsets = offsets[:1] * len(offsets)
        return Match(surrogate, parameter, factors, offsets, max(misses))

    def _searched(self, surrogate: Surrogate) -> Match:
        """The match with the best parameter, which is rounded if that fits as well."""

        def miss(log_parameter: float) -> float:
            return self._fit(surrogate, math.exp(log_parameter), few=True).residual

        i = int(np.argmin([miss(scale) for scale in SCALES]))
        bounds = SCALES[max(0, i - 1)], SCALES[min(SCALES.size - 1, i + 1)]
        best = math.exp(minimize_scalar(miss, bounds=bounds, method="bounded", options={"xatol": 1e-10}).x)
        matches = [self._fit(surrogate, parameter) for parameter in (float(f"{best:.4g}"), best)]
        return min(matches, key=lambda match: (match.residual > self.exact, match.residual))

    def try_margins(self) -> None:
        """Match the mean over pairs of the function's values for single pairs, if it is such a mean."""

        def one_pair(m: float, theta: float) -> float:
            scores = 0.5 * self.unit + np.array([m / 2.0, -m / 2.0])
            return self._function.value(scores, np.array([True, False]))

        name = "the mean over all pairs of an unknown function of the margin s+ - s-"
        unknown = Surrogate(name, "", partial(pair_mean, one_pair))
        if self._fit(unknown, 1.0, few=True).residual <= self.exact:
            match = self._fit(unknown, 1.0)
            self.match = match if match.residual <= self.exact else self.match


def _is_finite_everywhere(function: AuditedFunction) -> bool:
    """Whether a function accepts scores outside of (0, 1)."""
    positive = np.arange(12) < 3
    scores = np.random.default_rng(5).standard_normal((6, 12)) * 2.0
    try:
        return all(math.isfinite(function.value(row, positive)) for row in scores)
    except Exception:
        return False
