"""Numbers of a report as text, the same in every view."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from aucbench.reports.report import Board, Estimate, Overall, Report, Row, TriedSetting

NONE = "-"
EXEMPT = "exempt from some checks of `aucbench check`"  # what every view says of such a method


def formatted(value: float, spec: str) -> str:
    """A number in some format; a dash where there is none."""
    return NONE if math.isnan(value) else format(value, spec)


def mean(value: float) -> str:
    """An AUC, with four decimals in every view."""
    return formatted(value, ".4f")


def two_decimals(value: float) -> str:
    """An average rank, in every view."""
    return formatted(value, ".2f")


def rank(value: float) -> str:
    """A rank, in halves where methods tie."""
    return formatted(value, ".4g")


def with_std(value: float, std: float) -> str:
    """A mean AUC and its standard deviation."""
    return mean(value) + ("" if math.isnan(std) or math.isnan(value) else f" ± {mean(std)}")


def auc(row: Row) -> str:
    """Mean and standard deviation, or why there is none."""
    return trouble(row) if math.isnan(row.auc.value) else with_std(row.auc.value, row.std)


def interval(value: Estimate, digits: int = 4) -> str:
    """The bounds of an interval."""
    if math.isnan(value.low) or math.isnan(value.high):
        return NONE
    return f"{value.low:.{digits}f} to {value.high:.{digits}f}"


def gain(value: Estimate) -> str:
    """A gain with its sign and interval; a dash where there is none."""
    if math.isnan(value.value):
        return NONE
    bounds = "" if math.isnan(value.low) else f" ({_signed(value.low)} to {_signed(value.high)})"
    return _signed(value.value) + bounds


def row_gain(row: Row, board: Board) -> str:
    """The gain of a method on a board, or why there is none."""
    if row.method == board.baseline:
        return "baseline"
    return gain(row.gain)


def overall_gain(overall: Overall, method: str) -> str:
    """The mean gain of a method over data sets, or why there is none."""
    if method == overall.baseline:
        return "baseline"
    return gain(overall.gains.get(method, Estimate(math.nan)))


def mean_rank(rank: Estimate | None) -> str:
    """An average rank; a dash where there is none."""
    return NONE if rank is None else two_decimals(rank.value)


def _signed(value: float) -> str:
    return f"{round(value, 4) + 0.0:+.4f}"  # no -0.0000


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits."""
    if math.isnan(value):
        return NONE
    if math.isinf(value):
        return "never"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def cost(value: float, budget: float) -> str:
    """What was paid until a target, or that the budget did not reach it."""
    return f"> {number(budget)}" if math.isinf(value) else number(value)


class ObjectiveText(NamedTuple):
    """An objective of a board in words, its certified minimum, and the methods that minimise it."""

    sign: str  # F, or F1, F2, ... where there are several
    text: str
    minimum: str
    methods: tuple[str, ...]


def objectives(board: Board) -> list[ObjectiveText]:
    """The objectives of a board whose suboptimality is known; one that varies with the run belongs to one."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in board.rows:
        if (own := row.suboptimality) and own.objective:
            found.setdefault((own.objective, row.method if own.differs else ""), []).append(row)
    texts = []
    for number, ((text, alone), rows) in enumerate(found.items(), 1):
        own = rows[0].suboptimality
        assert own is not None
        minimum = f"{own.minimum:.6g}, certified to {own.gap / own.size if own.size else own.gap:.0e}"
        texts.append(
            ObjectiveText(
                f"F{number}" if len(found) > 1 else "F",
                text + (" (of the first run; its constants vary with the run)" if alone else ""),
                minimum,
                tuple(row.method for row in rows),
            )
        )
    return texts


def percent(share: float) -> str:
    """A share, with three significant digits."""
    return NONE if math.isnan(share) else f"{100 * share:.3g} %"


def size(count: float) -> str:
    """Bytes in the largest unit of which there is one."""
    if math.isnan(count):
        return NONE
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << power:
            return f"{count / (1 << power):.3g} {unit}"
    return f"{count:.0f} B"


def runs(row: Row) -> str:
    """Number of runs, and what became of those that gave no AUC."""
    notes = [f"{count} {what}" for count, what in row.gaps]
    return f"{row.runs}" + (f" ({', '.join(notes)})" if notes else "")


def trouble(row: Row) -> str:
    """What became of the runs that gave no AUC: ``diverged in 3 of 5 runs, failed in 1``; else empty."""
    return _lost(row.gaps, row.runs)


def troubles(method: str, boards: Sequence[Board]) -> str:
    """The same of all runs of a method on several boards."""
    rows = [row for board in boards for row in board.rows if row.method == method]
    counts = Counter[str]()
    for row in rows:
        counts.update({what: count for count, what in row.gaps})
    return _lost([(count, what) for what, count in counts.items()], sum(row.runs for row in rows))


def _lost(lost: Sequence[tuple[int, str]], finished: int) -> str:
    if not lost:
        return ""
    found = [f"{what} in {count}" for count, what in lost]
    total = finished + sum(count for count, _ in lost)
    return ", ".join([f"{found[0]} of {total} {'run' if total == 1 else 'runs'}", *found[1:]])


def cells(report: Report) -> str:
    """Numbers of cells."""
    return (
        f"{report.done:,} cells done, {report.diverged:,} diverged, {report.failed:,} failed, "
        f"{report.missing:,} missing"
    )


def ties(procedure: str) -> str:
    """How "tied with best" is to be read; empty where nothing was tested."""
    return f"Tied with best: not significantly different from it ({procedure})." if procedure else ""


def outcomes(wins: int, ties: int, losses: int) -> str:
    """Wins, ties and losses; a dash where nothing was compared."""
    return f"{wins}/{ties}/{losses}" if wins + ties + losses else NONE


def target(board: Board) -> str:
    """The AUC to be reached."""
    if math.isnan(board.target):
        return "no target: no method has all its runs"
    return f"target: {board.measure.symbol} {board.target:.4f}, {board.target_text}"


def remarks(board: Board) -> list[str]:
    """What the marks in the table of a board mean."""
    marked = sorted({f"† {row.method}: {row.timing_mark}" for row in board.rows if row.timing_mark})
    exempt = [f"* {row.method} is {EXEMPT}: {row.exempt}" for row in board.rows if row.exempt]
    other = [
        f"° {row.method} is not a linear model: {row.parameters}" for row in board.rows if not row.linear
    ]
    chosen = [f"{row.method} chose {row.chosen}" for row in board.rows if row.chosen]
    edges = [f"{row.method}: {row.edges}" for row in board.rows if row.edges]
    diverged = [f"{row.method} {trouble(row)}: {row.advice}" for row in board.rows if row.advice]
    unconverged = [
        f"{row.method} had not converged in {row.unconverged} of {row.runs} runs: its optimum may differ."
        for row in board.rows
        if row.unconverged
    ]
    first = [text for text in (ties(board.procedure), gains(board)) if text]
    notes = [*marked, *sorted(exempt), *sorted(other), *chosen, *edges, *unconverged, *diverged]
    return [*first, *notes, *without_suboptimality(board)]


def without_suboptimality(board: Board) -> list[str]:
    """Why methods whose objective was measured have no suboptimality, or none against a cost."""
    return [
        f"{row.method} has no {'curve of the ' * bool(own.objective)}suboptimality: {own.reason.rstrip('.')}."
        for row in board.rows
        if (own := row.suboptimality) and own.reason
    ]


def overall_remarks(overall: Overall, boards: Sequence[Board]) -> list[str]:
    """How the table over all boards is to be read, and what is missing."""
    fewer = [
        f"{method} ({overall.gain_boards.get(method, 0)})"
        for method in overall.methods
        if overall.baseline and overall.gain_boards.get(method, 0) < overall.boards
    ]
    less = [f"Gains over fewer than {overall.boards} data sets: {', '.join(fewer)}."] if fewer else []
    return [*filter(None, [ties(overall.procedure), gains(overall)]), *less, *gaps(overall, boards)]


def gaps(overall: Overall, boards: Sequence[Board]) -> list[str]:
    """On which data sets methods have gaps, and what became of the runs."""
    return [
        f"{method} has gaps on {', '.join(names)}: {troubles(method, boards)}."
        for method, names in overall.incomplete.items()
    ]


def gains(view: Board | Overall) -> str:
    """What the gains are measured against, or why there are none."""
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


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: ``a, b and c``."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def ordinal(place: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``4th``."""
    teens = 10 < place % 100 < 14
    return f"{place}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class TunedField(NamedTuple):
    """A field that a tuning chose: its trials as (value, validation AUC), and the best AUC of each value."""

    name: str
    numeric: bool
    points: list[tuple[Any, float]]
    best: list[tuple[Any, float]]


def tuned_fields(trials: Sequence[TriedSetting]) -> list[TunedField]:
    """Fields of which several values were tried, in alphabetical order; values are numbers or texts."""
    known = [(trial.parameters, trial.auc) for trial in trials if trial.auc is not None]
    found = []
    for name in sorted({name for parameters, _ in known for name in parameters}):
        points = [(parameters[name], auc) for parameters, auc in known if name in parameters]
        numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value, _ in points)
        points = [(value if numeric else str(value), auc) for value, auc in points]
        best: dict[Any, float] = {}
        for value, auc in points:
            best[value] = max(auc, best.get(value, auc))
        if len(best) > 1:
            found.append(TunedField(name, numeric, points, sorted(best.items())))
    return found
