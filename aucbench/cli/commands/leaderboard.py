"""``aucbench leaderboard`` and ``aucbench compare``."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from aucbench.cli.commands._store import sources_of, store_option, with_option
from aucbench.cli.progress import say
from aucbench.contracts import ModelClass
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import AUC, MEASURES
from aucbench.reports.answer import listed
from aucbench.reports.cell_frame import REFERENCE, TUNED_REFERENCE
from aucbench.reports.cells import from_store, gathered, joined
from aucbench.reports.columns import line
from aucbench.reports.labels import with_titles
from aucbench.reports.report import ROPE
from aucbench.reports.views.figure_style import FONTS, WIDTHS
from aucbench.studies.default_settings import StoreSettings
from aucbench.suggestions import suggest


@click.command()
@store_option
@with_option
@click.option("--study", default=None, help="Name of a study; by default, all studies.")
@click.option("--out", default=None, help="Folder for CSV, Parquet, Markdown, LaTeX, the page and pictures.")
@click.option(
    "--pictures/--no-pictures", default=True, help="Whether --out draws pictures, which takes seconds."
)
@click.option(
    "--width", type=click.Choice(list(WIDTHS)), default="page", show_default=True,
    help="Width of pictures: a column (3.35 inches) or a page (7 inches) of a paper.",
)  # fmt: skip
@click.option(
    "--font", type=click.Choice(list(FONTS)), default="sans", show_default=True,
    help="Font of pictures: sans, or serif as in the text of most papers.",
)  # fmt: skip
@click.option(
    "--methods", default="", help="Methods in LaTeX and pictures, comma-separated; by default all methods."
)
@click.option(
    "--reference",
    help=f"Method that gains are relative to; by default the reference of the plan, else {REFERENCE}, "
    f"or {TUNED_REFERENCE} if methods are tuned.",
)
@click.option(
    "--rope", type=click.FloatRange(0.0, min_open=True),
    help="Largest difference in the measure that does not matter in practice; for the AUC, the default is "
    f"the rope of the plan, else {ROPE}.",
)  # fmt: skip
@click.option(
    "--model-class", type=click.Choice(list(ModelClass)),
    help="Compare only methods of this class of model, and the reference.",
)  # fmt: skip
@click.option(
    "--dataset", "data_sets", multiple=True,
    help="Show this data set, and draw its curves instead of those of the five largest; repeatable.",
)  # fmt: skip
@click.option("--notes/--no-notes", default=False, help="Whether to explain how numbers are computed.")
@click.option(
    "--by", default=AUC.name, show_default=True,
    help=f"Measure to compare: {', '.join(MEASURES)}.",
)  # fmt: skip
def leaderboard(
    store: str,
    archives: tuple[str, ...],
    study: str | None,
    out: str | None,
    pictures: bool,
    width: str,
    font: str,
    methods: str,
    data_sets: tuple[str, ...],
    notes: bool,
    **compared: Any,
) -> None:
    """Compare methods with a reference, over families of data sets and on each data set.

    The results are the finished entries of a store, and those of archives that others sent.

    \b
    Examples:
      aucbench leaderboard --study mine --out board
      aucbench leaderboard --with theirs.zip
      aucbench leaderboard --study mine --dataset german
      aucbench leaderboard --study mine --by ap --rope 0.01
      aucbench leaderboard --study mine --model-class trees --reference boosting
      aucbench leaderboard --study mine --out paper --width column --font serif
    """
    from aucbench.reports.build import build
    from aucbench.reports.views.text import show

    inputs, folder = gathered(sources_of(store, archives), study), _make_folder(out)
    report = build(**inputs, **compared)
    chosen = [name for text in methods.split(",") if (name := text.strip())]
    _check_names("method", chosen, sorted({*report.methods["method"], *report.methods["algorithm"]}))
    available = list(report.data_sets["data_set"].unique())
    _check_names("data set", data_sets, available)
    show(report, data_sets, notes)
    for remark in () if notes else report.remarks:
        print(line(remark))
    if folder:
        from aucbench.reports.views.export import PAGE, write
        from aucbench.reports.views.figures import draw_all

        quoted = with_titles(report.only(chosen) if chosen else report)
        files = write(report, folder, quoted)
        if pictures:
            drawn = draw_all(quoted, folder / "pictures", width, font, data_sets)
            files += drawn.files
            if drawn.lacking:
                print(line(f"Without numbers, and not drawn: {listed(drawn.lacking)}"))
        print(f"{len(files)} files written to {folder}; open {folder / PAGE}")
    elif len(available) > 1 and not data_sets:
        first = f"One data set: --dataset {shlex.quote(available[0])}"
        print(f"{first}; how the numbers are made: --notes; all files: --out FOLDER")


@click.command()
@click.argument("table")
@store_option
@with_option
@click.option(
    "--study", "studies", multiple=True,
    help="Name of the study; repeatable. By default, the study is TABLE, together with its parts "
    "TABLE_PART in archives.",
)  # fmt: skip
@click.option("--out", default=None, help="Folder to write TABLE.md, TABLE.csv and TABLE.parquet to.")
def compare(
    table: str, store: str, archives: tuple[str, ...], studies: tuple[str, ...], out: str | None
) -> None:
    """Compare our results with the published results of TABLE, such as fsauc_table2.

    Our results are those of the study of the same name: run ``aucbench +experiment=TABLE`` first.

    \b
    Examples:
      aucbench compare fsauc_table2 --out tables
      aucbench compare fsauc_table2 --with theirs.zip
    """
    from aucbench.reports import papers
    from aucbench.reports.views.text import show_table

    if table not in papers.TABLES:
        raise ParameterError(f"Unknown table '{table}'. {suggest(table, list(papers.TABLES))}")
    hint = f"run aucbench +experiment={table} first"
    sources = sources_of(store, archives, hint)
    available = dict.fromkeys(plan.study for source in sources for plan in source.plans())
    parts = [study for study in available if archives and study.startswith(f"{table}_")]
    names = studies or ([table] if table in available or not parts else []) + parts
    for study in names:
        if study not in available:
            raise ParameterError(f"{sources[0].path} has no study '{study}': {hint}.")
    pairs = [(source, {plan.study for plan in source.plans()}) for source in sources]
    cells = joined(from_store(source, study) for study in names for source, known in pairs if study in known)
    folder = _make_folder(out)
    frame = papers.compare(papers.TABLES[table], cells)
    print("\n".join([papers.about(papers.TABLES[table]), *papers.verdicts(frame)]))
    for dataset, rows in papers.tried(frame).groupby("dataset", sort=False):
        notes = [f"{row['method']}: {row['note']}" for row in rows.to_dict("records") if row["note"]]
        show_table(str(dataset), papers.text_table(rows, ("dataset", "note")), notes)
    if folder:
        options = ["--store", store] if store != StoreSettings.path else []
        options += [option for file in archives for option in ("--with", file)]
        options += [option for study in studies for option in ("--study", study)]
        command = shlex.join(["aucbench", "compare", table, *options])
        text = papers.markdown(table, papers.TABLES[table], frame, command)
        (folder / f"{table}.md").write_text(text, encoding="utf-8")
        frame.to_csv(folder / f"{table}.csv", index=False)
        frame.to_parquet(folder / f"{table}.parquet", index=False)
        say(f"written to {folder}")


def _check_names(kind: str, names: Sequence[str], valid: list[str]) -> None:
    for name in names:
        if name not in valid:
            raise ParameterError(f"No {kind} of the leaderboard is called '{name}'. {suggest(name, valid)}")


def _make_folder(out: str | None) -> Path | None:
    """The output folder, created before any computation, so that an invalid path fails early."""
    if out is None:
        return None
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"--out: {out} cannot be made ({error.strerror}).") from error
    return Path(out)
