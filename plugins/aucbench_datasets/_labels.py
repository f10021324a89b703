"""The positive labels of a data set: the fields that choose them in a run, and their checks."""

from dataclasses import dataclass
from typing import Any

from aucbench import Grouping, Index, ParameterError, check_fields


def checked_positive(name: str, positive: Any) -> tuple[float | str, ...] | None:
    """The field `positive` as a tuple of labels, None for None; a ParameterError if it is no label."""
    if positive is None:
        return None
    labels = positive if isinstance(positive, list | tuple) else (positive,)
    if not labels or not all(isinstance(label, int | float | str) for label in labels):
        raise ParameterError(f"{name}: positive must be a label or a list of labels, got {positive!r}.")
    return tuple(label if isinstance(label, bool | str) else float(label) for label in labels)


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The choice of the positive labels.

    Parameters
    ----------
    positive : label or list of labels, optional
        The labels that become +1. Required for more than two classes unless a grouping is given. By default
        the larger of -1/+1 or 0/1, and the rarer of any other two.
    grouping : Grouping, optional
        ``halves``, ``rarest`` or ``largest``, for several classes, or ``one`` with `positive`.
    grouping_seed : int
        Seed of the random halves.
    """

    name = "labels"
    positive: Any = None
    grouping: Grouping | None = None
    grouping_seed: Index = 0

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "positive", checked_positive(self.name, self.positive))
        if self.grouping is Grouping.one and self.positive is None:
            raise ParameterError(f"{self.name}: grouping=one needs the label, dataset.positive=LABEL.")


@dataclass(frozen=True, kw_only=True)
class SeveralClasses(Labels):
    """The choice for data of several classes; `positive` overrides any grouping."""

    grouping: Grouping = Grouping.halves
