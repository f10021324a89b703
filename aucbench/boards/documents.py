"""A report as Markdown: tables of every board and of all of them."""

import math
from collections.abc import Sequence

from aucbench.boards import texts
from aucbench.boards.report import Board, Overall, Report, Row

MARKUP = "\\|*_<>`[]#~$&"


def markdown(report: Report) -> str:
    """Tables of every board and of all of them, with how they were made."""
    lines = [f"# {plain(report.title)}", "", _origin(report), ""]
    for (overall, boards), title in zip(report.groups(), texts.group_titles(report), strict=True):
        if overall.boards > 1:
            lines += _overall(overall, title, report.baseline)
        for board in boards:
            lines += _board(board, report.baseline)
    lines += [f"- {plain(note)}" for note in report.notes]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Text in one line, in which Markdown sees no markup and a table no column."""
    return "".join(f"\\{letter}" if letter in MARKUP else letter for letter in texts.line(text))


def is_best(row: Row, board: Board) -> bool:
    """Whether it is ranked, and first or not significantly different from the first by the board's tests."""
    first = board.rows[0]
    if math.isnan(row.rank) or math.isnan(first.rank):
        return False
    return row.rank == first.rank or bool(set(row.groups) & set(first.groups))


def _origin(report: Report) -> str:
    return plain(f"aucbench {report.version}, {report.made}, {report.machines}; {texts.cells(report)}.")


def _overall(overall: Overall, title: str, baseline: str) -> list[str]:
    head = (
        "method", "mean rank", "95 % interval", "rank on available data sets", "groups", "w/t/l",
        f"mean gain over {plain(baseline)}",
    )  # fmt: skip
    rows = []
    for method in overall.methods:
        rank, gaps = overall.ranks.get(method), overall.ranks_with_gaps.get(method)
        counts = (counts.get(method, 0) for counts in (overall.wins, overall.ties, overall.losses))
        rows.append(
            [
                plain(method),
                texts.mean_rank(rank),
                texts.NONE if rank is None else texts.interval(rank, 2),
                texts.mean_rank(gaps),
                overall.groups.get(method, ""),
                "/".join(map(str, counts)),
                texts.overall_gain(overall, method),
            ]
        )
    return [
        f"## All {overall.boards} boards, {plain(title)}",
        "",
        *_table(head, rows),
        "",
        *(f"- {plain(remark)}" for remark in texts.overall_remarks(overall)),
        "",
    ]


def _board(board: Board, baseline: str) -> list[str]:
    head = (
        "method", "rank", "test AUC", "95 % interval", "groups", "w/t/l", f"gain over {plain(baseline)}",
        "runs", "train s", "ns/iteration",
    )  # fmt: skip
    rows = []
    for row in board.rows:
        mark = "†" if row.timing_mark else ""
        name = f"**{plain(row.method)}**" if is_best(row, board) else plain(row.method)
        rows.append(
            [
                name + ("\\*" if row.exempt else ""),
                texts.rank(row.rank),
                texts.auc(row),
                texts.interval(row.auc),
                row.groups,
                texts.verdicts(row),
                texts.row_gain(row, board),
                texts.runs(row),
                texts.number(row.train_seconds) + mark,
                texts.number(row.ns_per_iteration) + mark,
            ]
        )
    ends = [plain(f"{texts.target(board)}."), *map(plain, texts.remarks(board))]
    return [
        f"## {plain(board.dataset)}",
        "",
        plain(board.setting),
        "",
        *_table(head, rows),
        "",
        *(line for end in ends for line in (end, "")),
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Texts to the left, numbers to the right."""
    left = ("method", "groups", "runs")
    lines = [head, ["---" if name in left else "---:" for name in head], *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
