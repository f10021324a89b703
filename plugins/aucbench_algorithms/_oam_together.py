"""The steps of OAM (see `oam`) for eight settings at once, on rows that are the same for all.

Products of the rows with each other are numbers, those with the weights lanes. A setting that does not move
on a pair takes a step of zero, and a pair on which none moves is skipped. What costs O(d), folding and exact
norms, is done for all eight when one needs it.

The part of a step that the average needs, weight a x_j, is not read in training. So the factors of each row
are summed, and the rows are added to v once a piece.
"""

from typing import NamedTuple

import numpy as np

from aucbench import kernels
from aucbench.kernels import buffers, pairs, rows, weights
from aucbench_algorithms import _kept_rows, _lanes

NEAR = 1e-3  # |z|^2 against |x|^2 + |x_j|^2, below which it is computed from z
LARGE = 1e4  # radii a step may be long while the sum of the w is kept as weight u - v
REFRESH = 1024  # examples between exact computations of |w|^2, at least
CANCELLED = 1e-2  # |w|^2 against the largest since it was computed exactly, below which it is so again


class Settings(NamedTuple):
    """Weights w = scale u of eight settings, sum of the w after each example = weight u - v."""

    u: np.ndarray  # (d, 1, 8)
    v: np.ndarray  # (d, 1, 8), or (0, 1, 8) where there is no average
    C: np.ndarray  # (8,) as all below
    radius: np.ndarray  # infinite where there is none
    scale: np.ndarray
    weight: np.ndarray
    size: np.ndarray  # |w|^2, kept up for `radius` only
    largest: np.ndarray  # that it was since it was computed exactly


class Place(NamedTuple):
    """One example of a piece, and the kept ones of the other class."""

    row: int
    label: float
    square: float  # its squared norm
    kept: np.ndarray  # (k,) rows


@kernels.kernel
def run(piece, settings, margin, sequential, bounded):
    """Consume a piece."""
    X, members, seen = piece.rows, piece.members, piece.seen
    d, size, average = settings.u.shape[0], members.shape[1], settings.v.size > 0
    squares = np.empty(X.indptr.size - 1)
    for j in range(squares.size):
        squares[j] = rows.norm(X, j)
    x, moves = np.zeros(d), np.empty((size, 1, _lanes.WIDTH))
    steps = np.zeros((squares.size if average else 0, 1, _lanes.WIDTH))
    every = np.arange(squares.size).reshape(-1, 1)
    Z = pairs.room(X, np.concatenate((every, every), axis=1))
    for k in range(piece.y.size):
        i, own = _kept_rows.enter(piece, k)
        other = 1 - own
        kept = members[other, : min(seen[other], size)]
        at = Place(i, 1.0 - 2.0 * own, squares[i], kept)
        half = _lanes.numbers(settings.C) * (0.5 * max(1.0, seen[other] / size))
        if sequential:
            _one_by_one(X, at, squares, half, margin, settings, steps, x, Z, bounded)
        else:
            _at_once(X, at, squares, half, margin, settings, steps, moves, bounded)
        if bounded:
            _project(settings, (seen[0] + seen[1]) % max(REFRESH, d) == 0)
        if average:
            weight = _lanes.numbers(settings.weight)
            _lanes.keep(weight + _lanes.numbers(settings.scale), settings.weight)
    for j in range(steps.shape[0]):
        step = _lanes.load(steps, _lanes.place(steps, j, 0))
        if _lanes.any_moves(step):
            _lanes.axpy(step, X, j, settings.v, 0)


@kernels.kernel
def _add(a, X, i, settings, steps):
    _lanes.axpy(a, X, i, settings.u, 0)
    if steps.shape[0] > 0:
        at = _lanes.place(steps, i, 0)
        _lanes.store(_lanes.load(steps, at) + _lanes.numbers(settings.weight) * a, steps, at)


@kernels.kernel
def _fold(settings, scale):
    """Turn w = scale u and W = weight u - v into w = u and W = -v."""
    u, v, weight = settings.u, settings.v, _lanes.numbers(settings.weight)
    for column in range(u.shape[0]):
        at = _lanes.place(u, column, 0)
        value = _lanes.load(u, at)
        _lanes.store(scale * value, u, at)
        if v.shape[0] > 0:
            _lanes.store(_lanes.load(v, at) - weight * value, v, at)
    _lanes.keep(_lanes.zero(), settings.weight)


@kernels.kernel
def _fold_before(reach, settings):
    """Fold when a step is longer than weight u - v can take."""
    longest = _lanes.numbers(settings.radius) * LARGE
    weight = _lanes.numbers(settings.weight)
    if _lanes.any_moves(_lanes.where_less(longest, reach, weight, _lanes.zero())):
        _fold(settings, _lanes.same(1.0))


@kernels.kernel
def _grow(change, settings):
    """Add a change to |w|^2."""
    size = _lanes.numbers(settings.size) + change
    largest = _lanes.numbers(settings.largest)
    _lanes.keep(size, settings.size)
    _lanes.keep(_lanes.where_less(largest, size, size, largest), settings.largest)


@kernels.kernel
def _one_by_one(X, at, squares, half, margin, settings, steps, x, Z, bounded):
    """Sequential steps. The true weights are scale (u + total x_i) until the last line."""
    u, zero, scale = settings.u, _lanes.zero(), _lanes.numbers(settings.scale)
    inverse = 1.0 / scale
    buffers.spread(X, at.row, x)
    own = _lanes.dot(X, at.row, u, 0)  # u.x_i
    total = _lanes.zero()
    for j in at.kept:
        shared = rows.dot(X, j, x)  # x_i.x_j
        both = at.square + squares[j]
        norm = both - 2.0 * shared
        if norm < NEAR * both:
            pairs.subtract(X, at.row, j, Z)
            norm = rows.norm(Z, 0)
            product = _lanes.dot(Z, 0, u, 0) + total * rows.dot(Z, 0, x)
        else:
            product = (own - _lanes.dot(X, j, u, 0)) + total * (at.square - shared)
        if norm == 0.0:
            continue
        product *= scale  # w.z
        slack = margin - product * at.label
        step = slack * (1.0 / norm)
        step = _lanes.where_less(step, half, step, half) * at.label
        step = _lanes.where_less(slack, zero, zero, step)
        if not _lanes.any_moves(step):
            continue
        if bounded:
            _fold_before(_lanes.size(step) * np.sqrt(norm), settings)
            _grow(step * (2.0 * product + step * norm), settings)
        a = step * inverse
        _add(zero - a, X, j, settings, steps)
        own -= a * shared
        total += a
    buffers.wipe(X, at.row, x)
    if _lanes.any_moves(total):
        _add(total, X, at.row, settings, steps)


@kernels.kernel
def _at_once(X, at, squares, half, margin, settings, steps, moves, bounded):
    """One gradient step."""
    u, zero, one = settings.u, _lanes.zero(), _lanes.same(1.0)
    scale, edge = _lanes.numbers(settings.scale), _lanes.same(margin)
    own = _lanes.dot(X, at.row, u, 0)
    count, reach = _lanes.zero(), _lanes.zero()
    for slot in range(at.kept.size):
        product = scale * (own - _lanes.dot(X, at.kept[slot], u, 0))  # w.z
        active = _lanes.where_less(edge, product * at.label, zero, one)
        _lanes.store(active, moves, _lanes.place(moves, slot, 0))
        count += active
        reach = _lanes.add_product(reach, np.sqrt(at.square) + np.sqrt(squares[at.kept[slot]]), active)
    if not _lanes.any_moves(count):
        return
    if bounded:
        _fold_before(half * reach, settings)
        step = half * count * at.label
        _grow(step * (2.0 * scale * own + step * at.square), settings)
    a = half * at.label / scale
    _add(a * count, X, at.row, settings, steps)
    for slot in range(at.kept.size):
        j, active = at.kept[slot], _lanes.load(moves, _lanes.place(moves, slot, 0))
        if not _lanes.any_moves(active):
            continue
        if bounded:
            step = zero - half * active * at.label
            _grow(step * (2.0 * scale * _lanes.dot(X, j, u, 0) + step * squares[j]), settings)
        _add(zero - a * active, X, j, settings, steps)


@kernels.kernel
def _project(settings, exact):
    """Project on |w| <= radius by the scale."""
    u, zero, one = settings.u, _lanes.zero(), _lanes.same(1.0)
    scale, radius = _lanes.numbers(settings.scale), _lanes.numbers(settings.radius)
    size, largest = _lanes.numbers(settings.size), _lanes.numbers(settings.largest)
    kept = _lanes.where_less(largest * CANCELLED, size, zero, one)
    if exact or _lanes.any_moves(kept):
        size = scale * scale * _lanes.square(u, 0)
        largest = size
    limit = radius * radius
    # an infinite |w| must not be scaled to zero: it would look like a finite model
    shrink = _lanes.where_less(size, _lanes.same(np.inf), radius / _lanes.root(size), size - size)
    shrink = _lanes.where_less(limit, size, shrink, one)
    scale *= shrink
    largest *= shrink * shrink
    size = _lanes.where_less(limit, size, limit, size)
    smallest = _lanes.same(weights.SMALLEST_SCALE if settings.v.size > 0 else weights.SMALLEST_SCALE_ALONE)
    if _lanes.any_moves(_lanes.where_less(scale, smallest, one, zero)):
        _fold(settings, scale)
        scale = _lanes.same(1.0)
    _lanes.keep(scale, settings.scale)
    _lanes.keep(size, settings.size)
    _lanes.keep(largest, settings.largest)
