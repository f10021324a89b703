"""The exponential loss, e^-m."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Exponential:
    """Exponential loss e^-m of the margin m = s+ - s-; the exponent is capped at 700."""

    name = "exponential"
    convex = True
    smoothness = math.inf
    lipschitz = math.inf
    consistent = True
    source = "gao2015consistency"
    multiplicative = True  # where the exponent is not capped

    @staticmethod
    def value(m: float, theta: float) -> float:
        """e^-m; a larger exponent than 700 would overflow."""
        return math.exp(700.0 if -m > 700.0 else -m)

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        """-e^-m."""
        return -math.exp(700.0 if -m > 700.0 else -m)
