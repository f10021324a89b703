"""Losses of third parties: one of pieces, and one that is multiplicative."""

import math
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Valley:
    """|m - 1 / 2|, and beyond m = 1 a parabola: neither last piece nor jump is zero."""

    name: ClassVar[str] = "valley"

    @staticmethod
    def pieces(theta):
        return ((0.5, 0.5, -1.0, 0.0), (1.0, -0.5, 1.0, 0.0), (math.inf, 0.5, -1.0, 1.0))

    @staticmethod
    def value(m, theta):
        return abs(m - 0.5) if m < 1.0 else 0.5 - m + m * m

    @staticmethod
    def derivative(m, theta):
        return -1.0 if m < 0.5 else 1.0 if m < 1.0 else 2.0 * m - 1.0


@dataclass(frozen=True)
class Growth:
    """e^(m / 2)."""

    name: ClassVar[str] = "growth"
    multiplicative: ClassVar[bool] = True

    @staticmethod
    def value(m, theta):
        return math.exp(0.5 * m)

    @staticmethod
    def derivative(m, theta):
        return 0.5 * math.exp(0.5 * m)
