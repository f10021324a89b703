"""Writing a report to a folder, in every form."""

from collections.abc import Sequence
from pathlib import Path

from aucbench.boards import documents, latex, tables
from aucbench.boards.collecting import Cell
from aucbench.boards.page import write_page
from aucbench.boards.pictures import draw_all
from aucbench.boards.report import Report

PAGE = "leaderboard.html"


def write(report: Report, cells: Sequence[Cell], folder: Path, pictures: bool = True) -> list[Path]:
    """Write tables, documents, the page and, if wanted, the pictures; returns the files.

    Parameters
    ----------
    report : Report
        What is written.
    cells : sequence of Cell
        From which it was made: written as they are, so that numbers can be computed again.
    folder : Path
        Made where there is none.
    pictures : bool
        Drawing takes seconds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    board, overall = tables.board_table(report), tables.overall_table(report)
    board.to_csv(folder / "leaderboard.csv", index=False)
    overall.to_csv(folder / "overall.csv", index=False)
    board.to_parquet(folder / "leaderboard.parquet", index=False)
    tables.cell_table(cells, report.one_study).to_parquet(folder / "cells.parquet", index=False)
    (folder / "leaderboard.md").write_text(documents.markdown(report), encoding="utf-8")
    (folder / "leaderboard.tex").write_text(latex.latex(report), encoding="utf-8")
    write_page(report, folder / PAGE)
    drawn = draw_all(report, folder / "pictures") if pictures else []
    names = ("leaderboard.csv", "overall.csv", "leaderboard.parquet", "cells.parquet", "leaderboard.md")
    return [folder / name for name in (*names, "leaderboard.tex", PAGE)] + drawn
