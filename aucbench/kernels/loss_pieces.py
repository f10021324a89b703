"""The declared structure of a loss: quadratic pieces with knots and kinks, or a rate; and smoothed kinks."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from aucbench.contracts import LossFacts
from aucbench.errors import ParameterError
from aucbench.kernels.compiled_loss import theta

SMOOTH = 1e-9  # a larger relative jump of the slope at a knot is a kink


class Piece(NamedTuple):
    """c0 + c1 m + c2 m^2 for margins m from `lower` up to `upper`."""

    lower: float
    upper: float
    c0: float
    c1: float
    c2: float

    def slope(self, m: float) -> float:
        """The derivative at a margin."""
        return self.c1 + 2.0 * self.c2 * m


def pieces(loss: Any) -> tuple[Piece, ...] | None:
    """The pieces of a piecewise quadratic loss.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.

    Returns
    -------
    tuple of Piece, or None
        In ascending order of margins; None if the loss declares no pieces.
    """
    if LossFacts(loss).pieces is None:
        return None
    parts = [tuple(map(float, part)) for part in loss.pieces(theta(loss))]
    lower = (-math.inf, *(part[0] for part in parts[:-1]))
    return tuple(Piece(start, *part) for start, part in zip(lower, parts, strict=True))


class Knot(NamedTuple):
    """The term that a knot adds below its margin: jump (m - at) + bend / 2 (m - at)^2."""

    at: float
    jump: float  # jump of the slope at the knot; 0 if the loss is smooth there
    bend: float  # jump of the second derivative


def knots(loss: Any) -> tuple[Piece, tuple[Knot, ...]] | None:
    """The last piece of a piecewise quadratic loss, and the knots below it.

    The loss at a margin is the last piece plus the terms of all knots above the margin.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.

    Returns
    -------
    (Piece, tuple of Knot), or None
        None if the loss declares no pieces.
    """
    parts = pieces(loss)
    if parts is None:
        return None
    terms = [
        Knot(left.upper, left.slope(left.upper) - right.slope(left.upper), 2.0 * (left.c2 - right.c2))
        for left, right in pairwise(parts)
    ]
    return parts[-1], tuple(terms)


def rate(loss: Any) -> float | None:
    """The rate of a multiplicative loss e^(rate m); None for any other loss."""
    if not LossFacts(loss).multiplicative:
        return None
    return math.log(float(loss.value(1.0, theta(loss))))


def kinks(loss: Any) -> tuple[float, ...]:
    """The margins at which the slope of a loss jumps; empty if the loss declares no pieces.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.

    Returns
    -------
    tuple of float
        Ascending.
    """
    return tuple(left.upper for left, right in pairwise(pieces(loss) or ()) if _jumps(left, right))


@dataclass(frozen=True)
class Smoothed:
    """A loss with its kinks rounded: the slope rises linearly over margins from k - width up to the kink k.

    It is never above the loss. Its slope is a subderivative of the loss at the same margin or at the kink.

    Parameters
    ----------
    width : float > 0
        Range of margins below a kink, shorter than any piece.
    loss : Loss
        A piecewise quadratic loss plugin, linear below each kink.
    """

    name: ClassVar[str] = "smoothed"

    width: float
    loss: Any

    def pieces(self, width: float) -> tuple[tuple[float, float, float, float], ...]:
        """The pieces of the loss, and an additional piece below each kink.

        Raises
        ------
        ParameterError
            The loss is not linear below a kink, or a piece is shorter than the width.
        """
        parts, new_parts, offset = pieces(self.loss) or (), [], 0.0
        for left, right in zip(parts, (*parts[1:], None), strict=True):
            if right is None or not _jumps(left, right):
                new_parts.append((left.upper, left.c0, left.c1, left.c2))
                continue
            low = left.upper - width
            if left.c2 or not low > left.lower:
                raise ParameterError(
                    f"{self.loss.name}: the kink at the margin {left.upper:g} cannot be smoothed over a "
                    f"width of {width:g}; the loss must be linear there."
                )
            bend = (right.slope(left.upper) - left.c1) / (2.0 * width)
            # left(m) + bend (m - low)^2; later pieces rise by the value of this term at the kink
            new_parts.append((low, left.c0, left.c1, 0.0))
            new_parts.append((left.upper, left.c0 + bend * low * low, left.c1 - 2.0 * bend * low, bend))
        # The last piece must equal the loss: subtract the rise from the pieces on its left.
        shifted: list[tuple[float, float, float, float]] = []
        for upper, c0, c1, c2 in reversed(new_parts):
            if shifted:
                above = shifted[-1]
                offset = (above[1] - c0) + (above[2] - c1) * upper + (above[3] - c2) * upper * upper
            shifted.append((upper, c0 + offset, c1, c2))
        return tuple(reversed(shifted))


class Excess(Smoothed):
    """A loss minus its tangent at the margin of a pair, with the slope of the `Smoothed` loss.

    The tangent touches the loss at the kink, so the tangent is below the loss everywhere.
    """

    def pieces(self, width: float) -> tuple[tuple[float, float, float, float], ...]:
        """A piece below each kink; all other pieces are 0."""
        parts, new_parts = pieces(self.loss) or (), []
        for left, right in pairwise(parts):
            if not _jumps(left, right):
                continue
            k, low = left.upper, left.upper - width
            rise = (right.slope(k) - left.c1) / width
            # (smoothed slope - left slope) (k - m) = rise (m - low) (k - m)
            new_parts += [(low, 0.0, 0.0, 0.0), (k, -rise * low * k, rise * (low + k), -rise)]
        return (*new_parts, (math.inf, 0.0, 0.0, 0.0))


def _jumps(left: Piece, right: Piece) -> bool:
    at = left.upper
    terms = sum(abs(part.c1) + 2.0 * abs(part.c2 * at) for part in (left, right))  # may cancel
    return right.slope(at) - left.slope(at) > SMOOTH * terms
