"""A report as LaTeX: booktabs tables for each group of boards, ready to be quoted."""

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
    """A document with booktabs tables for each group of boards: data sets by methods, AUCs and gains.

    The best mean of a data set is bold, as are those that do not differ from it significantly; cells without
    an AUC say why, and how many runs a mean is over where some are lacking. Tuned boards are followed by the
    chosen settings.
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


def signed(text: str) -> str:
    """A number, or numbers, as LaTeX sets them: with a minus sign, and a dash where there is none."""
    return "--" if text == texts.NONE else escaped(text).replace("{-}", "$-$")


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
    ranks = [signed(texts.mean_rank(overall.ranks.get(method))) for method in methods]
    tests = {board.procedure for board in boards if board.procedure}
    both = "paired t-tests with Nadeau and Bengio's and Holm's corrections, 5 %"
    test = next(iter(tests)) if len(tests) == 1 else both
    caption = (
        "Test AUC (mean $\\pm$ standard deviation over the runs; how many runs where some gave none), "
        f"{escaped(title)}; bold: the best, and those that do not differ from it significantly "
        f"({escaped(test)}). aucbench {escaped(report.version)}."
    )
    if not overall.baseline:
        caption += f" There are no gains: {escaped(overall.baseline_reason)}."
    last = " & ".join(["mean rank", *ranks])
    table = _floating(caption, head, lines, last, len(methods))
    gains = _gains(overall, boards, head, methods) if overall.baseline else ""
    return table + gains + (_chosen(boards) if overall.tuned else "")


def _chosen(boards: Sequence[Board]) -> str:
    """What the tunings chose, and where it lay at the edge of a grid: a paragraph per data set."""
    paragraphs = []
    for board in boards:
        own = [
            f"{row.method}: {row.chosen}" + (f" ({row.edges})" if row.edges else "")
            for row in board.rows
            if row.chosen
        ]
        if own:
            paragraphs.append(
                rf"\noindent\textbf{{Chosen settings, {escaped(board.dataset)}.}} {escaped('; '.join(own))}."
            )
    return "".join(f"\n\n{paragraph}" for paragraph in paragraphs)


def _gains(overall: Overall, boards: Sequence[Board], head: str, methods: list[str]) -> str:
    """A second table, of the gains over the baseline."""
    lines = []
    for board in boards:
        rows = {row.method: row for row in board.rows}
        cells = [texts.row_gain(rows[method], board) if method in rows else texts.NONE for method in methods]
        lines.append(" & ".join([escaped(board.dataset), *map(signed, cells)]) + r" \\")
    caption = (
        f"Gain in test AUC over {escaped(overall.baseline)}: mean difference over the same runs with the "
        "95\\,\\% interval of the corrected paired t-test; the last line is over the data sets."
    )
    means = [signed(texts.overall_gain(overall, method)) for method in methods]
    last = " & ".join(["mean gain", *means])
    return "\n\n" + _floating(caption, head, lines, last, len(methods))


def _floating(caption: str, head: str, lines: Sequence[str], last: str, columns: int) -> str:
    return "\n".join(
        [
            r"\begin{table}[p]\centering\small",
            f"\\caption{{{caption}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            f"\\begin{{tabular}}{{l{'r' * columns}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *lines,
            r"\midrule",
            last + r" \\",
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )


def _cell(row: Row, board: Board) -> str:
    if math.isnan(row.auc.value):
        return escaped(texts.auc(row))
    spread = "" if math.isnan(row.std) else f" \\pm {texts.mean(row.std)}"
    mean = texts.mean(row.auc.value)
    inside = f"\\mathbf{{{mean}}}" if is_best(row, board) else mean
    lacking = sum(count for count, _ in row.gaps)
    return f"${inside}{spread}$" + (f" ({row.runs} of {row.runs + lacking} runs)" if lacking else "")
