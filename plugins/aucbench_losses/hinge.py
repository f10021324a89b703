"""The hinge loss, max(0, margin - m)."""

import math
from dataclasses import dataclass

from aucbench import Positive


@dataclass(frozen=True)
class Hinge:
    """Hinge loss max(0, margin - m) of the margin m = s+ - s-.

    Parameters
    ----------
    margin : float > 0
        The margin beyond which the loss is zero.
    """

    name = "hinge"
    convex = True
    smoothness = math.inf
    lipschitz = 1.0
    consistent = False
    source = "gao2015consistency"

    margin: Positive = 1.0

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
