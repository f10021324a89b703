"""Gradients of the saddle-point form of the square loss over pairs, which SOLAM and its kin share."""

from aucbench.kernels.jit import kernel


@kernel
def gradients(s, a, b, alpha, p, positive):
    """Gradients of F(w, a, b, alpha; x, y) at a score s = w.x, p being the share of positives.

    F = (1 - p) (s - a)^2 [y = 1] + p (s - b)^2 [y = -1] - p (1 - p) alpha^2
        + 2 (1 + alpha) (p s [y = -1] - (1 - p) s [y = 1])

    Returns dF/ds, dF/da, dF/db and dF/dalpha; dF/dw = dF/ds x.
    """
    if positive:
        q = 2.0 * (1.0 - p)
        return q * (s - a - 1.0 - alpha), -q * (s - a), 0.0, -q * s - q * p * alpha
    q = 2.0 * p
    return q * (s - b + 1.0 + alpha), 0.0, -q * (s - b), q * s - q * (1.0 - p) * alpha
