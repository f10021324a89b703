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
    a, b, alpha = own
    q, r = 2.0 * (1.0 - p), 2.0 * p
    of_positive = (q * (s - a - (1.0 + alpha)), -q * (s - a), 0.0, -q * s - q * p * alpha)
    of_negative = (r * (s - b + (1.0 + alpha)), 0.0, -r * (s - b), r * s - q * p * alpha)
    # Both are computed and one is selected: a branch on random labels cannot be predicted.
    return of_positive if row.positive else of_negative
