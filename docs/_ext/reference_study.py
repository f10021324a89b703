"""The reference study: every method on a hundred data sets, read from the archives that the project keeps.

``python docs/_ext/reference_study.py`` prints the section of README and the front page, and draws its
pictures anew.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import fill

import losses_study
import matplotlib
import pandas as pd
from deciding import factor_table, factors
from markdown import table
from matplotlib.figure import Figure
from method_pages import source_page
from study_cells import archive

from aucbench.reports.answer import answer
from aucbench.reports.build import build
from aucbench.reports.cells import from_store
from aucbench.reports.columns import VERDICTS, number, signed
from aucbench.reports.method_info import MethodInfo
from aucbench.reports.report import ALL, Report
from aucbench.reports.views.figure_style import look
from aucbench.reports.views.forest import forest, verdict_rows
from aucbench.reports.views.page import write_page

DOCS = Path(__file__).parents[1]
ARCHIVE = DOCS / "results" / "reference_defaults.zip"
TRIALS = DOCS / "results" / "reference.zip"  # the same, under ``ruleset=trials``
STUDIES = {ARCHIVE: "reference_defaults", TRIALS: "reference"}
REFERENCE = "log_reg_cv"
PICTURE = DOCS / "_static" / "reference.svg"
LOSSES_PICTURE = DOCS / "_static" / "reference_losses.svg"
SHOWN = 16  # methods of the picture, the reference among them
WINNING = "psam"  # the loss over pairs whose gains are looked at family by family


@cache
def report(file: Path) -> Report:
    """The leaderboard of the study, from one of its archives."""
    study = STUDIES[file]
    return build(from_store(archive(file), study), study, one_study=True, reference=REFERENCE)


def verdicts(file: Path = ARCHIVE, setting: str = "defaults") -> pd.DataFrame:
    """The verdicts over all data sets by method, the best gain first."""
    own = report(file)
    rows = own.verdicts[(own.verdicts["setting"] == setting) & (own.verdicts["group"] == ALL)]
    return rows.set_index("method", drop=False)


def sentences() -> str:
    """The answers of README and the front page."""
    own = report(ARCHIVE)
    table, reference = verdicts(), own.references["defaults"]
    linear = table[(table["class_of_model"] == "linear") & (table["method"] != reference)]
    slowest = linear.loc[linear["time_ratio"].idxmax()]
    fastest = linear.loc[linear["time_ratio"].idxmin()]
    rope, known = f"{own.rope:g}", factors()
    first = table[table["class_of_model"] != "linear"].sort_values("better").iloc[-1]
    most, winning = linear.sort_values("better").iloc[-1], family_gains()
    ratios = {name: number(table.loc[name, "time_ratio"]) for name in (fastest.name, WINNING, slowest.name)}
    beyond = f"gains more than {rope} on"
    texts = (
        f"**Which method is best?** The study trains {_scope(ARCHIVE, 'defaults')}, with default settings.",
        f"{_coded(answer(own, 'defaults'), table)} The reference, `{reference}`, is balanced logistic",
        f"regression that chooses its `C` by cross-validation; differences in AUC below {rope} are taken not",
        f"to matter. **On which data?** `{first['method']}` {beyond} {_percent(first['better'])} of the",
        f"families and loses as much on {_percent(first['worse'])}; every linear method gains as much on at",
        f"most {_percent(most['better'])} (`{most['method']}`). `{WINNING}`, which minimises a loss over",
        f"pairs, {beyond} {int((winning > own.rope).sum())} of {len(winning)} families, most on",
        f"{_listed_gains(winning.nlargest(4))}, and loses as much on {int((winning < -own.rope).sum())}.",
        f"**At what cost?** Relative to `{reference}`, training takes {ratios[fastest.name]} times as long",
        f"with `{fastest.name}`, {ratios[WINNING]} times with `{WINNING}` and {ratios[slowest.name]} times",
        f"with `{slowest.name}` (geometric means). **What decides the AUC?** Choosing another",
        f"{known['factor'].iloc[0]} changes it by {known['size'].iloc[0]:.4f}, and visiting the rows in",
        f"another order by {known['size'].iloc[-1]:.4f} (root mean square over families).",
    )
    return " ".join(texts)


def family_gains(method: str = WINNING) -> "pd.Series[float]":
    """The gain of a method by family."""
    own = report(ARCHIVE).gains
    own = own[own["method"] == method]
    return own.groupby(["family", "data_set"])["gain"].mean().groupby("family").mean().dropna()


def _listed_gains(gains: "pd.Series[float]") -> str:
    return ", ".join(f"{family} ({signed(gain)})" for family, gain in gains.items())


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def section() -> str:
    """What README has below its heading."""
    parts = [
        fill(sentences(), 120, break_long_words=False),
        fill(tuned_sentences(), 120, break_long_words=False),
        factor_table(),
        fill(losses_study.losses_sentences(), 120, break_long_words=False),
    ]
    return "\n\n".join(parts)


def tuned_sentences() -> str:
    """The answer of README and the front page with tuned settings."""
    tried: dict[str, int] = {}
    for cell in archive(TRIALS):
        if cell.record.tuned:
            name = cell.record.class_of_model
            tried[name] = max(tried.get(name, 0), cell.record.tuned.cost.settings)
    answered = _coded(answer(report(TRIALS), "tuned"), verdicts(TRIALS, "tuned"))
    return (
        f"**And with tuning?** With the best of {tried['linear']} settings of a linear method, "
        f"{tried['trees']} of boosted trees and {tried['network']} of a network, chosen by cross-validation "
        f"inside the training rows, {_scope(TRIALS, 'tuned')}: {answered[0].lower()}{answered[1:]}"
    )


def _scope(file: Path, setting: str) -> str:
    """How many methods, data sets, runs and rows there are."""
    own = report(file)
    facts = own.data_sets[own.data_sets["setting"] == setting]
    results = own.results[own.results["setting"] == setting]
    runs = sorted(map(int, results.groupby("data_set")["runs"].max().unique()))
    text = " or ".join(map(str, runs)) if len(runs) < 3 else f"{', '.join(map(str, runs[:-1]))} or {runs[-1]}"
    return (
        f"{results['method'].nunique()} methods on {len(facts)} data sets of "
        f"{facts['family'].nunique()} families, "
        f"{text} {'run' if runs == [1] else 'runs'} each"
    )


def _coded(text: str, table: pd.DataFrame) -> str:
    """A sentence with the names of methods as code."""
    names = "|".join(sorted(map(re.escape, table.index), key=len, reverse=True))
    return re.sub(rf"(?<!\w)({names})(?!\w)", r"`\1`", text)


def picture() -> Figure:
    """The forest plot of the methods with the largest gains, in the style that is in force."""
    own = report(ARCHIVE).only(top=SHOWN)
    drawn = forest(own, "defaults", verdict_rows(own, "defaults"))
    assert drawn is not None
    return drawn[0]


def draw(path: Path, figure: Callable[[], Figure] = picture) -> None:
    """Write a picture of README and the front page."""
    # Equal drawings are equal files.
    with look(), matplotlib.rc_context({"svg.hashsalt": path.stem}):
        figure().savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def write_leaderboard(path: Path, file: Path = ARCHIVE) -> None:
    """The page of the whole study, one file; methods and data sets link to the pages of this site."""
    own = report(file)
    page = ["Documentation", "generated/datasets.html"]
    write_page(
        replace(
            own,
            plugins={name: replace(info, links=_links(info)) for name, info in own.plugins.items()},
            data_sets=own.data_sets.assign(links=[[*links, page] for links in own.data_sets["links"]]),
        ),
        path,
    )


def _links(info: MethodInfo) -> tuple[tuple[str, str], ...]:
    own = {
        "Documentation": f"generated/methods/{info.name}.html",
        "Source": f"generated/{source_page(info.source)}.html",
    }
    return tuple((dict(info.links) | own).items())


def write(folder: Path) -> None:
    """What the front page shows of the study, below the folder of generated pages."""
    columns = [VERDICTS[name] for name in ("gain", "verdict", "time_ratio", "mean")]
    words = {"measure": report(ARCHIVE).measure.symbol, "reference": report(ARCHIVE).references["defaults"]}
    rows = [
        (f"[`{row['method']}`](generated/methods/{row['method']}.md)", *(each.shown(row) for each in columns))
        for row in verdicts().to_dict("records")
    ]
    head = ["Method", *(each.heading.format(**words) for each in columns)]
    for name, text in (
        ("reference_table", table(head, rows)),
        ("reference_answer", sentences()),
        ("reference_factors", factor_table()),
        ("losses_answer", losses_study.losses_sentences()),
        ("losses_table", losses_study.losses_table()),
        ("tuned_answer", tuned_sentences()),
    ):
        (folder / f"{name}.inc").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    print(section())
    draw(PICTURE)
    draw(LOSSES_PICTURE, losses_study.losses_picture)
