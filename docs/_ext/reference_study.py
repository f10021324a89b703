"""The reference study: every method on a hundred data sets, read from the archives of the project.

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
TRIALS = DOCS / "results" / "reference.zip"  # the study under ``ruleset=trials``
STUDIES = {ARCHIVE: "reference_defaults", TRIALS: "reference"}
REFERENCE = "log_reg_cv"
PICTURE = DOCS / "_static" / "reference.svg"
LOSSES_PICTURE = DOCS / "_static" / "reference_losses.svg"
SHOWN = 16  # methods in the picture, including the reference
SLOPES_OF = ("auto", "psam", "svm_or", "solam", "fsauc", "boosting", "mlp")
WINNING = "psam"  # method with a loss over pairs, whose gains are reported by family


@cache
def report(file: Path) -> Report:
    """The leaderboard of the study from one archive."""
    name = STUDIES[file]
    return build(from_store(archive(file), name), name, one_study=True, reference=REFERENCE)


def verdicts(file: Path = ARCHIVE, setting: str = "defaults") -> pd.DataFrame:
    """The verdicts over all data sets by method, the best gain first."""
    study = report(file)
    rows = study.verdicts[(study.verdicts["setting"] == setting) & (study.verdicts["group"] == ALL)]
    return rows.set_index("method", drop=False)


def scope() -> str:
    """The compared methods and data sets, the reference, and the smallest difference that matters."""
    study = report(ARCHIVE)
    runs = sorted(map(int, study.results.groupby("data_set")["runs"].max().unique()))
    return (
        f"The study compares {study.results['method'].nunique()} methods on {len(study.data_sets)} data "
        f"sets, with {listed([str(count) for count in runs])} runs, depending on the number of rows. Its "
        f"reference, `{REFERENCE}`, is balanced logistic regression that chooses its `C` by "
        f"cross-validation. Differences in AUC below {study.rope:g} are taken not to matter, and a method is "
        "undecided where the interval of its gain is too wide for a verdict."
    )


def sentences() -> tuple[str, ...]:
    """The answers in README and on the front page, one for each question."""
    ranking, effects, rope = verdicts(), factors(), report(ARCHIVE).rope
    linear = ranking[(ranking["class_of_model"] == "linear") & (ranking["method"] != REFERENCE)]
    fastest, slowest = linear["time_ratio"].idxmin(), linear["time_ratio"].idxmax()
    times = {name: number(ranking.loc[name, "time_ratio"]) for name in (fastest, WINNING, slowest)}
    strongest = ranking[ranking["class_of_model"] != "linear"].sort_values("better").iloc[-1]
    gains, sizes = family_gains(), effects.set_index("factor")["size"]
    gain_share, loss_share = _percent((gains > rope).mean()), _percent((gains < -rope).mean())
    return (
        f"**Which method is best with default settings?** {answer(report(ARCHIVE), 'defaults')}",
        f"**And with tuning?** The best of {_tried()} is chosen by cross-validation inside the training "
        f"rows. {answer(report(TRIALS), 'tuned')}",
        f"**On which data?** `{strongest['method']}` gains more than {rope:g} on "
        f"{_percent(strongest['better'])} of the families and loses as much on "
        f"{_percent(strongest['worse'])}, while `{WINNING}`, a linear method with a loss over pairs, gains "
        f"as much on {gain_share} and loses as much on {loss_share}.",
        f"**At what cost?** Training takes {times[WINNING]} times as long with `{WINNING}` as with "
        f"`{REFERENCE}`, {times[fastest]} times with the fastest linear method, `{fastest}`, and "
        f"{times[slowest]} times with the slowest, `{slowest}`.",
        f"**What decides the AUC?** Another {effects['factor'][0]} typically changes it by "
        f"{effects['size'][0]:.4f}, another loss over pairs by {sizes['loss over pairs']:.4f}, and another "
        f"order of the rows, which is chance, by {sizes['order of the rows']:.4f}.",
    )


def _tried() -> str:
    """Largest numbers of settings tried in tuning, by class of model."""
    counts: dict[str, int] = {}
    for cell in archive(TRIALS):
        if cell.record.tuned:
            name = cell.record.class_of_model
            counts[name] = max(counts.get(name, 0), cell.record.tuned.cost.settings)
    return (
        f"{counts['linear']} settings of a linear method, {counts['trees']} of boosted trees and "
        f"{counts['network']} of a network"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def family_gains(method: str = WINNING) -> "pd.Series[float]":
    """The gain of a method by family."""
    gains = report(ARCHIVE).gains
    gains = gains[gains["method"] == method]
    return gains.groupby(["family", "data_set"])["gain"].mean().groupby("family").mean().dropna()


def slopes_table() -> str:
    """Slopes of the gains on properties of the data: a row for each method, a column for each property."""
    slopes = report(ARCHIVE).slopes
    slopes = slopes[(slopes["setting"] == "defaults") & slopes["method"].isin(SLOPES_OF)].set_index(
        ["method", "covariate"]
    )
    rows = []
    for name in SLOPES_OF:
        lines = (slopes.loc[name, covariate] for covariate in COVARIATES)
        rows.append(
            (
                f"`{name}`",
                *(f"{signed(row['slope'])} ({signed(row['low'])} to {signed(row['high'])})" for row in lines),
            )
        )
    return table(("Method", *(f"Ten times the {covariate}" for covariate in COVARIATES)), rows)


def section() -> str:
    """The section of README below its heading."""
    introduction, losses = (
        fill(text, 120, break_long_words=False) for text in (scope(), losses_study.losses_sentences())
    )
    answers = [fill(f"- {text}", 120, subsequent_indent="  ", break_long_words=False) for text in sentences()]
    return "\n\n".join([introduction, "\n".join(answers), factor_table(), losses])


def picture() -> Figure:
    """The forest plot of the methods with the largest gains, in the current style."""
    study = report(ARCHIVE)
    rows = study.ranking("defaults")
    is_shown = rows["method"].isin([*rows["method"][: SHOWN - 1], study.references["defaults"]])
    figure: Figure = forest(study, "defaults", rows[is_shown])
    return figure


def draw(path: Path, figure: Callable[[], Figure] = picture) -> None:
    """Write a picture of README and the front page."""
    # With a fixed salt and no date, equal drawings give equal files.
    with look(), matplotlib.rc_context({"svg.hashsalt": path.stem}):
        figure().savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def write_leaderboard(path: Path, file: Path = ARCHIVE) -> None:
    """Write the page of the whole study as one file; methods and data sets link to this site."""
    study = report(file)
    link = ["Documentation", "generated/datasets.html"]
    write_page(
        replace(
            study,
            methods=study.methods.assign(links=[_links(row) for row in study.methods.to_dict("records")]),
            data_sets=study.data_sets.assign(links=[[*links, link] for links in study.data_sets["links"]]),
        ),
        path,
    )


def _links(method: dict[Any, Any]) -> list[list[str]]:
    site_links = {
        "Documentation": f"generated/methods/{method['algorithm']}.html",
        "Source": f"generated/{source_page(method['source'])}.html",
    }
    return [list(link) for link in (dict(method["links"]) | site_links).items()]


def write(folder: Path) -> None:
    """Write tables and texts of the study for the front page, below the folder of generated pages."""
    specs = [VERDICTS[name] for name in ("gain", "verdict", "time_ratio", "mean")]
    labels = {"measure": report(ARCHIVE).measure.symbol, "reference": report(ARCHIVE).references["defaults"]}
    rows = [
        (f"[`{row['method']}`](generated/methods/{row['method']}.md)", *(spec.shown(row) for spec in specs))
        for row in verdicts().to_dict("records")
    ]
    head = ["Method", *(spec.heading.format(**labels) for spec in specs)]
    for name, text in (
        ("reference_table", table(head, rows)),
        ("reference_answer", "\n".join([f"{scope()}\n", *(f"- {sentence}" for sentence in sentences())])),
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
