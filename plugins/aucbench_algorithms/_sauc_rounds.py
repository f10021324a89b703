"""Weights of `sauc`: pulled to a centre for a round of steps, whose mean is the next centre.

    w = scale u + (1 + lean) w0,  w0 = size W,  both sums of rows
    sum of the w of the round  = weight u - v + (steps + leans) w0
    sum of the w0 of all rounds = total W - V

A step costs the non-zeros of its row. The end of a round visits the listed columns that its rows have
touched, or all d columns in the eager layout. u, v, W and V are the columns of `cells`. Three products,
|w - w0|^2, (w - w0).w0 and |w0|^2, give |w|^2 without cancellation.
"""

from typing import Any, NamedTuple

import numpy as np

from aucbench.kernels import helper, rows, weights
from aucbench.kernels.rows import extent, for_csr_rows, for_dense_rows

FADED = 1e-6  # |W|^2 is recomputed when it has fallen to this share of its largest value

U, V, W, TOTAL_V = range(4)  # fields of a cell
NUMBERS = np.dtype(
    [
        ("scale", "f8"), ("lean", "f8"),  # coefficients of u and w0 in w
        ("weight", "f8"), ("leans", "f8"),  # coefficients of u and w0 in the round's sum
        ("size", "f8"), ("total", "f8"),  # coefficients of W in w0 and in the sum of all rounds
        ("apart", "f8"), ("mixed", "f8"), ("centre", "f8"),  # |w - w0|^2, (w - w0).w0, |w0|^2
        ("square", "f8"), ("peak", "f8"),  # |W|^2, and its largest value since it was computed exactly
        ("finished", "i8"), ("steps", "i8"), ("touched", "i8"),  # rounds; this round's steps and columns
    ]
)  # fmt: skip


class Rounds(NamedTuple):
    """The arrays of the weights."""

    cells: np.ndarray  # (d, 4) u, v, W, V
    numbers: np.ndarray  # (1,) NUMBERS
    touched: np.ndarray  # (d,) int32 columns touched in the round; (0,) in the eager layout
    marks: np.ndarray  # (d,) int32 the last round in which a column was touched; (0,) likewise


def rounds(d: int, lazy: bool) -> Rounds:
    """Zero weights."""
    touched, marks = np.zeros((2, d if lazy else 0), np.int32)
    numbers = np.zeros(1, NUMBERS)
    numbers["scale"] = numbers["size"] = 1.0
    return Rounds(np.zeros((d, 4)), numbers, touched, marks)


def mean(state: Rounds) -> np.ndarray:
    """(d,) mean of the centres that were counted; zero before the first round has ended."""
    cells, numbers = state.cells, state.numbers[0]
    total: np.ndarray = numbers["total"] * cells[:, W] - cells[:, TOTAL_V]
    return total / max(1, int(numbers["finished"]))


@helper
def score(X, i, state):
    """The products of x_i with w - w0 and with w0, and |x_i|^2."""
    cells, numbers = state.cells, state.numbers[0]
    product, square = rows.dot_norm(X, i, cells[:, U])
    centre = numbers.size * rows.dot(X, i, cells[:, W])
    return numbers.scale * product + numbers.lean * centre, centre, square


@helper
def accumulate(state):
    """Add w to the sum of the round."""
    numbers = state.numbers[0]
    numbers.weight += numbers.scale
    numbers.leans += numbers.lean


@helper
def step(X, i, state, keep, length, offset, centre, square, radius):
    """Set w to w0 + keep (w - w0) + length x_i, projected on |w| <= radius, given the `score` of the row."""
    cells, numbers, touched, marks = state.cells, state.numbers[0], state.touched, state.marks
    numbers.apart = keep * keep * numbers.apart + length * (length * square + 2.0 * keep * offset)
    numbers.mixed = keep * numbers.mixed + length * centre
    size = numbers.apart + 2.0 * numbers.mixed + numbers.centre
    lean = keep * numbers.lean
    shrink, _ = weights.into_ball(size, radius)
    if shrink != 1.0:
        short = shrink - 1.0
        numbers.apart = (
            shrink * shrink * numbers.apart
            + short * (2.0 * shrink * numbers.mixed + short * numbers.centre)
        )  # fmt: skip
        numbers.mixed = shrink * numbers.mixed + short * numbers.centre
        lean = shrink * lean + short
    numbers.lean = lean
    scale = numbers.scale * keep * shrink
    if weights.is_out_of_range(scale, numbers.weight):
        _fold(state, scale)
        scale = 1.0
    numbers.scale = scale
    if marks.size > 0:
        _touch(X, i, touched, marks, numbers)  # lists the columns the round has not touched before
    add = length * shrink / scale
    rows.axpy2(add, X, i, cells[:, U], numbers.weight * add, cells[:, V])


@for_dense_rows
def _touch(X: Any, i: int, touched: Any, marks: Any, numbers: Any) -> None:
    """List the columns of row i that the round has not touched before."""


@for_csr_rows(_touch)
def _touch_csr(X, i, touched, marks, numbers):
    current = numbers.finished + 1
    start, stop = extent(X, i)
    for k in range(start, stop):
        j = X.indices[k]
        if marks[j] != current:
            marks[j] = current
            touched[numbers.touched] = j
            numbers.touched += 1


@helper
def _fold(state, scale):
    """Make the scale one: u becomes scale u, and v takes over weight u."""
    cells, numbers, touched, marks = state.cells, state.numbers[0], state.touched, state.marks
    lazy = marks.size > 0
    for k in range(numbers.touched if lazy else cells.shape[0]):
        j = touched[k] if lazy else k
        cells[j, V] -= numbers.weight * cells[j, U]
        cells[j, U] *= scale
    numbers.weight = 0.0


@helper
def finish(state, steps, before):
    """End a round: the mean of its w becomes the centre; the old centre is counted, or the new centre."""
    cells, numbers, touched, marks = state.cells, state.numbers[0], state.touched, state.marks
    lazy = marks.size > 0
    if before:
        numbers.total += numbers.size
    size = numbers.size * (steps + numbers.leans) / steps
    if lazy and not weights.is_out_of_range(size, numbers.total):
        for k in range(numbers.touched):
            j = touched[k]
            old = cells[j, W]
            change = (numbers.weight * cells[j, U] - cells[j, V]) / (steps * size)
            cells[j, W] += change
            cells[j, TOTAL_V] += numbers.total * change
            numbers.square += change * (old + cells[j, W])
            cells[j, U] = cells[j, V] = 0.0
        numbers.size = size
    else:
        for j in range(cells.shape[0]):
            cells[j, TOTAL_V] -= numbers.total * cells[j, W]
            cells[j, W] = size * cells[j, W] + (numbers.weight * cells[j, U] - cells[j, V]) / steps
            cells[j, U] = cells[j, V] = 0.0
        numbers.size, numbers.total, numbers.square = 1.0, 0.0, 0.0
    numbers.peak = max(numbers.peak, numbers.square)
    if not numbers.square > FADED * numbers.peak:
        numbers.square = 0.0
        for j in range(cells.shape[0]):
            numbers.square += cells[j, W] * cells[j, W]
        numbers.peak = numbers.square
    if not before:
        numbers.total += numbers.size
    numbers.scale, numbers.lean, numbers.weight, numbers.leans = 1.0, 0.0, 0.0, 0.0
    numbers.apart, numbers.mixed = 0.0, 0.0
    numbers.centre = numbers.size * numbers.size * numbers.square
    numbers.finished += 1
    numbers.steps = numbers.touched = 0
