"""A report as LaTeX: one booktabs table for each group of boards, ready to be quoted."""

import math
from collections.abc import Sequence

from aucbench.boards import texts
from aucbench.boards.documents import is_best
from aucbench.boards.report import Board, Overall, Report, Row

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "†": r"\dag{}", "±": r"\ensuremath{\pm}", "-": "{-}", "`": r"\textasciigrave{}",
}  # fmt: skip


def latex(report: Report) -> str:
    """A document with one booktabs table for each group of boards: data sets by methods.

    The best mean of a data set is bold, as are those that do not differ from it significantly; cells without
    an AUC say why, and how many runs a mean is over where some are lacking.
    """
    titles = texts.group_titles(report)
    tables = [
        _table(overall, boards, title, report)
        for (overall, boards), title in zip(report.groups(), titles, strict=True)
    ]
    body = "\n\\clearpage\n\n".join(tables) or "There are no results."
    return (
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs}\n\\usepackage{graphicx}\n"
        "\\usepackage[landscape,margin=1cm]{geometry}\n\\begin{document}\n"
        f"{body}\n\\end{{document}}\n"
    )


def escaped(text: str) -> str:
    """Text in one line, in which no character means anything to LaTeX; ? for those it may not know."""
    return "".join(SPECIAL.get(letter, _known(letter)) for letter in texts.line(text))


def _known(letter: str) -> str:
    if ord(letter) < 128:
        return letter if letter.isprintable() else "?"
    return letter if letter.isalpha() and ord(letter) < 256 else "?"


def _table(overall: Overall, boards: Sequence[Board], title: str, report: Report) -> str:
    methods = list(overall.methods)
    head = " & ".join(["data set", *(escaped(method) for method in methods)])
    lines = []
    for board in boards:
        rows = {row.method: row for row in board.rows}
        cells = [_cell(rows[method], board) if method in rows else "--" for method in methods]
        lines.append(" & ".join([escaped(board.dataset), *cells]) + r" \\")
    ranks = [f"{overall.ranks[method].value:.2f}" if method in overall.ranks else "--" for method in methods]
    caption = (
        "Test AUC (mean $\\pm$ standard deviation over the runs; how many runs where some gave none), "
        f"{escaped(title)}; bold: the best, and those that do not differ from it at 95\\,\\%. "
        f"aucbench {escaped(report.version)}."
    )
    return "\n".join(
        [
            r"\begin{table}[p]\centering\small",
            f"\\caption{{{caption}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            f"\\begin{{tabular}}{{l{'r' * len(methods)}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *lines,
            r"\midrule",
            " & ".join(["mean rank", *ranks]) + r" \\",
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )


def _cell(row: Row, board: Board) -> str:
    if math.isnan(row.auc.value):
        return escaped(texts.auc(row))
    spread = "" if math.isnan(row.std) else f" \\pm {row.std:.4f}"
    mean = f"{row.auc.value:.4f}"
    inside = f"\\mathbf{{{mean}}}" if is_best(row, board) else mean
    lacking = row.diverged + row.failed + row.missing
    return f"${inside}{spread}$" + (f" ({row.runs} of {row.runs + lacking} runs)" if lacking else "")
