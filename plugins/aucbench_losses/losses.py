"""The built-in surrogate losses, functions of the margin m = s+ - s- of a pair."""

import math
from dataclasses import dataclass

from aucbench import Positive


class _Loss:
    """Properties shared by all losses."""

    convex = True
    source = "gao2015consistency"


@dataclass(frozen=True)
class Square(_Loss):
    """Square loss (1 - m)^2 of the margin m = s+ - s-."""

    name = "square"
    smoothness = 2.0
    lipschitz = math.inf
    consistent = True

    @staticmethod
    def pieces(theta: float) -> tuple[tuple[float, float, float, float], ...]:
        """1 - 2 m + m^2 everywhere."""
        return ((math.inf, 1.0, -2.0, 1.0),)

    @staticmethod
    def value(m: float, theta: float) -> float:
        return (1.0 - m) * (1.0 - m)

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        return 2.0 * (m - 1.0)

    @staticmethod
    def prox(m: float, c: float, theta: float) -> float:
        """The minimiser of c (1 - z)^2 + (z - m)^2 / 2, (m + 2 c) / (1 + 2 c)."""
        return (m + 2.0 * c) / (1.0 + 2.0 * c)


@dataclass(frozen=True)
class _WithMargin(_Loss):
    """A loss that is zero from a margin on.

    Parameters
    ----------
    margin : float > 0
        The margin beyond which the loss is zero.
    """

    margin: Positive = 1.0


@dataclass(frozen=True)
class Hinge(_WithMargin):
    """Hinge loss max(0, margin - m) of the margin m = s+ - s-."""

    name = "hinge"
    smoothness = math.inf
    lipschitz = 1.0
    consistent = False

    @staticmethod
    def pieces(theta: float) -> tuple[tuple[float, float, float, float], ...]:
        """theta - m up to the margin theta, then 0."""
        return ((theta, theta, -1.0, 0.0), (math.inf, 0.0, 0.0, 0.0))

    @staticmethod
    def value(m: float, theta: float) -> float:
        return 0.0 if m >= theta else theta - m  # NaN stays NaN

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        return 0.0 if m >= theta else -1.0

    @staticmethod
    def prox(m: float, c: float, theta: float) -> float:
        """The minimiser of c max(0, theta - z) + (z - m)^2 / 2: m moves by at most c, to theta at most."""
        return max(m, min(m + c, theta))


@dataclass(frozen=True)
class SquaredHinge(_WithMargin):
    """Squared hinge loss max(0, margin - m)^2 of the margin m = s+ - s-."""

    name = "squared_hinge"
    smoothness = 2.0
    lipschitz = math.inf
    consistent = True

    @staticmethod
    def pieces(theta: float) -> tuple[tuple[float, float, float, float], ...]:
        """(theta - m)^2 up to the margin theta, then 0."""
        return ((theta, theta * theta, -2.0 * theta, 1.0), (math.inf, 0.0, 0.0, 0.0))

    @staticmethod
    def value(m: float, theta: float) -> float:
        return 0.0 if m >= theta else (theta - m) * (theta - m)  # NaN stays NaN

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        return 0.0 if m >= theta else -2.0 * (theta - m)

    @staticmethod
    def prox(m: float, c: float, theta: float) -> float:
        """The minimiser of c max(0, theta - z)^2 + (z - m)^2 / 2: (m + 2 c theta) / (1 + 2 c) below theta."""
        return m if m >= theta else (m + 2.0 * c * theta) / (1.0 + 2.0 * c)


@dataclass(frozen=True)
class SmoothHinge(_WithMargin):
    """Smooth (Huberised) hinge loss of r = margin - m: 0 for r <= 0, r^2 / 2 up to r = 1, r - 1/2 beyond."""

    name = "smooth_hinge"
    smoothness = 1.0
    lipschitz = 1.0
    consistent = True

    @staticmethod
    def pieces(theta: float) -> tuple[tuple[float, float, float, float], ...]:
        """Linear up to theta - 1, quadratic up to theta, then 0."""
        return (
            (theta - 1.0, theta - 0.5, -1.0, 0.0),
            (theta, 0.5 * theta * theta, -theta, 0.5),
            (math.inf, 0.0, 0.0, 0.0),
        )

    @staticmethod
    def value(m: float, theta: float) -> float:
        """0, r^2 / 2 or r - 1/2 with r = theta - m."""
        r = theta - m
        if r <= 0.0:
            return 0.0
        return r - 0.5 if r >= 1.0 else 0.5 * r * r  # NaN stays NaN

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        r = theta - m
        if r <= 0.0:
            return 0.0
        return -1.0 if r >= 1.0 else -r

    @staticmethod
    def prox(m: float, c: float, theta: float) -> float:
        """The minimiser of c value(z) + (z - m)^2 / 2: (m + c theta) / (1 + c), or m + c far below theta."""
        r = theta - m
        if r <= 0.0:
            return m
        return m + c if r >= 1.0 + c else (m + c * theta) / (1.0 + c)


@dataclass(frozen=True)
class Logistic(_Loss):
    """Logistic loss log(1 + e^-m) of the margin m = s+ - s-."""

    name = "logistic"
    smoothness = 0.25
    lipschitz = 1.0
    consistent = True

    @staticmethod
    def value(m: float, theta: float) -> float:
        """log(1 + e^-m), without overflow."""
        return max(-m, 0.0) + math.log1p(math.exp(-abs(m)))

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        """-1 / (1 + e^m), without overflow."""
        e = math.exp(-abs(m))
        return -e / (1.0 + e) if m > 0.0 else -1.0 / (1.0 + e)


@dataclass(frozen=True)
class Exponential(_Loss):
    """Exponential loss e^-m of the margin m = s+ - s-; the exponent is capped at 700."""

    name = "exponential"
    smoothness = math.inf
    lipschitz = math.inf
    consistent = True
    multiplicative = True  # as long as the exponent is not capped

    @staticmethod
    def value(m: float, theta: float) -> float:
        """e^-m; a larger exponent than 700 would overflow."""
        return math.exp(700.0 if -m > 700.0 else -m)

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        """-e^-m."""
        return -math.exp(700.0 if -m > 700.0 else -m)
