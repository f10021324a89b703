"""Numbers of a report as text, the same in every view."""

import math
from collections.abc import Sequence

from aucbench.boards.report import Board, Interval, Overall, Report, Row

NONE = "-"


def mean(value: float) -> str:
    """An AUC, with four decimals in every view; a dash where there is none."""
    return NONE if math.isnan(value) else f"{value:.4f}"


def auc(row: Row) -> str:
    """Mean and standard deviation, or why there is none."""
    if math.isnan(row.auc.value):
        return trouble(row)
    return mean(row.auc.value) + ("" if math.isnan(row.std) else f" ± {mean(row.std)}")


def interval(value: Interval, digits: int = 4) -> str:
    """The bounds of an interval."""
    if math.isnan(value.low) or math.isnan(value.high):
        return NONE
    return f"{value.low:.{digits}f} to {value.high:.{digits}f}"


def gain(value: Interval) -> str:
    """A gain with its sign and interval; a dash where there is none."""
    if math.isnan(value.value):
        return NONE
    bounds = "" if math.isnan(value.low) else f" ({_signed(value.low)} to {_signed(value.high)})"
    return _signed(value.value) + bounds


def row_gain(row: Row, board: Board) -> str:
    """The gain of a method on a board, or why there is none."""
    if row.method == board.baseline:
        return "baseline"
    return "not run" if not board.baseline else gain(row.gain)


def overall_gain(overall: Overall, method: str) -> str:
    """The mean gain of a method over data sets, or why there is none."""
    if method == overall.baseline:
        return "baseline"
    return "not run" if not overall.baseline else gain(overall.gains.get(method, Interval(math.nan)))


def mean_rank(rank: Interval | None) -> str:
    """An average rank, with two decimals in every view; a dash where there is none."""
    return NONE if rank is None or math.isnan(rank.value) else f"{rank.value:.2f}"


def _signed(value: float) -> str:
    return f"{round(value, 4) + 0.0:+.4f}"  # no -0.0000


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
    notes = [f"{count} {why}" for count, why in row.gaps]
    return f"{row.runs}" + (f" ({', '.join(notes)})" if notes else "")


def trouble(row: Row) -> str:
    """What became of the runs that gave no AUC: ``diverged in 3 of 5 runs, failed in 1``; else empty."""
    found = [f"{why} in {count}" for count, why in row.gaps]
    total = row.runs + sum(count for count, _ in row.gaps)
    if not found:
        return ""
    return ", ".join([f"{found[0]} of {total} {'run' if total == 1 else 'runs'}", *found[1:]])


def cells(report: Report) -> str:
    """Numbers of cells."""
    return (
        f"{report.done:,} cells done, {report.diverged:,} diverged, {report.failed:,} failed, "
        f"{report.missing:,} missing"
    )


def letters(procedure: str) -> str:
    """How letters are to be read; empty where there are none."""
    return f"Methods that share a letter do not differ significantly ({procedure})." if procedure else ""


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
    chosen = [f"{row.method} chose {row.chosen}" for row in board.rows if row.chosen]
    edges = [f"{row.method}: {row.edges}" for row in board.rows if row.edges]
    diverged = [f"{row.method} {trouble(row)}: {row.advice}" for row in board.rows if row.advice]
    unconverged = [
        f"{row.method} had not converged in {row.unconverged} of {row.runs} runs: its optimum may differ."
        for row in board.rows
        if row.unconverged
    ]
    first = [text for text in (letters(board.procedure), _baseline(board)) if text]
    return [*first, *marked, *sorted(exempt), *chosen, *edges, *unconverged, *diverged]


def overall_remarks(overall: Overall) -> list[str]:
    """How the table over all boards is to be read, and what is missing."""
    fewer = [
        f"{method} ({overall.gain_boards.get(method, 0)})"
        for method in overall.methods
        if overall.baseline and overall.gain_boards.get(method, 0) < overall.boards
    ]
    gaps = [f"{method} has gaps on {', '.join(names)}" for method, names in overall.incomplete.items()]
    less = [f"Gains over fewer than {overall.boards} data sets: {', '.join(fewer)}."] if fewer else []
    return [*filter(None, [letters(overall.procedure), _baseline(overall)]), *less, *gaps]


def _baseline(view: Board | Overall) -> str:
    if view.baseline_reason:
        return f"There are no gains: {view.baseline_reason}."
    return f"Gains are over {view.baseline}." if view.baseline else ""


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
