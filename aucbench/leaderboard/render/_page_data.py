"""What the script of the page reads: a report with its texts, its comparisons and what is drawn."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

from aucbench.leaderboard.render import display
from aucbench.leaderboard.render.columns import (
    METHOD_COLUMNS,
    ROW_COLUMNS,
    Column,
    Item,
    Whole,
    method_fields,
    not_recorded,
    row_fields,
)  # fmt: skip
from aucbench.leaderboard.report import Board, Curve, Estimate, Look, Overall, Report, Row

DIGITS = 6  # significant ones, of curves and trials
BESIDE_CELLS = ("method", "algorithm", "auc", "aucs", "curve", "timing_mark", "exempt", "edges", "advice")
GREY = "#555555"
Cells = dict[str, tuple[str, float | None, str]]


def packed(report: Report) -> dict[str, Any]:
    """The report as JSON knows it, and what the script would otherwise compute.

    Each group, board and row has its fields in the report, with null for NaN and infinity, and what the
    functions below add to them. A cell of a table is its text, the number it is sorted by (null: by the
    text) and, where there is nothing, the reason.
    """
    found = {name: _json(value) for name, value in vars(report).items() if name not in ("boards", "overall")}
    groups: list[dict[str, Any]] = []
    for (overall, boards), title in zip(report.groups(), display.group_titles(report), strict=True):
        kind = "tuned" if overall.tuned else "untuned"
        alike = sum(group["tuned"] == overall.tuned for group in groups)
        groups.append(
            _json(overall)
            | {"key": f"{kind}-{alike + 1}" if alike else kind, "title": title}
            | _json(_of_group(overall, boards, report.level))
            | {"boards": [_board(board, report.level) for board in boards]}
        )
    return found | {
        "groups": sorted(groups, key=lambda group: not group["tuned"]),
        "row_columns": _columns(report, ROW_COLUMNS),
        "board_columns": _columns(report, BOARD_COLUMNS),
        "method_columns": _columns(report, METHOD_COLUMNS),
        "looks": {name: _look(look) for name, look in report.looks.items()},
    }


def _columns(report: Report, columns: Iterable[Column[Any, Any]]) -> list[dict[str, Any]]:
    return [
        {name: getattr(column, name) for name in ("key", "left", "descending", "timed", "usual")}
        | {"label": column.heading(report), "hint": column.hint.format(baseline=report.baseline)}
        for column in columns
    ]


def _cells(
    columns: Iterable[Column[Item, Whole]], item: Item, whole: Whole, found: Mapping[str, Any]
) -> Cells:
    cells = {}
    for column in columns:
        text = column.shown(item, whole, found)
        order = None if column.left else found[column.order or column.fields[0]]
        cells[column.key] = (text, order, column.reason(item, whole) if text == display.NONE else "")
    return cells


def _of_group(overall: Overall, boards: Sequence[Board], level: float) -> dict[str, Any]:
    """A line a method, the verdict, pairs in the order of the lines, and the place of each algorithm."""
    ranks = overall.ranks or overall.ranks_with_gaps
    order, unknown = [method for method in overall.methods if method in ranks], Estimate(math.nan)
    lines = [
        {
            "method": method,
            "place": order.index(method) + 1 if method in order else None,
            "cells": _cells(METHOD_COLUMNS, method, overall, method_fields(method, overall)),
            "rank": overall.ranks.get(method, unknown),
            "gapped": overall.ranks_with_gaps.get(method, unknown).value,
            "missing": overall.incomplete.get(method, []),
        }
        for method in overall.methods
    ]
    algorithms = {row.method: row.algorithm for board in boards for row in board.rows}
    places: dict[str, str] = {}
    for at, method in enumerate(order, 1):
        rank = display.mean_rank(ranks[method])
        text = f"Ranked {display.ordinal(at)} of {len(order)} (average rank {rank})"
        places.setdefault(algorithms.get(method, method), text)
    ends = [
        ratio[min(int(np.argmax(share == share[-1])) + 2, len(ratio) - 1)]  # a little beyond the last change
        for ratio, share in overall.profile.values()
    ]
    return {
        "lines": lines,
        "verdict": display.overall_verdict(overall, level),
        "letters": display.letters(overall.procedure),
        "pairs": _pairs(
            overall.methods, overall.pairwise, {name: -rank.value for name, rank in ranks.items()}, level
        ),
        "profile": [
            (method, ratio[ratio <= max(ends)], share[ratio <= max(ends)])
            for method, (ratio, share) in overall.profile.items()
        ],
        "costs": [(name, cost, display.mean(cost.auc)) for name, cost in overall.costs.items()],
        "places": places,
    }


def _board(board: Board, level: float) -> dict[str, Any]:
    """Its rows, the verdict, the pairs (in the order of the rows), what was tuned, and the facts as texts."""
    values = {row.method: row.auc.value for row in board.rows}
    aucs = sorted({value for value in values.values() if not math.isnan(value)})
    tuned = {method: display.tuned_fields(trials) for method, trials in sorted(board.trials.items())}
    found = {
        "cells": _cells(BOARD_COLUMNS, board, board, _board_fields(board)),
        "verdict": display.board_verdict(board),
        "letters": display.letters(board.procedure),
        "target_text": display.target(board),
        "pairs": _pairs([*values], board.pairwise, values, level),
        "trials": {method: own for method, own in tuned.items() if own},
        "facts": [(name, label, _fact(getattr(board.facts, name))) for name, label in FACTS.items()],
        "rows": [_row(row, board, aucs) for row in board.rows],
    }
    return {name: _json(value) for name, value in (vars(board) | found).items()}


def _row(row: Row, board: Board, aucs: Sequence[float]) -> dict[str, Any]:
    """Cells and what is beside them, quartiles of at least five runs, and how dark its AUC is drawn."""
    finite = [auc for auc in row.aucs if math.isfinite(auc)]
    return {name: getattr(row, name) for name in BESIDE_CELLS} | {
        "cells": _cells(ROW_COLUMNS, row, board, row_fields(row, board)),
        "mean": display.mean(row.auc.value),
        "trouble": display.trouble(row),
        "shade": math.nan if math.isnan(row.auc.value) else (aucs.index(row.auc.value) + 1) / len(aucs),
        "box": np.quantile(finite, [0.25, 0.5, 0.75]) if len(finite) >= 5 else [],
    }


def _pairs(
    names: Sequence[str], pairwise: Mapping[tuple[str, str], float], values: Mapping[str, float], level: float
) -> list[list[tuple[str, str] | None]]:
    """Sign (+ better, - worse, empty: not significant) and p-value of all pairs, if any was tested."""

    def pair(one: str, other: str) -> tuple[str, str] | None:
        p = pairwise.get((one, other), math.nan)
        if math.isnan(p):
            return None
        difference = values.get(one, math.nan) - values.get(other, math.nan)
        sign = "" if p >= level or not abs(difference) > 0 else "+" if difference > 0 else "-"
        return sign, "< 0.001" if p < 0.001 else f"{p:.3f}"

    found = [[pair(one, other) for other in names] for one in names]
    return found if any(any(line) for line in found) else []


FACTS = {
    "rows": "Rows", "train_rows": "Training rows", "test_rows": "Test rows", "features": "Features",
    "positives": "Positives", "positive_share": "Share of positives", "positive": "Positive labels",
    "negative": "Negative labels", "format": "Format", "licence": "Licence", "citation": "Citation",
}  # fmt: skip


def _fact(value: Any) -> str:
    """A fact of the data as text, which is empty where it is not recorded."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return display.listed(value)
    if isinstance(value, float):
        return display.percent(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _board_fields(board: Board) -> dict[str, Any]:
    """What the table of data sets is sorted by, and shows."""
    lead = display.leader(board)
    return vars(board.facts) | {
        "dataset": board.dataset,
        "setting": board.setting,
        "leader": lead.method if lead else "",
        "auc": lead.auc.value if lead else math.nan,
        "tied": len(display.tied_with(lead, board)) if lead and lead.groups else None,
        "methods": len(board.rows),
        "lost": sum(count for row in board.rows for count, _ in row.gaps),
    }


BOARD_COLUMNS: tuple[Column[Board, Board], ...] = (
    Column("data", "Data set", "Follow the name for curves, runs and p-values", ("dataset",), left=True),
    Column("facts", "Rows", "Training and test rows of a run", ("rows",), form=_fact, reason=not_recorded),
    Column("features", "Features", "Of the data set", ("features",), form=_fact, reason=not_recorded),
    Column("positives", "Positives", "Share of the rows", ("positive_share",), form=_fact,
        reason=not_recorded),
    Column("leader", "Best", "The method with the highest mean test AUC", ("leader",), left=True),
    Column("auc", "AUC", "Mean test AUC of the best", ("auc",), form=display.mean),
    Column("near", "Tied with best", "Other methods not significantly worse", ("tied",), form=_fact,
        reason=lambda *_: "not compared"),
    Column("methods", "Methods", "Number of methods", ("methods",), form=_fact),
    Column("trouble", "Missing", "Diverged, failed and missing runs of all methods", ("lost",), form=_fact),
    Column("setting", "Setting", "Settings shared by all methods", ("setting",), left=True),
)  # fmt: skip


def _look(look: Look) -> dict[str, str]:
    """Marker and dashes, and the colour as it stands out from light and from dark paper."""
    colour = look.colour if re.fullmatch("#[0-9a-fA-F]{6}", look.colour) else GREY
    light, dark = _legible(colour, ink=0, paper=0.97), _legible(colour, ink=255, paper=0.01)
    return {"light": light, "dark": dark, "marker": look.marker, "dashes": look.dashes}


def _legible(colour: str, ink: int, paper: float) -> str:
    """The same hue, moved towards the ink until its contrast to the paper is 3."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    for _ in range(12):
        low, high = sorted((_luminance(parts), paper))
        if (high + 0.05) / (low + 0.05) >= 3:
            break
        parts = [round(part + 0.12 * (ink - part)) for part in parts]
    return "#" + "".join(f"{part:02x}" for part in parts)


def _luminance(parts: Sequence[int]) -> float:
    """Relative luminance of a colour (WCAG 2)."""
    linear = [part / 3294 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def _json(value: Any) -> Any:
    """As JSON knows it: null for NaN and infinity, few digits in curves; no mappings by pairs."""
    if isinstance(value, Curve):
        aucs = {name: [_auc(auc) for auc in getattr(value, name).tolist()] for name in ("auc", "low", "high")}
        return {"samples": _json(value.samples), "seconds": _json(value.seconds)} | aucs
    if is_dataclass(value):
        return {each.name: _json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: _json(each) for name, each in value.items() if isinstance(name, str)}
    if isinstance(value, display.TunedField):
        pairs = [
            [(each, float(f"{auc:.{DIGITS}g}")) for each, auc in own] for own in (value.points, value.best)
        ]
        return [value.name, value.numeric, *_json(pairs)]
    if isinstance(value, np.ndarray):
        return [float(f"{each:.{DIGITS}g}") if math.isfinite(each) else None for each in value.tolist()]
    if isinstance(value, list | tuple):
        return [_json(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _auc(value: float) -> float | None:
    """With as few digits as possible such that the browser's four decimals are those of Python."""
    if not math.isfinite(value):
        return None
    shown, rounded = display.mean(value), float(f"{value:.{DIGITS}g}")
    in_browser = Decimal(rounded).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return rounded if str(in_browser) == shown else float(shown)
