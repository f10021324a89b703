"""The reference study: every method on every data set at hand, read from the archive that the project keeps.

``python docs/_ext/reference_study.py`` prints the sentences that README and the front page quote from it, and
draws their picture anew.
"""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import fill

import matplotlib
import pandas as pd
from markdown import table
from matplotlib.figure import Figure
from method_pages import source_page

from aucbench.reports.answer import answer
from aucbench.reports.build import build
from aucbench.reports.cells import from_store
from aucbench.reports.columns import VERDICTS, number
from aucbench.reports.method_info import MethodInfo
from aucbench.reports.report import ALL, Report
from aucbench.reports.views.figure_style import look
from aucbench.reports.views.forest import forest, verdict_rows
from aucbench.reports.views.page import write_page
from aucbench.studies.archive import Archive
from aucbench.studies.archive_file import read

DOCS = Path(__file__).parents[1]
ARCHIVE = DOCS / "results" / "reference.zip"
TRIALS = DOCS / "results" / "reference_trials.zip"  # of the same study under ``ruleset=trials``
PICTURE = DOCS / "_static" / "reference.svg"
STUDY = "reference"
SHOWN = 16  # methods of the picture, the reference among them


@cache
def archive(file: Path = ARCHIVE) -> Archive:
    """What a file has of the study."""
    return read(file)[1]


@cache
def report(file: Path = ARCHIVE) -> Report:
    """The leaderboard of the study, or of what another archive has of it."""
    return build(from_store(archive(file), STUDY), STUDY, one_study=True)


def verdicts(file: Path = ARCHIVE, setting: str = "defaults") -> pd.DataFrame:
    """The verdicts over all data sets by method, the best gain first."""
    own = report(file)
    rows = own.verdicts[(own.verdicts["setting"] == setting) & (own.verdicts["group"] == ALL)]
    return rows.set_index("method", drop=False)


def sentences() -> str:
    """What README and the front page quote."""
    table, reference = verdicts(), report().references["defaults"]
    linear = table[(table["class_of_model"] == "linear") & (table["method"] != reference)]
    best, slowest = linear.iloc[0], linear.loc[linear["time_ratio"].idxmax()]
    trees = table[table["class_of_model"] == "trees"].iloc[0]
    gain, rope = VERDICTS["gain"], f"{report().rope:g}"
    many, most = f"{100 * trees['better']:.0f} %", f"{100 * linear['better'].max():.0f} %"
    texts = (
        "**Which method is best?** Every method was trained with its default settings:",
        f"{_scope(ARCHIVE, 'defaults')}. {_coded(answer(report(), 'defaults'), table)}",
        f"The reference, `{reference}`, is balanced logistic regression. Differences in AUC below {rope} are",
        f"taken not to matter. **At what cost?** `{best['method']}` has the largest gain of the linear",
        f"methods, {gain.shown(best)}, and trains for {number(best['time_ratio'])} times the seconds of",
        f"`{reference}` (geometric mean); `{slowest['method']}` takes {number(slowest['time_ratio'])}",
        f"times as long. **What limits linear methods?** Boosted trees (`{trees['method']}`) gain",
        f"{gain.shown(trees)}, and more than {rope} on {many} of the families; no linear method gains as",
        f"much on more than {most} of them. **What remains uncertain?** No method was tuned. The gains of",
        "undecided methods differ too much from family to family to say whether they are better, worse or",
        "equivalent.",
    )
    return " ".join(texts)


def tuned_sentences() -> str:
    """What the front page says of tuned methods."""
    trials = [cell.record.tuned.trials for cell in archive(TRIALS) if cell.record.tuned]
    tried = max(len({trial.number for trial in own}) for own in trials)
    return (
        f"**And with tuning?** Up to {tried} settings of the grid of each method were tried: "
        f"{_scope(TRIALS, 'tuned')}. {_coded(answer(report(TRIALS), 'tuned'), verdicts(TRIALS, 'tuned'))}"
    )


def _scope(file: Path, setting: str) -> str:
    """How many data sets, runs and rows there are."""
    own = report(file)
    facts = own.data_sets[own.data_sets["setting"] == setting]
    runs = int(own.results.loc[own.results["setting"] == setting, "runs"].max())
    return (
        f"{len(facts)} data sets, {runs} {'run' if runs == 1 else 'runs'} each, at most "
        f"{int(facts['train_rows'].max()):,} training rows"
    )


def _coded(text: str, table: pd.DataFrame) -> str:
    """A sentence with the names of methods as code."""
    names = "|".join(sorted(map(re.escape, table.index), key=len, reverse=True))
    return re.sub(rf"(?<!\w)({names})(?!\w)", r"`\1`", text)


def picture() -> Figure:
    """The forest plot of the methods with the largest gains, in the style that is in force."""
    own = report().only(top=SHOWN)
    drawn = forest(own, "defaults", verdict_rows(own, "defaults"))
    assert drawn is not None
    return drawn[0]


def draw(path: Path) -> None:
    """Write the picture of README and the front page."""
    # Equal drawings are equal files.
    with look(), matplotlib.rc_context({"svg.hashsalt": STUDY}):
        picture().savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


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
    words = {"measure": report().measure.symbol, "reference": report().references["defaults"]}
    rows = [
        (f"[`{row['method']}`](generated/methods/{row['method']}.md)", *(each.shown(row) for each in columns))
        for row in verdicts().to_dict("records")
    ]
    head = ["Method", *(each.heading.format(**words) for each in columns)]
    for name, text in (
        ("reference_table", table(head, rows)),
        ("reference_answer", sentences()),
        ("tuned_answer", tuned_sentences()),
    ):
        (folder / f"{name}.inc").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    print(fill(sentences(), 120, break_long_words=False))
    draw(PICTURE)
