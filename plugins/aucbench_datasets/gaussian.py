"""Two Gaussians, whose best possible AUC is known."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from aucbench import Count, Index, Interval, NonNegative, OpenUnit, ParameterError, Samples, check_fields


def signs(rng: np.random.Generator, n: int, positive_rate: float) -> np.ndarray:
    """(n,) labels -1 and +1 in random order, round(n * positive_rate) positive, one of each at least."""
    y = np.full(n, -1.0)
    y[rng.permutation(n)[: min(n - 1, max(1, round(n * positive_rate)))]] = 1.0
    return y


def normal_cdf(x: float) -> float:
    """The distribution function of a standard normal variable."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def check_rows(name: str, n: int) -> None:
    """Refuse fewer rows than classes."""
    if n < 2:
        raise ParameterError(f"{name}: n must be >= 2, got {n}.")


@dataclass(frozen=True)
class Gaussian:
    r"""Two Gaussians N(+-mu/2, S) of one covariance; the best AUC is Phi(separation / sqrt(2)).

    S is diagonal, its entries fall geometrically from 1 to 1 / condition, and every coordinate contributes
    the same to the separation sqrt(mu' S^-1 mu). The difference of the scores mu' S^-1 x of a positive and a
    negative is normal with mean separation^2 and variance 2 separation^2, so that the Bayes-optimal AUC is
    Phi(separation / sqrt(2)): 0.760 at separation 1, 0.921 at 2, whatever the condition.

    Parameters
    ----------
    n : int
        Number of rows, at least 2.
    d : int
        Number of features.
    positive_rate : float
        Share of positives, between 0 and 1; round(n * positive_rate) rows, but one of each class at least.
    separation : float
        Distance of the two means, in standard deviations.
    condition : float
        Condition number of the covariance S, at least 1.
    seed : int
        Of the generator.
    """

    name: ClassVar[str] = "gaussian"
    citation: ClassVar[str] = "synthetic"
    licence: ClassVar[str] = "CC0"
    n: Count = 10000
    d: Count = 20
    positive_rate: OpenUnit = 0.1
    separation: NonNegative = 1.0
    condition: Annotated[float, Interval(low=1.0)] = 1.0
    seed: Index = 0

    def __post_init__(self) -> None:
        check_fields(self)
        check_rows(self.name, self.n)

    @property
    def bayes_auc(self) -> float:
        """The largest AUC that any score can reach in expectation."""
        return normal_cdf(self.separation / math.sqrt(2.0))

    def load(self) -> Samples:
        """Rows in random order, labels -1 and +1."""
        rng = np.random.default_rng(self.seed)
        y = signs(rng, self.n, self.positive_rate)
        half = self.separation / (2.0 * math.sqrt(self.d))
        X = rng.standard_normal((self.n, self.d))
        X += half * y[:, None]
        if self.condition > 1.0 and self.d > 1:
            X *= self.condition ** (-0.5 * np.arange(self.d) / (self.d - 1))
        return Samples(X, y)
