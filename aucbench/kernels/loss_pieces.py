"""The structure that a loss declares: pieces that are quadratic, with their knots and kinks, or a rate.

A loss with rounded kinks is made of the pieces, too.
"""

import math
from collections.abc import Iterable, Sequence
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
    """The pieces of a loss that is quadratic by pieces.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.

    Returns
    -------
    tuple of Piece, or None
        In ascending order of margins; None when the loss declares none.
    """
    if LossFacts(loss).pieces is None:
        return None
    return as_pieces(loss.pieces(theta(loss)))


def as_pieces(parts: Iterable[Sequence[float]]) -> tuple[Piece, ...]:
    """Pieces (upper, c0, c1, c2) as a loss declares them, each with the margin where it begins."""
    found, lower = [], -math.inf
    for part in parts:
        found.append(Piece(lower, *map(float, part)))
        lower = found[-1].upper
    return tuple(found)


class Knot(NamedTuple):
    """What a loss has below a margin besides the piece above: jump (m - at) + bend / 2 (m - at)^2."""

    at: float
    jump: float  # of the slope at the knot; 0 where the loss is smooth
    bend: float  # of the second derivative


def knots(loss: Any) -> tuple[Piece, tuple[Knot, ...]] | None:
    """The last piece of a loss that is quadratic by pieces, and the knots below it.

    The loss at a margin is the last piece there, plus what every knot above the margin adds.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.

    Returns
    -------
    (Piece, tuple of Knot), or None
        None when the loss declares no pieces.
    """
    parts = pieces(loss)
    if parts is None:
        return None
    found = [
        Knot(left.upper, left.slope(left.upper) - right.slope(left.upper), 2.0 * (left.c2 - right.c2))
        for left, right in pairwise(parts)
    ]
    return parts[-1], tuple(found)


def rate(loss: Any) -> float | None:
    """The rate of a loss that declares itself multiplicative, e^(rate m); None for any other."""
    if not LossFacts(loss).multiplicative:
        return None
    return math.log(float(loss.value(1.0, theta(loss))))


def kinks(loss: Any) -> tuple[float, ...]:
    """The margins at which the slope of a loss jumps, of one that declares its pieces; else none is known.

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

    It is never above the loss, and its slope at any margin is a subderivative of the loss at that margin or
    at the kink.

    Parameters
    ----------
    width : float > 0
        Of the margins, less than the length of a piece.
    loss : Loss
        A loss plugin that is quadratic by pieces, and linear below each kink.
    """

    name: ClassVar[str] = "smoothed"

    width: float
    loss: Any

    def pieces(self, width: float) -> tuple[tuple[float, float, float, float], ...]:
        """Those of the loss, and one more below each kink.

        Raises
        ------
        ParameterError
            The loss is not linear below a kink, or a piece is shorter than the width.
        """
        parts, found, offset = pieces(self.loss) or (), [], 0.0
        for left, right in zip(parts, (*parts[1:], None), strict=True):
            if right is None or not _jumps(left, right):
                found.append((left.upper, left.c0, left.c1, left.c2))
                continue
            low = left.upper - width
            if left.c2 or not low > left.lower:
                raise ParameterError(
                    f"{self.loss.name}: the kink at the margin {left.upper:g} cannot be smoothed over a "
                    f"width of {width:g}; the loss must be linear there."
                )
            bend = (right.slope(left.upper) - left.c1) / (2.0 * width)
            # left(m) + bend (m - low)^2, and all beyond is higher by what this adds up to at the kink
            found.append((low, left.c0, left.c1, 0.0))
            found.append((left.upper, left.c0 + bend * low * low, left.c1 - 2.0 * bend * low, bend))
        # On the right the smoothed loss is the loss itself: what was added is taken off on the left.
        shifted: list[tuple[float, float, float, float]] = []
        for upper, c0, c1, c2 in reversed(found):
            if shifted:
                above = shifted[-1]
                offset = (above[1] - c0) + (above[2] - c1) * upper + (above[3] - c2) * upper * upper
            shifted.append((upper, c0 + offset, c1, c2))
        return tuple(reversed(shifted))

    def excess(self) -> tuple[tuple[float, float, float, float], ...]:
        """Pieces of what a pair's tangent loses: the loss minus the tangent of the slope used, at the margin.

        The tangent touches the loss at the kink, so that it is below the loss everywhere.
        """
        parts, found = pieces(self.loss) or (), []
        for left, right in pairwise(parts):
            if not _jumps(left, right):
                continue
            k, low = left.upper, left.upper - self.width
            rise = (right.slope(k) - left.c1) / self.width
            # (slope used - left slope) (k - m) = rise (m - low) (k - m)
            found += [(low, 0.0, 0.0, 0.0), (k, -rise * low * k, rise * (low + k), -rise)]
        return (*found, (math.inf, 0.0, 0.0, 0.0))


def _jumps(left: Piece, right: Piece) -> bool:
    at = left.upper
    terms = sum(abs(part.c1) + 2.0 * abs(part.c2 * at) for part in (left, right))  # they may cancel
    return right.slope(at) - left.slope(at) > SMOOTH * terms
