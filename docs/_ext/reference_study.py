"""The reference study: every method on a hundred data sets, read from the archives that the project keeps.

``python docs/_ext/reference_study.py`` prints the section of README and the front page, and draws its
pictures anew.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

import losses_study
import matplotlib
import pandas as pd
from deciding import factor_table, factors
from markdown import table
from matplotlib.figure import Figure
from method_pages import source_page
from study_cells import archive

from aucbench.reports.answer import answer, listed
from aucbench.reports.build import build
from aucbench.reports.cells import from_store
from aucbench.reports.columns import VERDICTS, number, signed
from aucbench.reports.report import ALL, Report
from aucbench.reports.statistics.meta_regression import COVARIATES
from aucbench.reports.views.figure_style import look
from aucbench.reports.views.figures import forest
from aucbench.reports.views.page import write_page

DOCS = Path(__file__).parents[1]
ARCHIVE = DOCS / "results" / "reference_defaults.zip"
TRIALS = DOCS / "results" / "reference.zip"  # the same, under ``ruleset=trials``
STUDIES = {ARCHIVE: "reference_defaults", TRIALS: "reference"}
REFERENCE = "log_reg_cv"
PICTURE = DOCS / "_static" / "reference.svg"
LOSSES_PICTURE = DOCS / "_static" / "reference_losses.svg"
SHOWN = 16  # methods of the picture, the reference among them
SLOPES_OF = ("auto", "psam", "svm_or", "solam", "fsauc", "boosting", "mlp")
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


def scope() -> str:
    """What was compared, with what, and which differences matter."""
    own = report(ARCHIVE)
    runs = sorted(map(int, own.results.groupby("data_set")["runs"].max().unique()))
    return (
        f"The study compares {own.results['method'].nunique()} methods on {len(own.data_sets)} data sets, "
        f"with {listed([str(each) for each in runs])} runs, depending on the number of rows. Its reference, "
        f"`{REFERENCE}`, is balanced logistic regression that chooses its `C` by cross-validation. "
        f"Differences in AUC below {own.rope:g} are taken not to matter, and a method is undecided where the "
        "interval of its gain is too wide for a verdict."
    )


def sentences() -> tuple[str, ...]:
    """The answer of README and the front page, one sentence a question."""
    table, most, rope = verdicts(), factors(), report(ARCHIVE).rope
    linear = table[(table["class_of_model"] == "linear") & (table["method"] != REFERENCE)]
    fastest, slowest = linear["time_ratio"].idxmin(), linear["time_ratio"].idxmax()
    times = {name: number(table.loc[name, "time_ratio"]) for name in (fastest, WINNING, slowest)}
    strongest = table[table["class_of_model"] != "linear"].sort_values("better").iloc[-1]
    gains, sizes = family_gains(), most.set_index("factor")["size"]
    more, less = _percent((gains > rope).mean()), _percent((gains < -rope).mean())
    return (
        f"**Which method is best with default settings?** {answer(report(ARCHIVE), 'defaults')}",
        f"**And with tuning?** The best of {_tried()} is chosen by cross-validation inside the training "
        f"rows. {answer(report(TRIALS), 'tuned')}",
        f"**On which data?** `{strongest['method']}` gains more than {rope:g} on "
        f"{_percent(strongest['better'])} of the families and loses as much on "
        f"{_percent(strongest['worse'])}, while `{WINNING}`, a linear method with a loss over pairs, gains "
        f"as much on {more} and loses as much on {less}.",
        f"**At what cost?** Training takes {times[WINNING]} times as long with `{WINNING}` as with "
        f"`{REFERENCE}`, {times[fastest]} times with the fastest linear method, `{fastest}`, and "
        f"{times[slowest]} times with the slowest, `{slowest}`.",
        f"**What decides the AUC?** Another {most['factor'][0]} typically changes it by "
        f"{most['size'][0]:.4f}, another loss over pairs by {sizes['loss over pairs']:.4f}, and another "
        f"order of the rows, which is chance, by {sizes['order of the rows']:.4f}.",
    )


def _tried() -> str:
    """How many settings of each class of model were tried in tuning."""
    most: dict[str, int] = {}
    for cell in archive(TRIALS):
        if cell.record.tuned:
            name = cell.record.class_of_model
            most[name] = max(most.get(name, 0), cell.record.tuned.cost.settings)
    return (
        f"{most['linear']} settings of a linear method, {most['trees']} of boosted trees and "
        f"{most['network']} of a network"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def family_gains(method: str = WINNING) -> "pd.Series[float]":
    """The gain of a method by family."""
    own = report(ARCHIVE).gains
    own = own[own["method"] == method]
    return own.groupby(["family", "data_set"])["gain"].mean().groupby("family").mean().dropna()


def slopes_table() -> str:
    """How gains change with the data: a line for each of some methods, a column for each property."""
    own = report(ARCHIVE).slopes
    own = own[(own["setting"] == "defaults") & own["method"].isin(SLOPES_OF)].set_index(
        ["method", "covariate"]
    )
    rows = []
    for name in SLOPES_OF:
        lines = (own.loc[name, each] for each in COVARIATES)
        rows.append(
            (
                f"`{name}`",
                *(f"{signed(x['slope'])} ({signed(x['low'])} to {signed(x['high'])})" for x in lines),
            )
        )
    return table(("Method", *(f"Ten times the {each}" for each in COVARIATES)), rows)


def section() -> str:
    """What README has below its heading."""
    first, losses = (
        fill(each, 120, break_long_words=False) for each in (scope(), losses_study.losses_sentences())
    )
    answers = [fill(f"- {each}", 120, subsequent_indent="  ", break_long_words=False) for each in sentences()]
    return "\n\n".join([first, "\n".join(answers), factor_table(), losses])


def picture() -> Figure:
    """The forest plot of the methods with the largest gains, in the style that is in force."""
    own = report(ARCHIVE)
    rows = own.ranking("defaults")
    is_shown = rows["method"].isin([*rows["method"][: SHOWN - 1], own.references["defaults"]])
    drawn: Figure = forest(own, "defaults", rows[is_shown])
    return drawn


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
            methods=own.methods.assign(links=[_links(each) for each in own.methods.to_dict("records")]),
            data_sets=own.data_sets.assign(links=[[*links, page] for links in own.data_sets["links"]]),
        ),
        path,
    )


def _links(method: dict[Any, Any]) -> list[list[str]]:
    own = {
        "Documentation": f"generated/methods/{method['algorithm']}.html",
        "Source": f"generated/{source_page(method['source'])}.html",
    }
    return [list(link) for link in (dict(method["links"]) | own).items()]


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
        ("reference_answer", "\n".join([f"{scope()}\n", *(f"- {each}" for each in sentences())])),
        ("reference_factors", factor_table()),
        ("reference_slopes", slopes_table()),
        ("losses_answer", losses_study.losses_sentences()),
        ("losses_table", losses_study.losses_table()),
    ):
        (folder / f"{name}.inc").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    print(section())
    draw(PICTURE)
    draw(LOSSES_PICTURE, losses_study.losses_picture)
