"""A report as Markdown: tables of every board and of all of them."""

from aucbench.reports.render import display, leaders
from aucbench.reports.render.columns import TextTable, board_table, overall_table
from aucbench.reports.report import Report

MARKUP = "\\|*_<>`[]#~$&"


def markdown(report: Report) -> str:
    """Tables of every board and of all of them, with how they were made."""
    origin = f"aucbench {report.version}, {report.made}, {report.machines}; {display.cells(report)}."
    blocks = [f"# {plain(report.title)}", plain(origin)]
    for (overall, boards), title in zip(report.groups(), display.group_titles(report), strict=True):
        if overall.boards > 1:
            remarks = [f"- {plain(remark)}" for remark in display.overall_remarks(overall, boards)]
            blocks += [
                f"## All {overall.boards} boards, {plain(title)}",
                table(overall_table(report, overall)),
                "\n".join(remarks),
            ]
        for board in boards:
            blocks += [
                f"## {plain(board.dataset)}",
                plain(board.setting),
                table(board_table(report, board), [leaders.is_best(row, board) for row in board.rows]),
                plain(f"{display.target(board)}."),
                *map(plain, display.remarks(board)),
            ]
    blocks.append("\n".join(f"- {plain(note)}" for note in report.notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def plain(text: str) -> str:
    """Text in one line, in which Markdown sees no markup and a table no column."""
    return "".join(f"\\{letter}" if letter in MARKUP else letter for letter in display.line(text))


def table(content: TextTable, bold: list[bool] | None = None) -> str:
    """Texts to the left, numbers to the right; the first cell of bold lines is bold."""
    lines = [[plain(text) for text in line] for line in content.lines]
    for line, strong in zip(lines, bold or [], strict=bold is not None):
        line[0] = f"**{line[0]}**" if strong else line[0]
    rule = ["---" if left else "---:" for left in content.left]
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(map(plain, content.head)), rule, *lines])
