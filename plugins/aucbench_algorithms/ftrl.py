"""FTRL-Proximal, with the square loss over pairs (`ftrl_auc`) and with the logistic loss (`ftrl_log`).

With the sums z of shifted gradients and q of squared gradients, the weights have the closed form

    w_j = 0 if |z_j| <= l1, else -(z_j - sign(z_j) l1) / ((smooth + sqrt(q_j)) / gamma + l2)

An example (x, y) of score s = w.x and gradient g = k x changes, at each of its columns,

    z_j += g_j - (sqrt(q_j + g_j^2) - sqrt(q_j)) / gamma w_j,   q_j += g_j^2

where, for FTRL-AUC, p is the share of positives so far and h+, h- are the means of the past scores of each
class, all with this example included; and for logistic regression with the intercept b:

    ftrl_auc: k = 2 (1 - p) (s - h- - 1) for positives, 2 p (s - h+ + 1) for negatives
    ftrl_log: k = -c_y y / (1 + exp(y (s + b)))

The model is the last iterate. An example changes only the weights at its columns, so w is always up to date.
l1 is compared with a sum of gradients, not with their mean, and sets weights to exactly zero. The intercept
is fitted in the same way, without l1 and l2. The scores leave it out, because it does not change the AUC and
adding it would round close scores into ties.

As l1 and l2 count against sums, their share of the mean vanishes. As the weights settle, h+ and h- become the
means of the scores: FTRL-AUC approaches the minimum of the mean square over pairs without a regulariser.

Cost per example: O(nnz).

Source: Zhou, Ying, Skiena, Online AUC optimization for sparse high-dimensional datasets, ICDM 2020; McMahan
and others, Ad click prediction: a view from the trenches, KDD 2013, Algorithm 1.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, LinearMethod, NonNegative, Objective, Positive, Problem, kernels
from aucbench.kernels import rows

GAMMA = (1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 0.1, 0.5, 1.0, 5.0)
L1 = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 1.0, 3.0, 5.0)


class Params(NamedTuple):
    """Constant parameters of the kernel."""

    gamma: float
    smooth: float
    l1: float
    l2: float


class Scores(NamedTuple):
    """Numbers of positives and negatives so far, and the means of their past scores."""

    positives: int
    negatives: int
    h_pos: float
    h_neg: float


class Intercept(NamedTuple):
    """The intercept and its sums."""

    z: float
    root: float
    b: float


class State(NamedTuple):
    """The numbers of each column, and the scalars of the method."""

    zrw: np.ndarray  # (3, d) z, sqrt(q) and the weights
    scalars: Any  # Scores or Intercept
    balance: tuple[float, float]  # c_- and c_+


@dataclass(frozen=True)
class _Ftrl(LinearMethod):
    """Base class of both methods.

    Parameters
    ----------
    gamma : float > 0
        Step size; a column has the step size gamma / (smooth + sqrt(sum of its squared gradients)).
    smooth : float > 0
        Number that is added to the root; beta in the papers.
    l1, l2 : float >= 0
        Weights of |w|_1 and |w|^2 / 2, relative to sums of gradients.
    """

    regularisation = {"l2": 2}
    access = Access.stream
    resumable = True
    grid = {"gamma": GAMMA, "l1": L1}
    step_size = "gamma"
    claims = Claims(rate="1/sqrt(t)", cost="nnz")

    gamma: Positive = 0.5
    smooth: Positive = 1.0
    l1: NonNegative = 0.0
    l2: NonNegative = 0.0

    def _first_state(
        self, problem: Problem, scalars: Any, balance: tuple[float, float] = (1.0, 1.0)
    ) -> State:
        d = problem.n_features
        # In the lazy layout the numbers of a column lie side by side.
        lazy = kernels.layout(problem.X) is kernels.Layout.lazy
        return State(np.zeros((d, 3)).T if lazy else np.zeros((3, d)), scalars, balance)

    @property
    def _params(self) -> Params:
        return Params(self.gamma, self.smooth, self.l1, self.l2)

    def weights(self, state: State) -> np.ndarray:
        return state.zrw[2].copy()


@dataclass(frozen=True)
class FtrlAuc(_Ftrl):
    """Follow the regularised leader, proximal, for the square loss over pairs."""

    name = "ftrl_auc"
    losses = ("square",)
    citation = "zhou2020online"
    deviations = (
        "The weights of a row are brought up to date before its score, as follow-the-leader says; the "
        "released code computes the score with the weights of each feature's last visit.",
        "The threshold is that of the formula; a macro of the released code lacks its parentheses and "
        "subtracts 1 in place of l1 where z is positive.",
    )

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        return self._first_state(problem, Scores(0, 0, 0.0, 0.0))

    def objective(self, problem: Problem) -> Objective:
        """The mean without a regulariser: l1 and l2 count against sums over all examples so far."""
        return Objective(problem.loss)

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        scalars = _run_auc(batch.rows_view, batch.y, batch.rows, state.zrw, state.scalars, self._params)
        return state._replace(scalars=scalars)


@dataclass(frozen=True)
class FtrlLog(_Ftrl):
    """Follow the regularised leader, proximal, for logistic regression on single examples.

    Parameters
    ----------
    intercept : bool
        Whether an intercept is fitted, which is not regularised.
    balanced : bool
        Whether both classes have the same total weight, with n / (2 n_y) for each example.
    """

    name = "ftrl_log"
    losses = ("logistic",)
    citation = "mcmahan2013ad"
    deviations = (
        "The intercept is not regularised, and no score contains it.",
        "The classes can be balanced by their counts in the training set (balanced=True).",
    )

    gamma: Positive = 1.0
    intercept: bool = True
    balanced: bool = False

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights; counts the classes of the training set where they are balanced."""
        balance = (1.0, 1.0)
        if self.balanced:
            n, n_pos = problem.n_samples, int(np.count_nonzero(problem.y == 1))
            balance = (n / (2 * max(1, n - n_pos)), n / (2 * max(1, n_pos)))
        return self._first_state(problem, Intercept(0.0, 0.0, 0.0), balance)

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        zrw, scalars, balance = state
        where = batch.rows_view, batch.y, batch.rows
        return State(zrw, _run_log(*where, zrw, scalars, balance, self.intercept, self._params), balance)

    def fitted_intercept(self, state: State) -> float:
        """The intercept b, which no score contains; 0 where none is fitted."""
        return float(state.scalars.b)


@kernels.scalar
def _entry(z, root, w, g, params):
    """z, sqrt(q) and w of a column after a gradient g."""
    after = np.sqrt(root * root + g * g)
    z += g - (after - root) / params.gamma * w
    excess = abs(z) - params.l1
    size = excess / ((params.smooth + after) / params.gamma + params.l2)
    size = 0.0 if excess <= 0.0 else size  # NaN must reach the weights
    return z, after, -size if z > 0.0 else size


@rows.for_rows()
def _move(k: float, X: Any, i: int, zrw: Any, params: Params) -> None:
    """Apply the gradient k x_i at the columns of the row."""
    z, root, w = zrw[0], zrw[1], zrw[2]
    start, stop = rows.extent(X, i)
    for p in range(start, stop):
        j, x = rows.entry(X, i, p)
        z[j], root[j], w[j] = _entry(z[j], root[j], w[j], k * x, params)


@kernels.kernel
def _run_auc(X, y, order, zrw, scalars, params):
    for k in range(order.size):
        i = rows.visit(X, order, k)
        s = rows.dot(X, i, zrw[2])
        positives, negatives, h_pos, h_neg = scalars
        if y[i] > 0:
            positives += 1
            h_pos += (s - h_pos) / positives
            slope = 2.0 * negatives / (positives + negatives) * (s - h_neg - 1.0)
        else:
            negatives += 1
            h_neg += (s - h_neg) / negatives
            slope = 2.0 * positives / (positives + negatives) * (s - h_pos + 1.0)
        scalars = Scores(positives, negatives, h_pos, h_neg)
        if slope != 0.0:
            _move(slope, X, i, zrw, params)
    return scalars


@kernels.kernel
def _run_log(X, y, order, zrw, scalars, balance, intercept, params):
    free = Params(params.gamma, params.smooth, 0.0, 0.0)
    for k in range(order.size):
        i = rows.visit(X, order, k)
        label, c = (1.0, balance[1]) if y[i] > 0 else (-1.0, balance[0])
        margin = label * (rows.dot(X, i, zrw[2]) + scalars.b)
        slope = -c * label / (1.0 + np.exp(margin))
        if slope != 0.0 or margin == np.inf:  # NaN and infinity must reach the weights
            _move(slope, X, i, zrw, params)
        if intercept:
            z, root, b = _entry(scalars.z, scalars.root, scalars.b, slope, free)
            scalars = Intercept(z, root, b)
    return scalars
