"""The table of claimed and measured rates and costs, from the output of ``python -m studies.claims``."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from markdown import code, escaped, table

FILE = Path(__file__).parent.parent / "results" / "claims.json"
HEAD = (
    "method", "claimed rate", "measured exponent", "verdict", "claimed cost", "measured exponents", "verdict",
    "likely reason",
)  # fmt: skip


@cache
def _findings() -> dict[str, dict[str, Any]]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def write(folder: Path) -> None:
    """Write the table, with dates and machines of the measurements, into a folder."""
    rows = []
    for name, finding in _findings().items():
        rate, cost = finding["rate"], finding["cost"]
        parts = (rate["claimed"], rate["measured"] or "-", rate["verdict"])
        parts += (cost["claimed"], cost["measured"] or "-", cost["verdict"], _reasons(finding))
        rows.append((f"[`{name}`](generated/methods/{name}.md)", *(escaped(part) for part in parts)))
    conditions = sorted({_made(finding) for finding in _findings().values()})
    (folder / "claims.inc").write_text(
        f"{table(HEAD, rows)}\n\nMeasured {'; '.join(conditions)}.\n", encoding="utf-8"
    )


def facts(name: str) -> list[tuple[str, str]]:
    """Rows for the page of a method; empty if the method was not measured."""
    if (finding := _findings().get(name)) is None:
        return []
    rate, cost = finding["rate"], finding["cost"]
    rows = [
        ("measured rate", escaped(f"{rate['measured']}: {rate['verdict']}" if rate["measured"] else "")),
        ("measured cost", escaped(f"{cost['measured'] or 'none'}: {cost['verdict']}")),
        ("deviation from the claims", escaped(_reasons(finding))),
    ]
    origin = f"{code(f'python -m studies.claims {name}')} {_made(finding)}, see [claims](../../claims.md)"
    return [row for row in rows if row[1]] + [("measured by", origin)]


def _made(finding: dict[str, Any]) -> str:
    return f"on {finding['date']} with aucbench {finding['version']} ({escaped(finding['machine'])})"


def _reasons(finding: dict[str, Any]) -> str:
    settings = f"with {finding['settings']}" if finding["settings"] else ""
    return "; ".join(part for part in (settings, finding["rate"]["why"], finding["cost"]["why"]) if part)
