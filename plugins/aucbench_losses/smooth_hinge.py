"""The smooth (Huberised) hinge loss."""

import math
from dataclasses import dataclass

from aucbench import Positive


@dataclass(frozen=True)
class SmoothHinge:
    """Smooth hinge loss of r = margin - m: 0 for r <= 0, r^2 / 2 up to r = 1, r - 1/2 beyond.

    Parameters
    ----------
    margin : float > 0
        The margin beyond which the loss is zero.
    """

    name = "smooth_hinge"
    convex = True
    smoothness = 1.0
    lipschitz = 1.0
    consistent = True
    source = "gao2015consistency"

    margin: Positive = 1.0

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
