"""The logistic loss, log(1 + e^-m)."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Logistic:
    """Logistic loss log(1 + e^-m) of the margin m = s+ - s-."""

    name = "logistic"
    convex = True
    smoothness = 0.25
    lipschitz = 1.0
    consistent = True
    source = "gao2015consistency"

    @staticmethod
    def value(m: float, theta: float) -> float:
        """log(1 + e^-m), without overflow."""
        return max(-m, 0.0) + math.log1p(math.exp(-abs(m)))

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        """-1 / (1 + e^m), without overflow."""
        e = math.exp(-abs(m))
        return -e / (1.0 + e) if m > 0.0 else -1.0 / (1.0 + e)
