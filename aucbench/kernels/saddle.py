"""The square loss over pairs as a saddle point of single rows, as in SOLAM."""

from typing import NamedTuple

from aucbench.kernels.jit import scalar


class Variables(NamedTuple):
    """The variables of the saddle point besides the weights."""

    a: float
    b: float
    alpha: float


@scalar
def gradients(row, scalars):
    """Gradients of F(w, a, b, alpha; x, y) at a `kernels.Row` and the `Variables` of the method.

    F = (1 - p) (s - a)^2 [y = 1] + p (s - b)^2 [y = -1] - p (1 - p) alpha^2
        + 2 (1 + alpha) (p s [y = -1] - (1 - p) s [y = 1])

    with s = w.x and p the share of positive rows so far. Returns dF/ds, dF/da, dF/db and dF/dalpha;
    dF/dw = dF/ds x.
    """
    # Selects of numbers: a branch on the label, which cannot be predicted, costs as much as a short row.
    share = row.positives / row.t
    sign, centre, q = 1.0, scalars.a, 2.0 * (1.0 - share)
    if not row.positive:
        sign, centre, q = -1.0, scalars.b, 2.0 * share
    distance = row.s - centre
    dcentre, dalpha = -q * distance, -q * (sign * row.s + (1.0 - 0.5 * q) * scalars.alpha)
    da = dcentre if row.positive else 0.0
    db = 0.0 if row.positive else dcentre
    return q * (distance - sign * (1.0 + scalars.alpha)), da, db, dalpha
