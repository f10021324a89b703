"""Enumerations that several methods share."""

from enum import StrEnum

Start = StrEnum("Start", "author zero")  # first point: on the boundary, as in the authors' code, or at zero
Schedule = StrEnum("Schedule", "sqrt constant")  # step t: eta / sqrt(t), or eta
Average = StrEnum("Average", "before after")  # averaged point: before or after the step
