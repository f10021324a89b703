"""The data of the page: a report with as many digits as anybody reads, safe inside a script element."""

import json
from typing import Any

from aucbench.boards.report import Report, plain

DIGITS = 6  # significant ones: AUC is shown with four decimals


def packed(report: Report) -> dict[str, Any]:
    """The report as JSON knows it, with rounded numbers and trials as columns."""
    found = _rounded(plain(report))
    for board in found["boards"]:
        board["trials"] = {method: _columns(trials) for method, trials in board["trials"].items()}
    assert isinstance(found, dict)
    return found


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
