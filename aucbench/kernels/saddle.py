"""The square loss over pairs as a saddle point of single rows, as in SOLAM."""

from typing import NamedTuple

from aucbench.kernels.jit import scalar


class Variables(NamedTuple):
    """The variables of the saddle point besides the weights."""

    a: float
    b: float
    alpha: float


@scalar
def gradients(row, own):
    """Gradients of F(w, a, b, alpha; x, y) at a `kernels.Row` and the `Variables` of the method.

    F = (1 - p) (s - a)^2 [y = 1] + p (s - b)^2 [y = -1] - p (1 - p) alpha^2
        + 2 (1 + alpha) (p s [y = -1] - (1 - p) s [y = 1])

    with s = w.x and p the share of positive rows so far. Returns dF/ds, dF/da, dF/db and dF/dalpha;
    dF/dw = dF/ds x.
    """
    s, p = row.s, row.positives / row.t
    # Selected by the label rather than branched on it: random labels cannot be predicted.
    sign, centre, q = (1.0, own.a, 2.0 * (1.0 - p)) if row.positive else (-1.0, own.b, 2.0 * p)
    dcentre = -q * (s - centre)
    da, db = (dcentre, 0.0) if row.positive else (0.0, dcentre)
    dalpha = -sign * q * s - (1.0 - 0.5 * q) * q * own.alpha
    return q * (s - centre - sign * (1.0 + own.alpha)), da, db, dalpha
