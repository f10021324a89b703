"""OAM, online AUC maximisation with two reservoirs of examples, sequential (seq) or by gradients (gra).

Each example x of label s (+1 or -1) meets the kept examples x_j of the other class, z = x - x_j, with the
step C_t = C max(1, seen / B), where `seen` counts the examples of the other class and B is the buffer size:

    seq: for each x_j in turn: w += min(C_t / 2, max(0, margin - s w.z) / |z|^2) s z
    gra: w += C_t / 2 * sum of s z over the x_j with s w.z <= margin, all tested with the same w

Before that x enters the reservoir of its own class: appended while there is room, else with probability
B / seen in a random slot. The model is the last iterate, or the mean of the w after each example.

Cost per example: O(B nnz). In seq, w.z and |z|^2 come from the products of x_j with w and with x, which is
spread over a dense vector once; where x and x_j nearly agree they are computed from z itself. The part of
the steps along x is added once, at the end. With `radius` w is kept as scale * u, with `average` the sum of
the w as weight * u - v. Both together cost O(d) whenever the scale has shrunk a thousandfold, and with
steps of ten thousand radii.

Source: Zhao, Hoi, Jin, Yang, Online AUC maximization, ICML 2011, Algorithms 1 to 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Count, LinearMethod, Positive, Problem, kernels
from aucbench.kernels import buffers, rows, vectors, weights
from aucbench_algorithms import _lanes as lanes
from aucbench_algorithms import _oam_together as eight
from aucbench_algorithms._kept_rows import Blocks, ByBuffer, KeptRows, Piece
from aucbench_algorithms._oam_together import CANCELLED, LARGE, NEAR, REFRESH

SHORT = 8  # rows whose slots are drawn sooner by the interpreter than a generator is handed to a kernel


class Scaled(NamedTuple):
    """How the weights and their sum are kept."""

    scale: float
    weight: float
    size: float  # |w|^2, kept up for `radius` only
    largest: float  # that it was since it was computed exactly


class State(NamedTuple):
    """Weights w = scale u, sum of the w after each example = weight u - v."""

    uxv: np.ndarray  # (1 to 3, d) u; for seq room for one row; for the average v
    scaled: Scaled
    members: np.ndarray  # (2, B) row numbers, positives first
    norms: np.ndarray  # (2, B) squared norms of those rows
    seen: np.ndarray  # (2,) positives and negatives so far
    margin: float  # of the hinge loss
    rng: np.random.Generator  # of the reservoirs


class Rule(NamedTuple):
    """What a setting is, for compiled code."""

    margin: float
    C: float
    radius: float  # 0 for none
    average: bool
    sequential: bool


@dataclass(frozen=True)
class _Oam(LinearMethod):
    """What both methods share."""

    access: ClassVar[Access] = Access.stream
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"C": tuple(10.0**power for power in range(-6, 1))}
    step_size: ClassVar[str] = "C"
    claims: ClassVar[Claims] = Claims(rate="1/sqrt(t)", cost="buffer nnz")
    citation: ClassVar[str] = "zhao2011oam"
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
    def together(cls, algorithms: Sequence[Any], states: Sequence[State]) -> ByBuffer:
        """Lockstep of several settings: one pass over a kept row serves eight of them."""
        d, parts = states[0].uxv.shape[1], 1 + algorithms[0].average

        def group(members: list[Any], starts: list[State]) -> Blocks:
            return Blocks(members, starts, _Eight, partial(_slots, starts[0].rng))  # all draw the same

        return ByBuffer(algorithms, states, (parts, d), group)

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        return self.replay(state, batch, _slots(state.rng, batch, state.seen, self.buffer))

    def replay(self, state: State, batch: Batch, slots: np.ndarray) -> State:
        """`step` where each example takes a given place (k,) in the buffer of its class, -1 for none."""
        uxv, scaled, members, norms, seen, margin, _ = state
        u, x = uxv[0], uxv[1 if self._sequential else 0]
        radius = 0.0 if self.radius is None else self.radius
        rule = Rule(margin, self.C, radius, self.average, self._sequential)
        scaled = _run(
            batch.rows_view, batch.y, batch.rows, slots, u, x, uxv[-1], scaled, members, norms, seen, rule
        )
        return state._replace(scaled=scaled)

    def weights(self, state: State) -> np.ndarray:
        """(d,) the last iterate, or the mean of the iterates."""
        scale, weight, _, _ = state.scaled
        count = state.seen.sum()
        if self.average and count:
            return weights.mean(state.uxv[0], state.uxv[-1], weight, count)
        return scale * state.uxv[0]


@dataclass(frozen=True)
class OamSeq(_Oam):
    """Online AUC maximisation, passive-aggressive steps against a reservoir one after the other.

    Parameters
    ----------
    C : float > 0
        Weight of the loss; a step is at most C / 2 times max(1, seen / buffer).
    buffer : int >= 1
        Examples kept of each class.
    average : bool
        Whether the model is the mean of the iterates rather than the last, which is noisy.
    radius : float > 0 or None
        Project on |w| <= radius after each example; None does not, as the paper.
    """

    name: ClassVar[str] = "oam_seq"
    _sequential: ClassVar[bool] = True
    deviations: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True)
class OamGra(_Oam):
    """Online AUC maximisation, one gradient step against a whole reservoir.

    Parameters
    ----------
    C : float > 0
        Weight of the loss; a pair moves w by C / 2 times max(1, seen / buffer).
    buffer : int >= 1
        Examples kept of each class.
    average : bool
        Whether the model is the mean of the iterates rather than the last, which is noisy.
    radius : float > 0 or None
        Project on |w| <= radius after each example; None does not, as the paper.
    """

    name: ClassVar[str] = "oam_gra"
    _sequential: ClassVar[bool] = False
    deviations: ClassVar[tuple[str, ...]] = (
        "All margins of an example are tested with the same w; a later public version tests those of "
        "positives with the changing one.",
    )


class _Eight:
    """Eight settings side by side."""

    def __init__(self, algorithms: list[Any], states: list[State]):
        first, self._start = algorithms[0], states[0]
        radius = [np.inf if each.radius is None else each.radius for each in algorithms]
        self._settings = eight.Settings(
            lanes.joined([state.uxv[:1] for state in states]),
            lanes.joined([state.uxv[-1:] for state in states]) if first.average else lanes.zeros(0, 1, 8),
            np.array([each.C for each in algorithms]),
            np.array(radius),
            *np.array([state.scaled for state in states]).T.copy(),
        )
        self._kind = states[0].margin, first._sequential, first.radius is not None

    def run(self, piece: Piece) -> None:
        """Consume a piece."""
        eight.run(piece, self._settings, *self._kind)

    def states(self, kept: KeptRows) -> list[State]:
        """The states of all lanes."""
        u, v, *numbers = self._settings
        found = []
        for lane in range(lanes.WIDTH):
            scaled = Scaled(*(float(values[lane]) for values in numbers[2:]))
            uxv = np.zeros_like(self._start.uxv)
            found.append(
                self._start._replace(
                    uxv=uxv,
                    scaled=scaled,
                    members=kept.members.copy(),
                    norms=kept.norms,
                    seen=kept.seen.copy(),
                )
            )
        lanes.separate(u, [state.uxv[:1] for state in found])
        if len(v):
            lanes.separate(v, [state.uxv[-1:] for state in found])
        return found


def _slots(rng: np.random.Generator, batch: Batch, seen: np.ndarray, size: int) -> np.ndarray:
    """(k,) the place of each row of a batch in the buffer of its class, -1 for none."""
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
def _run(X, y, order, slots, u, x, v, scaled, members, norms, seen, rule):
    size = members.shape[1]
    active = np.empty(size, np.bool_)
    longest = LARGE * rule.radius if rule.radius > 0.0 else np.inf
    refresh = max(REFRESH, u.size)
    for k in range(order.size):
        i = order[k]
        own = 0 if y[i] > 0 else 1
        other = 1 - own
        seen[own] += 1
        square = rows.norm(X, i)
        if slots[k] >= 0:
            members[own, slots[k]] = i
            norms[own, slots[k]] = square
        label = 1.0 - 2.0 * own
        count = min(seen[other], size)
        half = 0.5 * rule.C * max(1.0, seen[other] / size)
        kept, kept_norms = members[other, :count], norms[other, :count]
        margin = rule.margin
        if rule._sequential:
            scaled = _one_by_one(
                X, i, square, label, kept, kept_norms, half, margin, u, x, v, scaled, longest
            )
        else:
            scaled = _at_once(
                X, i, square, label, kept, kept_norms, half, margin, u, v, scaled, longest, active
            )
        if rule.radius > 0.0:
            exact = (seen[0] + seen[1]) % refresh == 0
            scaled = _project(u, v, scaled, rule, exact)
        if rule.average:
            scaled = Scaled(scaled.scale, scaled.weight + scaled.scale, scaled.size, scaled.largest)
    return scaled


@kernels.kernel
def _add(a, X, i, u, weight, v):
    if weight == 0.0:
        rows.axpy(a, X, i, u)
    else:
        rows.axpy2(a, X, i, u, weight * a, v)


@kernels.kernel
def _one_by_one(X, i, square, label, kept, norms, half, margin, u, x, v, scaled, longest):
    """Sequential steps. The true weights are scale (u + total x_i) until the last line."""
    scale, weight, size, largest = scaled
    buffers.spread(X, i, x)
    own = rows.dot(X, i, u)  # u.x_i
    total = 0.0
    for slot in range(kept.size):
        j = kept[slot]
        product, shared = buffers.products(X, j, u, x)  # u.x_j, x_i.x_j
        norm = square + norms[slot] - 2.0 * shared
        if norm < NEAR * (square + norms[slot]):
            product, along, norm = buffers.difference(X, i, j, u)
            product += total * along
        else:
            product = (own - product) + total * (square - shared)
        product *= scale  # w.z
        slack = margin - label * product
        if not (slack <= 0.0 or norm == 0.0):  # so that NaN goes on into the weights
            step = label * min(half, slack / norm)
            a = step / scale
            if weight != 0.0 and abs(step) * np.sqrt(norm) > longest:
                weights.fold(u, 1.0, v, weight)
                weight = 0.0
            _add(-a, X, j, u, weight, v)
            own -= a * shared
            total += a
            size += step * (2.0 * product + step * norm)
            largest = max(largest, size)
    buffers.wipe(X, i, x)
    if total != 0.0:
        _add(total, X, i, u, weight, v)
    return Scaled(scale, weight, size, largest)


@kernels.kernel
def _at_once(X, i, square, label, kept, norms, half, margin, u, v, scaled, longest, active):
    """One gradient step."""
    scale, weight, size, largest = scaled
    own = rows.dot(X, i, u)
    count, reach = 0, 0.0
    for slot in range(kept.size):
        product = scale * (own - rows.dot(X, kept[slot], u))  # w.z
        active[slot] = not label * product > margin  # so that NaN goes on into the weights
        if active[slot]:
            count += 1
            reach += np.sqrt(square) + np.sqrt(norms[slot])
    if count == 0:
        return scaled
    if weight != 0.0 and half * reach > longest:
        weights.fold(u, 1.0, v, weight)
        weight = 0.0
    a = label * half / scale
    step = scale * a * count
    size += step * (2.0 * scale * own + step * square)
    largest = max(largest, size)
    _add(a * count, X, i, u, weight, v)
    step = -scale * a
    for slot in range(kept.size):
        if active[slot]:
            j = kept[slot]
            if longest < np.inf:
                size += step * (2.0 * scale * rows.dot(X, j, u) + step * norms[slot])
                largest = max(largest, size)
            _add(-a, X, j, u, weight, v)
    return Scaled(scale, weight, size, largest)


@kernels.kernel
def _project(u, v, scaled, rule, exact):
    """Project on |w| <= radius by the scale."""
    scale, weight, size, largest = scaled
    radius = rule.radius
    if exact or not size > CANCELLED * largest:
        size = largest = scale * scale * vectors.square(u)
    if not size <= radius * radius:
        shrink, size = weights.into_ball(size, radius)
        scale *= shrink
        largest *= shrink * shrink
        if weights.is_out_of_range(scale, weight):
            weights.fold(u, scale, v, weight)
            scale, weight = 1.0, 0.0
    return Scaled(scale, weight, size, largest)
