"""A report as LaTeX: booktabs tables whose rows are methods, ready to be quoted."""

import re
from collections.abc import Callable, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from aucbench.reports.columns import NONE, VERDICTS, fixed, text, tiny
from aucbench.reports.gains import gains_of
from aucbench.reports.report import Report
from aucbench.reports.statistics.verdicts import compare_families
from aucbench.reports.views.forest import verdict_rows

if TYPE_CHECKING:
    import pandas as pd

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "†": r"\dag{}", "±": r"\ensuremath{\pm}", "-": "{-}", "`": r"\textasciigrave{}",
    "≤": r"\ensuremath{\leq}", "≥": r"\ensuremath{\geq}",
}  # fmt: skip
SIUNITX = (
    "\\usepackage{etoolbox}\n\\robustify\\bfseries\n\\usepackage{siunitx}\n"
    "\\sisetup{separate-uncertainty=true, detect-weight=true}\n"
)
NUMBER = re.compile(r"(\\bfseries )?[-+]?[0-9.]+(\([0-9]+\))?(e[-+][0-9]+)?")  # as siunitx reads it
ROWS, LETTERS = 55, 85  # of a table that fits a page, without the names of methods


def latex(report: Report, siunitx: bool = False) -> str:
    """A document with tables for each setting: the verdicts, and the means of all methods on each data set.

    Rows are methods, the best gain first. Bold are the best gain and those of methods that are equivalent to
    the best, by the report's rope; on a data set, the best mean and what is equivalent to it there. With
    `siunitx`, columns of numbers are its S columns, aligned at the decimal point.
    """
    body = [part for setting in report.settings for part in _setting(report, setting, siunitx)]
    cited = [
        f"\\bibitem{{{_key(name)}}} {escaped(own.citation)}"
        for name, own in report.plugins.items()
        if own.citation and name in set(report.methods["algorithm"])
    ]
    if cited:
        body.append("\n".join([r"\begin{thebibliography}{99}", *cited, r"\end{thebibliography}"]))
    return (
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs}\n\\usepackage{graphicx}\n"
        f"{SIUNITX if siunitx else ''}\\usepackage[margin=2cm]{{geometry}}\n\\begin{{document}}\n\n"
        + ("\n\n".join(body) or "There are no results.")
        + "\n\n\\end{document}\n"
    )


def escaped(words: str) -> str:
    """Text in one line, in which no character means anything to LaTeX; ? for those it may not know."""

    def known(letter: str) -> str:
        if ord(letter) < 128:
            return letter if letter.isprintable() else "?"
        return letter if letter.isalpha() and ord(letter) < 256 else "?"

    return "".join(SPECIAL.get(letter, known(letter)) for letter in text(words))


def _key(algorithm: str) -> str:
    return f"aucbench:{re.sub('[^A-Za-z0-9]+', '-', algorithm)}"


def _setting(report: Report, setting: str, siunitx: bool) -> list[str]:
    """The tables of a setting, and a paragraph on the gaps and choices of each data set."""
    table = verdict_rows(report, setting)
    results = report.part("results", setting)
    methods, names = list(table["method"]), list(results["data_set"].unique())
    whole = results[results["gaps"] == ""].dropna(subset=["mean"]).sort_values("mean", kind="stable")
    best = whole.groupby("data_set")["method"].last()
    bold = {
        (own, name) for name, method in best.items() for own in _equal(report, setting, method, str(name))
    }
    found = [_verdicts(report, setting, table, siunitx)] if table["gain"].notna().any() else []
    quantities: list[tuple[str, str, str]] = [("mean", "std", f"test {report.measure.title}")]
    quantities += [(f"{own.name}_mean", f"{own.name}_std", f"test {own.title}") for own in report.others]
    quantities.append(("suboptimality", "", "relative suboptimality of the training objective"))
    for column, spread, title in quantities:
        if column not in results or results[column].isna().all():
            continue
        caption = f"Mean {escaped(title)} over the runs" + (" $\\pm$ standard deviation" if spread else "")
        marked = bold if column == "mean" else set()
        caption += f" ({escaped(setting)})." + (
            " Bold: the best on a data set and what is equivalent to it there." * bool(marked)
        )
        cells = {
            (row["method"], row["data_set"]): _mean(
                row[column], row.get(spread, nan), (row["method"], row["data_set"]) in marked, siunitx,
                fixed if spread else tiny,
            )
            for row in results.to_dict("records")
        }  # fmt: skip
        kind = "S[table-format=1.4(4)]" if spread else "S[table-format=1.1e-2]"
        for block in _blocks(names):
            rows = [[escaped(own), *(cells.get((own, name), "--") for name in block)] for own in methods]
            heads = ["method", *map(escaped, block)]
            found.append(_tables(caption, [heads, *rows], (kind if siunitx else "r") * len(block)))
    for column, heading in (
        ("gaps", "Runs without a result"), ("chosen", "Chosen settings"), ("own_setting", "Own settings"),
        ("time_note", "Times (*)"),
    ):  # fmt: skip
        for name, part in results[results[column].fillna("") != ""].groupby("data_set", sort=False):
            said = "; ".join(
                f"{own}: {words}" for own, words in zip(part["method"], part[column], strict=True)
            )
            found.append(rf"\noindent\textbf{{{heading}, {escaped(str(name))}.}} {escaped(said)}.")
    return found


def _verdicts(report: Report, setting: str, table: "pd.DataFrame", siunitx: bool) -> str:
    """The compact table: gain and interval, verdict, time ratio and mean of each method."""
    reference, symbol = report.references[setting], escaped(report.measure.symbol)
    algorithm = report.methods.set_index(["setting", "method"])["algorithm"][setting]
    best = table["method"].iloc[0]
    equal = _equal(report, setting, best)
    several = table["class_of_model"].nunique() > 1
    rows = [["method", *["model"] * several, "gain", r"95\,\%", "verdict", "time", symbol]]
    every: Any = table.to_dict("records")
    for row in every:
        name, own = row["method"], report.plugins.get(algorithm[row["method"]])
        gain, low, high = (_thousandths(row[part]) for part in ("gain", "low", "high"))
        bold = r"\bfseries " if name in equal and gain != NONE else ""
        rows.append(
            [
                escaped(name) + (rf"~\cite{{{_key(own.name)}}}" if own and own.citation else ""),
                *[escaped(VERDICTS["class_of_model"].shown(row))] * several,
                bold + (gain if siunitx and gain != NONE else _number(gain)),
                "" if NONE in (low, high) else f"({_number(low)}, {_number(high)})",
                "reference" if name == reference else escaped(VERDICTS["verdict"].shown(row)),
                _number(VERDICTS["time_ratio"].shown(row)),
                _number(VERDICTS["mean"].shown(row)),
            ]
        )
    rope = "" if report.rope is None else f" (rope $\\pm {report.rope:g}$)"
    single = report.part("data_sets", setting)["data_set"].nunique() == 1
    units = "runs" if single else "families of data sets"
    caption = (
        f"Gain in test {escaped(report.measure.title)} over {escaped(reference)} in thousandths with its "
        f"95\\,\\% interval over {units}, verdict{rope}, training time relative to {escaped(reference)}, and "
        f"mean {symbol} ({escaped(setting)}). Bold: the best ({escaped(best)}) and what is equivalent to it. "
        f"aucbench {escaped(report.version)}."
    )
    return _tables(caption, rows, "l" * several + ("S[table-format=+2.1]" if siunitx else "r") + "clrr")


def _equal(report: Report, setting: str, best: str, data_set: str | None = None) -> set[str]:
    """A method and those that are equivalent to it: on a data set, or over families of all of them."""
    cells = report.part("cells", setting)
    cells = cells if data_set is None else cells[cells["data_set"] == data_set]
    own = gains_of(cells, report.data_sets, {setting: best}, report.rope, report.measure.name)
    if own["data_set"].nunique() > 1:
        own = compare_families(own, report.rope).reset_index()
    return {best, *own.loc[own["verdict"] == "equivalent", "method"]}


def _thousandths(value: float) -> str:
    return NONE if value != value else f"{round(1000 * value, 1) + 0.0:+.1f}"


def _number(words: str) -> str:
    """A number as LaTeX sets it: with a minus sign, and a dash where there is none."""
    return "--" if words == NONE else escaped(words).replace("{-}", "$-$")


def _mean(value: float, std: float, bold: bool, siunitx: bool, form: Callable[[float], str]) -> str:
    """A mean and its deviation; for siunitx as 0.9954(12)."""
    if value != value:
        return "--"
    mark = r"\bfseries " * bold
    if siunitx:
        return mark + form(value) + ("" if std != std else f"({round(1e4 * std)})")
    return mark + _number(form(value)) + ("" if std != std else rf" $\pm$ {form(std)}")


def _blocks(names: Sequence[str]) -> list[list[str]]:
    """Data sets whose columns stand side by side on a page."""
    blocks: list[list[str]] = []
    left = 0
    for name in names:
        wide = max(len(text(name)), 15) + 2
        if wide > left:
            blocks.append([])
            left = LETTERS
        blocks[-1].append(name)
        left -= wide
    return blocks


def _tables(caption: str, lines: Sequence[Sequence[str]], columns: str) -> str:
    """Tables of so many rows below a head as fit a page; shrunk only if they are wider than the text."""
    numeric = [False, *(part.startswith("S") for part in re.findall(r"S\[[^]]*\]|[lcr]", columns))]
    head, *rows = [  # siunitx reads all that is not in braces
        " & ".join(
            f"{{{cell}}}" if number and not NUMBER.fullmatch(cell) else cell
            for cell, number in zip(line, numeric, strict=True)
        )
        + r" \\"
        for line in lines
    ]
    return "\n\n".join(
        "\n".join(
            [
                r"\begin{table}[p]\centering\small\setlength{\tabcolsep}{4pt}",
                f"\\caption{{{caption}{' (continued)' * bool(start)}}}",
                r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
                f"\\begin{{tabular}}{{l{columns}}}\n\\toprule\n{head}\n\\midrule",
                *rows[start : start + ROWS],
                "\\bottomrule\n\\end{tabular}}\n\\end{table}",
            ]
        )
        for start in range(0, len(rows), ROWS)
    )
