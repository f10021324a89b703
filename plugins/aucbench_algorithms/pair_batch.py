"""All pairs of a small balanced batch, with the usual optimisers of deep-learning code.

Minimises lam / 2 |w|^2 + mean over pairs of a loss l of the margin w.(x+ - x-). From w = 0, each block of B
positives and B negatives (see `_pair_blocks`) gives the gradient

    all    : g = (1 / B^2) sum over a, b of l'(w.x+_a - w.x-_b) (x+_a - x-_b)
    matched: g = (1 / B) sum over a of l'(w.z_a) z_a,   z_a = x+_a - x-_a

to which lam w is added. The optimiser is plain gradient descent, momentum or Adam (see `_optimisers`). The
model is the last iterate, or the average over blocks.

The B^2 pairs are not visited if the loss is multiplicative or piecewise quadratic. A piecewise quadratic loss
is its last piece, plus what each knot adds below its margin (see `loss_pieces.knots`). Both classes are
sorted by score. A positive with score s is below the margin with the negatives above s - margin. One sweep
from above, with a count and a sum of scores, therefore gives the coefficients of the positives, and one from
below gives those of the negatives (Rust and Hocking). In small blocks a loop over all pairs without branches
is faster than sorting.

Cost per block: O(nnz of its 2 B rows + B log B), or O(B^2) with other losses; Adam, and momentum with a
decreasing step, add O(d).

Source: Yuan, Zhu, Qiu, Li, Wang, Yang, LibAUC: a deep learning library for X-risk optimization, KDD 2023;
Rust, Hocking, A log-linear gradient descent algorithm for unbalanced binary classification using the all
pairs squared hinge loss, arXiv:2302.11062.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from aucbench import Claims, Objective, Problem, kernels
from aucbench_algorithms import _optimisers as optimisers
from aucbench_algorithms import _pair_blocks as pair_blocks
from aucbench_algorithms._choices import Schedule
from aucbench_algorithms._pair_blocks import DEVIATIONS, ETA, PIECES, PRODUCT, BlockMethod, LossAt, State

LARGEST_EXPONENT = 700.0  # beyond it the exponential loss is constant
SORTED = 512  # pairs of a block from which sorting is faster than all B^2 pairs, eight at a time
Pairing = StrEnum("Pairing", "all matched")


@dataclass(frozen=True, kw_only=True)
class PairBatch(BlockMethod):
    """Mini-batches of pairs, all against all, with gradient descent, momentum or Adam.

    Parameters
    ----------
    pairing : all or matched
        Whether a block uses all its B^2 pairs, or only the B pairs that were drawn.
    eta : float > 0 or None
        Step size; None means 0.3 for sgd and 0.1 for the others.
    schedule : constant or sqrt
        Whether the step size of block t is eta, or eta / sqrt(t).
    average : bool
        Whether the model is the average over blocks, or the last iterate.
    """

    name = "pair_batch"
    grid = {"eta": ETA, "block": (8, 32, 128)}
    claims = Claims(rate="1/sqrt(t)", cost="nnz")
    citation = "yuan2023libauc"
    deviations = (
        *DEVIATIONS,
        "eta of sgd is 0.3 where none is given: steps of 1 oscillate on rows with one dominant feature.",
    )
    _sgd_eta = 0.3

    pairing: Pairing = Pairing.all
    schedule: Schedule = Schedule.constant
    average: bool = False

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        return self._first_state(problem, np.zeros((0, 0)), schedule=self.schedule, average=self.average)

    def objective(self, problem: Problem) -> Objective:
        """As in the formula; with a constant step the iterates stay within a distance of the minimum."""
        return Objective(problem.loss, l2=self.lam)

    def _train(self, X: Any, blocks: np.ndarray, state: State, loss: LossAt) -> Any:
        return _run(X, blocks, *state.weights, loss, self.pairing is Pairing.matched)


@kernels.kernel
def _run(X, blocks, cells, factors, params, loss, matched):
    s, c = np.empty((2, blocks.shape[1])), np.empty((2, blocks.shape[1]))
    for u in range(blocks.shape[0]):
        finite = pair_blocks.scores(X, blocks, u, cells, factors.slow, factors.fast, s)
        if not finite:
            c[:] = np.nan  # NaN and infinity must reach the weights
        elif matched:
            for k in range(s.shape[1]):
                c[0, k] = kernels.call(loss.derivative, s[0, k] - s[1, k], loss.theta) / s.shape[1]
                c[1, k] = -c[0, k]
        else:
            coefficients(s[0], s[1], loss, c)
        factors = optimisers.descend(X, blocks[u], c, cells, factors, params)
    return factors


@kernels.helper
def coefficients(high, low, loss, c):
    """Set c to the derivatives of the mean of l(high_a - low_b) by the high and by the low scores."""
    if loss.structure == PIECES:
        _one_piece(high, low, loss.last.c1, 2.0 * loss.last.c2, c)
        if high.size < SORTED:
            for k in range(loss.knots.shape[0]):
                _all_sums(high, low, loss.knots[k, 0], loss.knots[k, 1], loss.knots[k, 2], c[0], c[1])
        elif loss.knots.shape[0] > 0:
            _sorted_sums(high, low, loss.knots, c)
    elif loss.structure != PRODUCT or not _is_product(high, low, loss.rate, c):
        c[:] = 0.0
        for a in range(high.size):
            for b in range(low.size):
                slope = kernels.call(loss.derivative, high[a] - low[b], loss.theta)
                c[0, a] += slope
                c[1, b] -= slope
    c *= 1.0 / (high.size * low.size)


@kernels.helper
def _one_piece(high, low, slope, bend, c):
    """The sums where the derivative is slope + bend m."""
    size, highs, lows = high.size, high.sum(), low.sum()
    for k in range(size):
        c[0, k] = size * (slope + bend * high[k]) - bend * lows
        c[1, k] = -size * (slope - bend * low[k]) - bend * highs


@kernels.helper
def _is_product(high, low, rate, c):
    """The sums where the loss is e^(rate m), unless its largest value exceeds the range of numbers."""
    top, bottom = -np.inf, -np.inf  # the largest exponents, subtracted from all exponents
    for k in range(high.size):
        top, bottom = max(top, rate * high[k]), max(bottom, -rate * low[k])
    if top + bottom > LARGEST_EXPONENT:
        return False
    of_high = of_low = 0.0
    for k in range(high.size):
        c[0, k], c[1, k] = np.exp(rate * high[k] - top), np.exp(-rate * low[k] - bottom)
        of_low += c[0, k]
        of_high += c[1, k]
    factor = rate * np.exp(top + bottom)
    for k in range(high.size):
        c[0, k] *= factor * of_high
        c[1, k] *= -factor * of_low
    return True


@kernels.fast_helper
def _all_sums(high, low, knot, jump, bend, of_high, of_low):
    """Add the terms of a knot, in loops without branches."""
    for a in range(high.size):
        total, score = 0.0, high[a]
        for b in range(low.size):
            m = score - low[b]
            slope = jump + bend * (m - knot) if m < knot else 0.0
            total += slope
            of_low[b] -= slope
        of_high[a] += total


@kernels.helper
def _sorted_sums(high, low, knots, c):
    """Add the terms of the knots; for the negatives the scores change their signs and places."""
    highs, lows = np.argsort(high), np.argsort(low)
    _add_from_above(high, low, highs, lows, knots, c[0], 1.0)
    _add_from_above(-low, -high, lows[::-1].copy(), highs[::-1].copy(), knots, c[1], -1.0)


@kernels.helper
def _add_from_above(high, low, highs, lows, knots, out, sign):
    """Add the terms of the knots to each high score, by counts and sums of the low scores within margins."""
    for k in range(knots.shape[0]):
        knot, jump, bend = knots[k, 0], knots[k, 1], knots[k, 2]
        count, total, b = 0, 0.0, low.size
        for rank in range(high.size - 1, -1, -1):
            a = highs[rank]
            while b > 0 and high[a] - low[lows[b - 1]] < knot:
                b -= 1
                count += 1
                total += low[lows[b]]
            out[a] += sign * (count * (jump + bend * (high[a] - knot)) - bend * total)
