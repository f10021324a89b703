"""Data for the script of the page: a report with its texts, comparisons and the points of its pictures."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

from aucbench.reports.render import display, leaders
from aucbench.reports.render.columns import (
    METHOD_COLUMNS,
    Column,
    Item,
    Whole,
    method_fields,
    not_recorded,
    of_measure,
    row_columns,
    row_fields,
)  # fmt: skip
from aucbench.reports.report import Board, Curve, Estimate, MeasureText, Overall, Report, Row
from aucbench.reports.statistics.gap_to_best import FLOOR
from aucbench.reports.statistics.time_to_target import FRACTIONS, TARGET

DIGITS = 6  # significant ones, of curves and trials
BESIDE_CELLS = (
    "method",
    "algorithm",
    "auc",
    "aucs",
    "curve",
    "timing_mark",
    "linear",
    "exempt",
    "edges",
    "advice",
    "suboptimality",
    "train_seconds",
    "on_front",
)
SHARED = {
    "setting",
    "procedure",
    "positive",
    "objective",
    "suboptimality_reason",
    "baseline",
    "advice",
    "target",
}
Cells = dict[str, tuple[Any, ...]]


def packed(report: Report) -> dict[str, Any]:
    """The report as JSON knows it, and what the script would otherwise compute.

    Each group, board and row has its fields in the report, with null for NaN and infinity, and what the
    functions below add to them. A cell of a table is its text, the number it is sorted by (null: by the
    text) and, where there is nothing, the reason.
    """
    found = {name: _json(value) for name, value in vars(report).items() if name not in ("boards", "overall")}
    groups: list[dict[str, Any]] = []
    columns = row_columns(report)
    for (overall, boards), title in zip(report.groups(), display.group_titles(report), strict=True):
        kind = "tuned" if overall.tuned else "untuned"
        alike = sum(group["tuned"] == overall.tuned for group in groups)
        groups.append(
            _json(replace(overall, reached={}, reached_auc={}))
            | {"key": f"{kind}-{alike + 1}" if alike else kind, "title": title}
            | _json(_of_group(overall, boards, report.level))
            | {"boards": [_board(board, report.level, columns) for board in boards]}
        )
    groups.sort(key=lambda group: not group["tuned"])
    _name_boards(groups)
    return found | {
        "floor": FLOOR,
        "exempt": display.EXEMPT,
        "fractions": FRACTIONS,
        "target": TARGET,
        "groups": groups,
        "row_columns": _columns(report, columns),
        "board_columns": _columns(report, [of_measure(column, report) for column in BOARD_COLUMNS]),
        "method_columns": _columns(report, METHOD_COLUMNS),
        "looks": {
            name: {"light": look.colour, "dark": look.dark, "marker": look.marker, "dashes": look.dashes}
            for name, look in report.looks.items()
        },
    }


def _name_boards(groups: Iterable[dict[str, Any]]) -> None:
    """Name each board in addresses by its data set, and by its group where that is taken."""
    taken: set[str] = set()
    for group in groups:
        for board in group["boards"]:
            words = re.sub(r"[^\w.+-]+", "-", board["dataset"]).strip("-") or "data"
            tried = [words, f"{words}-{group['key']}"]
            tried += [f"{words}-{group['key']}-{number}" for number in range(2, len(taken) + 3)]
            board["slug"] = next(each for each in tried if each not in taken)
            taken.add(board["slug"])


def _columns(report: Report, columns: Iterable[Column[Any, Any]]) -> list[dict[str, Any]]:
    return [
        {name: getattr(column, name) for name in ("key", "left", "descending", "timed", "usual")}
        | {"fields": _exported(column), "leads": _leads(column)}
        | {"label": column.heading(report), "hint": column.hint.format(baseline=report.baseline)}
        for column in columns
    ]


def _cells(
    columns: Iterable[Column[Item, Whole]], item: Item, whole: Whole, found: Mapping[str, Any]
) -> Cells:
    cells = {}
    for column in columns:
        more = [found.get(name) for name in _exported(column)[_leads(column) :]]
        text = column.shown(item, whole, found)
        # A method that was not measured in all runs has no field of that measure.
        order = None if column.left else found.get(column.order or column.fields[0])
        cells[column.key] = (text, order, column.reason(item, whole) if text == display.NONE else "", *more)
    return cells


def _exported(column: Column[Any, Any]) -> list[str]:
    """The fields of a column in the CSV of the page, without texts that all rows share."""
    return [name for name in column.fields if name not in SHARED]


def _leads(column: Column[Any, Any]) -> bool:
    """Whether the first of them is what the column is sorted by or, in a column of text, shows."""
    return column.left or column.order in ("", column.fields[0])


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
    reached = {"": overall.reached_auc, "suboptimality": overall.reached}
    return {
        "lines": lines,
        "verdict": leaders.overall_verdict(overall, level),
        "ties": display.ties(overall.procedure),
        "pairs": _pairs(
            overall.methods, overall.pairwise, {name: -rank.value for name, rank in ranks.items()}, level
        ),
        "profile": [
            (method, *steps)
            for (method, *_), steps in zip(
                overall.profile.items(), _steps(list(overall.profile.values()), 1.0), strict=True
            )
        ],
        "reached": {
            measure: {cost: _reached(own, overall.methods) for cost, own in by_cost.items()}
            for measure, by_cost in reached.items()
            if by_cost
        },
        "costs": [(name, cost, display.mean(cost.auc)) for name, cost in overall.costs.items()],
        "places": places,
    }


def _reached(
    found: Mapping[str, tuple[np.ndarray, np.ndarray, int]], order: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Method, cost, share and number of data sets of each method, in the given order."""
    methods = [method for method in order if method in found] or list(found)
    costs = np.concatenate([found[method][0] for method in methods])
    start = min(costs[costs > 0], default=1.0) / 1.25
    steps = _steps([found[method][:2] for method in methods], start)
    return [(method, *own, found[method][2]) for method, own in zip(methods, steps, strict=True)]


def _steps(
    curves: Sequence[tuple[np.ndarray, np.ndarray]], start: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Where shares change: (at, share) from a common start to a common end beyond the last change."""
    if not curves:
        return []
    kept = []
    for at, share in curves:
        changes = np.flatnonzero(np.diff(share, prepend=0.0))
        kept.append((np.maximum(at[changes], start), share[changes]))
    end = 1.25 * max([start, *(float(at[-1]) for at, _ in kept if len(at))])
    found = []
    for at, share in kept:
        last = share[-1] if len(at) else 0.0
        found.append((np.concatenate([[start], at, [end]]), np.concatenate([[0.0], share, [last]])))
    return found


def _board(board: Board, level: float, columns: Sequence[Column[Row, Board]]) -> dict[str, Any]:
    """Its rows, the verdict, the pairs (in the order of the rows), what was tuned, and the facts as texts."""
    values = {row.method: row.auc.value for row in board.rows}
    aucs = sorted({value for value in values.values() if not math.isnan(value)})
    tuned = {method: display.tuned_fields(trials) for method, trials in sorted(board.trials.items())}
    found = {
        "cells": _cells(BOARD_COLUMNS, board, board, _board_fields(board)),
        "verdict": leaders.board_verdict(board),
        "ties": display.ties(board.procedure),
        "target_gap": max(board.best - board.target, FLOOR),
        "target_text": display.target(board),
        "pairs": _pairs([*values], board.pairwise, values, level),
        "trials": {method: own for method, own in tuned.items() if own},
        "facts": [(name, label, _fact(getattr(board.facts, name))) for name, label in FACTS.items()],
        "rows": [_row(row, board, columns, aucs) for row in board.rows],
        "objectives": display.objectives(board),
        "summary": board.facts.summary,
        "search": f"{board.facts.summary} {board.facts.citation}",
        "links": board.facts.links,
    }
    return {name: _json(value) for name, value in (vars(board) | found).items()}


def _row(
    row: Row, board: Board, columns: Sequence[Column[Row, Board]], aucs: Sequence[float]
) -> dict[str, Any]:
    """Cells and what is beside them, quartiles of at least five runs, and how dark its AUC is drawn."""
    finite = [auc for auc in row.aucs if math.isfinite(auc)]
    return {name: getattr(row, name) for name in BESIDE_CELLS} | {
        "cells": _cells(columns, row, board, row_fields(row, board)),
        "mean": display.mean(row.auc.value),
        "trouble": display.trouble(row),
        "shade": math.nan if math.isnan(row.auc.value) else (aucs.index(row.auc.value) + 1) / len(aucs),
        "box": np.quantile(finite, [0.25, 0.5, 0.75]) if len(finite) >= 5 else [],
    }


def _pairs(
    names: Sequence[str], pairwise: Mapping[tuple[str, str], float], values: Mapping[str, float], level: float
) -> list[list[tuple[str, str, float] | None]]:
    """Sign (+ better, - worse, empty: no evidence), p-value as text and number of all tested pairs."""

    def pair(one: str, other: str) -> tuple[str, str, float] | None:
        p = pairwise.get((one, other), math.nan)
        if math.isnan(p):
            return None
        difference = values.get(one, math.nan) - values.get(other, math.nan)
        sign = "" if p >= level or not abs(difference) > 0 else "+" if difference > 0 else "-"
        return sign, "< 0.001" if p < 0.001 else f"{p:.3f}", p

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
    best = leaders.leader(board)
    return vars(board.facts) | {
        "dataset": board.dataset,
        "setting": board.setting,
        "leader": best.method if best else "",
        "auc": best.auc.value if best else math.nan,
        "tied": len(leaders.tied_with(best, board)) if best and best.groups else None,
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


def _json(value: Any) -> Any:
    """As JSON knows it: null for NaN and infinity, few digits in curves; no mappings by pairs."""
    if isinstance(value, Curve):
        aucs = {"auc": [_auc(auc) for auc in value.auc.tolist()], "gap": _json(_rounded(value.gap, 3))}
        aucs |= {name: [_auc(auc, 4) for auc in getattr(value, name).tolist()] for name in ("low", "high")}
        others = {name: [_auc(each) for each in own.tolist()] for name, own in value.others.items()}
        names = ("samples", "seconds", "passes", "suboptimality")
        return {name: _json(getattr(value, name)) for name in names} | {"others": others} | aucs
    if isinstance(value, MeasureText | display.ObjectiveText):
        return value._asdict()
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


def _rounded(values: np.ndarray | None, digits: int) -> list[float] | None:
    return None if values is None else [float(f"{each:.{digits}g}") for each in values.tolist()]


def _auc(value: float, digits: int = DIGITS) -> float | None:
    """With as few digits as possible such that the browser's four decimals are those of Python."""
    if not math.isfinite(value):
        return None
    shown, rounded = display.mean(value), float(f"{value:.{digits}g}")
    in_browser = Decimal(rounded).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return rounded if str(in_browser) == shown else float(shown)
