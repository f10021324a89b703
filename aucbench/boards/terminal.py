"""A report in the terminal."""

from aucbench.boards import texts
from aucbench.boards.report import Board, Overall, Report

COLUMNS = (
    "rank",
    "test AUC",
    "95 % interval",
    "groups",
    "w/t/l",
    "runs",
    "train s",
    "ns/iteration",
    "to target s",
)


def show(report: Report) -> None:
    """Print all boards, then the ranking across them."""
    import sys

    from rich.console import Console

    width = None if sys.stdout.isatty() else 160  # a pipe has no width; do not cut at 80
    console = Console(markup=False, highlight=False, width=width)
    for board in report.boards:
        _show_board(console, board)
    for overall in report.overall:
        if overall.boards > 1:
            _show_overall(console, overall)
    console.print(f"{report.done} cells done, {report.failed} failed, {report.missing} missing")
    for note in report.notes:
        console.print(f"  {note}", style="dim")


def _show_board(console: "object", board: Board) -> None:
    from rich.table import Table

    view = Table(title=f"{board.dataset}: {board.setting}", title_justify="left")
    view.add_column("method", overflow="fold")
    for name in COLUMNS:
        view.add_column(name, justify="right", no_wrap=True)
    for row in board.rows:
        view.add_row(
            row.method + ("*" if row.exempt else ""),
            texts.rank(row.rank),
            texts.auc(row),
            texts.interval(row.auc),
            row.groups,
            texts.verdicts(row),
            texts.runs(row),
            texts.number(row.train_seconds) + ("†" if row.timing_mark else ""),
            texts.number(row.ns_per_iteration) + ("†" if row.timing_mark else ""),
            texts.number(row.target_seconds),
        )
    console.print(view)  # type: ignore[attr-defined]
    console.print(f"target: AUC {board.target:.4f}, {board.target_text}")  # type: ignore[attr-defined]
    for remark in _remarks(board):
        console.print(remark)  # type: ignore[attr-defined]


def _remarks(board: Board) -> list[str]:
    marked = sorted({f"† {row.timing_mark}" for row in board.rows if row.timing_mark})
    exempt = sorted(
        {f"* {row.method} is exempt from checks: {row.exempt}" for row in board.rows if row.exempt}
    )
    return marked + exempt


def _show_overall(console: "object", overall: Overall) -> None:
    from rich.table import Table

    kind = "tuned" if overall.tuned else "not tuned"
    view = Table(title=f"all {overall.boards} boards, {kind}", title_justify="left")
    view.add_column("method", overflow="fold")
    for name in ("mean rank", "95 % interval", "rank with gaps", "groups", "w/t/l"):
        view.add_column(name, justify="right", no_wrap=True)
    for method in overall.methods:
        rank, gaps = overall.ranks.get(method), overall.ranks_with_gaps.get(method)
        view.add_row(
            method,
            texts.NONE if rank is None else f"{rank.value:.2f}",
            texts.NONE if rank is None else texts.interval(rank, 2),
            texts.NONE if gaps is None else f"{gaps.value:.2f}",
            overall.groups.get(method, ""),
            f"{overall.wins.get(method, 0)}/{overall.ties.get(method, 0)}/{overall.losses.get(method, 0)}",
        )
    console.print(view)  # type: ignore[attr-defined]
    console.print(overall.friedman_text)  # type: ignore[attr-defined]
    for method, names in overall.incomplete.items():
        console.print(f"{method} has gaps on {', '.join(names)}")  # type: ignore[attr-defined]
