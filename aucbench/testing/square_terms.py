"""The terms of a function that is quadratic in the scores, compared with the square loss over all pairs.

With class means m+, m- and mean squares q+, q-, the mean over all pairs of (margin - (s+ - s-))^2 is

    q+ + q- - 2 m+ m- - 2 margin m+ + 2 margin m- + margin^2

and so is the min-max margin loss at the best a, b and alpha while the class means are less than the margin
apart. The coefficients of a function, found by regression in batches of several compositions, show which term
departs.
"""

from collections.abc import Callable

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
DRAWS = 24  # batches of each composition
WIDTH = 0.1  # standard deviation of the scores, far below a margin
QUADRATIC, CLOSE = 1e-9, 1e-5  # relative errors of values and coefficients
SHARES = np.array([k / (k + m) for k, m in COMPOSITIONS])


def square_terms(function: AuditedFunction, centre: float) -> tuple[float, list[str]] | None:
    """The margin of a function that is quadratic near `centre`, and sentences on its terms that depart.

    None if it is not quadratic.
    """
    rng, table = np.random.default_rng(74), []
    for positives, negatives in COMPOSITIONS:
        mask = np.arange(positives + negatives) < positives
        scores = [centre + WIDTH * rng.standard_normal(mask.size) for _ in range(DRAWS)]
        values = np.array([function.value(batch, mask) for batch in scores])
        matrix = np.array([_terms(batch[mask], batch[~mask]) for batch in scores])
        fit = np.linalg.lstsq(matrix, values)[0] if np.isfinite(values).all() else np.full(8, np.nan)
        if not np.abs(matrix @ fit - values).max() <= QUADRATIC * np.abs(values).max():
            return None
        table.append(fit)
    coefficients = np.array(table).T  # (8, compositions)
    cross, low, high, high_square, low_square = coefficients[:5]
    sizes = np.median([high_square, low_square, -cross / 2.0], axis=0)
    if not (sizes > 0.0).all():
        return None
    sides = -high / sizes / 2.0, low / sizes / 2.0
    by_side = float(np.median(min(sides, key=np.ptp)))  # the term that does not change with the batch
    fits = [(margin, _departures(coefficients / sizes, margin)) for margin in (1.0, by_side)]
    return min(fits, key=lambda terms: len(terms[1]))


def _terms(high: np.ndarray, low: np.ndarray) -> list[float]:
    a, b = high.mean(), low.mean()
    return [a * b, b, a, (high**2).mean(), (low**2).mean(), b * b, a * a, 1.0]


def _departures(coefficients: np.ndarray, margin: float) -> list[str]:
    """Sentences on coefficients (8, compositions) that differ from the coefficients of a margin."""
    sentences = []
    for (name, coefficient), actual in zip(TERMS.items(), coefficients, strict=True):
        expected = coefficient(margin)
        if np.abs(actual - expected).max() <= CLOSE * max(1.0, abs(expected)):
            continue
        factor = law(list(actual / expected)) if expected else None
        sentence = f"The {name} is scaled by {factor}, where p is the share of positives."
        if factor is None:
            low, high = SHARES.argmin(), SHARES.argmax()
            sentence = (
                f"The coefficient of the {name} is {actual[low]:.4g} at p = {SHARES[low]:.2g} and "
                f"{actual[high]:.4g} at p = {SHARES[high]:.2g} in place of {expected:.4g}."
            )
        sentences.append(sentence)
    return sentences
