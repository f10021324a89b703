"""The loops of a rule over rows and pairs: templates that are copied for each rule.

In the copy RULE is the rule, BALL whether it projects on the l2 ball, STEP a copy of `step`, FIRST a copy of
`first` or `no_products`, and ADVANCE a copy of one of the `advance` functions below or, for many settings, of
`lockstep.advance` (see `Rule.loop`); the values below are never used.
"""

from typing import Any, NamedTuple

import numpy as np

from aucbench.kernels import pairs, rows, thresholded, vectors, weights
from aucbench.kernels.jit import overloaded, rarely, scalar
from aucbench.kernels.rules import Row

RULE: Any = None
STEP: Any = None
FIRST: Any = None
ADVANCE: Any = None
BALL = True

CANCELLED = 1e-4  # compute |w|^2 exactly when |w|^2 is a smaller share of its terms
FADED = 1e3  # recompute the fixed products when they have shrunk by this factor


class Scaled(NamedTuple):
    """The scalars of the weights w = scale u and of the sum of the averaged w, weight u - v."""

    scale: float = 1.0
    inverse: float = 1.0  # 1 / scale; stored, since division is slow
    weight: float = 0.0  # factor of u in the sum; grows instead of v
    total: float = 0.0  # sum of the weights in the average
    size: float = 0.0  # |w|^2, updated for the l2 ball only; a bound on |w|_1 for the l1 ball
    peak: float = 0.0  # largest sum of |w.f| over the fixed vectors f since their exact computation


class Update(NamedTuple):
    """The change of u and v in a step: u += a x and v += weight a x, or folding and then u += folded x."""

    a: float
    folded: float
    must_fold: bool
    is_uncertain: bool  # |w|^2 must be recomputed exactly
    after: float  # weight of the new w in the average, to be added


def step(
    t, positive, positives, product, square, row_weight, is_due, w, fixed, changes, scalars, params, loss
):
    """Apply the rule to the scalars of one setting, `product` being u.x.

    `fixed` are the products of the fixed vectors with w, `changes` their products with x.
    """
    scale, inverse, weight, total, size, peak = w
    w_square = size if BALL else np.nan
    row = Row(t, positive, positives, scale * product, square, w_square, fixed, loss, row_weight)
    move, scalars = RULE(row, scalars, params)
    step, keep, shrink = move.step, move.keep, 1.0
    weight += move.before * scale
    is_uncertain = starts = False
    if BALL:
        starts = (size == 0.0) & (step != 0.0)  # w is still 0: fold now, or v keeps a residue
        terms = keep * keep * size + step * step * square
        size = terms + 2.0 * keep * step * row.s
        is_uncertain = is_due | ((terms > 0.0) & (size <= CANCELLED * terms))
        shrink, size = weights.into_ball(size, params.radius)
    if len(fixed) > 0:
        fixed = moved(fixed, keep * shrink, step * shrink, changes)
        peak = max(peak, magnitude(fixed))
    if rarely(keep != 1.0):
        scale *= keep
        inverse = 1.0 / scale
    a = step * inverse  # does not wait for the projection, which changes only the scale
    if rarely(shrink != 1.0):
        scale *= shrink
        inverse = 1.0 / scale
    must_fold = starts | weights.is_out_of_range(scale, weight)
    update = Update(a, step * shrink, must_fold, is_uncertain, move.after)
    return (
        update,
        Scaled(scale, inverse, weight, total + move.before + move.after, size, peak),
        fixed,
        scalars,
    )


def first(X, i, uv):
    """The products of row i that `advance` takes: u.x and |x|^2."""
    return rows.dot_norm(X, i, uv[0])


def no_products(X, i, uv):
    """No products."""
    return 0.0, 0.0


def advance(
    X, i, j, dots, row_weight, t, positive, n_pos, refresh, uv, w, fixed, changes, F, scalars, params, loss
):
    """Take step t of the rule along row i of X, whose products are `dots`, and return the products of row j.

    |w|^2 and `fixed` are updated by differences, and recomputed exactly every `refresh` steps, a power of 2.
    """
    u, v = uv[0], uv[1]
    is_due = t & (refresh - 1) == 0
    if len(fixed) > 0 and (is_due or has_faded(w, fixed)):
        w, fixed = recompute(w, fixed, F, u)
    update, w, fixed, scalars = STEP(
        t, positive, n_pos, dots[0], dots[1], row_weight, is_due, w, fixed, changes, scalars, params, loss
    )  # fmt: skip
    scale, inverse, weight, total, size, peak = w
    a = update.a
    if rarely(update.must_fold):  # before the step, which may be far larger than the remaining w
        weights.fold(u, scale, v, weight)
        a, scale, inverse, weight = update.folded, 1.0, 1.0, 0.0
    if weight == 0.0:
        dots = rows.axpy_dot_norm(a, X, i, u, j)
    else:
        dots = rows.axpy2_dot_norm(a, X, i, u, weight * a, v, j)
    if BALL and update.is_uncertain:
        shrink, size = weights.into_ball(scale * scale * vectors.square(u), params.radius)
        scale *= shrink
        inverse = 1.0 / scale
    return dots, Scaled(scale, inverse, weight + update.after * scale, total, size, peak), fixed, scalars


@scalar
def has_faded(w, fixed):
    """Whether the products have shrunk so much that rounding errors of the peak matter."""
    return w.peak > FADED * (1.0 + magnitude(fixed))


@scalar
def recompute(w, fixed, F, u):
    """Recompute the scalars and the products of w = scale u with the rows of F."""
    fixed = exact(fixed, w.scale, F, u)
    return Scaled(w.scale, w.inverse, w.weight, w.total, w.size, magnitude(fixed)), fixed


def advance_l1(
    X, i, j, dots, row_weight, t, positive, n_pos, refresh, uv, w, fixed, changes, F, scalars, params, loss
):
    """Take a step with the l1 ball on w = u; an active projection changes every weight."""
    u, v = uv[0], uv[1]
    weight, total, bound = w.weight, w.total, w.size
    s, square, absolute = rows.dot_norms(X, i, u)
    move, scalars = RULE(Row(t, positive, n_pos, s, square, np.nan, fixed, loss, row_weight), scalars, params)
    weight += move.before
    if bound == 0.0 and move.step != 0.0:
        weight = 0.0  # the sum is still zero: weight u - v would leave a residue
    bound = move.keep * bound + abs(move.step) * absolute  # bound on |w|_1
    if bound <= params.radius and move.keep == 1.0:
        rows.axpy2(move.step, X, i, u, weight * move.step, v)
    else:
        weights.fold(u, move.keep, v, weight)
        weight = 0.0
        rows.axpy(move.step, X, i, u)
        bound = vectors.project_l1(u, params.radius)
    w = Scaled(1.0, 1.0, weight + move.after, total + move.before + move.after, bound, 0.0)
    return dots, w, fixed, scalars


def advance_lazy_l1(
    X, i, j, dots, row_weight, t, positive, n_pos, refresh, vector, w, fixed, changes, F, scalars,
    params, loss,
):  # fmt: skip
    """Take a step with the l1 ball on sparse rows: w is a thresholded vector."""
    s = thresholded.score(X, i, vector)
    square = rows.norm(X, i)
    move, scalars = RULE(Row(t, positive, n_pos, s, square, np.nan, fixed, loss, row_weight), scalars, params)
    thresholded.accumulate(vector, move.before)
    if move.keep != 1.0:
        thresholded.shrink(vector, 0.0, move.keep)
        thresholded.fold(vector)  # the projection requires scale 1
    if move.step != 0.0:
        thresholded.step(move.step, X, i, vector)
    thresholded.project(vector, params.radius)  # always, since the first point may lie outside
    thresholded.accumulate(vector, move.after)
    return dots, Scaled(1.0, 1.0, 0.0, w.total + move.before + move.after, 0.0, 0.0), fixed, scalars


def over_rows(X, y, order, row_weights, refresh, uv, w, counts, fixed, F, products, scalars, params, loss):
    """Steps along the rows `order` (k,); `products` (n, c) are the products of all rows with F.

    `row_weights` (n,) are the weights of all rows; for None the loop is compiled without weights.
    """
    t, positives = counts
    dots = FIRST(X, order[0], uv)
    for k in range(order.size):
        i = rows.visit(X, order, k)
        rows.visit(y, order, k)
        if len(fixed) > 0:
            rows.visit(products, order, k)
        t += 1
        positive = y[i] > 0
        positives += positive
        changes = row_of(products, i, fixed)
        row_weight = 1.0 if row_weights is None else row_weights[i]
        j = order[k + 1] if k + 1 < order.size else -1
        dots, w, fixed, scalars = ADVANCE(
            X, i, j, dots, row_weight, t, positive, positives, refresh, uv, w, fixed, changes, F, scalars,
            params, loss,
        )  # fmt: skip
    return w, (t, positives), fixed, scalars


def over_pairs(X, y, order, row_weights, refresh, uv, w, counts, fixed, F, products, scalars, params, loss):
    """Steps along the differences of the pairs `order` (k, 2) of rows."""
    t, positives = counts
    Z, dots, last = pairs.room(X, order), (0.0, 0.0), order.shape[0] - 1
    if rows.are_dense(X) and last >= 0:
        pairs.subtract(X, order[0, 0], order[0, 1], Z)
        dots = FIRST(Z, 0, uv)
    for k in range(order.shape[0]):
        t += 1
        i, j = pairs.visit(X, order, k)
        if rows.are_dense(X):
            row, next_row = k & 1, 1 - (k & 1)
            pairs.subtract(X, order[min(k + 1, last), 0], order[min(k + 1, last), 1], Z, next_row)
        else:
            row, next_row = 0, -1
            pairs.subtract(X, i, j, Z)
            dots = FIRST(Z, 0, uv)
        changes = moved(row_of(products, i, fixed), 1.0, -1.0, row_of(products, j, fixed))
        dots, w, fixed, scalars = ADVANCE(
            Z, row, next_row, dots, 1.0, t, True, t, refresh, uv, w, fixed, changes, F, scalars, params, loss
        )  # fmt: skip
    return w, (t, positives), fixed, scalars


# Operations on the tuples of numbers of a rule, and on tuples of arrays with one number for each setting.
# They are written out for each tuple type, since loops over tuples are not compiled.


def written_out(arguments: str, result: str, *lines: str, **names: Any) -> Any:
    """Make a function from the text of its arguments, its lines and its returned expression."""
    scope: dict[str, Any] = dict(names)
    exec("\n    ".join([f"def implementation({arguments}):", *lines, f"return {result}"]), scope)
    return scope["implementation"]


def _tuple_text(count: int, expression: str) -> str:
    return "(" + "".join(expression.format(c=c) + ", " for c in range(count)) + ")"


@overloaded()
def magnitude(fixed: Any) -> Any:
    """The sum of the absolute numbers of a tuple."""
    return written_out("fixed", " + ".join(["0.0", *(f"abs(fixed[{c}])" for c in range(len(fixed)))]))


@overloaded()
def exact(fixed: Any, scale: float, F: Any, u: Any) -> Any:
    """The products of w = scale u with the rows of F."""
    result = _tuple_text(len(fixed), "scale * dot(F[{c}], u)")
    return written_out("fixed, scale, F, u", result, dot=vectors.dot)


@overloaded()
def moved(fixed: Any, factor: float, step: float, changes: Any) -> Any:
    """The products after w <- factor w + step x; `changes` are the products with x."""
    result = _tuple_text(len(fixed), "factor * fixed[{c}] + step * changes[{c}]")
    return written_out("fixed, factor, step, changes", result)


@overloaded()
def row_of(products: Any, i: int, fixed: Any) -> Any:
    """Row i of an array as a tuple of the length of `fixed`."""
    return written_out("products, i, fixed", _tuple_text(len(fixed), "products[i, {c}]"))
