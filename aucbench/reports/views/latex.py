"""A report as LaTeX: booktabs tables whose rows are methods, ready to be quoted."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aucbench.reports.columns import NONE, RESULTS, VERDICTS, fixed, text, tiny
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
ROWS, LETTERS = 55, 84  # of a table that fits a page
THOUSANDTHS = 1000  # in which gains are written, since four decimals of each would not fit a column


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


def _number(words: str, bold: bool = False) -> str:
    """A number as LaTeX sets it: with a minus sign, and a dash where there is none."""
    if words == NONE:
        return "--"
    return (r"\bfseries " if bold else "") + escaped(words).replace("{-}", "$-$")


def _setting(report: Report, setting: str, siunitx: bool) -> list[str]:
    """The tables of a setting."""
    table = verdict_rows(report, setting)
    facts = report.data_sets[report.data_sets["setting"] == setting]
    results = report.results[report.results["setting"] == setting]
    methods = list(table["method"])
    found = [_verdicts(report, setting, table, siunitx)] if table["gain"].notna().any() else []
    quantities: list[tuple[str, str, str]] = [("mean", "std", f"test {report.measure.title}")]
    quantities += [(f"{own.name}_mean", f"{own.name}_std", f"test {own.title}") for own in report.others]
    quantities.append(("suboptimality", "", "relative suboptimality of the training objective"))
    for name, spread, title in quantities:
        if name not in results or results[name].isna().all():
            continue
        caption = f"Mean {escaped(title)} over the runs" + (", $\\pm$ its standard deviation" * bool(spread))
        caption += f" ({escaped(setting)})."
        bold = _best_means(report, setting, facts) if name == "mean" else set()
        if bold:
            caption += " Bold: the best of a data set, and what is equivalent to it there."
        cells = {
            (row["method"], row["data_set"]): _mean(
                row, name, spread, (row["method"], row["data_set"]) in bold, siunitx
            )
            for row in results.to_dict("records")
        }
        for block in _blocks(list(facts["data_set"])):
            column = "S[table-format=1.1e-2]" if not spread else "S[table-format=1.4(4)]"
            found.append(
                _tables(
                    f"{caption} aucbench {escaped(report.version)}.",
                    [escaped(name) for name in block],
                    {escaped(name): [cells.get((name, own), "--") for own in block] for name in methods},
                    (column if siunitx else "r") * len(block),
                )
            )
    return [*found, *_remarks(results, ("gaps", "Runs without a result"), ("chosen", "Chosen settings"))]


def _verdicts(report: Report, setting: str, table: "pd.DataFrame", siunitx: bool) -> str:
    """The compact table: gain and interval, verdict, time ratio and mean of each method."""
    reference, symbol = report.references[setting], escaped(report.measure.symbol)
    algorithm = report.methods.set_index(["setting", "method"])["algorithm"][setting]
    best, equal = table["method"].iloc[0], _equal_to_best(report, setting, table)
    rows = {}
    for row in table.to_dict("records"):
        name, bold = row["method"], row["method"] in equal
        info = report.plugins.get(algorithm[name])
        label = escaped(name) + (f"~\\cite{{{_key(algorithm[name])}}}" if info and info.citation else "")
        gain, low, high = (
            NONE if row[part] != row[part] else f"{THOUSANDTHS * row[part]:+.1f}"
            for part in ("gain", "low", "high")
        )
        rows[label] = [
            (r"\bfseries " * bold + gain) if siunitx and gain != NONE else _number(gain, bold),
            "" if NONE in (low, high) else f"({_number(low)}, {_number(high)})",
            "reference" if name == reference else escaped(VERDICTS["verdict"].shown(row)),
            _number(VERDICTS["time_ratio"].shown(row)),
            _number(VERDICTS["mean"].shown(row)),
        ]
    rope = "" if report.rope is None else f"; rope $\\pm {report.rope:g}$"
    caption = (
        f"Gain in test {escaped(report.measure.title)} over {escaped(reference)} in thousandths, mean over "
        f"families of data sets with its 95\\,\\% interval, verdict{rope}, training time relative to "
        f"{escaped(reference)}, and mean {symbol} ({escaped(setting)}). Bold: the best gain ({escaped(best)}), "
        f"and what is equivalent to it. aucbench {escaped(report.version)}."
    )
    heads = ["gain", r"95\,\%", "verdict", "time", symbol]
    return _tables(caption, heads, rows, ("S[table-format=+2.1]" if siunitx else "r") + "clrr")


def _equal_to_best(report: Report, setting: str, table: "pd.DataFrame") -> set[str]:
    """The first of the verdicts, and the methods that are equivalent to it over families of data sets."""
    best = table["method"].iloc[0]
    own = gains_of(report.cells, report.data_sets, {setting: best}, report.rope, report.measure.name)
    own = own[own["setting"] == setting]
    if own["data_set"].nunique() > 1:
        own = compare_families(own, report.rope).reset_index()
    return {best, *own.loc[own["verdict"] == "equivalent", "method"]}


def _best_means(report: Report, setting: str, facts: "pd.DataFrame") -> set[tuple[str, str]]:
    """Method and data set of each best mean without gaps, and of those that are equivalent to it."""
    results = report.results[(report.results["setting"] == setting) & (report.results["gaps"] == "")]
    best = results.dropna(subset=["mean"]).sort_values("mean").groupby("data_set")["method"].last()
    cells = report.cells[report.cells["setting"] == setting]
    found = {(method, data_set) for data_set, method in best.items()}
    for data_set, method in best.items():
        own = cells[cells["data_set"] == data_set]
        gains = gains_of(own, facts, {setting: method}, report.rope, report.measure.name)
        found |= {(name, data_set) for name in gains.loc[gains["verdict"] == "equivalent", "method"]}
    return found


def _mean(row: dict[str, Any], name: str, spread: str, bold: bool, siunitx: bool) -> str:
    """A mean and its deviation; for siunitx as 0.9954(12)."""
    value, std = row[name], row[spread] if spread else float("nan")
    if value != value:
        return "--"
    form: Callable[[float], str] = fixed if spread else tiny
    mark = r"\bfseries " * bold
    if siunitx:
        return mark + form(value) + ("" if std != std else f"({round(1e4 * std)})")
    return _number(form(value), bold) + ("" if std != std else f" $\\pm$ {form(std)}")


def _blocks(names: Sequence[str]) -> list[list[str]]:
    """Data sets whose columns stand side by side on a page."""
    blocks: list[list[str]] = []
    used = LETTERS
    for name in names:
        wide = max(len(text(name)), 15) + 2
        if used + wide > LETTERS:
            blocks.append([])
            used = 16  # of the names of methods
        blocks[-1].append(name)
        used += wide
    return blocks


def _tables(caption: str, heads: Sequence[str], rows: dict[str, list[str]], columns: str) -> str:
    """Tables of so many rows as fit a page; shrunk only if they are wider than the text."""
    numeric = [part.startswith("S") for part in re.findall(r"S\[[^]]*\]|[lcr]", columns)]

    def line(first: str, cells: Sequence[str]) -> str:
        own = [
            f"{{{cell}}}" if number and not NUMBER.fullmatch(cell) else cell  # siunitx reads all else
            for cell, number in zip(cells, numeric, strict=True)
        ]
        return " & ".join([first, *own]) + r" \\"

    lines = [line(name, cells) for name, cells in rows.items()]
    return "\n\n".join(
        "\n".join(
            [
                r"\begin{table}[p]\centering\small\setlength{\tabcolsep}{4pt}",
                f"\\caption{{{caption}{' (continued)' * bool(start)}}}",
                r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
                f"\\begin{{tabular}}{{l{columns}}}",
                r"\toprule",
                line("method", heads),
                r"\midrule",
                *lines[start : start + ROWS],
                r"\bottomrule",
                r"\end{tabular}}",
                r"\end{table}",
            ]
        )
        for start in range(0, len(lines), ROWS)
    )


def _remarks(results: "pd.DataFrame", *columns: tuple[str, str]) -> list[str]:
    """A paragraph per data set on what columns of text say."""
    found = []
    for name, heading in columns:
        own = results[results[name].fillna("") != ""]
        for data_set, part in own.groupby("data_set", sort=False):
            said = "; ".join(
                f"{row['method']}: {RESULTS[name].shown(row)}" for row in part.to_dict("records")
            )
            title = rf"\noindent\textbf{{{heading}, {escaped(str(data_set))}.}}"
            found.append(f"{title} {escaped(said)}.")
    return found
