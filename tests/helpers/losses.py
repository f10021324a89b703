"""Losses of strangers: smooth, not convex, steep, with slow tails, with an undeclared kink; declared ones."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Sigmoid:
    """1 / (1 + e^(m / theta)): bounded, not convex."""

    name = "sigmoid"
    convex = False
    width: float = 1.0

    @staticmethod
    def value(m, theta):
        return 0.5 - 0.5 * math.tanh(0.5 * m / theta)

    @staticmethod
    def derivative(m, theta):
        return -0.25 / (theta * math.cosh(max(-300.0, min(300.0, 0.5 * m / theta))) ** 2)


@dataclass(frozen=True)
class Softplus:
    """theta log(1 + e^(-m / theta)), near a hinge for small theta."""

    name = "softplus"
    convex = True
    width: float = 1.0

    @staticmethod
    def value(m, theta):
        z = m / theta
        return theta * (max(-z, 0.0) + math.log1p(math.exp(-abs(z))))

    @staticmethod
    def derivative(m, theta):
        z = m / theta
        e = math.exp(-abs(z))
        return -e / (1.0 + e) if z > 0.0 else -1.0 / (1.0 + e)


@dataclass(frozen=True)
class Hyperbola:
    """sqrt(1 + m^2) - m, whose right tail is 1 / (2 m)."""

    name = "hyperbola"
    convex = True
    smoothness = 1.0

    @staticmethod
    def value(m, theta):
        root = math.sqrt(1.0 + m * m)
        return root - m if m < 0.0 else 1.0 / (root + m)

    @staticmethod
    def derivative(m, theta):
        root = math.sqrt(1.0 + m * m)
        return m / root - 1.0 if m < 0.0 else -1.0 / (root * (root + m))


@dataclass(frozen=True)
class UndeclaredHinge:
    """The hinge without its pieces."""

    name = "undeclared_hinge"
    convex = True

    @staticmethod
    def value(m, theta):
        if m > 1.0:
            return 0.0
        return 1.0 - m

    @staticmethod
    def derivative(m, theta):
        return -1.0 if m < 1.0 else 0.0


@dataclass(frozen=True)
class Valley:
    """|m - 1 / 2|, and beyond m = 1 a parabola: neither last piece nor jump is zero."""

    name = "valley"

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

    name = "growth"
    multiplicative = True

    @staticmethod
    def value(m, theta):
        return math.exp(0.5 * m)

    @staticmethod
    def derivative(m, theta):
        return 0.5 * math.exp(0.5 * m)
