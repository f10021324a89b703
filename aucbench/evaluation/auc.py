"""The ROC curve of scores as counts, and the exact area under it, ties one half, in integer pair counts.

    AUC = (#pairs s+ > s-  +  1/2 #ties) / (n+ n-)

The scores of either class are sorted, and merged from the highest to the lowest.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import DataError
from aucbench.kernels import kernel

if TYPE_CHECKING:
    from aucbench.evaluation.measures import Measure


class RocPoints(NamedTuple):
    """The ROC curve as counts, from the highest score to the lowest; equal scores are one step.

    The curve is linear between two points, so ties count one half. With row weights, the counts are sums
    of weights.
    """

    fp: NDArray[np.float64]  # (k + 1,) negatives at or above the score of a step; the first number is 0
    tp: NDArray[np.float64]  # (k + 1,) positives at or above the score of a step
    auc: float

    def average_precision(self) -> float:
        """The mean precision over the positives; all positives of a step share one precision."""
        return float(_average_precision(self.fp, self.tp))

    def area(self, max_fpr: float, min_tpr: float = 0.0) -> float:
        """The area under the curve for f <= `max_fpr` and above r = `min_tpr`."""
        limit = max_fpr * self.fp[-1]
        stop = int(np.searchsorted(self.fp, limit))
        f = np.append(self.fp[:stop], limit)
        r = np.append(self.tp[:stop], _crossing(limit, self.fp, self.tp, stop)) - min_tpr * self.tp[-1]
        if r[-1] <= 0.0:
            return 0.0
        start = int(np.searchsorted(r, 0.0, side="right"))
        f, r = np.append(_crossing(0.0, r, f, start), f[start:]), np.append(0.0, r[start:])
        return float(np.diff(f) @ (r[1:] + r[:-1]) / (2.0 * self.fp[-1] * self.tp[-1]))


def _crossing(x: float, xs: NDArray[np.float64], ys: NDArray[np.float64], k: int) -> float:
    """The y where the segment from point k - 1 to point k reaches x."""
    return float(ys[k - 1] + (ys[k] - ys[k - 1]) * ((x - xs[k - 1]) / (xs[k] - xs[k - 1])))


def exact_auc(scores: Any, y: Any, weights: Any = None) -> float:
    """The exact AUC of scores.

    Parameters
    ----------
    scores : (n,) array
        Decision values; infinities are allowed, -0.0 ties with 0.0.
    y : (n,) array
        Labels in {-1, 1}, or {0, 1}.
    weights : (n,) array, optional
        Weights >= 0 of the rows; a pair has the product of its two weights.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    DataError
        A score is NaN, only one class is present, labels are invalid, the lengths differ, or a value is not
        a real number.

    Examples
    --------
    >>> import numpy as np
    >>> exact_auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([-1, -1, 1, 1]))
    0.875
    """
    return roc_points(scores, y, weights).auc


def roc_points(scores: Any, y: Any, weights: Any = None) -> RocPoints:
    """The ROC curve of scores, the basis of all measures; parameters and errors as `exact_auc`."""
    if weights is not None:
        return _weighted_points(scores, y, weights)
    (points,) = points_of_columns(real_numbers("scores", scores).reshape(-1, 1), y)
    return points


def points_of_columns(scores: Any, y: Any) -> Iterator[RocPoints]:
    """The ROC curve of each column of scores (n, c); the next curve overwrites the arrays of a curve.

    Labels and errors are as for `exact_auc`.
    """
    scores = real_numbers("scores", scores)
    positive = positive_rows(scores.shape[0], y)
    classes = [np.flatnonzero(mask) for mask in (positive, ~positive)]
    sides = [np.sort(np.take(scores.T, rows, axis=1).astype(np.float64, copy=False)) for rows in classes]
    unknown = np.isnan(sides[0][:, -1]) | np.isnan(sides[1][:, -1])  # NaN is sorted last
    if unknown.any():
        _refuse_nan(scores[:, np.argmax(unknown)])
    fp, tp = np.empty(positive.size + 1), np.empty(positive.size + 1)
    for high, low in zip(*sides, strict=True):
        points, doubled_wins = _merge(high, low, fp, tp)
        yield RocPoints(fp[:points], tp[:points], doubled_wins / (2 * high.size * low.size))


def measure_columns(scores: Any, y: Any, measures: "Sequence[Measure]") -> NDArray[np.float64]:
    """Measures of each column, (c, len(measures)); parameters and errors as `points_of_columns`."""
    return np.array(
        [[measure.value(points) for measure in measures] for points in points_of_columns(scores, y)]
    ).reshape(np.shape(scores)[1], len(measures))


def checked(scores: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores (n,) as float64 and the mask of the positive rows; errors as `exact_auc`."""
    values = real_numbers("scores", scores).astype(np.float64).ravel()
    positive = positive_rows(len(values), y)
    _refuse_nan(values)
    return values, positive


def real_numbers(name: str, data: Any, who: str = "AUC", error: type[Exception] = DataError) -> NDArray[Any]:
    """An array of real numbers; for other data an error whose message names `who`."""
    try:
        array = np.asarray(data)
        if array.dtype.kind == "O":
            array = np.array(array.tolist())
        if array.dtype.name == "bfloat16":  # NumPy has no kind for the type of JAX
            array = array.astype(np.float32)
    except (TypeError, ValueError):  # an array on a GPU, or rows of several lengths
        array = np.array("")
    if array.dtype.kind not in "biuf" or np.ma.is_masked(data):
        raise error(f"{who}: {name} must be real numbers, got {' '.join(repr(data).split()):.60}.")
    return array


def positive_rows(n: int, y: Any, who: str = "AUC", error: type[Exception] = DataError) -> NDArray[np.bool_]:
    """Mask of the positive rows; an error that names `who` unless both classes are present."""
    labels = real_numbers("labels", y, who, error).ravel()
    if n != labels.size:
        raise error(f"{who}: {n} scores for {labels.size} labels.")
    positive: NDArray[np.bool_] = labels == 1
    n_pos = int(np.count_nonzero(positive))
    if not any(n_pos + np.count_nonzero(labels == negative) == n for negative in (-1, 0)):
        raise error(f"{who}: labels must be -1 and 1, or 0 and 1, got {np.unique(labels)[:5]}.")
    if n_pos in (0, n):
        raise error(f"{who} needs both classes, got {n_pos} positives and {n - n_pos} negatives.")
    return positive


def _refuse_nan(scores: NDArray[np.float64]) -> None:
    rows = np.flatnonzero(np.isnan(scores))
    if len(rows):
        raise DataError(f"AUC: score {rows[0]} is NaN; the model has diverged.")


def _weighted_points(scores: Any, y: Any, weights: Any) -> RocPoints:
    values, positive = checked(scores, y)
    weights = real_numbers("weights", weights).astype(np.float64).ravel()
    if len(weights) != len(values):
        raise DataError(f"AUC: {len(weights)} weights for {len(values)} scores.")
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if len(wrong):
        raise DataError(f"AUC: weights must be finite and >= 0, got {wrong[0]}.")
    weights /= weights.max() or 1.0  # no sum overflows, and no small weight is rounded
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(values) - 1)
    sums = (np.cumsum(np.where(side, weights, 0.0)[order])[ends] for side in (~positive, positive))
    fp, tp = (np.append(0.0, counts) for counts in sums)
    if not (fp[-1] > 0 and tp[-1] > 0):
        raise DataError("AUC needs both classes, got no weight on one of them.")
    area = float(np.sum(np.diff(fp) * (tp[1:] + tp[:-1])) / (2 * fp[-1] * tp[-1]))
    return RocPoints(fp, tp, area)


@kernel
def _merge(high, low, fp, tp):
    """The number of points of the ROC curve, and twice the number of pairs that the positive wins, plus ties.

    `high` and `low` are the ascending scores of positives and negatives; the points are written into `fp` and
    `tp`. Negatives without a positive between them are one step, since no measure depends on their order.
    """
    i, j = high.size, low.size  # numbers of remaining rows
    points, doubled = 1, 0
    fp[0] = tp[0] = 0.0
    while i > 0:
        score, positives, negatives = high[i - 1], i, j
        while j > 0 and low[j - 1] > score:
            j -= 1
        if j < negatives:
            fp[points], tp[points] = low.size - j, high.size - i
            points += 1
        below = j
        while j > 0 and low[j - 1] == score:
            j -= 1
        while i > 0 and high[i - 1] == score:
            i -= 1
        doubled += (positives - i) * (j + below)
        fp[points], tp[points] = low.size - j, high.size - i
        points += 1
    if j > 0:
        fp[points], tp[points] = low.size, high.size
        points += 1
    return points, doubled


@kernel
def _average_precision(fp, tp):
    total = 0.0
    for k in range(1, tp.size):
        if tp[k] > tp[k - 1]:  # the weights of this and all earlier steps may be 0
            total += (tp[k] - tp[k - 1]) * tp[k] / (tp[k] + fp[k])
    return total / tp[-1]
