"""The table of claimed and measured rates and costs, which ``python -m studies.claims`` wrote."""

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
    """Write the table, and when and where it was measured, into a folder."""
    rows = []
    for name, found in _findings().items():
        rate, cost = found["rate"], found["cost"]
        parts = (rate["claimed"], rate["measured"] or "-", rate["verdict"])
        parts += (cost["claimed"], cost["measured"] or "-", cost["verdict"], _reasons(found))
        rows.append((f"[`{name}`](generated/methods/{name}.md)", *(escaped(part) for part in parts)))
    made = sorted({_made(found) for found in _findings().values()})
    (folder / "claims.inc").write_text(
        f"{table(HEAD, rows)}\n\nMeasured {'; '.join(made)}.\n", encoding="utf-8"
    )


def facts(name: str) -> list[tuple[str, str]]:
    """Rows for the page of a method; none for one that was not measured."""
    if (found := _findings().get(name)) is None:
        return []
    rate, cost = found["rate"], found["cost"]
    rows = [
        ("measured rate", escaped(f"{rate['measured']}: {rate['verdict']}" if rate["measured"] else "")),
        ("measured cost", escaped(f"{cost['measured'] or 'none'}: {cost['verdict']}")),
        ("deviation from the claims", escaped(_reasons(found))),
    ]
    made = f"{code(f'python -m studies.claims {name}')} {_made(found)}, see [claims](../../claims.md)"
    return [row for row in rows if row[1]] + [("measured by", made)]


def _made(found: dict[str, Any]) -> str:
    return f"on {found['date']} with aucbench {found['version']} ({escaped(found['machine'])})"


def _reasons(found: dict[str, Any]) -> str:
    settings = f"with {found['settings']}" if found["settings"] else ""
    return "; ".join(part for part in (settings, found["rate"]["why"], found["cost"]["why"]) if part)
