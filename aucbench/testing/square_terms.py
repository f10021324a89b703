"""The terms of a function that is quadratic in the scores, beside those of the square loss over all pairs.

With class means m+, m- and mean squares q+, q-, the mean over all pairs of (margin - (s+ - s-))^2 is

    q+ + q- - 2 m+ m- - 2 margin m+ + 2 margin m- + margin^2

and so is the min-max margin loss at the best a, b and alpha while the class means are less than the margin
apart. The coefficients of a function, found by regression in batches of several compositions, show which term
departs.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aucbench.testing.audited_function import AuditedFunction
from aucbench.testing.surrogates import COMPOSITIONS, law

TERMS: dict[str, Callable[[float], float]] = {  # coefficients by margin
    "cross term mean(s+) mean(s-)": lambda margin: -2.0,
    "term mean(s-)": lambda margin: 2.0 * margin,
    "term mean(s+)": lambda margin: -2.0 * margin,
    "term mean(s+^2)": lambda margin: 1.0,
    "term mean(s-^2)": lambda margin: 1.0,
    "term mean(s-)^2": lambda margin: 0.0,
    "term mean(s+)^2": lambda margin: 0.0,
    "constant": lambda margin: margin**2,
}
CROSS, LOW, HIGH, Q_HIGH, Q_LOW, LOW2, HIGH2 = range(7)
DRAWS = 24  # batches of each composition
WIDTH = 0.1  # standard deviation of the scores, far below a margin
QUADRATIC, CLOSE = 1e-9, 1e-5  # relative errors of values and coefficients
SHARES = np.array([k / (k + m) for k, m in COMPOSITIONS])
LAWS = ("", "1 - p", "p", "(1 - p)^2", "p^2", "p (1 - p)", "1 / p", "1 / (1 - p)")


class SquareTerms(NamedTuple):
    """A quadratic function: its margin, and where its terms depart."""

    margin: float
    departures: tuple[str, ...]  # sentences


def square_terms(function: AuditedFunction, centre: float) -> SquareTerms | None:
    """Compare the terms of a function near `centre` with the square loss.

    None if it is not quadratic, couples no rows of different classes, or departs nowhere.
    """
    rng, table = np.random.default_rng(74), []
    for positives, negatives in COMPOSITIONS:
        mask = np.arange(positives + negatives) < positives
        scores = [centre + WIDTH * rng.standard_normal(mask.size) for _ in range(DRAWS)]
        values = np.array([function.value(each, mask) for each in scores])
        matrix = np.array([_terms(each[mask], each[~mask]) for each in scores])
        if not np.isfinite(values).all():
            return None
        fit = np.linalg.lstsq(matrix, values)[0]
        if np.abs(matrix @ fit - values).max() > QUADRATIC * np.abs(values).max():
            return None
        table.append(fit)
    coefficients = np.array(table)
    sizes = np.median(coefficients[:, [Q_HIGH, Q_LOW, CROSS]] * [1.0, 1.0, -0.5], axis=1)
    if not (sizes > 0.0).all():
        return None
    coefficients /= sizes[:, None]
    if np.abs(coefficients[:, [HIGH2, LOW2, CROSS]]).max() <= CLOSE:
        return None
    sides = (-coefficients[:, HIGH] / 2.0, coefficients[:, LOW] / 2.0)
    by_side = float(np.median(min(sides, key=np.ptp)))  # by the term that does not change with the batch
    found = [SquareTerms(margin, _departures(coefficients, margin)) for margin in (1.0, by_side)]
    nearest = min(found, key=lambda terms: len(terms.departures))
    return nearest if nearest.departures else None


def _terms(high: np.ndarray, low: np.ndarray) -> list[float]:
    a, b = high.mean(), low.mean()
    return [a * b, b, a, (high**2).mean(), (low**2).mean(), b * b, a * a, 1.0]


def _departures(coefficients: np.ndarray, margin: float) -> tuple[str, ...]:
    """Sentences on coefficients (compositions, 8) that are not those of a margin."""
    sentences = []
    for (name, coefficient), found in zip(TERMS.items(), coefficients.T, strict=True):
        expected = coefficient(margin)
        if np.abs(found - expected).max() <= CLOSE * max(1.0, abs(expected)):
            continue
        factor = law(list(found / expected), LAWS) if expected else None
        if factor is not None:
            parts = [f"{factor[1]:.4g}"] * (abs(factor[1] - 1.0) > CLOSE) + [factor[0]] * bool(factor[0])
            sentences.append(
                f"The {name} is scaled by {' times '.join(parts)}, where p is the share of positives."
            )
        else:
            low, high = SHARES.argmin(), SHARES.argmax()
            sentences.append(
                f"The coefficient of the {name} is {found[low]:.4g} at p = {SHARES[low]:.2g} and "
                f"{found[high]:.4g} at p = {SHARES[high]:.2g} in place of {expected:.4g}."
            )
    return tuple(sentences)
