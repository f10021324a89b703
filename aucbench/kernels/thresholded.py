"""A sparse vector under soft-thresholding, at the cost of the entries that change.

    w_j = scale * (u_j - sign(u_j) threshold), |u_j| > threshold, or w_j = 0 and u_j = 0.

Raising the threshold soft-thresholds w. A heap of the non-zero entries by |u_j| finds the entries that become
zero, at O(log d) each. The sum of weighted w is stored as weight u - sign(u) offset - v. Products of w with
the c columns of a fixed matrix M are also stored; c is 0 if no products are needed. Rows are CSR.
"""

from typing import NamedTuple

import numpy as np

from aucbench.kernels.jit import kernel
from aucbench.kernels.weights import ROUNDING

FOLD = 1e3  # fold once the threshold is this many times the mean |w_j|: three of sixteen digits are lost

NUMBERS = np.dtype(
    [
        ("scale", "f8"),
        ("threshold", "f8"),
        ("weight", "f8"),  # factor of u in the sum
        ("offset", "f8"),  # factor of sign(u) in the sum
        ("norm", "f8"),  # |w|_1 / scale
        ("count", "i8"),  # non-zero w_j
    ]
)


class Thresholded(NamedTuple):
    """The arrays of a thresholded vector."""

    uv: np.ndarray  # (2, d) u and v, alternating in memory; one array, so that pickling keeps this order
    items: np.ndarray  # (d,) int32, columns of the heap
    keys: np.ndarray  # (d,) |u| of these columns
    place: np.ndarray  # (d,) int32, position of each column in the heap, plus one; 0 if w_j is zero
    numbers: np.ndarray  # (1,) NUMBERS
    M: np.ndarray  # (d, c)
    products: np.ndarray  # (2, c) M'w / scale and M' sign(w)


def thresholded(d: int, M: np.ndarray | None = None) -> Thresholded:
    """The zero vector of length d, with products with the columns of M (d, c)."""
    M = np.zeros((d, 0)) if M is None else np.ascontiguousarray(M)
    items, place = np.zeros((2, d), np.int32)
    numbers = np.zeros(1, NUMBERS)
    numbers["scale"] = 1.0
    return Thresholded(np.zeros((d, 2)).T, items, np.zeros(d), place, numbers, M, np.zeros((2, M.shape[1])))


def accumulated(vector: Thresholded) -> np.ndarray:
    """(d,) the sum of weighted w."""
    (u, v), numbers = vector.uv, vector.numbers[0]
    weighted, offset = numbers["weight"] * u, np.sign(u) * numbers["offset"]
    sums: np.ndarray = weighted - offset - v
    sums[np.abs(sums) < ROUNDING * (np.abs(weighted) + np.abs(offset))] = 0.0  # see `weights._less`
    return sums


def current(vector: Thresholded) -> np.ndarray:
    """(d,) w itself."""
    u, numbers = vector.uv[0], vector.numbers[0]
    w: np.ndarray = numbers["scale"] * (u - np.sign(u) * numbers["threshold"])
    return w


@kernel
def replace(vector, w):
    """Set the folded vector to w (d,); the accumulated sum is unchanged."""
    uv, items, keys, place, all_numbers, _, _ = vector
    numbers = all_numbers[0]
    place[:], numbers.count = 0, 0
    for j in range(w.size):
        uv[0, j] = w[j]
        if w[j] != 0.0:
            _rise(items, keys, place, numbers.count, j, abs(w[j]))
            numbers.count += 1
    fold(vector)


@kernel
def score(X, i, vector):
    """The product w.x_i."""
    u, numbers = vector.uv[0], vector.numbers[0]
    threshold = numbers.threshold
    total = 0.0
    for k in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        value = u[X.indices[k]]
        total += X.data[k] * (value - np.sign(value) * threshold)
    return numbers.scale * total


@kernel
def step(a, X, i, vector):
    """Add a x_i to w; the caller updates the products M'w."""
    uv, items, keys, place, all_numbers, M, products = vector
    u, v, numbers = uv[0], uv[1], all_numbers[0]
    scale, threshold, weight, offset = numbers.scale, numbers.threshold, numbers.weight, numbers.offset
    norm, count = numbers.norm, numbers.count
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
                _change(items, keys, place, count, place[j] - 1, j, abs(new))
        elif sign != 0.0:
            _rise(items, keys, place, count, j, abs(new))
            count += 1
    numbers.norm, numbers.count = norm, count


@kernel
def accumulate(vector, weight):
    """Add weight * w to the accumulated sum."""
    numbers = vector.numbers[0]
    numbers.weight += weight * numbers.scale
    numbers.offset += weight * numbers.scale * numbers.threshold


@kernel
def _drop(vector):
    """Set the entry on top of the heap to zero."""
    uv, items, keys, place, all_numbers, M, products = vector
    u, v, numbers = uv[0], uv[1], all_numbers[0]
    j, size = items[0], keys[0] - numbers.threshold
    sign = np.sign(u[j])
    _remove(items, keys, place, numbers.count, j)
    numbers.count -= 1
    numbers.norm -= size
    v[j] -= numbers.weight * u[j] - numbers.offset * sign
    u[j] = 0.0
    for c in range(M.shape[1]):
        products[0, c] -= sign * size * M[j, c]
        products[1, c] -= sign * M[j, c]


@kernel
def _raise(vector, rise):
    """Raise the threshold; no entry may fall below it."""
    numbers, products = vector.numbers[0], vector.products
    numbers.threshold += rise
    numbers.norm -= rise * numbers.count
    for c in range(products.shape[1]):
        products[0, c] -= rise * products[1, c]


@kernel
def shrink(vector, cut, factor):
    """Set w to factor * sign(w) max(|w| - cut, 0)."""
    numbers, keys = vector.numbers[0], vector.keys
    rise = cut / numbers.scale
    while numbers.count > 0 and keys[0] - numbers.threshold <= rise:
        _drop(vector)
    _raise(vector, rise)
    numbers.scale *= factor
    tidy(vector)


@kernel
def project(vector, radius):
    """Project w, whose scale is 1, on the l1 ball of a radius."""
    numbers, keys = vector.numbers[0], vector.keys
    if numbers.norm <= radius:
        return
    if not numbers.norm < np.inf:
        numbers.threshold = np.nan  # NaN, since zeros would look like a finite model
        return
    rise = (numbers.norm - radius) / numbers.count
    while numbers.count > 1 and keys[0] - numbers.threshold <= rise:
        _drop(vector)
        rise = (numbers.norm - radius) / numbers.count
    _raise(vector, rise)
    numbers.norm = radius
    tidy(vector)


@kernel
def tidy(vector):
    """Fold the scale and the threshold into u before they cost digits."""
    numbers = vector.numbers[0]
    if numbers.count == 0:
        numbers.scale = 1.0
        numbers.threshold = numbers.weight = numbers.offset = numbers.norm = 0.0
        vector.products[:] = 0.0
    elif numbers.threshold * numbers.count > FOLD * numbers.norm or numbers.scale < 1.0 / FOLD:
        fold(vector)


@kernel
def fold(vector):
    """Make the scale one and the threshold zero, and compute the norm and the products anew."""
    uv, items, keys, _, all_numbers, M, products = vector
    u, v, numbers = uv[0], uv[1], all_numbers[0]
    scale, threshold, weight, offset = numbers.scale, numbers.threshold, numbers.weight, numbers.offset
    norm, size = 0.0, abs(scale)
    products[:] = 0.0
    for slot in range(numbers.count):
        j = items[slot]
        sign = np.sign(u[j])
        v[j] -= weight * u[j] - offset * sign
        keys[slot] = size * (keys[slot] - threshold)  # monotone: the heap stays in order
        sign = sign if scale > 0.0 else -sign
        u[j] = sign * keys[slot]
        norm += keys[slot]
        for c in range(M.shape[1]):
            products[0, c] += u[j] * M[j, c]
            products[1, c] += sign * M[j, c]
    numbers.scale, numbers.norm = 1.0, norm
    numbers.threshold = numbers.weight = numbers.offset = 0.0


# A heap of numbered items with the smallest key on top, whose items can be found, changed and removed. It is
# three arrays: `items` and `keys` of its `count` entries, the four children of the entry k being 4 k + 1 to
# 4 k + 4, and `place`, for each item the number of its entry plus one, 0 if it is not in the heap. Each
# of the operations moves O(log count) entries. NaN keys are not ordered.


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
        for sibling in range(first + 1, min(first + 4, count)):
            if keys[sibling] < keys[child]:
                child = sibling
        if not keys[child] < key:
            break
        items[slot], keys[slot] = items[child], keys[child]
        place[items[slot]] = slot + 1
        slot = child
    items[slot], keys[slot] = item, key
    place[item] = slot + 1


@kernel
def _change(items, keys, place, count, slot, item, key):
    """Put an item with another key in an entry, or where its key belongs."""
    if key < keys[slot]:
        _rise(items, keys, place, slot, item, key)
    else:
        _sink(items, keys, place, count, slot, item, key)


@kernel
def _remove(items, keys, place, count, item):
    """Remove an item, leaving count - 1 entries."""
    slot, last = place[item] - 1, count - 1
    place[item] = 0
    if slot != last:
        _change(items, keys, place, last, slot, items[last], keys[last])
