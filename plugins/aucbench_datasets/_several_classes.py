"""Reduction of several classes, or labels, to two: the fields by which a run chooses, and their checks."""

from dataclasses import dataclass
from typing import Any

from aucbench import Grouping, Index, ParameterError, check_fields


def checked_positive(name: str, positive: Any) -> tuple[float | str, ...] | None:
    """The field `positive` as a tuple of labels, None for None; a ParameterError if it is no label."""
    if positive is None:
        return None
    many = positive if isinstance(positive, list | tuple) else (positive,)
    if not many or not all(isinstance(label, int | float | str) for label in many):
        raise ParameterError(f"{name}: positive must be a label or a list of labels, got {positive!r}.")
    return tuple(label if isinstance(label, bool | str) else float(label) for label in many)


def checked_topic(name: str, topic: Any) -> float | str:
    """The field `topic` as `File` takes it, ``largest`` for None; a ParameterError if it is no number."""
    if topic is None:
        return "largest"
    if isinstance(topic, bool) or not isinstance(topic, int | float):
        raise ParameterError(f"{name}: topic must be the number of a label, got {topic!r}.")
    return float(topic)


@dataclass(frozen=True)
class SeveralClasses:
    """Fields of a data set of several classes.

    Parameters
    ----------
    grouping : Grouping
        ``halves``, ``rarest``, ``largest``, or ``one`` with `positive`.
    grouping_seed : int
        Of the random halves.
    positive : label or list of labels, optional
        The labels that become +1, whatever the grouping.
    """

    name = "classes"
    grouping: Grouping = Grouping.halves
    grouping_seed: Index = 0
    positive: Any = None

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "positive", checked_positive(self.name, self.positive))
        if self.grouping is Grouping.one and self.positive is None:
            raise ParameterError(f"{self.name}: grouping=one needs the label, dataset.positive=LABEL.")
