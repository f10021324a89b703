"""SOLAM on an l1 ball, with the choices of the paper that proposed it.

With F, its steps and its bounds those of `solam`:

    min over |w|_1 <= R, a, b   max over alpha   mean of F(w, a, b, alpha; x, y)

started at zero, the points just produced being averaged.

Cost per example: O(nnz log d) on sparse rows, exactly, by `l1_ball`; O(d) on dense rows while the
projection is active.

The default zeta is for rescaled rows, with the limit that `solam` has.

Source: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with O(1/n)-convergence rate,
ICML 2018, section 5; the method itself from Ying, Wen, Lyu, NIPS 2016.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from aucbench import Claims, Positive
from aucbench_algorithms.solam import Average, Norm, Solam


@dataclass(frozen=True)
class SolamL1(Solam):
    """Stochastic online AUC maximisation on an l1 ball: `solam` with other defaults.

    Parameters
    ----------
    zeta : float > 0
        Step; g_t = zeta / sqrt(t).
    radius : float > 0
        R, of the ball of w.
    norm : l2 or l1
        Norm of the ball.
    start : author or zero
        First point: w = R / sqrt(d), a = b = R, alpha = 2 R, or zero.
    average : before or after
        Whether w_t or w_(t+1) is averaged.
    one_sided_ab : bool
        Clip a and b from above only, as the authors' scripts do.
    kappa : float > 0 or None
        Bound on the row norms; None measures the largest of the training data.
    """

    name: ClassVar[str] = "solam_l1"
    colour: ClassVar[str] = "#990d61"
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "zeta": (0.1, 0.3, 1.0, 3.0, 10.0),
        "radius": (1.0, 10.0, 100.0, 1000.0, 10000.0),
    }
    claims: ClassVar[Claims] = Claims(rate="1/sqrt(t)", cost="d")
    citation: ClassVar[str] = "liu2018fsauc"

    radius: Positive = 100.0
    norm: Norm = Norm.l1
    average: Average = Average.after
