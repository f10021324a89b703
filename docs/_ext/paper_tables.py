"""Tables of papers beside our results, from the archives ``docs/results/TABLE*.zip``.

``python docs/_ext/paper_tables.py TABLE`` prints a table as on the page of reproduced results.
"""

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from aucbench.reports import papers
from aucbench.reports.cells import from_store, joined
from aucbench.reports.papers import Verdict
from aucbench.reports.views.text import table
from aucbench.studies.archives.archive_file import read

if TYPE_CHECKING:
    import pandas as pd

RESULTS = Path(__file__).resolve().parents[1] / "results"


@cache
def compared(name: str) -> "pd.DataFrame":
    """Verdicts on the rows of a table that were run; empty without an archive."""
    archives = [read(path)[1] for path in sorted(RESULTS.glob(f"{name}*.zip"))]
    frame = papers.compare(papers.TABLES[name], joined(from_store(archive) for archive in archives))
    return frame[frame["runs"] > 0]


def text(name: str) -> str:
    """The rows of a table, and the verdicts in a sentence."""
    frame = compared(name)
    if frame.empty:
        return "The archive of this table is not in this checkout."
    return "\n\n".join([table(papers.text_table(frame)), *papers.verdicts(frame)])


def verdicts() -> list[str]:
    """The verdict on each compared number (equal, better or worse), over all tables."""
    counted = {Verdict.equal, Verdict.better, Verdict.worse}
    return [verdict for name in papers.TABLES for verdict in compared(name)["verdict"] if verdict in counted]


def write(folder: Path) -> None:
    """Write each table, and the share of equal or better numbers, for the page to include."""
    for name in papers.TABLES:
        (folder / f"{name}.inc").write_text(f"{text(name)}\n", encoding="utf-8")
    labels = verdicts()
    worse = labels.count(Verdict.worse)
    share = f" ({1 - worse / len(labels):.0%})" if labels else ""
    total = (
        f"Of {len(labels)} published numbers that were compared, {len(labels) - worse}{share} are equal or "
        f"better here, and {worse} are worse.\n"
    )
    (folder / "papers_total.inc").write_text(total, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(text(name))
