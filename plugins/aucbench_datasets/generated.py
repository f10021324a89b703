"""Generated data sets: with a known best AUC, sparse text, separable classes, and wrong labels."""

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Annotated

import numpy as np

from aucbench import (
    Count,
    Index,
    Interval,
    NonNegative,
    OpenUnit,
    ParameterError,
    Positive,
    Samples,
    check_fields,
)


@dataclass(frozen=True)
class _Generated:
    """Base class of generated data.

    Parameters
    ----------
    n : int
        Number of rows, at least 2.
    d : int
        Number of features.
    positive_rate : float
        Share of positives, between 0 and 1: round(n * positive_rate) rows, but at least one of each class.
    seed : int
        Seed of the generator.
    """

    name = "generated"
    citation = "synthetic"
    licence = "CC0"
    n: Annotated[int, Interval(low=2)] = 10000
    d: Count = 20
    positive_rate: OpenUnit = field(default=0.1, kw_only=True)
    seed: Index = field(default=0, kw_only=True)

    def _signs(self, rng: np.random.Generator) -> np.ndarray:
        """(n,) labels -1 and +1 in random order."""
        y = np.full(self.n, -1.0)
        y[rng.permutation(self.n)[: self._positives]] = 1.0
        return y

    @property
    def _positives(self) -> int:
        return min(self.n - 1, max(1, round(self.n * self.positive_rate)))


@dataclass(frozen=True, kw_only=True)
class Gaussian(_Generated):
    r"""Two Gaussians N(+-mu/2, S) of one covariance; the best AUC is Phi(separation / sqrt(2)).

    S is diagonal; its entries fall geometrically from 1 to 1 / condition, and every coordinate contributes
    the same to the separation sqrt(mu' S^-1 mu). The difference of the scores mu' S^-1 x of a positive and a
    negative is normal with mean separation^2 and variance 2 separation^2, so that the Bayes-optimal AUC is
    Phi(separation / sqrt(2)): 0.760 at separation 1, 0.921 at 2, whatever the condition.

    Parameters
    ----------
    separation : float
        Distance of the two means, in standard deviations.
    condition : float
        Condition number of the covariance S, at least 1.
    """

    name = "gaussian"
    separation: NonNegative = 1.0
    condition: Annotated[float, Interval(low=1.0)] = 1.0

    @property
    def bayes_auc(self) -> float:
        """The largest AUC that any score can reach in expectation."""
        return NormalDist().cdf(self.separation / math.sqrt(2.0))

    def load(self) -> Samples:
        rng = np.random.default_rng(self.seed)
        y = self._signs(rng)
        half = self.separation / (2.0 * math.sqrt(self.d))
        X = rng.standard_normal((self.n, self.d))
        X += half * y[:, None]
        if self.condition > 1.0 and self.d > 1:
            X *= self.condition ** (-0.5 * np.arange(self.d) / (self.d - 1))
        return Samples(X, y)


@dataclass(frozen=True, kw_only=True)
class SparseText(_Generated):
    """Texts of words with Zipf frequencies, as rows of unit norm; labels from a logistic model.

    A row has `nonzeros` words, drawn with replacement, word j with probability proportional to 1 / (j + 2);
    its values are counts times log(1 / frequency), scaled to unit norm. The rows with the largest
    signal * w'x + logistic noise are positive, where w has the values +-1; the best score is therefore w'x.
    Its AUC has no closed form.

    Parameters
    ----------
    d : int
        Number of words (features).
    nonzeros : int
        Number of words drawn for a row, repetitions included; at most d.
    signal : float
        How strongly the words determine the label.
    """

    name = "sparse_text"
    scaled = True
    d: Count = 50000
    nonzeros: Count = 80
    signal: NonNegative = 10.0

    def __post_init__(self) -> None:
        check_fields(self)
        if self.nonzeros > self.d:
            raise ParameterError(
                f"sparse_text: nonzeros must be at most d, got {self.nonzeros} of {self.d} features."
            )

    def load(self) -> Samples:
        """Rows as CSR, labels -1 and +1."""
        from scipy import sparse

        rng = np.random.default_rng(self.seed)
        frequency = 1.0 / np.arange(2.0, self.d + 2.0)
        frequency /= frequency.sum()
        words = np.searchsorted(np.cumsum(frequency), rng.random(self.n * self.nonzeros))
        rows = np.repeat(np.arange(self.n), self.nonzeros)
        X = sparse.csr_matrix(
            (np.ones(len(words)), (rows, np.minimum(words, self.d - 1))), shape=(self.n, self.d)
        )
        X.data *= -np.log(frequency)[X.indices]
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X.data /= np.repeat(norms, np.diff(X.indptr))
        weights = rng.choice([-1.0, 1.0], self.d)
        chance = self.signal * (X @ weights) + rng.logistic(size=self.n)
        y = np.full(self.n, -1.0)
        y[np.argsort(-chance, kind="stable")[: self._positives]] = 1.0
        return Samples(X, y)


@dataclass(frozen=True, kw_only=True)
class HardMargin(_Generated):
    """Two classes separated by a hyperplane with a margin, in random direction; the best AUC is 1.

    Along this direction, the distance of a row from the plane is `margin` plus an exponential variable of
    mean 1, on the side of its label; across it, rows are standard normal.

    Parameters
    ----------
    margin : float
        Smallest distance of a row to the plane.
    """

    name = "hard_margin"
    margin: Positive = 0.1

    @property
    def bayes_auc(self) -> float:
        """The largest AUC that any score can reach: the classes are separable."""
        return 1.0

    def load(self) -> Samples:
        rng = np.random.default_rng(self.seed)
        y = self._signs(rng)
        direction = rng.standard_normal(self.d)
        direction /= np.linalg.norm(direction)
        X = rng.standard_normal((self.n, self.d))
        along = y * (self.margin + rng.exponential(size=self.n))
        X += np.outer(along - X @ direction, direction)
        return Samples(X, y)


@dataclass(frozen=True, kw_only=True)
class LabelNoise(_Generated):
    """Two Gaussians, a share of whose labels is wrong; the best AUC is known.

    Rows come from N(+-mu/2, I) by their true label, as in `gaussian`; then each label is reversed with
    probability `noise`. With the share p of true positives, a = P(true + | labelled +) and b = P(true + |
    labelled -), a pair of labelled rows is ordered like the true one or not at all in expectation: the best
    AUC is 1/2 + (a - b) (Phi(separation / sqrt(2)) - 1/2).

    Parameters
    ----------
    positive_rate : float
        Share of true positives.
    separation : float
        Distance of the two means, in standard deviations.
    noise : float
        Probability of a wrong label, below one half.
    """

    name = "label_noise"
    positive_rate: OpenUnit = 0.3
    separation: NonNegative = 2.0
    noise: Annotated[float, Interval(low=0.0, high=0.5, open_high=True)] = 0.1

    @property
    def bayes_auc(self) -> float:
        """The largest AUC on the noisy labels that any score can reach in expectation, for many rows."""
        p, noise = self.positive_rate, self.noise
        among_positive = p * (1 - noise) / (p * (1 - noise) + (1 - p) * noise)
        among_negative = p * noise / (p * noise + (1 - p) * (1 - noise))
        clean = NormalDist().cdf(self.separation / math.sqrt(2.0))
        return 0.5 + (among_positive - among_negative) * (clean - 0.5)

    def load(self) -> Samples:
        """Rows in random order, labels -1 and +1, some of them wrong; at least one row of each class."""
        rng = np.random.default_rng(self.seed)
        true = self._signs(rng)
        X = rng.standard_normal((self.n, self.d))
        X += self.separation / (2.0 * math.sqrt(self.d)) * true[:, None]
        y = np.where(rng.random(self.n) < self.noise, -true, true)
        if abs(y.sum()) == self.n:  # with very few rows all labels may be equal
            y = true
        return Samples(X, y)
