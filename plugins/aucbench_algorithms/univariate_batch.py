"""Batch minimisation of a univariate loss with balanced classes.

    lam / 2 |w|^2 + 1/2 [mean over positives of l(w.x + b) + mean over negatives of l(-w.x - b)]

l(m) = log(1 + e^-m) for `uni_log`, (1 - m)^2 for `uni_square`. The intercept b is not regularised, or is 0
with intercept=False. Both losses are consistent with the AUC. The scores leave b out: it does not change the
AUC, and adding it would round close scores into ties.

With c_i = 1 / (2 n_y), a Newton system without b is (lam I + X^T D X) p = g, D = diag(c_i l''(m_i)).
Eliminating b means centring the rows at their mean weighted by D; sparse rows are centred in products only.
The system is factored in the smaller of n and d, or solved by conjugate gradients if both exceed 2,048. With
row weights, the weight of a row over the sum of its class replaces 1 / n_y.

The square loss needs one system. With the class means m and covariances S and d = m+ - m- it is
(lam I + S+ + S- + d d^T / 2) w = d, b = -w.(m+ + m-) / 2, so w has the direction of `ls_svm` with the same
lam. The logistic loss is minimised by Newton's method until the gradient by w and b is at most 1e-10 lam |w|,
which bounds |w - w*| / |w| by 1e-10, or until rounding keeps it from shrinking further.

Cost: O(n d min(n, d)) per iteration, O(nnz) per conjugate-gradient product. The settings of a grid share
X X^T where n < d, else the matrix of the square loss, whose D is always the same. They begin at the solution
for another lam.

Source: Kotlowski, Dembczynski, Huellermeier, Bipartite ranking through minimization of univariate loss,
ICML 2011.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from aucbench import Access, Batch, BatchSolver, Claims, Positive, Problem
from aucbench.kernels.pair_loss import class_shares
from aucbench_algorithms import _newton
from aucbench_algorithms._linear_method import total

BLOCK_ENTRIES = 1 << 22  # entries of rows made dense at a time
GRADIENT = 1e-10  # relative to lam |w|
SMALLEST_STEP = 1e-14  # relative to |(w, b)|
STALLED = 0.5  # the gradient stalls if it is larger than this share of the last gradient
CLOSE = 1e-12  # a stalled search ends if the objective can fall by this share only
INNER = 1e-2  # residual of conjugate gradients, relative to |gradient|
ROUGH, MOST_ROUGH = 1e-1, 30  # residual and largest number of products of a rough solution
ROUGH_GRADIENT = 1e-4  # relative to twice the gradient at zero
FEW_FACTORED = 48  # largest system that is factored rather than solved by products
EXACT = 1e-14  # residual of the single system of the square loss
MOST_PRODUCTS = 10_000


class State(NamedTuple):
    """The current point."""

    w: np.ndarray  # (d,)
    b: float  # intercept
    solved: bool
    gradient: float  # norm of the gradient one step before
    gram: np.ndarray | None  # result of `_gram`; None outside a grid
    row_factor: float  # factor that rescaled the rows


class UnivariateBatch(BatchSolver):
    """Base class of the batch methods of a univariate loss."""

    access = Access.full
    weighted = True

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        return State(np.zeros(problem.n_features), 0.0, False, np.inf, None, problem.row_factor)

    def init_from(self, problem: Problem, rng: np.random.Generator, state: State | None) -> State:
        if state is None:
            return self.init(problem, rng)._replace(gram=self._gram(problem))
        return state._replace(solved=False, gradient=np.inf)

    def _gram(self, problem: Problem) -> np.ndarray | None:
        """The part of the factored systems that depends on the rows alone."""
        return shared_gram(problem.X)

    def fitted_intercept(self, state: State) -> float:
        return state.b


@dataclass(frozen=True)
class _Penalised(UnivariateBatch):
    """Base class of both methods.

    Parameters
    ----------
    lam : float > 0 or None
        Weight of |w|^2 / 2. None means 1 / n for n training rows; for `uni_square`, for the rescaled rows.
    intercept : bool
        Whether an intercept is fitted, which is not regularised.
    """

    grid = {"lam": tuple(10.0**power for power in range(-8, 2))}
    regularisation = {"lam": 2}
    citation = "kotlowski2011bipartite"

    lam: Positive | None = None
    intercept: bool = True


@dataclass(frozen=True)
class UniLog(_Penalised):
    """Balanced logistic regression, to its optimum by Newton's method.

    The model of `log_reg` with lam = 1 / (C n) in place of C, in the terms of `uni_square` and `uni_exp`.
    """

    name = "uni_log"
    losses = ("logistic",)
    claims = Claims(rate="quadratic", cost="n d min(n, d)")

    def _iterate(self, state: State, batch: Batch) -> State:
        lam = state.row_factor**2 / total(batch) if self.lam is None else self.lam
        return newton_iteration(state, batch, lam, self.intercept)


@dataclass(frozen=True)
class UniSquare(_Penalised):
    """Balanced least squares on the labels, in closed form; found by the first iteration."""

    name = "uni_square"
    losses = ("square",)
    claims = Claims(rate="exact", cost="n d min(n, d)")

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0 or state.solved:
            return state
        share = class_shares(batch.y, batch.weights)
        difference = batch.X.T @ (share * batch.y)
        if not np.all(np.isfinite(difference)):
            return _diverged(state)
        right = float(share @ batch.y)  # 0 but for rounding, unless there is one class only
        lam = 1.0 / total(batch) if self.lam is None else self.lam
        w, b = _solve(
            batch.X, share, lam, difference, right, self.intercept, EXACT, gram=state.gram, start=state.w
        )
        return state._replace(w=w, b=b, solved=True, gradient=np.inf)

    def _gram(self, problem: Problem) -> np.ndarray | None:
        X, (n, d) = problem.X, problem.X.shape
        if n < d or d > _newton.LARGEST_FACTORED:
            return super()._gram(problem)
        share = class_shares(problem.y, problem.weights)
        return _scatter(X, share, X.T @ share / share.sum() if self.intercept else np.zeros(d))


def shared_gram(X: Any) -> np.ndarray | None:
    """X X^T where the factored systems are made of it, whatever the weights of the rows and lam."""
    n, d = X.shape
    return _newton.dense(X @ X.T) if n < d and n <= _newton.LARGEST_FACTORED else None


def newton_iteration(state: State, batch: Batch, lam: float, intercept: bool, rough: bool = False) -> State:
    """The state after one Newton iteration for the balanced logistic loss; b is fitted with `intercept`.

    It is solved when |gradient by w and b| <= 1e-10 lam |w|, or when rounding keeps it from shrinking. A
    `rough` solution, for the AUC of one model among many, ends when the gradient is 2e-4 of that at zero, and
    takes conjugate gradients, at most 30 products per iteration, where these cost less than a factor.
    """
    w, b, X, y = state.w, state.b, batch.X, batch.y
    if intercept and (y == y[0]).all():  # b has no optimum with one class, and w = 0 in its limit
        return state._replace(solved=True)
    c = 0.5 * class_shares(batch.y, batch.weights)
    scores = np.asarray(X @ w, np.float64) + b
    pull = c * y * special.expit(-y * scores)
    gradient = lam * w - X.T @ pull
    by_b = -float(pull.sum()) if intercept else 0.0
    size = float(np.hypot(np.linalg.norm(gradient), by_b))
    if not np.isfinite(size):
        return _diverged(state)
    goal = ROUGH_GRADIENT * np.linalg.norm(X.T @ (c * y)) if rough else GRADIENT * lam * np.linalg.norm(w)
    if size <= goal:
        return state._replace(solved=True)
    curvature = c * special.expit(scores) * special.expit(-scores)
    p, q = _solve(X, curvature, lam, gradient, by_b, intercept, INNER, gram=state.gram, rough=rough)
    direction, turn = -p, -q
    descent = float(gradient @ p) + by_b * q
    if size > STALLED * state.gradient:
        value = 0.5 * lam * float(w @ w) + float(c @ np.logaddexp(0.0, -y * scores))
        if descent <= CLOSE * value:
            return state._replace(solved=True)
    moved = np.asarray(X @ direction, np.float64) + turn

    def slope(t: float) -> float:
        pull = c * y * special.expit(-y * (scores + t * moved))
        return float(lam * (w + t * direction) @ direction - pull @ moved)

    t = _newton.step_length(slope)
    step = t * direction
    w, b = w + step, b + t * turn
    length = np.hypot(np.linalg.norm(step), t * turn)
    solved = not length > SMALLEST_STEP * np.hypot(np.linalg.norm(w), b)
    return state._replace(w=w, b=b, solved=solved, gradient=size)


def _diverged(state: State) -> State:
    return state._replace(w=np.full_like(state.w, np.nan), b=np.nan, solved=True, gradient=np.nan)


def _solve(
    X: Any,
    weights: np.ndarray,
    lam: float,
    g: np.ndarray,
    h: float,
    intercept: bool,
    tolerance: float,
    gram: np.ndarray | None,
    start: np.ndarray | None = None,
    rough: bool = False,
) -> tuple[np.ndarray, float]:
    """The solution (p, q) of a Newton system; conjugate gradients begin at `start`.

    (lam I + X^T D X) p + X^T D 1 q = g and 1^T D X p + 1^T D 1 q = h with D = diag(weights); q = 0, and the
    second equation is left out, without intercept. It is (lam I + Z^T D Z) p = g - h centre with Z = X -
    1 centre^T, refined once where it is factored; `gram`, if given, is X X^T where n < d, else Z^T D Z.
    """
    total = float(weights.sum())
    centre = X.T @ weights / total if intercept else np.zeros(g.size)
    right = g - h * centre

    def forth(v: np.ndarray) -> np.ndarray:
        return X @ v - centre @ v

    def back(v: np.ndarray) -> np.ndarray:
        return X.T @ v - v.sum() * centre

    def multiply(v: np.ndarray) -> np.ndarray:
        return lam * v + back(weights * forth(v))

    def solver(g: np.ndarray) -> np.ndarray:
        return inverse(g) if d <= n else (g - back(root * inverse(root * forth(g)))) / lam

    n, d = X.shape
    if min(n, d) > _newton.LARGEST_FACTORED:
        p = _newton.conjugate_gradients(multiply, right, tolerance, MOST_PRODUCTS, start)
    elif rough and min(n, d) > FEW_FACTORED:
        p = _newton.conjugate_gradients(multiply, right, ROUGH, MOST_ROUGH, start)
    else:
        root = np.sqrt(weights)
        if d <= n:
            matrix = _scatter(X, weights, centre) if gram is None else gram.copy()
        else:
            inner = _newton.dense(X @ X.T) if gram is None else gram
            with_centre = np.asarray(X @ centre, np.float64)
            inner = inner - with_centre - with_centre[:, None] + centre @ centre
            matrix = (inner * root) * root[:, None]
        matrix.flat[:: matrix.shape[0] + 1] += lam
        inverse = _newton.inverse(matrix, lam)
        p = solver(right)
        p += solver(right - multiply(p))
    return p, h / total - float(centre @ p) if intercept else 0.0


def _scatter(X: Any, weights: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """(d, d) Z^T D Z, summed over blocks of rows."""
    n, d = X.shape
    total = np.zeros((d, d))
    root, size = np.sqrt(weights), max(1, BLOCK_ENTRIES // d)
    for start in range(0, n, size):
        part = slice(start, start + size)
        block = (_newton.dense(X[part]) - centre) * root[part, None]
        total += block.T @ block
    return total
