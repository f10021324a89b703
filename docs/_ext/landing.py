"""The numbers of the front page: what is installed, what was trained, and what was compared with papers."""

from dataclasses import fields
from pathlib import Path

import paper_tables
import reference_study

import aucbench
from aucbench.contracts.validation import Family
from aucbench.reports.papers import Verdict


def numbers() -> dict[str, int]:
    """How many methods and data sets there are, cells of the reference study, and cells of papers' tables."""
    plugins = aucbench.catalog().plugins
    verdicts = paper_tables.verdicts()
    # The others read the user's own files and addresses.
    sets = [
        each
        for each in plugins[Family.datasets].values()
        if "path" not in {field.name for field in fields(each.cls)}
    ]
    return {
        "methods": len(plugins[Family.algorithms]),
        "data sets": len(sets),
        "trainings in the reference study": sum(1 for _ in reference_study.archive(reference_study.ARCHIVE)),
        "published results compared": len(verdicts),
        "of these equal or better": len(verdicts) - verdicts.count(Verdict.worse),
    }


def write(folder: Path) -> None:
    """A list that the front page includes, set side by side by the style of the site."""
    items = "".join(f"- **{count:,}** {what}\n" for what, count in numbers().items())
    (folder / "numbers.inc").write_text(f":::{{container}} numbers\n{items}:::\n", encoding="utf-8")
