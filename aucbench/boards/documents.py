"""A report as Markdown and as LaTeX: one table of test AUC a kind of board, ready to be quoted."""

import math

from aucbench.boards import texts
from aucbench.boards.report import Board, Overall, Report, Row

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip


def markdown(report: Report) -> str:
    """Tables of every board and of all of them, with how they were made."""
    lines = [f"# {_plain(report.title)}", "", _origin(report), ""]
    for overall in report.overall:
        if overall.boards > 1:
            lines += _markdown_overall(overall)
    for board in report.boards:
        lines += _markdown_board(board)
    lines += [f"- {note}" for note in report.notes]
    return "\n".join(lines) + "\n"


def latex(report: Report) -> str:
    """A document with one booktabs table for each kind of board: data sets by methods.

    The best mean of a data set is bold, as are those that do not differ from it significantly; cells without
    an AUC say why.
    """
    tables = []
    for overall in report.overall:
        boards = [board for board in report.boards if board.tuned is overall.tuned]
        tables.append(_latex_table(overall, boards, report))
    body = "\n\n".join(tables)
    return (
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs}\n"
        "\\usepackage[landscape,margin=1cm]{geometry}\n\\begin{document}\n"
        f"{body}\n\\end{{document}}\n"
    )


def escaped(text: str) -> str:
    """Text in which no character means anything to LaTeX."""
    return "".join(SPECIAL.get(letter, letter if ord(letter) < 128 else _latin(letter)) for letter in text)


def _latin(letter: str) -> str:
    return letter if letter.isalpha() and ord(letter) < 256 else "?"


def _origin(report: Report) -> str:
    return (
        f"aucbench {report.version}, {report.made}, {_plain(report.machines)}; "
        f"{report.done} cells done, {report.failed} failed, {report.missing} missing."
    )


def _markdown_overall(overall: Overall) -> list[str]:
    kind = "tuned" if overall.tuned else "not tuned"
    lines = [
        f"## All {overall.boards} boards, {kind}",
        "",
        "| method | mean rank | 95 % interval | with gaps | groups | w/t/l |",
        "|---|---:|---:|---:|---|---:|",
    ]
    for method in overall.methods:
        rank, gaps = overall.ranks.get(method), overall.ranks_with_gaps.get(method)
        cells = [
            _plain(method),
            texts.NONE if rank is None else f"{rank.value:.2f}",
            texts.NONE if rank is None else texts.interval(rank, 2),
            texts.NONE if gaps is None else f"{gaps.value:.2f}",
            overall.groups.get(method, ""),
            f"{overall.wins.get(method, 0)}/{overall.ties.get(method, 0)}/{overall.losses.get(method, 0)}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    gaps_text = [f"{_plain(name)}: gaps on {', '.join(where)}" for name, where in overall.incomplete.items()]
    return [*lines, "", _plain(overall.friedman_text), *gaps_text, ""]


def _markdown_board(board: Board) -> list[str]:
    lines = [
        f"## {_plain(board.dataset)}",
        "",
        _plain(board.setting),
        "",
        "| method | rank | test AUC | 95 % interval | groups | w/t/l | runs | train s | ns/iteration |",
        "|---|---:|---:|---:|---|---:|---|---:|---:|",
    ]
    for row in board.rows:
        mark = "†" if row.timing_mark else ""
        cells = [
            f"**{_plain(row.method)}**" if _is_best(row, board) else _plain(row.method),
            texts.rank(row.rank),
            texts.auc(row),
            texts.interval(row.auc),
            row.groups,
            texts.verdicts(row),
            texts.runs(row),
            texts.number(row.train_seconds) + mark,
            texts.number(row.ns_per_iteration) + mark,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    marks = sorted({f"† {row.timing_mark}" for row in board.rows if row.timing_mark})
    return [*lines, "", *marks, f"Target: AUC {board.target:.4f}, {_plain(board.target_text)}.", ""]


def _plain(text: str) -> str:
    """Text in which Markdown sees no markup and a table no column."""
    return "".join(f"\\{letter}" if letter in "\\|*_<>`[]#" else letter for letter in text).replace("\n", " ")


def _latex_table(overall: Overall, boards: list[Board], report: Report) -> str:
    methods = list(overall.methods)
    kind = "with tuned" if overall.tuned else "with given"
    head = " & ".join(["data set", *(escaped(method) for method in methods)])
    lines = []
    for board in boards:
        rows = {row.method: row for row in board.rows}
        cells = [_latex_cell(rows[method], board) if method in rows else "--" for method in methods]
        lines.append(" & ".join([escaped(board.dataset), *cells]) + r" \\")
    ranks = [f"{overall.ranks[method].value:.2f}" if method in overall.ranks else "--" for method in methods]
    footer = " & ".join(["mean rank", *ranks]) + r" \\"
    caption = (
        f"Test AUC (mean $\\pm$ standard deviation over the runs) {kind} hyper-parameters; bold: the best, "
        f"and those that do not differ from it at 95\\,\\%. aucbench {escaped(report.version)}."
    )
    return "\n".join(
        [
            r"\begin{table}\centering\small",
            f"\\caption{{{caption}}}",
            f"\\begin{{tabular}}{{l{'r' * len(methods)}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *lines,
            r"\midrule",
            footer,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _latex_cell(row: Row, board: Board) -> str:
    if math.isnan(row.auc.value):
        return escaped(texts.auc(row))
    spread = "" if math.isnan(row.std) else f" \\pm {row.std:.4f}"
    mean = f"{row.auc.value:.4f}"
    inside = f"\\mathbf{{{mean}}}" if _is_best(row, board) else mean
    return f"${inside}{spread}$"


def _is_best(row: Row, board: Board) -> bool:
    """Whether it shares a group with the first, or is the first."""
    first = board.rows[0]
    return row is first or bool(set(row.groups) & set(first.groups))
