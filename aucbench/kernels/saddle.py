"""The saddle-point form of the square loss over pairs, which SOLAM and its kin share."""

from typing import NamedTuple

from aucbench.kernels.rules import scalar


class Variables(NamedTuple):
    """The variables of the saddle point besides the weights."""

    a: float
    b: float
    alpha: float


@scalar
def gradients(row, own):
    """Gradients of F(w, a, b, alpha; x, y) at s = w.x, p being the share of positive rows so far.

    F = (1 - p) (s - a)^2 [y = 1] + p (s - b)^2 [y = -1] - p (1 - p) alpha^2
        + 2 (1 + alpha) (p s [y = -1] - (1 - p) s [y = 1])

    Returns dF/ds, dF/da, dF/db and dF/dalpha; dF/dw = dF/ds x.
    """
    s, p = row.s, row.positives / row.t
    if row.positive:
        q = 2.0 * (1.0 - p)
        return q * (s - own.a - 1.0 - own.alpha), -q * (s - own.a), 0.0, -q * s - q * p * own.alpha
    q = 2.0 * p
    return q * (s - own.b + 1.0 + own.alpha), 0.0, -q * (s - own.b), q * s - q * (1.0 - p) * own.alpha
