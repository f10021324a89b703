"""Two Gaussians, whose best possible AUC is known."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aucbench import Count, Index, NonNegative, OpenUnit, ParameterError, Samples, check_fields


@dataclass(frozen=True)
class Gaussian:
    r"""Two Gaussians N(+-mu/2, I) with \|mu\| = separation; the best AUC is Phi(separation / sqrt(2)).

    The difference of the scores mu'x of a positive and a negative is normal with mean \|mu\|^2 and variance
    2 \|mu\|^2, so that the Bayes-optimal AUC is Phi(\|mu\| / sqrt(2)): 0.760 at separation 1, 0.921 at 2.

    Parameters
    ----------
    n : int
        Number of rows, at least 2.
    d : int
        Number of features; mu has equal components.
    positive_rate : float
        Share of positives, between 0 and 1; round(n * positive_rate) rows, but one of each class at least.
    separation : float
        Distance of the two means, in standard deviations.
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
    seed: Index = 0

    def __post_init__(self) -> None:
        check_fields(self)
        if self.n < 2:
            raise ParameterError(f"gaussian: n must be >= 2, got {self.n}.")

    @property
    def bayes_auc(self) -> float:
        """The largest AUC that any score can reach in expectation."""
        return 0.5 * (1.0 + math.erf(self.separation / 2.0))

    def load(self) -> Samples:
        """Rows in random order, labels -1 and +1."""
        rng = np.random.default_rng(self.seed)
        positives = min(self.n - 1, max(1, round(self.n * self.positive_rate)))
        y = np.full(self.n, -1.0)
        y[rng.permutation(self.n)[:positives]] = 1.0
        half = self.separation / (2.0 * math.sqrt(self.d))
        X = rng.standard_normal((self.n, self.d))
        X += half * y[:, None]
        return Samples(X, y)
