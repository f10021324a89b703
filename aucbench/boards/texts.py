"""Numbers of a report as text, the same in every view."""

import math

from aucbench.boards.report import Interval, Row

NONE = "-"


def auc(row: Row) -> str:
    """Mean and standard deviation, or why there is none."""
    if math.isnan(row.auc.value):
        return "diverged" if row.diverged else "failed" if row.failed else "missing"
    return f"{row.auc.value:.4f}" + ("" if math.isnan(row.std) else f" ± {row.std:.4f}")


def interval(value: Interval, digits: int = 4) -> str:
    """The bounds of an interval."""
    if math.isnan(value.low):
        return NONE
    return f"{value.low:.{digits}f} to {value.high:.{digits}f}"


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits."""
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "never"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def rank(value: float) -> str:
    """A rank, in halves where methods tie."""
    return NONE if math.isnan(value) else f"{value:.4g}"


def runs(row: Row) -> str:
    """Number of runs, and what became of those that gave no AUC."""
    notes = [
        f"{count} {what}"
        for count, what in ((row.diverged, "diverged"), (row.failed, "failed"), (row.missing, "missing"))
        if count
    ]
    return f"{row.runs}" + (f" ({', '.join(notes)})" if notes else "")


def verdicts(row: Row) -> str:
    """Wins, ties and losses."""
    return f"{row.wins}/{row.ties}/{row.losses}"
