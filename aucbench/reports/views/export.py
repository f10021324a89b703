"""Export of a report to a folder: frames as Parquet and CSV, Markdown, LaTeX and the page."""

from pathlib import Path

from aucbench.reports.report import OF_METHODS, Report
from aucbench.reports.views.latex import BIBLIOGRAPHY, bibtex, latex
from aucbench.reports.views.page import page
from aucbench.reports.views.text import markdown

PAGE = "leaderboard.html"
FRAMES = ("data_sets", *OF_METHODS)
TABLES = ("results", "verdicts")  # also written as CSV


def write(report: Report, folder: Path, quoted: Report | None = None) -> list[Path]:
    """Write frames, documents and the page; returns the files.

    LaTeX, which is meant for papers, shows only `quoted`, a part of the report, if it is set.
    """
    quoted = quoted or report
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in FRAMES:
        files.append(folder / f"{name}.parquet")
        getattr(report, name).to_parquet(files[-1], index=False)
    for name in TABLES:
        files.append(folder / f"{name}.csv")
        getattr(report, name).map(_no_formula).to_csv(files[-1], index=False)
    documents = {"leaderboard.md": markdown(report), "leaderboard.tex": latex(quoted), PAGE: page(report)}
    for name, text in (documents | {BIBLIOGRAPHY: bibtex(quoted)}).items():
        files.append(folder / name)
        files[-1].write_text(text, encoding="utf-8", newline="\n")
    return files


def _no_formula(value: object) -> object:
    """A value for CSV: text that a spreadsheet would evaluate gets a leading quote."""
    return f"'{value}" if isinstance(value, str) and value.startswith(tuple("=+-@\t\r")) else value
