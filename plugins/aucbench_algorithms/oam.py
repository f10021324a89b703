"""OAM, online AUC maximisation with two reservoirs of examples, sequential (seq) or by gradients (gra).

Each example x of label s (+1 or -1) is paired with the kept examples x_j of the other class, z = x - x_j. The
step size is C_t = C max(1, seen / B), with `seen` examples of the other class so far and the buffer size B:

    seq: for each x_j in turn: w += min(C_t / 2, max(0, margin - s w.z) / |z|^2) s z
    gra: w += C_t / 2 * sum of s z over the x_j with s w.z <= margin, all tested with the same w

Before this, x enters the reservoir of its own class: appended while there is room, later in a random slot
with probability B / seen. The model is the last iterate, or the mean of the w after each example.

Cost per example: O(B nnz). In seq, w.z and |z|^2 come from the products of x_j with w and with x; x is spread
over a dense vector once. If x and x_j nearly agree, w.z and |z|^2 are computed from z. The part of the steps
along x is added once, at the end. With `radius` w is kept as scale * u, with `average` the sum of the w as
weight * u - v. Both together cost O(d) when the scale has shrunk a thousandfold, and with steps of ten
thousand radii.

Source: Zhao, Hoi, Jin, Yang, Online AUC maximization, ICML 2011, Algorithms 1 to 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from aucbench import Access, Batch, Claims, Count, LinearMethod, Positive, Problem, kernels
from aucbench.kernels import buffers, lanes, rows, vectors, weights
from aucbench_algorithms._groups import Groups
from aucbench_algorithms._kept_rows import KeptRows, Piece, by_buffer

NEAR = 1e-3  # ratio of |z|^2 to |x|^2 + |x_j|^2 below which |z|^2 is computed from z
LARGE = 1e4  # longest step, in radii, while the sum of the w is stored as weight u - v
REFRESH = 1024  # examples between exact computations of |w|^2, at least
CANCELLED = 1e-2  # |w|^2 is recomputed below this share of its largest value since the last time
SHORT = 8  # most rows whose slots are drawn in Python, as passing a generator to a kernel is slow


class Scaled(NamedTuple):
    """Scalars of the weights and their sum."""

    scale: float
    weight: float
    size: float  # |w|^2, updated for `radius` only
    largest: float  # largest size since it was computed exactly


class State(NamedTuple):
    """Weights w = scale u, sum of the w after each example = weight u - v."""

    uxv: np.ndarray  # (1 to 3, d) u; for seq room for one row; for the average v
    scaled: Scaled
    members: np.ndarray  # (2, B) row numbers, positives first
    norms: np.ndarray  # (2, B) squared norms of the members
    seen: np.ndarray  # (2,) positives and negatives so far
    margin: float  # margin of the hinge loss
    rng: np.random.Generator  # draws the replacements in the reservoirs


class Rule(NamedTuple):
    """Constant parameters of a setting, or of eight settings as lanes."""

    margin: float
    C: float
    radius: float  # infinite without a ball
    bounded: bool  # project onto the ball
    average: bool
    sequential: bool


@dataclass(frozen=True)
class _Oam(LinearMethod):
    """Base class of both methods.

    Parameters
    ----------
    C : float > 0
        Weight of the loss; a step size is at most C / 2 times max(1, seen / buffer).
    buffer : int >= 1
        Number of examples kept of each class.
    average : bool
        Whether the model is the mean of the iterates rather than the last, which is noisy.
    radius : float > 0 or None
        w is projected on |w| <= radius after each example; None, as in the paper, means no projection.
    """

    access = Access.stream
    losses = ("hinge",)
    grid = {"C": tuple(10.0**power for power in range(-6, 1))}
    step_size = "C"
    claims = Claims(rate="1/sqrt(t)", cost="buffer nnz")
    citation = "zhao2011oam"
    _sequential: ClassVar[bool]

    C: Positive = 3e-4
    buffer: Count = 100
    average: bool = True
    radius: Positive | None = None

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights and empty reservoirs; the margin is that of the loss."""
        d, count = problem.n_features, 1 + self._sequential + self.average
        lazy = kernels.layout(problem.X) is kernels.Layout.lazy
        uxv = np.zeros((d, count)).T if lazy else np.zeros((count, d))
        members = np.zeros((2, self.buffer), np.int64)
        margin = kernels.theta(problem.loss)
        seen, norms = np.zeros(2, np.int64), np.zeros((2, self.buffer))
        return State(uxv, Scaled(1.0, 0.0, 0.0, 0.0), members, norms, seen, margin, rng)

    @classmethod
    def together(cls, algorithms: Sequence[Any], states: Sequence[State]) -> Groups | None:
        """Lockstep of several settings: one pass over a kept row serves eight of them."""
        shape = 1 + algorithms[0].average, states[0].uxv.shape[1]
        rngs = {algorithm.buffer: state.rng for algorithm, state in zip(algorithms, states, strict=True)}

        def draw(batch: Batch, seen: np.ndarray, size: int) -> np.ndarray:
            return _slots(rngs[size], batch, seen, size)  # settings of one size draw the same slots

        return by_buffer(algorithms, states, shape, _Eight, draw)

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        uxv, scaled, members, norms, seen, margin, rng = state
        slots, x = _slots(rng, batch, seen, self.buffer), uxv[1 if self._sequential else 0]
        scaled = _run(
            batch.rows_view, batch.y, batch.rows, slots, members, norms, seen,
            uxv[0], x, uxv[-1], None, scaled, self._rule(margin),
        )  # fmt: skip
        return state._replace(scaled=scaled)

    def _rule(self, margin: float) -> Rule:
        radius = np.inf if self.radius is None else self.radius
        return Rule(margin, self.C, radius, self.radius is not None, self.average, self._sequential)

    def weights(self, state: State) -> np.ndarray:
        scale, weight, _, _ = state.scaled
        count = state.seen.sum()
        if self.average and count:
            return weights.mean(state.uxv[0], state.uxv[-1], weight, count)
        return scale * state.uxv[0]


@dataclass(frozen=True)
class OamSeq(_Oam):
    """Online AUC maximisation, passive-aggressive steps against the examples of a reservoir in turn."""

    name = "oam_seq"
    _sequential = True


@dataclass(frozen=True)
class OamGra(_Oam):
    """Online AUC maximisation, one gradient step against a whole reservoir.

    Parameters
    ----------
    C : float > 0
        Weight of the loss; a pair moves w by C / 2 times max(1, seen / buffer).
    """

    name = "oam_gra"
    _sequential = False
    deviations = (
        "All margins of an example are tested with the same w; a later public version tests those of "
        "positives with the changing one.",
    )


class _Eight:
    """Eight settings side by side."""

    def __init__(self, algorithms: list[Any], states: list[State]):
        self._start, self._rule = states[0], algorithms[0]._rule(states[0].margin)
        self._u = lanes.joined([state.uxv[:1] for state in states])
        self._v = lanes.joined([state.uxv[-1:] for state in states]) if self._rule.average else self._u
        rules = [algorithm._rule(0.0) for algorithm in algorithms]
        numbers = [(*state.scaled, rule.C, rule.radius) for state, rule in zip(states, rules, strict=True)]
        self._numbers = np.array(numbers).T.copy()

    def run(self, piece: Piece) -> None:
        _run_eight(*piece, np.zeros(len(self._u)), self._u, self._v, self._numbers, self._rule)

    def states(self, kept: KeptRows) -> list[State]:
        states = [
            self._start._replace(
                uxv=np.zeros_like(self._start.uxv),
                scaled=Scaled(*numbers[: len(Scaled._fields)]),
                members=kept.members.copy(),
                norms=kept.norms.copy(),
                seen=kept.seen.copy(),
            )
            for numbers in self._numbers.T.tolist()
        ]
        lanes.separate(self._u, [state.uxv[:1] for state in states])
        if self._rule.average:
            lanes.separate(self._v, [state.uxv[-1:] for state in states])
        return states


def _slots(rng: np.random.Generator, batch: Batch, seen: np.ndarray, size: int) -> np.ndarray:
    """(k,) the slot of each row of a batch in the buffer of its class, -1 for none."""
    draw = _draw.py_func if len(batch.rows) <= SHORT else _draw
    slots = np.empty(len(batch.rows), np.int64)
    draw(rng, batch.y, batch.rows, seen, size, slots)
    return slots


@kernels.kernel
def _draw(rng, y, order, seen, size, slots):
    """Set the slot of each row: the next one while there is room, then a random one or -1 (not kept)."""
    positives, negatives = seen
    for k in range(order.size):
        if y[order[k]] > 0:
            positives += 1
            count = positives
        else:
            negatives += 1
            count = negatives
        if count <= size:
            slots[k] = count - 1
        elif rng.random() < size / count:
            slots[k] = rng.integers(0, size)
        else:
            slots[k] = -1


@kernels.kernel
def _run(X, y, order, slots, members, norms, seen, u, x, v, late, scaled, rule):
    """Steps of one setting, or of eight if u, v and numbers are lanes; a setting at rest takes a zero step.

    For eight, `late` (n,) gets the factors of the rows in v, which is not read in training.
    """
    size, room = members.shape[1], lanes.room(u, members.shape[1])
    refresh = max(REFRESH, u.size)
    for k in range(order.size):
        i = order[k]
        side = 0 if y[i] > 0 else 1
        other = 1 - side
        seen[side] += 1
        square = rows.norm(X, i)
        if slots[k] >= 0:
            members[side, slots[k]] = i
            norms[side, slots[k]] = square
        label = 1.0 - 2.0 * side
        count = min(seen[other], size)
        half = 0.5 * rule.C * max(1.0, seen[other] / size)
        partners, squares = members[other, :count], norms[other, :count]
        if rule.sequential:
            scaled = _one_by_one(X, i, square, label, partners, squares, half, u, x, v, late, scaled, rule)
        else:
            scaled = _at_once(X, i, square, label, partners, squares, half, u, v, late, scaled, rule, room)
        if rule.bounded:
            scaled = _project(u, v, scaled, rule, (seen[0] + seen[1]) % refresh == 0)
        if rule.average:
            scaled = Scaled(scaled.scale, scaled.weight + scaled.scale, scaled.size, scaled.largest)
    return scaled


@kernels.kernel
def _run_eight(X, y, order, slots, members, norms, seen, x, U, V, numbers, rule):
    """`_run` of eight settings, with vectors U and V (d, 1, 8) and numbers (6, 8)."""
    u, v, n = lanes.array(U).ravel(), lanes.array(V).ravel(), lanes.array(numbers)
    late = lanes.room(u, X.indptr.size - 1 if rule.average else 0)
    all_rules = Rule(rule.margin, n[4], n[5], rule.bounded, rule.average, rule.sequential)
    scaled = Scaled(n[0], n[1], n[2], n[3])
    scaled = _run(X, y, order, slots, members, norms, seen, u, x, v, late, scaled, all_rules)
    n[0], n[1], n[2], n[3] = scaled.scale, scaled.weight, scaled.size, scaled.largest
    for i in range(late.size):
        if lanes.any_moves(late[i]):
            rows.axpy(late[i], X, i, v)


@kernels.overloaded(**rows.CSR)
def _add(a: Any, X: Any, i: int, u: Any, weight: Any, v: Any, late: Any) -> Any:
    """Add a x_i to u, and weight a x_i to v or weight a to the `late` factor of the row."""

    def add_now(a, X, i, u, weight, v, late):
        if weight == 0.0:
            rows.axpy(a, X, i, u)
        else:
            rows.axpy2(a, X, i, u, weight * a, v)

    def add_late(a, X, i, u, weight, v, late):
        rows.axpy(a, X, i, u)
        if late.size > 0:
            late[i] += weight * a

    return add_now if late is types.none else add_late


@kernels.helper
def _one_by_one(X, i, square, label, partners, norms, half, u, x, v, late, scaled, rule):
    """Sequential steps. The true weights are scale (u + total x_i) until the last line."""
    scale, weight, size, largest = scaled
    buffers.scatter(X, i, x)
    score = rows.dot(X, i, u)  # u.x_i
    total = 0.0 * scale
    for slot in range(partners.size):
        j = partners[slot]
        product, shared = buffers.products(X, j, u, x)  # u.x_j, x_i.x_j
        norm = square + norms[slot] - 2.0 * shared
        if norm < NEAR * (square + norms[slot]):
            product, along, norm = buffers.difference(X, i, j, u)
            product += total * along
        else:
            product = (score - product) + total * (square - shared)
        if norm == 0.0:
            continue
        product *= scale  # w.z
        slack = rule.margin - label * product
        step = slack / norm
        step = label * lanes.where_less(step, half, step, half)  # NaN must reach the weights
        step = lanes.where_less(slack, 0.0, 0.0, step)
        if not lanes.any_moves(step):
            continue
        a = step / scale
        if rule.bounded:
            weight = _fold_before(abs(step) * np.sqrt(norm), u, v, weight, rule)
            size += step * (2.0 * product + step * norm)
            largest = lanes.where_less(largest, size, size, largest)
        _add(-a, X, j, u, weight, v, late)
        score -= a * shared
        total += a
    buffers.clear(X, i, x)
    if lanes.any_moves(total):
        _add(total, X, i, u, weight, v, late)
    return Scaled(scale, weight, size, largest)


@kernels.helper
def _at_once(X, i, square, label, partners, norms, half, u, v, late, scaled, rule, room):
    """One gradient step; `room` (B,) stores which pairs take part in the step."""
    scale, weight, size, largest = scaled
    score = rows.dot(X, i, u)
    count = reach = 0.0 * scale
    for slot in range(partners.size):
        product = scale * (score - rows.dot(X, partners[slot], u))  # w.z
        active = lanes.where_less(rule.margin, label * product, 0.0, 1.0)  # NaN must reach the weights
        room[slot] = active
        count += active
        reach += active * (np.sqrt(square) + np.sqrt(norms[slot]))
    if not lanes.any_moves(count):
        return scaled
    a = label * half / scale
    if rule.bounded:
        weight = _fold_before(half * reach, u, v, weight, rule)
        step = scale * a * count
        size += step * (2.0 * scale * score + step * square)
        largest = lanes.where_less(largest, size, size, largest)
    _add(a * count, X, i, u, weight, v, late)
    for slot in range(partners.size):
        j, active = partners[slot], room[slot]
        if not lanes.any_moves(active):
            continue
        if rule.bounded:
            step = -scale * a * active
            size += step * (2.0 * scale * rows.dot(X, j, u) + step * norms[slot])
            largest = lanes.where_less(largest, size, size, largest)
        _add(-a * active, X, j, u, weight, v, late)
    return Scaled(scale, weight, size, largest)


@kernels.helper
def _fold_before(reach, u, v, weight, rule):
    """Fold if a step is too long for weight u - v; returns the new weight."""
    if lanes.any_moves(lanes.where_less(LARGE * rule.radius, reach, weight, 0.0)):
        weights.fold(u, 1.0, v, weight)
        weight *= 0.0
    return weight


@kernels.helper
def _project(u, v, scaled, rule, exact):
    """Project on |w| <= radius by the scale."""
    scale, weight, size, largest = scaled
    limit = rule.radius * rule.radius
    if exact or lanes.any_moves(lanes.where_less(CANCELLED * largest, size, 0.0, 1.0)):
        size = largest = scale * scale * vectors.square(u)
    outside = lanes.where_less(size, limit, 0.0, lanes.where_less(limit, size, 1.0, 0.0))
    if lanes.any_moves(outside):
        # An infinite |w| must not be scaled to zero: it would look like a finite model.
        shrink = lanes.where_less(size, np.inf, rule.radius / lanes.root(size), np.nan)
        shrink = lanes.where_less(0.0, outside, shrink, 1.0)
        size = lanes.where_less(0.0, outside, limit, size)
        scale *= shrink
        largest *= shrink * shrink
        smallest = lanes.where_less(0.0, weight, weights.SMALLEST_SCALE, weights.SMALLEST_SCALE_ALONE)
        if lanes.any_moves(lanes.where_less(scale, smallest, 1.0, 0.0)):
            weights.fold(u, scale, v, weight)
            scale, weight = 0.0 * scale + 1.0, 0.0 * weight
    return Scaled(scale, weight, size, largest)
