"""The square loss, (1 - m)^2."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Square:
    """Square loss (1 - m)^2 of the margin m = s+ - s-."""

    name = "square"
    convex = True
    smoothness = 2.0
    lipschitz = math.inf
    consistent = True
    source = "gao2015consistency"

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
