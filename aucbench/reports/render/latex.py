"""A report as LaTeX: booktabs tables for each group of boards, ready to be quoted."""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial

from aucbench.reports.render import display, leaders
from aucbench.reports.report import Board, Overall, Report, Row

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "†": r"\dag{}", "±": r"\ensuremath{\pm}", "-": "{-}", "`": r"\textasciigrave{}",
    "≤": r"\ensuremath{\leq}", "≥": r"\ensuremath{\geq}",
}  # fmt: skip
NUMBER = re.compile(r"(\\bfseries )?-?[0-9.]+(\([0-9]+\))?(e[-+][0-9]+)?")  # as a column of siunitx reads it
PACKAGE = (
    "\\usepackage{etoolbox}\n\\robustify\\bfseries\n\\usepackage{siunitx}\n"
    "\\sisetup{separate-uncertainty=true, detect-weight=true}\n"
)


def latex(report: Report, siunitx: bool = False) -> str:
    """A document with booktabs tables for each group of boards: data sets by methods, AUCs and gains.

    The best mean of a data set is bold, as are those that do not differ from it significantly; cells without
    an AUC say why, and how many runs a mean is over where some are lacking. Tuned boards are followed by the
    chosen settings. With `siunitx`, columns of means are its S columns, aligned at the decimal point.
    """
    titles = display.group_titles(report)
    tables = [
        _tables(overall, boards, title, report, siunitx)
        for (overall, boards), title in zip(report.groups(), titles, strict=True)
    ]
    body = "\n\\clearpage\n\n".join(tables) or "There are no results."
    return (
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs}\n\\usepackage{graphicx}\n"
        f"{PACKAGE if siunitx else ''}"
        "\\usepackage[landscape,margin=1cm]{geometry}\n\\begin{document}\n"
        f"{body}\n\\end{{document}}\n"
    )


def escaped(text: str) -> str:
    """Text in one line, in which no character means anything to LaTeX; ? for those it may not know."""

    def known(letter: str) -> str:
        if ord(letter) < 128:
            return letter if letter.isprintable() else "?"
        return letter if letter.isalpha() and ord(letter) < 256 else "?"

    return "".join(SPECIAL.get(letter, known(letter)) for letter in display.line(text))


def signed(text: str) -> str:
    """A number, or numbers, as LaTeX sets them: with a minus sign, and a dash where there is none."""
    return "--" if text == display.NONE else escaped(text).replace("{-}", "$-$")


def _tables(overall: Overall, boards: Sequence[Board], title: str, report: Report, siunitx: bool) -> str:
    """The AUCs of a group, its gains where there is a baseline, and what the tunings chose."""
    methods = overall.methods
    tests = {board.procedure for board in boards if board.procedure}
    both = "paired t-tests with Nadeau and Bengio's and Holm's corrections, 5 %"
    test = next(iter(tests)) if len(tests) == 1 else both
    caption = (
        f"Test {escaped(report.measure.title)} (mean $\\pm$ standard deviation over the runs; how many runs "
        f"where some gave none), {escaped(title)}; bold: the best, and those that do not differ "
        f"from it significantly ({escaped(test)}). aucbench {escaped(report.version)}."
    )
    if not overall.baseline:
        caption += f" There are no gains: {escaped(overall.baseline_reason)}."
    ranks = [signed(display.mean_rank(overall.ranks.get(method))) for method in methods]
    spread = max((_in_last_digits(row.std) for board in boards for row in board.rows), default=0)
    means = f"S[table-format=1.4({len(str(spread))})]" if siunitx else "r"
    text = _table(caption, boards, methods, partial(_auc, siunitx=siunitx), ["mean rank", *ranks], means)
    if overall.baseline:
        caption = (
            f"Gain in test {escaped(report.measure.title)} over {escaped(overall.baseline)}: mean difference "
            "over the same runs with the 95\\,\\% interval of the corrected paired t-test; the "
            "last line is over the data sets."
        )
        gains = [signed(display.overall_gain(overall, method)) for method in methods]

        def gain(row: Row, board: Board) -> str:
            return signed(display.row_gain(row, board))

        text += "\n\n" + _table(caption, boards, methods, gain, ["mean gain", *gains])
    for measure in report.others:
        caption = f"Test {escaped(measure.title)} (mean $\\pm$ standard deviation over the runs)."
        text += "\n\n" + _table(
            caption, boards, methods, partial(_other, measure.name, siunitx=siunitx), [], means
        )
    if any(row.suboptimality for board in boards for row in board.rows):
        caption = (
            "Relative suboptimality of the training objective at the end of training, mean over the runs, of "
            "each method against the certified minimum of its own objective."
        )
        powers = "S[table-format=1.1e-2]" if siunitx else "r"
        text += (
            "\n\n"
            + _table(caption, boards, methods, _suboptimality, [], powers)
            + _without_suboptimality(boards)
        )
    return text + (_chosen(boards) if overall.tuned else "")


def _in_last_digits(std: float) -> int:
    """A standard deviation in units of the last decimal of a mean: 0.0123 as 123."""
    return 0 if math.isnan(std) else round(1e4 * std)


def _other(name: str, row: Row, board: Board, siunitx: bool) -> str:
    own = row.others.get(name)
    if not own:
        return "--"
    return _with_std(own.mean, own.std) if siunitx else signed(display.with_std(own.mean, own.std))


def _with_std(value: float, std: float) -> str:
    """A mean and its standard deviation as siunitx reads them: 0.9954(12)."""
    if math.isnan(value):
        return "--"
    return display.mean(value) + ("" if math.isnan(std) else f"({_in_last_digits(std)})")


def _suboptimality(row: Row, board: Board) -> str:
    value = row.suboptimality.final if row.suboptimality else math.nan
    return "--" if math.isnan(value) else escaped(display.formatted(value, ".1e")).replace("{-}", "-")


def _without_suboptimality(boards: Sequence[Board]) -> str:
    """Why methods have none: a paragraph per data set."""
    texts = {board.dataset: display.without_suboptimality(board) for board in boards}
    return "".join(
        rf"{chr(10) * 2}\noindent\textbf{{{escaped(dataset)}.}} {escaped(' '.join(own))}"
        for dataset, own in texts.items()
        if own
    )


def _table(
    caption: str,
    boards: Sequence[Board],
    methods: Sequence[str],
    cell: Callable[[Row, Board], str],
    last: Sequence[str],
    column: str = "r",
) -> str:
    """Data sets by methods; below them one line over all data sets, if there is one."""

    def line(first: str, cells: Sequence[str]) -> str:
        if column != "r":  # siunitx reads what is not in braces as a number
            cells = [text if NUMBER.fullmatch(text) else f"{{{text}}}" for text in cells]
        return " & ".join([first, *cells]) + r" \\"

    lines = []
    for board in boards:
        rows = {row.method: row for row in board.rows}
        cells = [cell(rows[method], board) if method in rows else "--" for method in methods]
        lines.append(line(escaped(board.dataset), cells))
    return "\n".join(
        [
            r"\begin{table}[p]\centering\small",
            f"\\caption{{{caption}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            f"\\begin{{tabular}}{{l*{{{len(methods)}}}{{{column}}}}}",
            r"\toprule",
            line("data set", [escaped(method) for method in methods]),
            r"\midrule",
            *lines,
            *([r"\midrule", line(last[0], last[1:])] if last else []),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )


def _chosen(boards: Sequence[Board]) -> str:
    """What the tunings chose, and where it lay at the edge of a grid: a paragraph per data set."""
    text = ""
    for board in boards:
        own = [
            f"{row.method}: {row.chosen}" + (f" ({row.edges})" if row.edges else "")
            for row in board.rows
            if row.chosen
        ]
        if own:
            title = rf"\noindent\textbf{{Chosen settings, {escaped(board.dataset)}.}}"
            text += f"\n\n{title} {escaped('; '.join(own))}."
    return text


def _auc(row: Row, board: Board, siunitx: bool) -> str:
    if math.isnan(row.auc.value):
        return escaped(display.auc(row))
    lacking = sum(count for count, _ in row.gaps)
    if siunitx and not lacking:
        return (r"\bfseries " if leaders.is_best(row, board) else "") + _with_std(row.auc.value, row.std)
    spread = "" if math.isnan(row.std) else f" \\pm {display.mean(row.std)}"
    mean = display.mean(row.auc.value)
    inside = f"\\mathbf{{{mean}}}" if leaders.is_best(row, board) else mean
    return f"${inside}{spread}$" + (f" ({row.runs} of {row.runs + lacking} runs)" if lacking else "")
