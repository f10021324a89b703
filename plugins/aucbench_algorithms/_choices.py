"""Choices that several methods offer in the same words: first point, step and average."""

from enum import StrEnum


class Start(StrEnum):
    """The first point: on the boundary, as the authors' code, or at zero."""

    author = "author"
    zero = "zero"


class Schedule(StrEnum):
    """The step t: eta / sqrt(t), or eta."""

    sqrt = "sqrt"
    constant = "constant"


class Average(StrEnum):
    """Which point is averaged: that of the gradient, or that just produced."""

    before = "before"
    after = "after"
