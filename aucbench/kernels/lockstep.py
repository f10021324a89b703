"""Many settings of a rule in lockstep: each row is read once, and operations are vectors over settings.

A block has LANES settings, a constant of the compiled loop. Weights are stored as (d, 2 LANES): row j holds
u_j of all settings, then v_j. All other numbers are rows of LANES in one array, so that the compiler knows
their positions and vectorises the loops over settings. The first rows are the fields of `rule_loops.Scaled`;
the last rows are the state and parameters of the method and the products with the fixed vectors. The step of
a setting is `rule_loops.step`; rare work (folding, exact norms) is done one setting at a time.
"""

from typing import Any, NamedTuple

import numpy as np

from aucbench.kernels import rows, vectors, weights
from aucbench.kernels.jit import fast_helper, fast_kernel, helper, overloaded, scalar
from aucbench.kernels.rows import CSR, entry, extent, for_csr_rows, for_dense_rows, for_rows
from aucbench.kernels.rule_loops import Scaled, has_faded, recompute, written_out
from aucbench.kernels.weights import _less

STEP: Any = None
STEP_ALL: Any = None
BALL = True
LANES = 32

CONTRACTED: Any = CSR | {"fastmath": {"contract"}}

# The rows of numbers after those of `Scaled`.
START = Scaled()
PRODUCT, A, B = 6, 7, 8  # u.x, and the coefficients of x added to u and v
FOLDS, FOLD_SCALE, FOLD_WEIGHT = 9, 10, 11  # flag to fold (1 or 0), scale and weight of the folding
UNCERTAIN, AFTER = 12, 13  # fields of `rule_loops.Update`
STATE = 14  # first row of the method's numbers

MOST_FOLDS = 512  # most pending foldings of a column; a new folding updates all pending foldings
NEGLIGIBLE = 1e-150  # a smaller remaining share of a weight counts as zero


class LazyFolds(NamedTuple):
    """The pending foldings of columns."""

    seen: Any  # (d,) foldings applied to a column; (0,) if all columns fold at once
    count: Any  # (1,) foldings so far
    keep: Any  # (MOST_FOLDS, lanes) factor of u, by the number of applied foldings
    lost: Any  # (MOST_FOLDS, lanes) multiple of u to subtract from v


class Block(NamedTuple):
    """The arrays of the settings of a block."""

    uv: np.ndarray  # (d, 2 lanes)
    numbers: np.ndarray  # (rows lanes,)
    folds: LazyFolds


def advance(
    X, i, j, dots, row_weight, t, positive, n_pos, refresh, block, faded, fixed, changes, F, scalars,
    params, loss,
):  # fmt: skip
    """Take step t of the rule along row i of X with every setting.

    `scalars`, `params` and `fixed` provide the types and flags shared by all settings. Returns, instead of
    scalars, the number of settings whose products with the fixed vectors must be recomputed.
    """
    uv, numbers, lazy = block
    catch_up(X, i, uv, lazy)
    multiply(X, i, uv, numbers)
    square = rows.norm(X, i)
    is_due = t & (refresh - 1) == 0
    if len(fixed) > 0 and (is_due or faded > 0):
        catch_up_all(uv, lazy)
        for m in range(LANES):
            w = pick(numbers, START, 0, m, LANES)
            products = pick(numbers, fixed, STATE + len(scalars) + len(params), m, LANES)
            if is_due or has_faded(w, products):
                w, products = recompute(w, products, F, uv[:, m])
                put(numbers, START, 0, m, LANES, w)
                put(numbers, fixed, STATE + len(scalars) + len(params), m, LANES, products)
    if positive:  # branch outside the loop over settings
        folds, uncertain, sums, faded = STEP_ALL(
            t, True, n_pos, square, row_weight, is_due, numbers, fixed, changes, scalars, params, loss
        )  # fmt: skip
    else:
        folds, uncertain, sums, faded = STEP_ALL(
            t, False, n_pos, square, row_weight, is_due, numbers, fixed, changes, scalars, params, loss
        )  # fmt: skip
    if folds > 0:
        fold(uv, numbers[FOLDS * LANES : UNCERTAIN * LANES], lazy)
        catch_up(X, i, uv, lazy)
    add(X, i, uv, numbers, sums > 0)
    if BALL and uncertain > 0:
        catch_up_all(uv, lazy)
        for m in range(LANES):
            if numbers[at(UNCERTAIN, m, LANES)] > 0.0:
                w = pick(numbers, START, 0, m, LANES)
                radius = pick(numbers, params, STATE + len(scalars), m, LANES).radius
                shrink, size = weights.into_ball(w.scale * w.scale * vectors.square(uv[:, m]), radius)
                scale = w.scale * shrink
                weight = w.weight + numbers[at(AFTER, m, LANES)] * (scale - w.scale)
                w = Scaled(scale, 1.0 / scale, weight, w.total, size, w.peak)
                put(numbers, START, 0, m, LANES, w)
    return dots, faded, fixed, scalars


def step_all(
    t, positive, positives, square, row_weight, is_due, numbers, fixed, changes, scalars, params, loss
):
    """Apply the rule to every setting.

    Returns the numbers of settings that must fold, are uncertain, have a sum, and have faded products.
    """
    folds = uncertain = sums = faded = 0
    first = STATE + len(scalars)
    last = first + len(params)
    for m in range(LANES):
        update, w, products, new = STEP(
            t, positive, positives, numbers[at(PRODUCT, m, LANES)], square, row_weight, is_due,
            pick(numbers, START, 0, m, LANES), pick(numbers, fixed, last, m, LANES), changes,
            pick(numbers, scalars, STATE, m, LANES), pick(numbers, params, first, m, LANES), loss,
        )  # fmt: skip
        numbers[at(FOLDS, m, LANES)] = 1.0 if update.must_fold else 0.0
        numbers[at(FOLD_SCALE, m, LANES)] = w.scale
        numbers[at(FOLD_WEIGHT, m, LANES)] = w.weight
        a = update.folded if update.must_fold else update.a
        scale = 1.0 if update.must_fold else w.scale
        inverse = 1.0 if update.must_fold else w.inverse
        weight = 0.0 if update.must_fold else w.weight
        w = Scaled(scale, inverse, weight + update.after * scale, w.total, w.size, w.peak)
        put(numbers, START, 0, m, LANES, w)
        put(numbers, scalars, STATE, m, LANES, new)
        put(numbers, fixed, last, m, LANES, products)
        numbers[at(A, m, LANES)] = a
        numbers[at(B, m, LANES)] = weight * a
        numbers[at(UNCERTAIN, m, LANES)] = 1.0 if update.is_uncertain else 0.0
        numbers[at(AFTER, m, LANES)] = update.after
        folds += update.must_fold
        uncertain += update.is_uncertain
        sums += weight != 0.0
        faded += has_faded(w, products)
    return folds, uncertain, sums, faded


@scalar
def at(row, m, lanes):
    """Index of a number of setting m; unsigned, so that indexing needs no check for negative values."""
    return np.uintp(row * lanes + m)


# Loops over tuples are not compiled: both functions are written out for each tuple type.


@overloaded()
def pick(numbers: Any, example: Any, first: int, m: int, lanes: int) -> Any:
    """The tuple of setting m stored in the rows from `first` on, with the flags of the example."""
    parts = []
    for c, kind in enumerate(map(str, example.types)):
        value = f"numbers[np.uintp((first + {c}) * lanes + m)]"
        parts.append(f"example[{c}]" if kind == "bool" else f"np.int64({value})" if "int" in kind else value)
    cls = getattr(example, "instance_class", None)
    result = f"({''.join(f'{part}, ' for part in parts)})"
    return written_out(
        "numbers, example, first, m, lanes", f"made(*{result})" if cls else result, made=cls, np=np
    )


@overloaded()
def put(numbers: Any, example: Any, first: int, m: int, lanes: int, new: Any) -> Any:
    """Store the tuple of setting m in the rows from `first` on."""
    if new != example:  # the float array would hide a changed type
        # The same message as from the loop for one setting.
        raise TypeError(f"Cannot unify {example} and {new} for 'scalars'")
    stores = [f"numbers[np.uintp((first + {c}) * lanes + m)] = new[{c}]" for c in range(len(example))]
    return written_out("numbers, example, first, m, lanes, new", "None", *stores, np=np)


# These functions do not use the constant LANES: short loops of constant length are not vectorised.


@for_rows(CONTRACTED)
def multiply(X: Any, i: int, uv: Any, numbers: Any) -> None:
    """Set the products u.x_i of every setting.

    Four entries of a row are handled at a time, so that products are loaded and stored once for four entries.
    """
    lanes = uv.shape[1] // 2
    product = numbers[PRODUCT * lanes : (PRODUCT + 1) * lanes]
    product[:] = 0.0
    start, stop = extent(X, i)
    start, stop = np.intp(start), np.intp(stop)
    main_stop = stop - (stop - start) % 4
    for p in range(start, main_stop, 4):
        (j0, x0), (j1, x1) = entry(X, i, p), entry(X, i, p + 1)
        (j2, x2), (j3, x3) = entry(X, i, p + 2), entry(X, i, p + 3)
        for m in range(product.size):
            product[m] += x0 * uv[j0, m] + x1 * uv[j1, m] + x2 * uv[j2, m] + x3 * uv[j3, m]
    for p in range(main_stop, stop):
        j, x = entry(X, i, p)
        for m in range(product.size):
            product[m] += x * uv[j, m]


@for_rows(CONTRACTED)
def add(X: Any, i: int, uv: Any, numbers: Any, sums: bool) -> None:
    """Add a x_i to u and, if `sums`, b x_i to v of every setting."""
    lanes = uv.shape[1] // 2
    ab = numbers[A * lanes : (B + 1 if sums else B) * lanes]
    start, stop = extent(X, i)
    for p in range(start, stop):
        j, x = entry(X, i, p)
        for m in range(ab.size):
            uv[j, m] += ab[m] * x


# Columns fold all at once, or lazily one by one. On wide sparse rows a short step after a long one may shrink
# the weights so much that every step must fold. A lazy column combines all foldings since its last use.


def no_folds(d: int, lanes: int, is_lazy: bool) -> LazyFolds:
    """No foldings so far; columns fold lazily, or all at once."""
    count = MOST_FOLDS if is_lazy else 0
    keep, lost = np.zeros((2, count, lanes))
    return LazyFolds(np.zeros(d if is_lazy else 0, np.int64), np.zeros(1, np.int64), keep, lost)


@helper
def fold(uv, numbers, lazy):
    """Fold as `weights.fold`; `numbers` (3 lanes,) hold a flag to fold, scale and weight per setting."""
    must_fold, scales, sums = numbers.reshape((3, uv.shape[1] // 2))
    if lazy.seen.size > 0:
        _defer(uv, must_fold, scales, sums, lazy)
        return
    for m in range(must_fold.size):
        if must_fold[m] > 0.0:
            weights.fold(uv[:, m], scales[m], uv[:, must_fold.size + m], sums[m])


@fast_helper
def _defer(uv, must_fold, scales, sums, lazy):
    """Add a folding to the pending foldings."""
    if lazy.count[0] == MOST_FOLDS:
        catch_up_all(uv, lazy)
    last = lazy.count[0]
    lazy.keep[last], lazy.lost[last] = 1.0, 0.0
    for before in range(last + 1):
        for m in range(must_fold.size):
            folds, keep = must_fold[m] > 0.0, lazy.keep[before, m]
            lazy.lost[before, m] += sums[m] * keep if folds else 0.0
            keep *= scales[m] if folds else 1.0
            lazy.keep[before, m] = 0.0 if abs(keep) < NEGLIGIBLE else keep
    lazy.count[0] = last + 1


@fast_kernel
def catch_up_all(uv, lazy):
    """Fold all columns with pending foldings."""
    if lazy.count[0] > 0:
        for j in range(uv.shape[0]):
            _fold_column(uv, j, lazy)
        lazy.seen[:] = lazy.count[0] = 0


@fast_helper
def _fold_column(uv, j, lazy):
    before, lanes = lazy.seen[j], lazy.keep.shape[1]
    if before < lazy.count[0]:
        for m in range(lanes):
            u = uv[j, m]
            uv[j, lanes + m] = -_less(lazy.lost[before, m] * u, uv[j, lanes + m])
            uv[j, m] = lazy.keep[before, m] * u
        lazy.seen[j] = lazy.count[0]


@for_dense_rows
def catch_up(X: Any, i: int, uv: Any, lazy: Any) -> None:
    """Fold the columns of x_i with pending foldings."""


@for_csr_rows(catch_up)
def _catch_up_csr(X, i, uv, lazy):
    if lazy.count[0] > 0:
        start, stop = extent(X, i)
        for p in range(start, stop):
            _fold_column(uv, X.indices[p], lazy)
