"""The table of claimed and measured rates and costs, from the stored results of ``aucbench claims``."""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from markdown import code, escaped, table

import aucbench

FOLDER = Path(__file__).parent.parent / "results"
HEAD = (
    "method", "claimed rate", "measured exponent", "verdict", "claimed cost", "measured exponents", "verdict",
    "likely reason",
)  # fmt: skip


@cache
def _files() -> list[dict[str, Any]]:
    """The results of all methods, and of methods that were measured again: claims_NAME.json."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("claims*.json"))]


@cache
def _results() -> dict[str, dict[str, Any]]:
    """Of each method the latest, with the command that made it."""
    found = {
        each["method"]: {**each, "command": file["command"]} for file in _files() for each in file["methods"]
    }
    return dict(sorted(found.items()))


@cache
def _reasons() -> dict[str, dict[str, str]]:
    return tomllib.loads((FOLDER / "claims_reasons.toml").read_text(encoding="utf-8"))


def write(folder: Path) -> None:
    """Write the table, and how it was made, into a folder."""
    rows = [(f"[`{name}`](generated/methods/{name}.md)", *_cells(each)) for name, each in _results().items()]
    made = "".join(
        f"Made by `{file['command']}` in {file['seconds'] / 60.0:.0f} minutes on two cores of a machine that "
        f"was shared ({escaped(file['machine'])}).\n"
        for file in _files()
    )
    (folder / "claims.inc").write_text(table(HEAD, rows) + f"\n\n{made}", encoding="utf-8")


def facts(name: str) -> list[tuple[str, str]]:
    """Rows for the page of a method; none for one that was not measured."""
    if (found := _results().get(name)) is None:
        return []
    _, rate, rate_verdict, _, cost, cost_verdict, reason = _cells(found)
    rows = [("measured rate", f"{rate}: {rate_verdict}" if rate != "-" else "")]
    rows.append(("measured cost", f"{cost}: {cost_verdict}"))
    rows.append(("deviation from the claims", reason))
    made = f"{code(found['command'])}, see [claims](../../claims.md)"
    return [row for row in rows if row[1]] + [("measured by", made)]


def _cells(found: dict[str, Any]) -> tuple[str, ...]:
    rate, cost = found["rate"], found["cost"]
    reasons = _reasons().get(found["method"], {})
    settings = ", ".join(f"{name}={value}" for name, value in found["settings"].items())
    why = [
        f"with {settings}" if settings else "",
        reasons.get("rate") or (rate or {}).get("why", "") if _differs(rate) else "",
        reasons.get("cost") or cost["why"] if _differs(cost) else "",
    ]
    exponents = ", ".join(f"{each['variable']} {_interval(each['measured'])}" for each in cost["exponents"])
    claims = aucbench.catalog().algorithm(found["method"]).claims
    return (
        escaped(claims.rate),
        escaped(_measured(rate)) if rate else "-",
        rate["verdict"] if rate else "none claimed" if claims.rate == "none" else "no objective",
        escaped(cost["claimed"]),
        escaped(exponents),
        cost["verdict"],
        escaped("; ".join(part for part in why if part)),
    )


def _differs(finding: dict[str, Any] | None) -> bool:
    return finding is not None and finding["verdict"] != "holds"


def _measured(rate: dict[str, Any]) -> str:
    if rate["measured"] is None:
        return "none"
    if rate["claimed"] == "exact":
        return f"{rate['measured'][0]:.0e} after one iteration"
    sign = "" if rate["quantity"].startswith("exponent") else "p = "
    return sign + _interval(rate["measured"])


def _interval(numbers: list[float]) -> str:
    estimate, low, high = numbers
    return f"{estimate:.2f} [{low:.2f}, {high:.2f}]"
