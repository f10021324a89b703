"""The numbers of the front page: installed plugins, trainings, and comparisons with papers."""

from dataclasses import fields
from pathlib import Path

import paper_tables
import reference_study

import aucbench
from aucbench.contracts.validation import Family
from aucbench.reports.papers import Verdict


def numbers() -> dict[str, int]:
    """Numbers of methods, data sets, cells of the reference study, and compared cells of papers' tables."""
    plugins = aucbench.catalog().plugins
    verdicts = paper_tables.verdicts()
    # A plugin with a `path` reads a file or address of the user and is not counted.
    datasets = [
        dataset
        for dataset in plugins[Family.datasets].values()
        if "path" not in {field.name for field in fields(dataset.cls)}
    ]
    return {
        "methods": len(plugins[Family.algorithms]),
        "data sets": len(datasets),
        "trainings in the reference study": sum(1 for _ in reference_study.archive(reference_study.ARCHIVE)),
        "published results compared": len(verdicts),
        "of these equal or better": len(verdicts) - verdicts.count(Verdict.worse),
    }


def write(folder: Path) -> None:
    """Write the list for the front page; the style sheet of the site sets the items side by side."""
    items = "".join(f"- **{count:,}** {label}\n" for label, count in numbers().items())
    (folder / "numbers.inc").write_text(f":::{{container}} numbers\n{items}:::\n", encoding="utf-8")
