"""The function of the weights that a linear pairwise method minimises."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aucbench.contracts.hyperparameters import NonNegative, Positive, check_fields


class Norm(StrEnum):
    """The norm of a ball of weights."""

    l2 = "l2"
    l1 = "l1"


@dataclass(frozen=True)
class Objective:
    """The function of the weights that a method minimises.

        mean over all pairs of loss(w.(x+ - x-)) + l2 / 2 |w|^2 + l1 |w|_1,  subject to |w| <= radius

    The mean over pairs has no factor: a method that halves the mean, or weights it by p (1 - p), declares its
    regulariser divided by this factor.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin, convex and non-negative.
    l2 : float >= 0
        Weight of |w|^2 / 2.
    l1 : float >= 0
        Weight of |w|_1.
    radius : float > 0 or None
        Radius of the ball of weights; None for no constraint.
    norm : l2 or l1
        The norm of the ball.
    """

    loss: Any
    l2: NonNegative = 0.0
    l1: NonNegative = 0.0
    radius: Positive | None = None
    norm: Norm = Norm.l2

    def __post_init__(self) -> None:
        check_fields(self)

    def __str__(self) -> str:
        theta = ", ".join(f"{value:g}" for value in vars(self.loss).values())
        terms = [f"mean over pairs of {self.loss.name}({theta + '; ' if theta else ''}w.(x+ - x-))"]
        terms += [f"{self.l2 / 2:.6g} |w|^2"] if self.l2 else []
        terms += [f"{self.l1:.6g} |w|_1"] if self.l1 else []
        ball = (
            "" if self.radius is None else f", |w|{'_1' if self.norm is Norm.l1 else ''} <= {self.radius:g}"
        )
        return " + ".join(terms) + ball

    @property
    def is_bounded(self) -> bool:
        """Whether a regulariser or a ball keeps the weights bounded."""
        return self.l2 > 0.0 or self.l1 > 0.0 or self.radius is not None
