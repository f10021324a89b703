"""A report in the terminal."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aucbench.reports.render import display
from aucbench.reports.render.columns import TextTable, board_table, overall_table
from aucbench.reports.report import Report

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 200  # of a pipe, which has none of its own
FRAME = 3  # characters around the text of a column
SHORTEST = 12  # characters that a name is folded to at most


def show(report: Report) -> None:
    """Print all boards, then the ranking across them."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    others = [f"Test {measure.symbol}" for measure in report.others]
    for board in report.boards:
        remarks = [display.target(board), *display.remarks(board)]
        _print(console, f"{board.dataset}: {board.setting}", board_table(report, board), remarks, others)
    for (overall, boards), kind in zip(report.groups(), display.group_titles(report), strict=True):
        if overall.boards > 1:
            title = f"all {overall.boards} boards, {kind}"
            _print(console, title, overall_table(report, overall), display.overall_remarks(overall, boards))
    console.print(display.cells(report))
    for note in report.notes:
        console.print(f"  {note}", style="dim")


def show_best(report: Report, most: int = 10) -> None:
    """Print the ranking of a sweep: over its data sets, or of its one data set, at most so many methods."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    for (overall, boards), kind in zip(report.groups(), display.group_titles(report), strict=True):
        if overall.boards > 1:
            rank = "gapped" if overall.incomplete else "rank"
            table = overall_table(report, overall, ("method", rank, "gain"))
            where = f"{overall.boards} data sets"
            remarks = [display.gains(overall), *display.gaps(overall, boards)]
        else:
            table = board_table(report, boards[0], ("method", "rank", "auc", "gain"))
            where, remarks = boards[0].dataset, [display.gains(boards[0])]
        found = len(table.lines)
        first = f", the first {most}" if found > most else ""
        title = f"{found} methods on {where}, {kind}{first}"
        _print(console, title, table._replace(lines=table.lines[:most]), filter(None, remarks))


def show_table(title: str, table: TextTable, remarks: Sequence[str] = ()) -> None:
    """Print a table whose first column are names, in parts where the terminal is narrow, and remarks."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    _print(console, title, table, remarks)


def _print(
    console: "Console", title: str, table: TextTable, remarks: Iterable[str], others: Sequence[str] = ()
) -> None:
    """Print a table; columns that the width has no room for, those called `others` first, follow in more."""
    from rich.table import Table

    names, parts = _parts(table, console.width, others)
    for number, columns in enumerate(parts):
        view = Table(title=display.line(title) if title and number == 0 else None, title_justify="left")
        for at in columns:
            if at == 0:
                view.add_column(table.head[0], overflow="fold", width=names)
            else:
                view.add_column(table.head[at], justify="left" if table.left[at] else "right", no_wrap=True)
        for line in table.lines:
            view.add_row(*(line[at] for at in columns))
        console.print(view)
    for remark in remarks:
        console.print(display.line(remark))


def _parts(table: TextTable, width: int, others: Sequence[str]) -> tuple[int, list[list[int]]]:
    """The width of the names, and the columns of each table: names in all, rank and value in the first."""
    from rich.cells import cell_len

    names, *widths = (
        FRAME + max(map(cell_len, column)) for column in zip(table.head, *table.lines, strict=True)
    )
    room = width - 1 - max(sum(widths[:2]), *widths)
    names = max(min(names, room), FRAME + SHORTEST)
    columns = list(range(1, len(table.head)))
    if 1 + names + sum(widths) > width:
        columns.sort(key=lambda at: table.head[at] in others)
    parts, left = [[0]], width - 1 - names
    for place, at in enumerate(columns):
        if widths[at - 1] > left and place > 1:
            parts.append([0])
            left = width - 1 - names
        parts[-1].append(at)
        left -= widths[at - 1]
    return names - FRAME, parts
