"""Choices that several methods offer in the same words: the first point, and which points are averaged."""

from enum import StrEnum


class Start(StrEnum):
    """The first point: on the boundary, as the authors' code, or at zero."""

    author = "author"
    zero = "zero"


class Average(StrEnum):
    """Which point is averaged: that of the gradient, or that just produced."""

    before = "before"
    after = "after"
