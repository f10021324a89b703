"""The terms of a function that is quadratic in the scores, beside those of the square loss over all pairs.

With class means m+, m- and mean squares q+, q-, the mean over all pairs of (margin - (s+ - s-))^2 is

    q+ + q- - 2 m+ m- - 2 margin m+ + 2 margin m- + margin^2

and so is the min-max margin loss at the best a, b and alpha while the class means are less than the margin
apart. The coefficients of a function, found by regression in batches of several compositions, show which term
departs.
"""

import math
from typing import NamedTuple

import numpy as np

from aucbench.testing.audited_function import AuditedFunction
from aucbench.testing.surrogates import COMPOSITIONS, law

TERMS = (
    "mean(s+^2)",
    "mean(s-^2)",
    "mean(s+)^2",
    "mean(s-)^2",
    "mean(s+) mean(s-)",
    "mean(s+)",
    "mean(s-)",
    "1",
)
Q_HIGH, Q_LOW, HIGH2, LOW2, CROSS, HIGH, LOW, ONE = range(8)
DRAWS = 24  # batches of each composition
WIDTH = 0.1  # standard deviation of the scores, far below a margin
QUADRATIC, CLOSE = 1e-9, 1e-5  # relative errors of values and coefficients
SHARES = np.array([k / (k + m) for k, m in COMPOSITIONS])
LAWS = ("", "1 - p", "p", "(1 - p)^2", "p^2", "p (1 - p)", "1 / p", "1 / (1 - p)")


class SquareTerms(NamedTuple):
    """A quadratic function: whether it couples the classes at all, and where its terms depart."""

    couples: bool  # False for a sum over single rows, as with fixed a, b and alpha
    margin: float  # NaN without coupling
    departures: tuple[str, ...]  # sentences


def square_terms(function: AuditedFunction, centre: float) -> SquareTerms | None:
    """Compare the terms of a function near `centre` with the square loss; None if it is not quadratic."""
    rng, table = np.random.default_rng(74), []
    for positives, negatives in COMPOSITIONS:
        mask = np.arange(positives + negatives) < positives
        scores = [centre + WIDTH * rng.standard_normal(mask.size) for _ in range(DRAWS)]
        values = np.array([function.value(each, mask) for each in scores])
        matrix = np.array([_terms(each[mask], each[~mask]) for each in scores])
        if not np.isfinite(values).all():
            return None
        found = np.linalg.lstsq(matrix, values)[0]
        if np.abs(matrix @ found - values).max() > QUADRATIC * np.abs(values).max():
            return None
        table.append(found)
    coefficients = np.array(table)
    sizes = np.median(coefficients[:, [Q_HIGH, Q_LOW, CROSS]] * [1.0, 1.0, -0.5], axis=1)
    if not (sizes > 0.0).all():
        return None
    coefficients /= sizes[:, None]
    couples = bool(np.abs(coefficients[:, [HIGH2, LOW2, CROSS]]).max() > CLOSE)
    expected, margin = np.zeros(8), math.nan
    expected[[Q_HIGH, Q_LOW]] = 1.0
    if couples:
        sides = (-coefficients[:, HIGH] / 2.0, coefficients[:, LOW] / 2.0)
        margin = float(np.median(min(sides, key=np.ptp)))  # by the term that does not change with the batch
        expected[[CROSS, HIGH, LOW, ONE]] = -2.0, -2.0 * margin, 2.0 * margin, margin**2
    else:  # a, b and alpha stand still: these coefficients are free, but must not change with the batch
        expected[[HIGH, LOW, ONE]] = np.median(coefficients[:, [HIGH, LOW, ONE]], axis=0)
    return SquareTerms(couples, margin, _departures(coefficients, expected, couples))


def _terms(high: np.ndarray, low: np.ndarray) -> list[float]:
    a, b = high.mean(), low.mean()
    return [(high**2).mean(), (low**2).mean(), a * a, b * b, a * b, a, b, 1.0]


def _departures(coefficients: np.ndarray, expected: np.ndarray, couples: bool) -> tuple[str, ...]:
    """Sentences on coefficients (compositions, 8) that are not the expected ones, the cross term first."""
    scaled: dict[str, list[str]] = {}  # names of terms by their factor
    others = []
    for term in (CROSS, LOW, HIGH, Q_HIGH, Q_LOW, LOW2, HIGH2, ONE):
        found, allowed = coefficients[:, term], CLOSE * max(1.0, abs(expected[term]))
        if np.abs(found - expected[term]).max() <= allowed:
            continue
        name = f"the {'cross ' * (term == CROSS)}term {TERMS[term]}"
        factor = law(list(found / expected[term]), LAWS) if expected[term] and couples else None
        if factor is not None:
            parts = [f"{factor[1]:.4g}"] * (abs(factor[1] - 1.0) > CLOSE) + [factor[0]] * bool(factor[0])
            scaled.setdefault(" times ".join(parts), []).append(name)
            continue
        slope, start = np.polyfit(1.0 - SHARES, found, 1)
        ends = (
            f"{found[SHARES.argmin()]:.4g} at p = {SHARES.min():.2g} and {found[SHARES.argmax()]:.4g} at "
            f"p = {SHARES.max():.2g}"
        )
        if (
            not couples
            and np.abs(found - start - slope * (1.0 - SHARES)).max() <= CLOSE * np.abs(found).max()
        ):
            others.append(
                f"A part of {name} is scaled by 1 - p, where p is the share of positives: its coefficient is "
                f"{start:.4g} {'+' if slope > 0.0 else '-'} {abs(slope):.4g} (1 - p)."
            )
        else:
            others.append(f"The coefficient of {name} is {ends} in place of {expected[term]:.4g}.")
    return (
        *(
            f"{' and '.join(names).capitalize()} {'are' if len(names) > 1 else 'is'} scaled by {factor}, "
            "where p is the share of positives."
            for factor, names in scaled.items()
        ),
        *others,
    )
