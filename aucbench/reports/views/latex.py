"""A report as LaTeX: booktabs tables of methods for papers."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aucbench.contracts import MethodFacts
from aucbench.reports.columns import NONE, VERDICTS, text
from aucbench.reports.report import Report
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
LATIN = {chr(code) for code in range(128, 256) if chr(code).isalpha()}
COLUMNS = r">{\raggedright\arraybackslash}Xrclr"  # names of methods are wrapped
BIBLIOGRAPHY = "leaderboard.bib"
ROWS = 55  # rows of a table that fits a page
HEAD = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\usepackage{tabularx}
\usepackage[margin=2cm]{geometry}
\begin{document}"""


def latex(report: Report) -> str:
    """A document with the table of verdicts of each setting, which fits a column of a paper.

    Rows are methods, the best gain first. The best gain and the gains of methods equivalent to it, by the
    report's rope, are bold; nothing is bold if the verdict on the best method is undecided. `bibtex` has the
    bibliography.
    """
    rows = {setting: report.ranking(setting) for setting in report.settings}
    body = [_verdicts(report, setting, part) for setting, part in rows.items() if part["gain"].notna().any()]
    if body and _entries(report):
        references = BIBLIOGRAPHY.removesuffix(".bib")
        body.append(f"\\clearpage\n\\bibliographystyle{{plain}}\n\\bibliography{{{references}}}")
    body = body or ["No method has a gain over the reference."]
    return "\n\n".join([HEAD, *body, "\\end{document}\n"])


def escaped(words: str) -> str:
    """Text in one line, escaped for LaTeX; ? for characters that LaTeX may not support."""
    return "".join(
        SPECIAL.get(letter, letter if " " <= letter <= "~" or letter in LATIN else "?")
        for letter in text(words)
    )


def bibtex(report: Report) -> str:
    """The BibTeX entries that the tables cite."""
    return "\n\n".join(sorted(_entries(report))) + "\n"


def _entries(report: Report) -> set[str]:
    return {cited[1] for name in report.methods["algorithm"].unique() if (cited := _cited(name))}


def _cited(algorithm: str) -> tuple[str, str] | None:
    """Key and BibTeX entry of a method's paper, from the plugin's bibliography or its citation."""
    cls = plugin("algo", algorithm)
    cited = MethodFacts(cls).citation if cls else None
    if not cited:
        return None
    if entry := bibliography(cls).get(cited):
        return cited, entry
    key = f"aucbench:{re.sub('[^A-Za-z0-9]+', '-', algorithm)}"
    return key, f"@misc{{{key},\n  note = {{{escaped(cited)}}}\n}}"


def _verdicts(report: Report, setting: str, table: "pd.DataFrame") -> str:
    """The compact table: gain and interval, verdict and time ratio of each method, one column wide."""
    reference, symbol = report.references[setting], escaped(report.measure.symbol)
    algorithms = report.methods.set_index(["setting", "method"])["algorithm"][setting]
    rows = [["method", "gain", r"95\,\% interval", "verdict", "time"]]
    records: Any = table.to_dict("records")
    for row in records:
        name, cited = row["method"], _cited(algorithms[row["method"]])
        gain = "0.0" if name == reference else _thousandths(row["gain"])
        low, high = (_thousandths(row[part]) for part in ("low", "high"))
        rows.append(
            [
                escaped(name) + (rf" \cite{{{cited[0]}}}" if cited else ""),
                r"\bfseries " * row["is_best"] + _number(gain),
                "" if NONE in (low, high) else f"({_number(low)}, {_number(high)})",
                "reference" if name == reference else _number(VERDICTS["verdict"].shown(row)),
                _number(VERDICTS["time_ratio"].shown(row)),
            ]
        )
    rope = "" if report.rope is None else f" (rope $\\pm {report.rope:g}$)"
    single = report.part("data_sets", setting)["data_set"].nunique() == 1
    units = "runs" if single else "families of data sets"
    level = next((VERDICTS["mean"].shown(row) for row in records if row["method"] == reference), NONE)
    caption = (
        f"Gain in test {escaped(report.measure.title)} over {escaped(reference)} in thousandths with its "
        f"95\\,\\% interval over {units}, verdict{rope}, and training time relative to {escaped(reference)}"
        + f", whose mean {symbol} is {level}" * (level != NONE)
        + f" ({escaped(setting)})."
        + f" Bold: the best method ({escaped(records[0]['method'])}) and methods equivalent to it."
        * any(table["is_best"])
        + " {*}: not the time of a single thread." * any(row[-1].endswith("{*}") for row in rows)
        + f" aucbench {escaped(report.version)}."
    )
    return _tables(caption, rows)


def _thousandths(value: float) -> str:
    return NONE if value != value else f"{round(1000 * value, 1) + 0.0:+.1f}"


def _number(number: str) -> str:
    """A number in LaTeX with a minus sign; a dash if there is no number."""
    return "--" if number == NONE else escaped(number).replace("{-}", "$-$")


def _tables(caption: str, lines: Sequence[Sequence[str]]) -> str:
    """Tables of at most a page of rows below a head, as wide as the text; long names are wrapped."""
    head, *rows = [" & ".join(line) + r" \\" for line in lines]
    return "\n\n".join(
        "\n".join(
            [
                r"\begin{table}[htbp]\centering\small\setlength{\tabcolsep}{3pt}",
                r"\setlength{\belowcaptionskip}{4pt}",  # else the caption touches the rule below it
                f"\\caption{{{caption}{' (continued)' * bool(start)}}}",
                rf"\begin{{tabularx}}{{\linewidth}}{{@{{}}{COLUMNS}@{{}}}}",
                f"\\toprule\n{head}\n\\midrule",
                *rows[start : start + ROWS],
                "\\bottomrule\n\\end{tabularx}\n\\end{table}",
            ]
        )
        for start in range(0, len(rows), ROWS)
    )
