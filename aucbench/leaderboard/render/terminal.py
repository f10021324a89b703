"""A report in the terminal."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aucbench.leaderboard.render import display
from aucbench.leaderboard.render.columns import TextTable, board_table, overall_table
from aucbench.leaderboard.report import Report

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 200  # of a pipe, which has none of its own


def show(report: Report) -> None:
    """Print all boards, then the ranking across them."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    for board in report.boards:
        remarks = [display.target(board), *display.remarks(board)]
        _print(console, f"{board.dataset}: {board.setting}", board_table(report, board), remarks)
    for overall, title in zip(report.overall, display.group_titles(report), strict=True):
        if overall.boards > 1:
            title = f"all {overall.boards} boards, {title}"
            _print(console, title, overall_table(report, overall), display.overall_remarks(overall))
    console.print(display.cells(report))
    for note in report.notes:
        console.print(f"  {note}", style="dim")


def _print(console: "Console", title: str, table: TextTable, remarks: Sequence[str]) -> None:
    from rich.table import Table

    view = Table(title=display.line(title), title_justify="left")
    for place, (name, left) in enumerate(zip(table.head, table.left, strict=True)):
        if place == 0:
            view.add_column(name, overflow="fold")
        else:
            view.add_column(name, justify="left" if left else "right", no_wrap=True)
    for line in table.lines:
        view.add_row(*line)
    console.print(view)
    for remark in remarks:
        console.print(display.line(remark))
