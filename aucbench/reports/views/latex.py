"""A report as LaTeX: booktabs tables whose rows are methods, ready to be quoted."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from aucbench.contracts import MethodFacts
from aucbench.reports.columns import NONE, RESULTS, VERDICTS, text
from aucbench.reports.gains import gains_of
from aucbench.reports.report import Report
from aucbench.reports.statistics.verdicts import compare_families
from aucbench.reports.views.forest import verdict_rows
from aucbench.studies.plugin_metadata import bibliography, plugin

if TYPE_CHECKING:
    import pandas as pd

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_\allowbreak{}",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "†": r"\dag{}", "±": r"\ensuremath{\pm}", "-": "{-}", "`": r"\textasciigrave{}",
    "≤": r"\ensuremath{\leq}", "≥": r"\ensuremath{\geq}",
}  # fmt: skip
NAMES = r">{\raggedright\arraybackslash}X"  # the column of the methods
BIBLIOGRAPHY = "leaderboard.bib"
ROWS, LETTERS = 55, 85  # of a table that fits a page, without the names of methods


def latex(report: Report) -> str:
    """A document with tables for each setting: the verdicts, and the means of all methods on each data set.

    Rows are methods, the best gain first. Bold are the best gain and those of methods that are equivalent to
    the best, by the report's rope; on a data set, the best mean and what is equivalent to it there. Nothing
    is bold where the verdict is undecided. The table of verdicts fits a column of a paper. `bibtex` has the
    references.
    """
    rows = {setting: verdict_rows(report, setting) for setting in report.settings}
    body = [
        _verdicts(report, setting, table) for setting, table in rows.items() if table["gain"].notna().any()
    ]
    for setting, table in rows.items():
        body += _means(report, setting, list(table["method"]))
    if _entries(report):
        body.append(
            f"\\clearpage\n\\bibliographystyle{{plain}}\n\\bibliography{{{BIBLIOGRAPHY.removesuffix('.bib')}}}"
        )
    return (
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs}\n\\usepackage{tabularx}\n"
        "\\usepackage[margin=2cm]{geometry}\n\\begin{document}\n\n"
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


def bibtex(report: Report) -> str:
    """The BibTeX entries that the tables cite."""
    return "\n\n".join(sorted(set(_entries(report).values()))) + "\n"


def _entries(report: Report) -> dict[str, str]:
    """The keys that the tables cite, and their BibTeX entries."""
    return dict(each for name in report.methods["algorithm"].unique() if (each := _cited(name)))


def _cited(algorithm: str) -> tuple[str, str] | None:
    """Key and BibTeX entry of the paper of a method: that of its package, or the sentence it cites."""
    cls = plugin("algo", algorithm)
    cited = MethodFacts(cls).citation if cls else None
    if not cited:
        return None
    if entry := bibliography(cls).get(cited):
        return cited, entry
    key = f"aucbench:{re.sub('[^A-Za-z0-9]+', '-', algorithm)}"
    return key, f"@misc{{{key},\n  note = {{{escaped(cited)}}}\n}}"


def _means(report: Report, setting: str, methods: Sequence[str]) -> list[str]:
    """The tables of means of a setting, and a paragraph on each data set with runs that have no result."""
    results = report.part("results", setting)
    whole = results[results["gaps"] == ""].dropna(subset=["mean"]).sort_values("mean", kind="stable")
    best = whole.groupby("data_set")["method"].last()
    gains = _gains(report, setting, best.unique())
    bold = {
        (own, name)
        for name, method in best.items()
        for own in _equal(gains[gains["data_set"] == name], method, report.rope)
    }
    caption = rf"Mean test {escaped(report.measure.title)} over the runs $\pm$ standard deviation "
    caption += f"({escaped(setting)})." + (
        " Bold: the best on a data set and what is equivalent to it there." * bool(bold)
    )
    cells = {}
    for row in results.to_dict("records"):
        place = row["method"], row["data_set"]
        cells[place] = r"\bfseries " * (place in bold) + _number(RESULTS["mean"].shown(row))
    found = []
    for block in _blocks(list(results["data_set"].unique())) if len(whole) else ():
        rows = [[escaped(own), *(cells.get((own, name), "--") for name in block)] for own in methods]
        found.append(_tables(caption, [["method", *map(escaped, block)], *rows], "r" * len(block)))
    for name, part in results[results["gaps"] != ""].groupby("data_set", sort=False):
        said = "; ".join(f"{own}: {why}" for own, why in zip(part["method"], part["gaps"], strict=True))
        found.append(rf"\noindent\textbf{{Runs without a result, {escaped(str(name))}.}} {escaped(said)}.")
    return found


def _verdicts(report: Report, setting: str, table: "pd.DataFrame") -> str:
    """The compact table: gain and interval, verdict and time ratio of each method, as wide as a column."""
    reference, symbol = report.references[setting], escaped(report.measure.symbol)
    algorithm = report.methods.set_index(["setting", "method"])["algorithm"][setting]
    best = table["method"].iloc[0]
    decided = best == reference or table["verdict"].iloc[0] not in ("", "undecided")
    equal = _equal(_gains(report, setting, [best]), best, report.rope) if decided else set()
    rows = [["method", "gain", r"95\,\% interval", "verdict", "time"]]
    every: Any = table.to_dict("records")
    for row in every:
        name, cited = row["method"], _cited(algorithm[row["method"]])
        gain = "0.0" if name == reference else _thousandths(row["gain"])
        low, high = (_thousandths(row[part]) for part in ("low", "high"))
        rows.append(
            [
                escaped(name) + (rf" \cite{{{cited[0]}}}" if cited else ""),
                r"\bfseries " * (name in equal) + _number(gain),
                "" if NONE in (low, high) else f"({_number(low)}, {_number(high)})",
                "reference" if name == reference else _number(VERDICTS["verdict"].shown(row)),
                _number(VERDICTS["time_ratio"].shown(row)),
            ]
        )
    rope = "" if report.rope is None else f" (rope $\\pm {report.rope:g}$)"
    single = report.part("data_sets", setting)["data_set"].nunique() == 1
    units = "runs" if single else "families of data sets"
    level = next((VERDICTS["mean"].shown(row) for row in every if row["method"] == reference), NONE)
    caption = (
        f"Gain in test {escaped(report.measure.title)} over {escaped(reference)} in thousandths with its "
        f"95\\,\\% interval over {units}, verdict{rope}, and training time relative to {escaped(reference)}"
        + f", whose mean {symbol} is {level}" * (level != NONE)
        + f" ({escaped(setting)})."
        + f" Bold: the best ({escaped(best)}) and what is equivalent to it." * bool(equal)
        + " {*}: not the time of one thread at work." * any(row[-1].endswith("{*}") for row in rows)
        + f" aucbench {escaped(report.version)}."
    )
    return _tables(caption, rows, "rclr", 3)


def _gains(report: Report, setting: str, references: Iterable[str]) -> "pd.DataFrame":
    cells, wanted = report.part("cells", setting), {setting: list(references)}
    return gains_of(cells, report.data_sets, wanted, report.rope, report.measure.name)


def _equal(gains: "pd.DataFrame", best: str, rope: float | None) -> set[str]:
    """A method and those that are equivalent to it, on a data set or over families; none without verdicts."""
    own = gains[gains["reference"] == best]
    if own["data_set"].nunique() > 1:
        own = compare_families(own, rope).reset_index()
    equal = own.loc[own["verdict"] == "equivalent", "method"]
    return {best, *equal} if (~own["verdict"].isin(["", "undecided"])).any() else set()


def _thousandths(value: float) -> str:
    return NONE if value != value else f"{round(1000 * value, 1) + 0.0:+.1f}"


def _number(words: str) -> str:
    """A number as LaTeX sets it: with a minus sign, and a dash where there is none."""
    return "--" if words == NONE else escaped(words).replace("{-}", "$-$")


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


def _tables(caption: str, lines: Sequence[Sequence[str]], columns: str, gap: int = 4) -> str:
    """Tables of so many rows below a head as fit a page, as wide as the text; long names are wrapped.

    `gap` is half of what is between two columns, in points.
    """
    head, *rows = [" & ".join(line) + r" \\" for line in lines]
    return "\n\n".join(
        "\n".join(
            [
                rf"\begin{{table}}[htbp]\centering\small\setlength{{\tabcolsep}}{{{gap}pt}}",
                r"\setlength{\belowcaptionskip}{4pt}",  # else the caption touches the rule below it
                f"\\caption{{{caption}{' (continued)' * bool(start)}}}",
                rf"\begin{{tabularx}}{{\linewidth}}{{@{{}}{NAMES}{columns}@{{}}}}",
                f"\\toprule\n{head}\n\\midrule",
                *rows[start : start + ROWS],
                "\\bottomrule\n\\end{tabularx}\n\\end{table}",
            ]
        )
        for start in range(0, len(rows), ROWS)
    )
