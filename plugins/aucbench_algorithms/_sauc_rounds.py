"""Weights of `sauc`: pulled to a centre for a round of steps, the mean of which is the next centre.

    w = scale u + (1 + lean) w0,  w0 = size W,  both sums of rows
    sum of the w of the round  = weight u - v + (steps + leans) w0
    sum of the w0 of all rounds = total W - V

so that a step costs the non-zeros of its row, and the end of a round the columns its rows have touched:
they are listed, unless all d columns are gone through (eager layout). u, v, W and V are the columns of
`cells`. Three products, |w - w0|^2, (w - w0).w0 and |w0|^2, give |w|^2 without cancellation.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from aucbench.kernels import kernel, rows
from aucbench.kernels.rows import CSR, is_dense
from aucbench.kernels.weights import LARGEST_SCALE, SMALLEST_SCALE

FADED = 1e-6  # |W|^2 is computed anew when it has become this share of its largest value

U, V, W, TOTAL_V = range(4)
SCALE, LEAN, WEIGHT, LEANS, SIZE, TOTAL, APART, MIXED, CENTRE, SQUARE, PEAK = range(11)


class Rounds(NamedTuple):
    """The arrays of such weights."""

    cells: np.ndarray  # (d, 4) u, v, W, V
    numbers: np.ndarray  # (11,) see the module; the last five are the products, |W|^2 and its peak
    touched: np.ndarray  # (d,) int32 columns touched in the round; (0,) in the eager layout
    marks: np.ndarray  # (d,) int32 the last round in which a column was touched; (0,) likewise
    counts: np.ndarray  # (3,) finished rounds, steps in this one, touched columns


def rounds(d: int, lazy: bool) -> Rounds:
    """Zero weights."""
    touched, marks = np.zeros((2, d if lazy else 0), np.int32)
    numbers = np.zeros(11)
    numbers[SCALE] = numbers[SIZE] = 1.0
    return Rounds(np.zeros((d, 4)), numbers, touched, marks, np.zeros(3, np.int64))


def mean(state: Rounds) -> np.ndarray:
    """(d,) mean of the centres that were counted; zero before the first round has ended."""
    cells, finished = state.cells, max(1, int(state.counts[0]))
    total: np.ndarray = state.numbers[TOTAL] * cells[:, W] - cells[:, TOTAL_V]
    return total / finished


@kernel
def scores(X, i, state):
    """The products of x_i with w - w0 and with w0, and |x_i|^2."""
    cells, numbers = state.cells, state.numbers
    product, square = rows.dot_norm(X, i, cells[:, U])
    centre = numbers[SIZE] * rows.dot(X, i, cells[:, W])
    return numbers[SCALE] * product + numbers[LEAN] * centre, centre, square


@kernel
def count(state):
    """Add w to the sum of the round."""
    numbers = state.numbers
    numbers[WEIGHT] += numbers[SCALE]
    numbers[LEANS] += numbers[LEAN]


@kernel
def move(X, i, state, keep, step, apart, centre, square, radius):
    """Set w to w0 + keep (w - w0) + step x_i, projected on |w| <= radius, given the `scores` of the row."""
    cells, numbers, touched, marks, counts = state
    numbers[APART] = keep * keep * numbers[APART] + step * (step * square + 2.0 * keep * apart)
    numbers[MIXED] = keep * numbers[MIXED] + step * centre
    size = numbers[APART] + 2.0 * numbers[MIXED] + numbers[CENTRE]
    shrink, lean = 1.0, keep * numbers[LEAN]
    if not size <= radius * radius:
        # an infinite |w| must not be scaled to zero: it would look like a finite model
        shrink = radius / np.sqrt(size) if size < np.inf else np.nan
        short = shrink - 1.0
        numbers[APART] = (
            shrink * shrink * numbers[APART]
            + short * (2.0 * shrink * numbers[MIXED] + short * numbers[CENTRE])
        )  # fmt: skip
        numbers[MIXED] = shrink * numbers[MIXED] + short * numbers[CENTRE]
        lean = shrink * lean + short
    numbers[LEAN] = lean
    scale = numbers[SCALE] * keep * shrink
    if not abs(scale) >= SMALLEST_SCALE:
        _fold(state, scale)
        scale = 1.0
    numbers[SCALE] = scale
    if marks.size > 0:
        _touch(X, i, touched, marks, counts)  # lists the columns the round has not touched before
    add = step * shrink / scale
    rows.axpy2(add, X, i, cells[:, U], numbers[WEIGHT] * add, cells[:, V])


def _touch(X: Any, i: int, touched: Any, marks: Any, counts: Any) -> None:
    raise NotImplementedError


@overload(_touch, jit_options=CSR)
def _touch_rows(X, i, touched, marks, counts):
    if is_dense(X):
        return lambda X, i, touched, marks, counts: None

    def implementation(X, i, touched, marks, counts):
        current = counts[0] + 1
        for k in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
            j = X.indices[k]
            if marks[j] != current:
                marks[j] = current
                touched[counts[2]] = j
                counts[2] += 1

    return implementation


@kernel
def _fold(state, scale):
    """Make the scale one: u becomes scale u, and v takes what weight u was."""
    cells, numbers, touched, marks, counts = state
    lazy = marks.size > 0
    for k in range(counts[2] if lazy else cells.shape[0]):
        j = touched[k] if lazy else k
        cells[j, V] -= numbers[WEIGHT] * cells[j, U]
        cells[j, U] *= scale
    numbers[WEIGHT] = 0.0


@kernel
def finish(state, steps, before):
    """End a round: the mean of its w becomes the centre; the old centre is counted, or the new one."""
    cells, numbers, touched, marks, counts = state
    lazy = marks.size > 0
    if before:
        numbers[TOTAL] += numbers[SIZE]
    size = numbers[SIZE] * (steps + numbers[LEANS]) / steps
    if lazy and SMALLEST_SCALE <= abs(size) <= LARGEST_SCALE:
        for k in range(counts[2]):
            j = touched[k]
            old = cells[j, W]
            change = (numbers[WEIGHT] * cells[j, U] - cells[j, V]) / (steps * size)
            cells[j, W] += change
            cells[j, TOTAL_V] += numbers[TOTAL] * change
            numbers[SQUARE] += change * (old + cells[j, W])
            cells[j, U] = cells[j, V] = 0.0
        numbers[SIZE] = size
    else:
        for j in range(cells.shape[0]):
            cells[j, TOTAL_V] -= numbers[TOTAL] * cells[j, W]
            cells[j, W] = size * cells[j, W] + (numbers[WEIGHT] * cells[j, U] - cells[j, V]) / steps
            cells[j, U] = cells[j, V] = 0.0
        numbers[SIZE], numbers[TOTAL], numbers[SQUARE] = 1.0, 0.0, 0.0
    numbers[PEAK] = max(numbers[PEAK], numbers[SQUARE])
    if not numbers[SQUARE] > FADED * numbers[PEAK]:
        numbers[SQUARE] = 0.0
        for j in range(cells.shape[0]):
            numbers[SQUARE] += cells[j, W] * cells[j, W]
        numbers[PEAK] = numbers[SQUARE]
    if not before:
        numbers[TOTAL] += numbers[SIZE]
    numbers[SCALE], numbers[LEAN], numbers[WEIGHT], numbers[LEANS] = 1.0, 0.0, 0.0, 0.0
    numbers[APART], numbers[MIXED] = 0.0, 0.0
    numbers[CENTRE] = numbers[SIZE] * numbers[SIZE] * numbers[SQUARE]
    counts[0] += 1
    counts[1] = counts[2] = 0
