"""The squared hinge loss, max(0, margin - m)^2."""

import math
from dataclasses import dataclass

from aucbench import Positive


@dataclass(frozen=True)
class SquaredHinge:
    """Squared hinge loss max(0, margin - m)^2 of the margin m = s+ - s-.

    Parameters
    ----------
    margin : float > 0
        The margin beyond which the loss is zero.
    """

    name = "squared_hinge"
    convex = True
    smoothness = 2.0
    lipschitz = math.inf
    consistent = True
    source = "gao2015consistency"

    margin: Positive = 1.0

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
