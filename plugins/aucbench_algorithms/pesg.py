"""PESG, proximal epoch stochastic gradient: the min-max AUC margin loss with a reference point.

Over blocks of B positives and B negatives (see `_pair_blocks`), with means over each class and s = w.x, v =
(w, a, b) descends and alpha >= 0 ascends on

    mean+ (s - a)^2 + mean- (s - b)^2 + 2 alpha (margin + mean- s - mean+ s) - alpha^2

which at its saddle point is the variance of the scores within the classes plus the square of
max(0, margin - (mean+ s - mean- s)). With margin 1 and lam = 0 it has the same minimum as the mean over pairs
of (1 - (s+ - s-))^2, where the means are never more than the margin apart. With lam > 0 there is no such
objective, because a and b decay too. All gradients are taken at the old point; block u gives

    v = v - eta ((dw, da, db) + pull (v - ref) + lam v),   alpha = max(0, alpha + eta dalpha)

with eta / (1 + eta h) in place of eta. Here h = 2 mean+ (1 + |x|^2) + 2 mean- (1 + |x|^2) bounds the
curvature, so a long row cannot throw v beyond the minimum. All stages have equally many blocks. At the end of
a stage, the reference point ref becomes the mean of the stage's v, and eta is divided by decay. The model is
the last w, or the average of all w.

w = scale u + lean ref, and the sum of the stage's w is weight u + leans ref - sums, so that pulling and decay
change scalars only. Cost per pair: O(nnz), and O(d) at the end of a stage.

Source: Yuan, Yan, Sonka, Yang, Large-scale robust deep AUC maximization: a new surrogate loss and empirical
studies on medical image classification, ICCV 2021.
"""

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np

from aucbench import (
    Access,
    Batch,
    Claims,
    Count,
    Interval,
    LinearMethod,
    NonNegative,
    Objective,
    ParameterError,
    Positive,
    Problem,
    kernels,
)
from aucbench.kernels import rows, weights
from aucbench_algorithms import _pair_blocks as pair_blocks
from aucbench_algorithms._linear_method import planned_iterations

U, REF, SUMS, FINISHED = range(4)  # rows of the vectors; the last is the sum of the w of finished stages

AtLeastOne = Annotated[float, Interval(low=1.0)]


class Point(NamedTuple):
    """Scalars that change, and the numbers of blocks and stages so far."""

    alpha: float
    eta: float
    blocks: int
    stages: int  # finished stages
    scale: float
    lean: float
    weight: float
    leans: float


class Params(NamedTuple):
    """Constant parameters of the kernel."""

    margin: float
    lam: float
    pull: float
    decay: float
    length: int  # blocks of a stage
    stages: int
    bounded: bool  # bound the step by the curvature


class State(NamedTuple):
    """Weights, the other variables, and the pairs of the unfinished block."""

    vectors: np.ndarray  # (4, d), entries of a column side by side for sparse rows
    ab: np.ndarray  # (3, 2) a and b, at the point, at the reference point, and their sums in this stage
    point: Point
    params: Params
    waiting: np.ndarray  # (fewer than B, 2) row numbers


@dataclass(frozen=True)
class Pesg(LinearMethod):
    """Min-max AUC margin loss on balanced blocks, pulled to the mean of the previous stage.

    Parameters
    ----------
    block : int >= 1
        B, the number of pairs in a block: B positives and B negatives.
    eta : float > 0
        Step size of the first stage.
    margin : float > 0
        The distance of the class means of the scores beyond which this distance costs nothing.
    lam : float >= 0
        Weight decay, which applies to a and b too.
    pull : float >= 0
        Strength of the pull to the reference point.
    stages : int >= 1
        Number of stages into which the planned blocks are divided.
    decay : float >= 1
        Number by which the step size is divided at the end of a stage.
    average : bool
        Whether the model is the average over blocks, or the last iterate.
    bounded : bool
        Whether steps are bounded by the curvature of the block; in the paper they are not.
    """

    name = "pesg"
    access = Access.pairs
    plans = True
    losses = ("square",)
    grid = {"eta": (0.01, 0.1, 1.0), "pull": (1e-3, 1e-2, 1e-1), "margin": (0.1, 0.3, 0.5, 0.7, 1.0)}
    step_size = "eta"
    claims = Claims(rate="1/t", cost="nnz")
    regularisation = {"lam": 2}
    citation = "yuan2021large"
    deviations = (
        "The margin term is margin + mean- s - mean+ s; LibAUC's second version has a misplaced parenthesis, "
        "and gives NaN from a start at zero.",
        "The step of alpha is that of the gradient at the old point; LibAUC takes a and b after their step.",
        "The reference point starts at zero, not at noise; no entry of the gradient is clipped; no momentum.",
        "Stages are of equal length; LibAUC leaves their ends to the user.",
        "Steps are bounded by the curvature (bounded=false is the paper's step).",
    )

    block: Count = 8
    eta: Positive = 0.3
    margin: Positive = 1.0
    lam: NonNegative = 1e-5
    pull: NonNegative = 2e-3
    stages: Count = 3
    decay: AtLeastOne = 10.0
    average: bool = False
    bounded: bool = field(default=True, metadata={"later": True})

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero, and the plan of the stages.

        Raises `ParameterError` when the number of iterations is not planned, or smaller than two
        blocks.
        """
        n, d = planned_iterations(self.name, problem), problem.n_features
        pair_blocks.refuse_larger(self.name, self.block, problem, blocks=2)  # the first moves alpha alone
        lazy = kernels.layout(problem.X) is kernels.Layout.lazy
        vectors = np.zeros((d, 4)).T if lazy else np.zeros((4, d))
        length = max(1, -(-(n // self.block) // self.stages))
        return State(
            vectors,
            np.zeros((3, 2)),
            Point(0.0, self.eta, 0, 0, 1.0, 0.0, 0.0, 0.0),
            Params(self.margin, self.lam, self.pull, self.decay, length, self.stages, self.bounded),
            np.zeros((0, 2), np.int64),
        )

    def objective(self, problem: Problem) -> Objective:
        """The square loss without a regulariser.

        Raises `ParameterError` with lam > 0, which decays a and b too, or another margin than that of
        the loss.
        """
        if self.lam > 0.0 or self.margin != 1.0:
            raise ParameterError(
                "pesg: it minimises a mean over pairs with lam=0 and margin=1 only, as lam decays a and b; "
                f"got lam={self.lam:g} and margin={self.margin:g}."
            )
        return Objective(problem.loss)

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        vectors, ab, point, params, waiting = state
        blocks, waiting = pair_blocks.whole_blocks(waiting, batch.rows, self.block)
        if len(blocks):
            point = _run(batch.rows_view, blocks, vectors, ab, point, params)
        return State(vectors, ab, point, params, waiting)

    def weights(self, state: State) -> np.ndarray:
        """(d,) weights, or with `average` their mean; zero before the first block is full."""
        vectors, point = state.vectors, state.point
        out: np.ndarray
        if not self.average or point.blocks == 0:
            out = point.scale * vectors[U] + point.lean * vectors[REF]
            return out
        out = point.weight * vectors[U] + point.leans * vectors[REF] - vectors[SUMS] + vectors[FINISHED]
        return out / point.blocks


@kernels.kernel
def _run(X, blocks, vectors, ab, point, params):
    s = np.empty((2, blocks.shape[1]))
    for u in range(blocks.shape[0]):
        if not pair_blocks.scores(X, blocks, u, vectors, point.scale, point.lean, s):
            s[:] = np.nan  # NaN and infinity must reach the weights
        point = _step(X, blocks[u], s, vectors, ab, point, params)
        if point.blocks % params.length == 0 and point.stages + 1 < params.stages:
            point = _next_stage(vectors, ab, point, params)
    return point


@kernels.helper
def _step(X, block, s, vectors, ab, point, params):
    """Descent of (w, a, b) and ascent of alpha, all at the old point."""
    alpha, eta, size = point.alpha, point.eta, block.shape[0]
    if params.bounded:
        squares = 0.0
        for k in range(size):
            squares += rows.norm(X, block[k, 0]) + rows.norm(X, block[k, 1])
        eta /= 1.0 + eta * (4.0 + 2.0 * squares / size)
    keep = 1.0 - eta * (params.pull + params.lam)
    scale, weight = point.scale * keep, point.weight
    if not abs(scale) >= weights.SMALLEST_SCALE:
        weights.fold(vectors[U], scale, vectors[SUMS], weight)
        scale, weight = 1.0, 0.0
    for k in range(size):
        for side in range(2):
            residual = s[side, k] - ab[0, side] - (alpha if side == 0 else -alpha)
            step = -2.0 * eta / size * residual / scale
            rows.axpy2(step, X, block[k, side], vectors[U], weight * step, vectors[SUMS])
    for side in range(2):
        slope = params.pull * ab[1, side] + 2.0 * (s[side].mean() - ab[0, side])
        ab[0, side] = keep * ab[0, side] + eta * slope
        ab[2, side] += ab[0, side]
    alpha = max(0.0, alpha + eta * (2.0 * (params.margin + s[1].mean() - s[0].mean()) - 2.0 * alpha))
    lean = keep * point.lean + eta * params.pull
    return Point(
        alpha, point.eta, point.blocks + 1, point.stages, scale, lean, weight + scale, point.leans + lean
    )


@kernels.helper
def _next_stage(vectors, ab, point, params):
    """The mean of the stage becomes the reference point; w goes on from where it is, with a smaller step."""
    u, ref, sums, finished = vectors[U], vectors[REF], vectors[SUMS], vectors[FINISHED]
    for j in range(u.size):
        total = point.weight * u[j] + point.leans * ref[j] - sums[j]
        u[j] = point.scale * u[j] + point.lean * ref[j]
        ref[j] = total / params.length
        finished[j] += total
        sums[j] = 0.0
    for side in range(2):
        ab[1, side], ab[2, side] = ab[2, side] / params.length, 0.0
    return Point(point.alpha, point.eta / params.decay, point.blocks, point.stages + 1, 1.0, 0.0, 0.0, 0.0)
