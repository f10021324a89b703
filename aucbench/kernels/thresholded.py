"""A sparse vector under soft-thresholding, at the cost of the entries that change.

    w_j = scale * (u_j - sign(u_j) threshold), |u_j| > threshold, or w_j = 0 and u_j = 0.

Raising the threshold soft-thresholds w. The entries it sets to zero are those on top of a heap of the
non-zero ones by |u_j|, so that each costs O(log d), once. The sum of weighted w is kept as
weight u - sign(u) offset - v. Products of w with the c columns of a fixed matrix M are kept too: c = 0
where none are needed. Rows are CSR.
"""

from typing import NamedTuple

import numpy as np

from aucbench.kernels.jit import kernel

FOLD = 1e3  # a threshold of so many times the mean |w_j| costs three of sixteen digits

SCALE, THRESHOLD, WEIGHT, OFFSET, NORM, COUNT = range(6)


class Thresholded(NamedTuple):
    """The arrays of a thresholded vector."""

    uv: np.ndarray  # (2, d) u and v, alternating in memory; in one array, so that pickling keeps that
    items: np.ndarray  # (d,) int32, columns of the heap
    keys: np.ndarray  # (d,) their |u|
    place: np.ndarray  # (d,) int32, of each column in the heap, plus one; 0 when w_j is zero
    numbers: np.ndarray  # (6,) scale, threshold, weight, offset, |w|_1 / scale, number of non-zeros
    M: np.ndarray  # (d, c)
    products: np.ndarray  # (2, c) M'w / scale and M' sign(w)


def thresholded(d: int, M: np.ndarray | None = None) -> Thresholded:
    """The zero vector of length d, with products with the columns of M (d, c)."""
    M = np.zeros((d, 0)) if M is None else np.ascontiguousarray(M)
    items, place = np.zeros((2, d), np.int32)
    numbers = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    return Thresholded(np.zeros((d, 2)).T, items, np.zeros(d), place, numbers, M, np.zeros((2, M.shape[1])))


def accumulated(vector: Thresholded) -> np.ndarray:
    """(d,) the sum of weighted w."""
    (u, v), numbers = vector.uv, vector.numbers
    return numbers[WEIGHT] * u - np.sign(u) * numbers[OFFSET] - v


def current(vector: Thresholded) -> np.ndarray:
    """(d,) w itself."""
    u, numbers = vector.uv[0], vector.numbers
    w: np.ndarray = numbers[SCALE] * (u - np.sign(u) * numbers[THRESHOLD])
    return w


def start(vector: Thresholded, w: np.ndarray) -> None:
    """Set a zero vector to w (d,)."""
    columns = np.flatnonzero(w)
    columns = columns[np.argsort(np.abs(w[columns]), kind="stable")]  # sorted keys are a heap
    count, signs = len(columns), np.sign(w)
    vector.uv[0] = w
    vector.keys[:count], vector.items[:count] = np.abs(w[columns]), columns
    vector.place[columns] = np.arange(1, count + 1)
    vector.numbers[NORM], vector.numbers[COUNT] = np.abs(w).sum(), count
    vector.products[:] = w @ vector.M, signs @ vector.M


@kernel
def dot(X, i, vector):
    """The product w.x_i."""
    u, threshold = vector.uv[0], vector.numbers[THRESHOLD]
    total = 0.0
    for k in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        value = u[X.indices[k]]
        total += X.data[k] * (value - np.sign(value) * threshold)
    return vector.numbers[SCALE] * total


@kernel
def axpy(a, X, i, vector):
    """Add a x_i to w; the products M'w are left to the caller, who may know M'x_i."""
    uv, items, keys, place, numbers, M, products = vector
    u, v = uv[0], uv[1]
    scale, threshold, weight, offset, norm = numbers[: NORM + 1]
    count = int(numbers[COUNT])
    for k in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j = X.indices[k]
        old = u[j]
        old_sign = np.sign(old)
        before = old - old_sign * threshold
        after = before + a / scale * X.data[k]
        sign = np.sign(after)
        new = after + sign * threshold
        u[j] = new
        v[j] += weight * (new - old) - offset * (sign - old_sign)
        norm += abs(after) - abs(before)
        if sign != old_sign:
            for c in range(M.shape[1]):
                products[1, c] += (sign - old_sign) * M[j, c]
        if place[j] > 0:
            if sign == 0.0:
                _remove(items, keys, place, count, j)
                count -= 1
            else:
                _change(items, keys, place, count, j, abs(new))
        elif sign != 0.0:
            _rise(items, keys, place, count, j, abs(new))
            count += 1
    numbers[NORM], numbers[COUNT] = norm, count


@kernel
def weigh(vector, weight):
    """Add weight * w to the accumulated sum."""
    numbers = vector.numbers
    numbers[WEIGHT] += weight * numbers[SCALE]
    numbers[OFFSET] += weight * numbers[SCALE] * numbers[THRESHOLD]


@kernel
def _drop(vector):
    """Set the entry on top of the heap to zero."""
    uv, items, keys, place, numbers, M, products = vector
    u, v = uv[0], uv[1]
    j, size = items[0], keys[0] - numbers[THRESHOLD]
    sign = np.sign(u[j])
    _remove(items, keys, place, int(numbers[COUNT]), j)
    numbers[COUNT] -= 1.0
    numbers[NORM] -= size
    v[j] -= numbers[WEIGHT] * u[j] - numbers[OFFSET] * sign
    u[j] = 0.0
    for c in range(M.shape[1]):
        products[0, c] -= sign * size * M[j, c]
        products[1, c] -= sign * M[j, c]


@kernel
def _raise(vector, rise):
    """Raise the threshold, which no entry falls below."""
    numbers, products = vector.numbers, vector.products
    numbers[THRESHOLD] += rise
    numbers[NORM] -= rise * numbers[COUNT]
    for c in range(products.shape[1]):
        products[0, c] -= rise * products[1, c]


@kernel
def shrink(vector, cut, factor):
    """Set w to factor * sign(w) max(|w| - cut, 0)."""
    numbers, keys = vector.numbers, vector.keys
    rise = cut / numbers[SCALE]
    while numbers[COUNT] > 0.0 and keys[0] - numbers[THRESHOLD] <= rise:
        _drop(vector)
    _raise(vector, rise)
    numbers[SCALE] *= factor
    tidy(vector)


@kernel
def project(vector, radius):
    """Project w, whose scale is 1, on the l1 ball of a radius."""
    numbers, keys = vector.numbers, vector.keys
    if numbers[NORM] <= radius:
        return
    if not numbers[NORM] < np.inf:
        numbers[THRESHOLD] = np.nan  # zeros would look like a finite model
        return
    rise = (numbers[NORM] - radius) / numbers[COUNT]
    while numbers[COUNT] > 1.0 and keys[0] - numbers[THRESHOLD] <= rise:
        _drop(vector)
        rise = (numbers[NORM] - radius) / numbers[COUNT]
    _raise(vector, rise)
    numbers[NORM] = radius
    tidy(vector)


@kernel
def tidy(vector):
    """Fold the scale and the threshold into u before they cost digits."""
    numbers = vector.numbers
    if numbers[COUNT] == 0.0:
        numbers[:] = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
        vector.products[:] = 0.0
    elif numbers[THRESHOLD] * numbers[COUNT] > FOLD * numbers[NORM] or numbers[SCALE] < 1.0 / FOLD:
        fold(vector)


@kernel
def fold(vector):
    """Make the scale one and the threshold zero, and compute the norm and the products anew."""
    uv, items, keys, _, numbers, M, products = vector
    u, v = uv[0], uv[1]
    scale, threshold, weight, offset = numbers[:NORM]
    norm = 0.0
    products[:] = 0.0
    for slot in range(int(numbers[COUNT])):
        j = items[slot]
        sign = np.sign(u[j])
        v[j] -= weight * u[j] - offset * sign
        keys[slot] = scale * (keys[slot] - threshold)  # monotone: the heap stays in order
        u[j] = sign * keys[slot]
        norm += keys[slot]
        for c in range(M.shape[1]):
            products[0, c] += u[j] * M[j, c]
            products[1, c] += sign * M[j, c]
    numbers[: NORM + 1] = 1.0, 0.0, 0.0, 0.0, norm


# A heap of numbered items with the smallest key on top, whose items can be found, changed and removed. It is
# three arrays: `items` and `keys` of its `count` entries, the four children of the entry k being 4 k + 1 to
# 4 k + 4, and `place`, for each item the number of its entry plus one, 0 when it is not inside. Each of the
# operations moves O(log count) entries. NaN keys are not ordered.


@kernel
def _rise(items, keys, place, slot, item, key):
    """Put an item in the free entry `slot`, or above it."""
    while slot > 0:
        parent = (slot - 1) >> 2
        if not key < keys[parent]:
            break
        items[slot], keys[slot] = items[parent], keys[parent]
        place[items[slot]] = slot + 1
        slot = parent
    items[slot], keys[slot] = item, key
    place[item] = slot + 1


@kernel
def _sink(items, keys, place, count, slot, item, key):
    """Put an item in the free entry `slot`, or below it."""
    while True:
        first = 4 * slot + 1
        if first >= count:
            break
        child = first
        for other in range(first + 1, min(first + 4, count)):
            if keys[other] < keys[child]:
                child = other
        if not keys[child] < key:
            break
        items[slot], keys[slot] = items[child], keys[child]
        place[items[slot]] = slot + 1
        slot = child
    items[slot], keys[slot] = item, key
    place[item] = slot + 1


@kernel
def _change(items, keys, place, count, item, key):
    """Give an item another key."""
    slot = place[item] - 1
    if key < keys[slot]:
        _rise(items, keys, place, slot, item, key)
    else:
        _sink(items, keys, place, count, slot, item, key)


@kernel
def _remove(items, keys, place, count, item):
    """Remove an item; the heap has count - 1 entries then."""
    slot, last = place[item] - 1, count - 1
    place[item] = 0
    if slot == last:
        return
    if keys[last] < keys[slot]:
        _rise(items, keys, place, slot, items[last], keys[last])
    else:
        _sink(items, keys, place, last, slot, items[last], keys[last])
