"""Many settings of a rule in lockstep: each row is read once, and operations are vectors over settings.

The weights lie as (d, 2 m): row j has u_j of the m settings, then their v_j. The scalars are arrays with
one number for each setting, in the same NamedTuples as those of one setting. A step is that of
`rule_loops.advance`, cut into loops over settings that the compiler turns into vector instructions; what
happens rarely (folding, exact norms) is done for one setting after the other.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from aucbench.kernels import pairs, rows
from aucbench.kernels.jit import fast_kernel, kernel
from aucbench.kernels.rows import _for_csr_rows, _for_dense_rows, extent
from aucbench.kernels.rule_loops import (
    AHEAD,
    CANCELLED,
    FADED,
    into_ball,
    is_out_of_range,
    row_of,
    written_out,
)
from aucbench.kernels.rules import Row

RULE: Any = None
DECIDE: Any = None
SETTLE: Any = None
BALL = SQUARE = True


class Work(NamedTuple):
    """Room for the numbers of one step, one for each setting."""

    product: NDArray[np.float64]  # u.x
    step: NDArray[np.float64]  # of w along x, after the projection
    factor: NDArray[np.float64]  # of w, after the projection
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    weight: NDArray[np.float64]  # of u in the sum before the step
    folds: NDArray[np.bool_]
    is_uncertain: NDArray[np.bool_]  # whether |w|^2 must be computed exactly
    ab: NDArray[np.float64]  # (2 m,) what is added to u and v along x


def room(count: int) -> Work:
    """Room for the numbers of that many settings."""
    product, step, factor, before, after, weight = np.zeros((6, count))
    folds, is_uncertain = np.zeros((2, count), np.bool_)
    return Work(product, step, factor, before, after, weight, folds, is_uncertain, np.zeros(2 * count))


def decide(positive, t, positives, square, work, w, fixed, own, given, loss):
    """Apply the rule to every setting."""
    for m in range(work.product.size):
        s = w.scale[m] * work.product[m]
        row = Row(t, positive, positives, s, square, w.size[m], pick(fixed, m), loss)
        move, after = RULE(row, pick(own, m), pick(given, m))
        put(own, m, after)
        work.step[m], work.factor[m] = move.step, move.keep
        work.before[m], work.after[m] = move.before, move.after


def settle(square, is_due, work, w, given):
    """The new scalars of all settings, and what is added to u and v along x.

    Returns whether any setting must be folded, whether any is uncertain, and whether any has a sum.
    """
    count = work.product.size
    folds, uncertain, sums = 0, 0, 0
    for m in range(count):
        scale, step, factor = w.scale[m], work.step[m], work.factor[m]
        weight = w.weight[m] + work.before[m] * scale
        starts = False
        if BALL:
            size = w.size[m]
            starts = (size == 0.0) & (step != 0.0)
            terms = factor * factor * size + step * step * square
            size = terms + 2.0 * factor * step * (scale * work.product[m])
            work.is_uncertain[m] = is_due | ((terms > 0.0) & (size <= CANCELLED * terms))
            uncertain += work.is_uncertain[m]
            shrink, w.size[m] = into_ball(size, pick(given, m).radius)
            factor *= shrink
            step *= shrink
        scale *= factor
        work.folds[m] = starts | is_out_of_range(scale, weight)
        folds += work.folds[m]
        sums += weight != 0.0
        a = step / scale
        work.ab[m], work.ab[count + m] = a, weight * a
        work.step[m], work.factor[m], work.weight[m] = step, factor, weight
        w.scale[m], w.weight[m] = scale, weight + work.after[m] * scale
        w.total[m] += work.before[m] + work.after[m]
    return folds > 0, uncertain > 0, sums > 0


def over_rows(X, y, order, refresh, uv, work, w, counts, fixed, F, products, own, given, loss):
    """Steps of all settings along the rows `order` (k,)."""
    t, positives = counts
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        t += 1
        positives += y[i] > 0
        multiply(X, i, uv, work.product)
        square = rows.norm(X, i) if SQUARE else 0.0
        if len(fixed) > 0:
            keep_exact(t % refresh == 0, fixed, w, F, uv)
        if y[i] > 0:  # outside of the loop over settings
            DECIDE(True, t, positives, square, work, w, fixed, own, given, loss)
        else:
            DECIDE(False, t, positives, square, work, w, fixed, own, given, loss)
        folds, uncertain, sums = SETTLE(square, t % refresh == 0, work, w, given)
        move_fixed(fixed, row_of(products, i, fixed), work)
        if folds:
            fold(uv, work, w)
        add(X, i, uv, work.ab, sums)
        if BALL and uncertain:
            measure(uv, work, w, given)
    return t, positives


def over_pairs(X, y, order, refresh, uv, work, w, counts, fixed, F, products, own, given, loss):
    """Steps of all settings along the differences of the pairs `order` (k, 2) of rows."""
    t, positives = counts
    Z = pairs.room(X, order)
    for k in range(order.shape[0]):
        if k + AHEAD < order.shape[0]:
            pairs.prefetch(X, order[k + AHEAD, 0], order[k + AHEAD, 1])
        t += 1
        pairs.subtract(X, order[k, 0], order[k, 1], Z)
        multiply(Z, 0, uv, work.product)
        square = rows.norm(Z, 0) if SQUARE else 0.0
        DECIDE(True, t, t, square, work, w, fixed, own, given, loss)
        folds, uncertain, sums = SETTLE(square, t % refresh == 0, work, w, given)
        if folds:
            fold(uv, work, w)
        add(Z, 0, uv, work.ab, sums)
        if BALL and uncertain:
            measure(uv, work, w, given)
    return t, positives


@kernel
def fold(uv, work, w):
    """Fold the settings that must be: see `weights.fold`."""
    count = work.folds.size
    for m in range(count):
        if work.folds[m]:
            for j in range(uv.shape[0]):
                uv[j, count + m] -= work.weight[m] * uv[j, m]
                uv[j, m] *= w.scale[m]
            w.scale[m], w.weight[m] = 1.0, work.after[m]
            work.ab[m], work.ab[count + m] = work.step[m], 0.0


@kernel
def measure(uv, work, w, given):
    """Compute |w|^2 of uncertain settings exactly, and project them."""
    for m in range(work.folds.size):
        if work.is_uncertain[m]:
            size = 0.0
            for j in range(uv.shape[0]):
                size += uv[j, m] * uv[j, m]
            scale = w.scale[m]
            shrink, w.size[m] = into_ball(scale * scale * size, pick(given, m).radius)
            w.scale[m] *= shrink
            w.weight[m] += work.after[m] * (w.scale[m] - scale)


def keep_exact(is_due: bool, fixed: Any, w: Any, F: Any, uv: Any) -> None:
    """Compute the fixed products anew: of all settings when it is due, else of those that have faded."""
    raise NotImplementedError


def move_fixed(fixed: Any, changes: Any, work: Any) -> None:
    """Move the fixed products as w moves along x, whose own are `changes`."""
    raise NotImplementedError


@overload(keep_exact)
def _keep_exact(is_due, fixed, w, F, uv):
    if not len(fixed):
        return lambda is_due, fixed, w, F, uv: None

    def implementation(is_due, fixed, w, F, uv):
        for m in range(w.scale.size):
            current = 0.0
            for c in range(len(fixed)):
                current += abs(fixed[c][m])
            if is_due or w.peak[m] > FADED * (1.0 + current):
                current = 0.0
                for c in range(len(fixed)):
                    total = 0.0
                    for j in range(uv.shape[0]):
                        total += F[c, j] * uv[j, m]
                    fixed[c][m] = w.scale[m] * total
                    current += abs(fixed[c][m])
                w.peak[m] = current
            w.peak[m] = max(w.peak[m], current)

    return implementation


@overload(move_fixed)
def _move_fixed(fixed, changes, work):
    if not len(fixed):
        return lambda fixed, changes, work: None

    def implementation(fixed, changes, work):
        for c in range(len(fixed)):
            _move_one(fixed[c], changes[c], work.factor, work.step)

    return implementation


@fast_kernel
def _move_one(products, change, factor, step):
    for m in range(products.size):
        products[m] = factor[m] * products[m] + step[m] * change


def multiply(X: Any, i: int, uv: Any, product: Any) -> None:
    """Set product to u.x_i of every setting."""
    raise NotImplementedError


def add(X: Any, i: int, uv: Any, ab: Any, sums: bool) -> None:
    """Add a x_i to u and, where there are sums, b x_i to v of every setting."""
    raise NotImplementedError


# Four entries of a row at a time, so that the products of the settings are loaded and stored once for four.


@_for_dense_rows(multiply)
def _multiply_dense(X, i, uv, product):
    product[:] = 0.0
    d = X.shape[1]
    whole = d - d % 4
    for j in range(0, whole, 4):
        x0, x1 = np.float64(X[i, j]), np.float64(X[i, j + 1])
        x2, x3 = np.float64(X[i, j + 2]), np.float64(X[i, j + 3])
        for m in range(product.size):
            product[m] += x0 * uv[j, m] + x1 * uv[j + 1, m] + x2 * uv[j + 2, m] + x3 * uv[j + 3, m]
    for j in range(whole, d):
        x = np.float64(X[i, j])
        for m in range(product.size):
            product[m] += x * uv[j, m]


@_for_csr_rows(multiply, {"fastmath": {"contract"}, "error_model": "numpy"})
def _multiply_csr(X, i, uv, product):
    product[:] = 0.0
    start, stop = extent(X, i)
    start, stop = np.intp(start), np.intp(stop)
    whole = stop - (stop - start) % 4
    for p in range(start, whole, 4):
        x0, x1 = np.float64(X.data[p]), np.float64(X.data[p + 1])
        x2, x3 = np.float64(X.data[p + 2]), np.float64(X.data[p + 3])
        j0, j1, j2, j3 = X.indices[p], X.indices[p + 1], X.indices[p + 2], X.indices[p + 3]
        for m in range(product.size):
            product[m] += x0 * uv[j0, m] + x1 * uv[j1, m] + x2 * uv[j2, m] + x3 * uv[j3, m]
    for p in range(whole, stop):
        x, j = np.float64(X.data[p]), X.indices[p]
        for m in range(product.size):
            product[m] += x * uv[j, m]


@_for_dense_rows(add)
def _add_dense(X, i, uv, ab, sums):
    count = ab.size if sums else ab.size // 2
    for j in range(X.shape[1]):
        x = np.float64(X[i, j])
        for m in range(count):
            uv[j, m] += ab[m] * x


@_for_csr_rows(add, {"fastmath": {"contract"}, "error_model": "numpy"})
def _add_csr(X, i, uv, ab, sums):
    count = ab.size if sums else ab.size // 2
    start, stop = extent(X, i)
    for p in range(start, stop):
        x, j = np.float64(X.data[p]), X.indices[p]
        for m in range(count):
            uv[j, m] += ab[m] * x


def pick(numbers: Any, m: int) -> Any:
    """The numbers of one setting from a tuple of arrays; flags, which all settings share, stay."""
    raise NotImplementedError


def put(numbers: Any, m: int, new: Any) -> None:
    """Set the numbers of one setting in a tuple of arrays."""
    raise NotImplementedError


@overload(pick)
def _pick(numbers, m):
    parts = [
        f"numbers[{c}][m]" if isinstance(kind, types.Array) else f"numbers[{c}]"
        for c, kind in enumerate(numbers.types)
    ]
    if isinstance(numbers, types.BaseNamedTuple):
        return written_out("numbers, m", f"made({', '.join(parts)})", made=numbers.instance_class)
    return written_out("numbers, m", "(" + "".join(f"{part}, " for part in parts) + ")")


@overload(put)
def _put(numbers, m, new):
    text = "".join(f"    numbers[{c}][m] = new[{c}]\n" for c in range(len(numbers)))
    scope: dict[str, Any] = {}
    exec(f"def implementation(numbers, m, new):\n{text}    return None", scope)
    return scope["implementation"]
