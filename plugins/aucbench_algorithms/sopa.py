"""SOPA, SOPA-s and SOAP: the top of the ranking by compositional gradients, with a number for each positive.

With the loss l of the margin s+ - s-, the objectives are, over positives i and negatives j,

    sopa  : mean over i of the mean of l over the alpha n- negatives with the highest scores
    sopa_s: mean over i of temperature log mean_j exp(l_ij / temperature)
    soap  : - mean over i of u1_i / u2_i, the surrogate of the average precision

The first is the one-way partial AUC for false positive rates up to alpha, the second a smooth form of it.

Each block holds B positives and B negatives (see `_pair_blocks`). L_ab and D_ab are the loss and its
derivative at s_a - s_b, where a runs over the positives and b over the negatives:

    sopa  : on_ab = [L_ab > s_i], g = 1 / (alpha B^2) sum on_ab D_ab (x_a - x_b),
            s_i -= eta_s (1 - sum_b on_ab / (alpha B))
    sopa_s: u_i = (1 - gamma) u_i + gamma mean_b exp(L_ab / temperature), then
            g = 1 / B^2 sum exp(L_ab / temperature) / u_i D_ab (x_a - x_b)
    soap  : over all 2 B rows k of the block with their weights c_k,
            u1_i = (1 - gamma) u1_i + gamma sum over positives k of c_k L_ak,  u2_i likewise over all k, then
            g = 1 / B sum c_k (u1_i - u2_i [k positive]) / u2_i^2 D_ak (x_a - x_k)

s, u, u1 and u2 start at 0, and a positive that occurs twice in a block is updated once. u is kept as its
logarithm, so that no exponential overflows. The steps are those of `_optimisers`.

Cost per block: O(nnz of its 2 B rows + B^2), and O(d) more with Adam.

Source: Zhu, Li, Wang, Wu, Yang, When AUC meets DRO: optimizing partial AUC for deep learning with non-convex
convergence guarantee, ICML 2022, SOPA and SOPA-s. Qi, Luo, Xu, Ji, Yang, Stochastic optimization of areas
under precision-recall curves with provable convergence, NeurIPS 2021, SOAP.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import numpy as np

from aucbench import Claims, Interval, Positive, Problem, kernels
from aucbench_algorithms import _optimisers as optimisers
from aucbench_algorithms import _pair_blocks as pair_blocks
from aucbench_algorithms._pair_blocks import DEVIATIONS, ETA, BlockMethod, LossAt, State

Share = Annotated[float, Interval(low=0.0, high=1.0, open_low=True)]
Prior = StrEnum("Prior", "data block")


@dataclass(frozen=True, kw_only=True)
class Sopa(BlockMethod):
    """One-way partial AUC: the mean loss against the highest negatives, with a threshold for each positive.

    Parameters
    ----------
    alpha : float in (0, 1]
        The largest false positive rate: the share of the negatives that counts.
    eta_s : float > 0
        Step size of the thresholds.
    """

    name = "sopa"
    grid = {"eta": ETA, "alpha": (0.1, 0.3, 0.5, 0.7, 0.9), "eta_s": (0.01, 0.1, 1.0, 10.0)}
    claims = Claims(rate="1/sqrt(t)", cost="nnz + block")
    citation = "zhu2022auc"
    deviations = (
        *DEVIATIONS,
        "The step of a threshold is eta_s, as in LibAUC's code; its documentation divides by the number of "
        "positives.",
        "eta of sgd is 0.1 where none is given: steps of 1 oscillate on rows with one dominant feature.",
    )

    alpha: Share = 0.3
    eta_s: Positive = 0.1

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        return self._first_state(problem, np.zeros((1, problem.n_samples)))

    def _train(self, X: Any, blocks: np.ndarray, state: State, loss: LossAt) -> Any:
        return _run_sopa(X, blocks, *state.weights, loss, state.kept, self.alpha, self.eta_s)


@dataclass(frozen=True, kw_only=True)
class SopaS(BlockMethod):
    """One-way partial AUC, smoothly: pairs are weighted by the exponential of their loss.

    Parameters
    ----------
    temperature : float > 0
        Increase of the loss that multiplies a weight by e; a large temperature weights all pairs alike.
    gamma : float in (0, 1]
        Share of the block in the running mean of each positive.
    """

    name = "sopa_s"
    grid = {"eta": ETA, "temperature": (0.1, 0.3, 1.0, 3.0, 10.0), "gamma": (0.1, 0.3, 0.5, 0.7, 0.9)}
    claims = Claims(rate="t^(-1/4)", cost="nnz + block")
    citation = "zhu2022auc"
    deviations = (
        *DEVIATIONS,
        "The running means start at 0, as in LibAUC's code: the first weights of a positive are 1 / gamma "
        "times too large.",
        "eta of sgd is 0.1 where none is given: steps of 1 oscillate on rows with one dominant feature.",
    )

    temperature: Positive = 1.0
    gamma: Share = 0.9

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        return self._first_state(problem, np.full((1, problem.n_samples), -np.inf))

    def _train(self, X: Any, blocks: np.ndarray, state: State, loss: LossAt) -> Any:
        return _run_sopa_s(X, blocks, *state.weights, loss, state.kept, self.temperature, self.gamma)


@dataclass(frozen=True, kw_only=True)
class Soap(BlockMethod):
    """Average precision: a ratio of two running means for each positive.

    Parameters
    ----------
    gamma : float in (0, 1]
        Share of the block in the running means of each positive.
    prior : data or block
        Share of positives for which the precision is optimised: that of the training data, or one half.
    eta : float > 0 or None
        Step size; None means 1 for sgd and 0.1 for the others.
    """

    name = "soap"
    grid = {"eta": ETA, "gamma": (0.1, 0.3, 0.5, 0.7, 0.9)}
    claims = Claims(rate="t^(-1/4)", cost="nnz + block")
    citation = "qi2021stochastic"
    deviations = (
        *DEVIATIONS,
        "The rows of a balanced block are weighted by the shares of the classes in the training data, for "
        "the average precision depends on them; prior=block leaves the weights equal, as LibAUC's code does.",
    )
    _sgd_eta = 1.0

    gamma: Share = 0.9
    prior: Prior = Prior.data

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights and running means; the share of positives of the training data."""
        p = problem.p if self.prior is Prior.data else 0.5
        return self._first_state(problem, np.zeros((2, problem.n_samples)), p)

    def _train(self, X: Any, blocks: np.ndarray, state: State, loss: LossAt) -> Any:
        return _run_soap(X, blocks, *state.weights, loss, state.kept, self.gamma, state.share)


@kernels.kernel
def _run_sopa(X, blocks, cells, factors, params, loss, thresholds, alpha, eta_s):
    size = blocks.shape[1]
    s, c, fresh = np.empty((2, size)), np.empty((2, size)), np.empty(size)
    values, slopes = np.empty(size), np.empty(size)
    for u in range(blocks.shape[0]):
        finite = pair_blocks.scores(X, blocks, u, cells, factors.slow, factors.fast, s)
        c[:] = 0.0 if finite else np.nan
        for a in range(size):
            threshold = thresholds[0, blocks[u, a, 0]]
            pair_blocks.pair_losses(s[0, a], s[1], loss, values, slopes)
            count, total = _add_above(threshold, values, slopes, c[1])
            c[0, a] += total
            fresh[a] = threshold - eta_s * (1.0 - count / (alpha * size))
        c /= alpha * size * size
        for a in range(size):
            thresholds[0, blocks[u, a, 0]] = fresh[a]
        factors = optimisers.descend(X, blocks[u], c, cells, factors, params)
    return factors


@kernels.fast_helper
def _add_above(threshold, values, slopes, of_low):
    """Subtract the slopes of the losses above a threshold; returns their number and sum."""
    count, total = 0, 0.0
    for b in range(values.size):
        is_on = values[b] > threshold
        slope = slopes[b] if is_on else 0.0
        count += is_on
        total += slope
        of_low[b] -= slope
    return count, total


@kernels.kernel
def _run_sopa_s(X, blocks, cells, factors, params, loss, log_means, temperature, gamma):
    size = blocks.shape[1]
    s, c, fresh = np.empty((2, size)), np.empty((2, size)), np.empty(size)
    exponents, slopes = np.empty(size), np.empty(size)
    for u in range(blocks.shape[0]):
        finite = pair_blocks.scores(X, blocks, u, cells, factors.slow, factors.fast, s)
        c[:] = 0.0 if finite else np.nan
        for a in range(size):
            pair_blocks.pair_losses(s[0, a], s[1], loss, exponents, slopes)
            old = np.log(1.0 - gamma) + log_means[0, blocks[u, a, 0]]
            top = max(exponents.max() / temperature, old)  # subtracted from all exponents against overflow
            total = 0.0
            for b in range(size):
                exponents[b] = np.exp(exponents[b] / temperature - top)
                total += exponents[b]
            mean = np.exp(old - top) + gamma * total / size
            fresh[a] = top + np.log(mean)
            share = 1.0 / (mean * size * size)
            for b in range(size):
                weight = share * exponents[b] * slopes[b]
                c[0, a] += weight
                c[1, b] -= weight
        for a in range(size):
            log_means[0, blocks[u, a, 0]] = fresh[a]
        factors = optimisers.descend(X, blocks[u], c, cells, factors, params)
    return factors


@kernels.kernel
def _run_soap(X, blocks, cells, factors, params, loss, means, gamma, p):
    size = blocks.shape[1]
    s, c, fresh = np.empty((2, size)), np.empty((2, size)), np.empty((2, size))
    values, slopes = np.empty(size), np.empty((2, size))
    for u in range(blocks.shape[0]):
        finite = pair_blocks.scores(X, blocks, u, cells, factors.slow, factors.fast, s)
        c[:] = 0.0 if finite else np.nan
        for a in range(size):
            sums = np.zeros(2)
            for side in range(2):
                pair_blocks.pair_losses(s[0, a], s[side], loss, values, slopes[side])
                sums[side] = values.sum()
            i = blocks[u, a, 0]
            share_pos, share_neg = p / size, (1.0 - p) / size
            first = (1.0 - gamma) * means[0, i] + gamma * share_pos * sums[0]
            second = (1.0 - gamma) * means[1, i] + gamma * (share_pos * sums[0] + share_neg * sums[1])
            fresh[0, a], fresh[1, a] = first, second
            if second == 0.0:
                continue  # no pair of this positive has a loss
            for side in range(2):
                factor = share_pos * (first - second) if side == 0 else share_neg * first
                factor /= second * second * size
                for k in range(size):
                    c[0, a] += factor * slopes[side, k]
                    c[side, k] -= factor * slopes[side, k]
        for a in range(size):
            means[0, blocks[u, a, 0]], means[1, blocks[u, a, 0]] = fresh[0, a], fresh[1, a]
        factors = optimisers.descend(X, blocks[u], c, cells, factors, params)
    return factors
