"""A report in the terminal."""

from aucbench.boards import texts
from aucbench.boards.report import Board, Overall, Report

WIDTH = 200  # of a pipe, which has none of its own
COLUMNS = (
    "rank",
    "test AUC",
    "95 % interval",
    "groups",
    "w/t/l",
    "gain over {baseline}",
    "runs",
    "train s",
    "ns/iteration",
    "to target s",
)


def show(report: Report) -> None:
    """Print all boards, then the ranking across them."""
    import sys

    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDTH
    console = Console(markup=False, highlight=False, width=width)
    for board in report.boards:
        _show_board(console, board, report.baseline)
    for overall, title in zip(report.overall, texts.group_titles(report), strict=True):
        if overall.boards > 1:
            _show_overall(console, overall, title, report.baseline)
    console.print(texts.cells(report))
    for note in report.notes:
        console.print(f"  {note}", style="dim")


def _show_board(console: "object", board: Board, baseline: str) -> None:
    from rich.table import Table

    view = Table(title=texts.line(f"{board.dataset}: {board.setting}"), title_justify="left")
    view.add_column("method", overflow="fold")
    for name in COLUMNS:
        view.add_column(name.format(baseline=texts.line(baseline)), justify="right", no_wrap=True)
    for row in board.rows:
        view.add_row(
            texts.line(row.method) + ("*" if row.exempt else ""),
            texts.rank(row.rank),
            texts.auc(row),
            texts.interval(row.auc),
            row.groups,
            texts.verdicts(row),
            texts.row_gain(row, board),
            texts.runs(row),
            texts.number(row.train_seconds) + ("†" if row.timing_mark else ""),
            texts.number(row.ns_per_iteration) + ("†" if row.timing_mark else ""),
            texts.number(row.target_seconds),
        )
    console.print(view)  # type: ignore[attr-defined]
    for remark in [texts.target(board), *texts.remarks(board)]:
        console.print(texts.line(remark))  # type: ignore[attr-defined]


def _show_overall(console: "object", overall: Overall, title: str, baseline: str) -> None:
    from rich.table import Table

    view = Table(title=texts.line(f"all {overall.boards} boards, {title}"), title_justify="left")
    view.add_column("method", overflow="fold")
    gain = f"mean gain over {texts.line(baseline)}"
    for name in ("mean rank", "95 % interval", "rank on available data sets", "groups", "w/t/l", gain):
        view.add_column(name, justify="right", no_wrap=True)
    for method in overall.methods:
        rank, gaps = overall.ranks.get(method), overall.ranks_with_gaps.get(method)
        view.add_row(
            texts.line(method),
            texts.mean_rank(rank),
            texts.NONE if rank is None else texts.interval(rank, 2),
            texts.mean_rank(gaps),
            overall.groups.get(method, ""),
            f"{overall.wins.get(method, 0)}/{overall.ties.get(method, 0)}/{overall.losses.get(method, 0)}",
            texts.overall_gain(overall, method),
        )
    console.print(view)  # type: ignore[attr-defined]
    for remark in texts.overall_remarks(overall):
        console.print(texts.line(remark))  # type: ignore[attr-defined]
