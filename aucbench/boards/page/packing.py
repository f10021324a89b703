"""The data of the page: a report with as many digits as anybody reads, safe inside a script element."""

import json
import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from aucbench.boards import texts
from aucbench.boards.report import Board, Interval, Report, Row, plain

DIGITS = 6  # significant ones, of curves and costs


def packed(report: Report) -> dict[str, Any]:
    """The report as JSON knows it: curves and costs rounded, trials as columns.

    AUCs, ranks and gains come with their texts, which are those of all other views (`shown`); their values,
    which only sort and place, are not rounded before.
    """
    found = _rounded(plain(report))
    assert isinstance(found, dict)
    for own, board in zip(found["boards"], report.boards, strict=True):
        own["trials"] = {method: _columns(trials) for method, trials in own["trials"].items()}
        own |= {"letters": texts.letters(board.procedure), "target_shown": texts.mean(board.target)}
        for line, row in zip(own["rows"], board.rows, strict=True):
            line |= {"auc": _interval(row.auc), "gain": _interval(row.gain), "shown": _shown(row, board)}
            if row.curve:
                line["curve"] |= {name: _aucs(getattr(row.curve, name)) for name in ("auc", "low", "high")}
    for own, overall in zip(found["overall"], report.overall, strict=True):
        own["letters"] = texts.letters(overall.procedure)
        if overall.friedman:
            own["friedman"]["shown"] = f"{overall.friedman['critical_difference']:.2f}"
        for name in ("ranks", "ranks_with_gaps"):
            for method, rank in getattr(overall, name).items():
                own[name][method] |= {"shown": texts.mean_rank(rank), "bounds": texts.interval(rank, 2)}
        for method, cost in overall.costs.items():
            own["costs"][method]["shown"] = texts.mean(cost.auc)
        own["gains_shown"] = {method: texts.overall_gain(overall, method) for method in overall.methods}
    return found


def _interval(value: Interval) -> dict[str, float | None]:
    return {name: each if math.isfinite(each) else None for name, each in vars(value).items()}


def _aucs(values: Iterable[float]) -> list[float | None]:
    """AUCs with as few digits as possible such that the browser's four decimals are those of Python."""
    return [_auc(float(value)) if math.isfinite(value) else None for value in values]


def _auc(value: float) -> float:
    shown, rounded = texts.mean(value), float(f"{value:.{DIGITS}g}")
    in_browser = Decimal(rounded).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return rounded if str(in_browser) == shown else float(shown)


def _shown(row: Row, board: Board) -> dict[str, str]:
    """What a row says in every view."""
    return {
        "rank": texts.rank(row.rank),
        "auc": texts.mean(row.auc.value),
        "std": texts.mean(row.std),
        "auc_std": texts.auc(row),
        "interval": texts.interval(row.auc),
        "gain": texts.row_gain(row, board),
        "trouble": texts.trouble(row),
    }


def embedded(data: Any) -> str:
    """JSON that no HTML parser mistakes for markup: a text ``</script>`` stays a text."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _columns(trials: list[dict[str, Any]]) -> dict[str, Any]:
    """Field names once, and per trial its values and AUC."""
    fields = list(dict.fromkeys(name for trial in trials for name in trial["parameters"]))
    return {
        "fields": fields,
        "values": [[trial["parameters"].get(name) for name in fields] for trial in trials],
        "auc": [trial["auc"] for trial in trials],
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e15 else float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return value
