"""Numbers of a report as text, the same in every view."""

import math
from collections.abc import Sequence

from aucbench.boards.report import Board, Interval, Report, Row

NONE = "-"


def auc(row: Row) -> str:
    """Mean and standard deviation, or why there is none."""
    if math.isnan(row.auc.value):
        return "diverged" if row.diverged else "failed" if row.failed else "missing"
    return f"{row.auc.value:.4f}" + ("" if math.isnan(row.std) else f" ± {row.std:.4f}")


def interval(value: Interval, digits: int = 4) -> str:
    """The bounds of an interval."""
    if math.isnan(value.low) or math.isnan(value.high):
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


def target(board: Board) -> str:
    """The AUC to be reached."""
    if math.isnan(board.target):
        return "no target: no method has all its runs"
    return f"target: AUC {board.target:.4f}, {board.target_text}"


def remarks(board: Board) -> list[str]:
    """What the marks in the table of a board mean."""
    marked = sorted({f"† {row.method}: {row.timing_mark}" for row in board.rows if row.timing_mark})
    exempt = [f"* {row.method} is exempt from checks: {row.exempt}" for row in board.rows if row.exempt]
    return marked + sorted(exempt)


def line(text: str) -> str:
    """Text in one line."""
    return " ".join(text.split())


def group_titles(report: Report) -> list[str]:
    """One a group of boards: tuned or not, and what else tells it from others of its kind."""
    settings = [_common(boards) for _, boards in report.groups()]
    titles = []
    for (overall, _), own in zip(report.groups(), settings, strict=True):
        alike = [
            setting
            for (other, _), setting in zip(report.groups(), settings, strict=True)
            if other.tuned is overall.tuned
        ]
        parts = [part for part in own if not all(part in setting for setting in alike)]
        titles.append("; ".join(["tuned" if overall.tuned else "not tuned", *parts]))
    return titles


def _common(boards: Sequence[Board]) -> list[str]:
    parts = [board.setting.split("; ") for board in boards]
    return [part for part in parts[0] if all(part in others for others in parts)] if parts else []
