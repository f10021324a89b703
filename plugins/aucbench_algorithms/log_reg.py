"""Logistic regression with balanced classes, solved to its optimum: the yardstick of every leaderboard.

    1/2 |w|^2 + C sum_i c_i log(1 + exp(-y_i (w.x_i + b))),   c_i = n / (2 n_y)

This is the objective of scikit-learn's LogisticRegression(C=C, class_weight="balanced"). The intercept b is
not regularised. The scores leave it out: it does not change the AUC, and adding it would round close scores
into ties. With lam = 1 / (C n) this is the problem of `uni_log`, and the Newton iteration is the same. It
ends when the gradient by w and b is at most 1e-10 |w| (in the scale above), which bounds |w - w*| / |w| by
1e-10, or when rounding keeps the gradient from shrinking further, as happens with a large C.

Cost: O(n d min(n, d)) per iteration, of which 5 to 20 are common; O(nnz) per conjugate-gradient product where
n and d both exceed 2,048.

Source: Cox, The regression analysis of binary sequences, JRSS B 1958; the parameters are those of
Pedregosa et al., Scikit-learn: machine learning in Python, JMLR 2011.
"""

from dataclasses import dataclass

from aucbench import Batch, Claims, Positive
from aucbench_algorithms._linear_method import total
from aucbench_algorithms.univariate_batch import State, UnivariateBatch, newton_iteration


@dataclass(frozen=True)
class LogReg(UnivariateBatch):
    """Logistic regression with balanced classes and an intercept, to its optimum by Newton's method.

    Parameters
    ----------
    C : float > 0
        Weight of the loss relative to |w|^2 / 2; the inverse of the regularisation.
    """

    name = "log_reg"
    losses = ("logistic",)
    grid = {"C": tuple(10.0**power for power in range(-4, 5))}
    claims = Claims(rate="quadratic", cost="n d min(n, d)")
    regularisation = {"C": -2}
    citation = "cox1958regression"
    deviations = (
        "Classes are balanced, where scikit-learn's default is to weight all rows alike.",
        "Newton's method runs to a gradient of 1e-10 |w|; scikit-learn's default, lbfgs with tol=1e-4, stops "
        "earlier.",
    )

    C: Positive = 1.0

    def _iterate(self, state: State, batch: Batch) -> State:
        return newton_iteration(state, batch, 1.0 / (self.C * total(batch)), intercept=True)
