"""Many settings of a rule in lockstep: each row is read once, and operations are vectors over settings.

A block has LANES settings, a constant of the compiled loop. Their weights lie as (d, 2 LANES), row j with
u_j of all settings before their v_j, and all their other numbers as rows of LANES in one array, so that the
compiler knows where everything is and makes vector instructions of the loops over settings. A step is that of
`rule_loops.advance`; what happens rarely (folding, exact norms) is done for one setting after the other.
"""

from typing import Any

import numpy as np

from aucbench.kernels import pairs, rows, weights
from aucbench.kernels.jit import kernel
from aucbench.kernels.lane_numbers import (
    AFTER,
    FOLDS,
    PRODUCT,
    SCALE,
    SIZE,
    STEP,
    SUM,
    TOTAL,
    UNCERTAIN,
    WEIGHT,
    A,
    B,
    at,
    keep_exact,
    move_fixed,
    pick_fixed,
    pick_given,
    pick_own,
    put_own,
)  # fmt: skip
from aucbench.kernels.lazy_folds import catch_up, catch_up_all, fold
from aucbench.kernels.rows import _for_csr_rows, _for_dense_rows, extent
from aucbench.kernels.rule_loops import CANCELLED, moved, row_of
from aucbench.kernels.rules import NOT_COMPUTED, Row

RULE: Any = None
ADVANCE: Any = None
BALL = SQUARE = True
LANES = 32


def advance(positive, t, positives, square, is_due, numbers, own, given, fixed, changes, loss):
    """Apply the rule to every setting; the numbers after the step, and what is added along x.

    Returns how many settings must be folded, are uncertain, have a sum, and have faded products.
    """
    folds = uncertain = sums = faded = 0
    for m in range(LANES):
        scale = numbers[at(SCALE, m, LANES)]
        s = scale * numbers[at(PRODUCT, m, LANES)]
        size = numbers[at(SIZE, m, LANES)]
        known = size if BALL else np.nan
        products = pick_fixed(numbers, own, given, fixed, m, LANES)
        row = Row(t, positive, positives, s, square, known, products, loss, 1.0)
        parameters = pick_given(numbers, own, given, m, LANES)
        move, after = RULE(row, pick_own(numbers, own, m, LANES), parameters)
        put_own(numbers, own, m, LANES, after)
        step, factor = move.step, move.keep
        weight = numbers[at(WEIGHT, m, LANES)] + move.before * scale
        starts = False
        if BALL:
            starts = (size == 0.0) & (step != 0.0)
            terms = factor * factor * size + step * step * square
            size = terms + 2.0 * factor * step * s
            is_uncertain = is_due | ((terms > 0.0) & (size <= CANCELLED * terms))
            uncertain += is_uncertain
            numbers[at(UNCERTAIN, m, LANES)] = 1.0 if is_uncertain else 0.0
            shrink, numbers[at(SIZE, m, LANES)] = weights.into_ball(size, parameters.radius)
            factor *= shrink
            step *= shrink
        faded += move_fixed(numbers, own, given, fixed, m, LANES, factor, step, changes)
        scale *= factor
        must_fold = starts | weights.is_out_of_range(scale, weight)
        folds += must_fold
        sums += weight != 0.0
        a = step / scale
        numbers[at(FOLDS, m, LANES)] = 1.0 if must_fold else 0.0
        numbers[at(A, m, LANES)] = a
        numbers[at(B, m, LANES)] = weight * a
        numbers[at(STEP, m, LANES)] = step
        numbers[at(AFTER, m, LANES)] = move.after
        numbers[at(SUM, m, LANES)] = weight
        numbers[at(SCALE, m, LANES)] = scale
        numbers[at(WEIGHT, m, LANES)] = weight + move.after * scale
        numbers[at(TOTAL, m, LANES)] += move.before + move.after
    return folds, uncertain, sums, faded


def over_rows(X, y, order, refresh, uv, numbers, counts, own, given, fixed, F, products, loss, lazy):
    """Steps of all settings along the rows `order` (k,)."""
    t, positives = counts
    faded = 1  # perhaps: the numbers come from another batch
    for k in range(order.size):
        i = rows.visit(X, order, k)
        rows.visit(y, order, k)
        if len(fixed) > 0:
            rows.visit(products, order, k)
        t += 1
        positives += y[i] > 0
        catch_up(X, i, uv, lazy)
        multiply(X, i, uv, numbers)
        square = rows.norm(X, i) if SQUARE else NOT_COMPUTED
        is_due = t % refresh == 0
        if len(fixed) > 0 and (is_due or faded > 0):
            catch_up_all(uv, lazy)
            keep_exact(is_due, numbers, own, given, fixed, F, uv, LANES)
        changes = row_of(products, i, fixed)
        if y[i] > 0:  # outside of the loop over settings
            folds, uncertain, sums, faded = ADVANCE(
                True, t, positives, square, is_due, numbers, own, given, fixed, changes, loss
            )  # fmt: skip
        else:
            folds, uncertain, sums, faded = ADVANCE(
                False, t, positives, square, is_due, numbers, own, given, fixed, changes, loss
            )  # fmt: skip
        if folds > 0:
            fold(uv, numbers, lazy, LANES)
            catch_up(X, i, uv, lazy)
        add(X, i, uv, numbers, sums > 0)
        if BALL and uncertain > 0:
            catch_up_all(uv, lazy)
            measure(uv, numbers, own, given, LANES)
    return t, positives


def over_pairs(X, y, order, refresh, uv, numbers, counts, own, given, fixed, F, products, loss, lazy):
    """Steps of all settings along the differences of the pairs `order` (k, 2) of rows."""
    t, positives = counts
    faded = 1  # perhaps: the numbers come from another batch
    Z = pairs.room(X, order)
    for k in range(order.shape[0]):
        t += 1
        i, j = pairs.visit(X, order, k)
        pairs.subtract(X, i, j, Z)
        catch_up(Z, 0, uv, lazy)
        multiply(Z, 0, uv, numbers)
        square = rows.norm(Z, 0) if SQUARE else NOT_COMPUTED
        is_due = t % refresh == 0
        if len(fixed) > 0 and (is_due or faded > 0):
            catch_up_all(uv, lazy)
            keep_exact(is_due, numbers, own, given, fixed, F, uv, LANES)
        changes = moved(row_of(products, i, fixed), 1.0, -1.0, row_of(products, j, fixed))
        folds, uncertain, sums, faded = ADVANCE(
            True, t, t, square, is_due, numbers, own, given, fixed, changes, loss
        )  # fmt: skip
        if folds > 0:
            fold(uv, numbers, lazy, LANES)
            catch_up(Z, 0, uv, lazy)
        add(Z, 0, uv, numbers, sums > 0)
        if BALL and uncertain > 0:
            catch_up_all(uv, lazy)
            measure(uv, numbers, own, given, LANES)
    return t, positives


@kernel
def measure(uv, numbers, own, given, lanes):
    """Compute |w|^2 of uncertain settings exactly, and project them."""
    for m in range(lanes):
        if numbers[UNCERTAIN * lanes + m] > 0.0:
            size, scale = 0.0, numbers[SCALE * lanes + m]
            for j in range(uv.shape[0]):
                size += uv[j, m] * uv[j, m]
            radius = pick_given(numbers, own, given, m, lanes).radius
            shrink, numbers[SIZE * lanes + m] = weights.into_ball(scale * scale * size, radius)
            numbers[SCALE * lanes + m] = scale * shrink
            numbers[WEIGHT * lanes + m] += numbers[AFTER * lanes + m] * scale * (shrink - 1.0)


def multiply(X: Any, i: int, uv: Any, numbers: Any) -> None:
    """Set the products u.x_i of every setting."""
    raise NotImplementedError


def add(X: Any, i: int, uv: Any, numbers: Any, sums: bool) -> None:
    """Add a x_i to u and, where there are sums, b x_i to v of every setting."""
    raise NotImplementedError


# Four entries of a row at a time, so that the products of the settings are loaded and stored once for four.
# The number of settings is not the constant LANES here: short loops of constant length are not made vectors.


@_for_dense_rows(multiply)
def _multiply_dense(X, i, uv, numbers):
    lanes, d = uv.shape[1] // 2, X.shape[1]
    product = numbers[PRODUCT * lanes : (PRODUCT + 1) * lanes]
    product[:] = 0.0
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
def _multiply_csr(X, i, uv, numbers):
    lanes = uv.shape[1] // 2
    product = numbers[PRODUCT * lanes : (PRODUCT + 1) * lanes]
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
def _add_dense(X, i, uv, numbers, sums):
    lanes = uv.shape[1] // 2
    ab = numbers[A * lanes : (B + 1 if sums else B) * lanes]
    for j in range(X.shape[1]):
        x = np.float64(X[i, j])
        for m in range(ab.size):
            uv[j, m] += ab[m] * x


@_for_csr_rows(add, {"fastmath": {"contract"}, "error_model": "numpy"})
def _add_csr(X, i, uv, numbers, sums):
    lanes = uv.shape[1] // 2
    ab = numbers[A * lanes : (B + 1 if sums else B) * lanes]
    start, stop = extent(X, i)
    for p in range(start, stop):
        x, j = np.float64(X.data[p]), X.indices[p]
        for m in range(ab.size):
            uv[j, m] += ab[m] * x
