"""Choices that several methods offer in the same words."""

from enum import StrEnum

Start = StrEnum("Start", "author zero")  # first point: on the boundary, as the authors' code, or at zero
Schedule = StrEnum("Schedule", "sqrt constant")  # step t: eta / sqrt(t), or eta
Average = StrEnum("Average", "before after")  # averaged point: that of the gradient, or the one produced
