"""``aucbench leaderboard`` and ``aucbench compare``."""

import os
import shlex
import sys
from pathlib import Path

import click

from aucbench.cli.commands._store import opened, store_option
from aucbench.errors import ParameterError
from aucbench.leaderboard.baseline import BASELINE
from aucbench.leaderboard.cells import BoardCell, from_store, left_out, of_results
from aucbench.studies.default_settings import StoreSettings
from aucbench.studies.store import Store

_REMARK = "MLflow has finished cells only: cells that failed or were never run are not among these."


@click.command()
@store_option
@click.option("--mlflow", "uri", default=None, help="Read what was logged to this address, and no store.")
@click.option("--study", default=None, help="Name of one study; everything when left out.")
@click.option("--out", default=None, help="Folder for CSV, Parquet, Markdown, LaTeX, the page and pictures.")
@click.option("--pictures/--no-pictures", default=True, help="Whether --out draws, which takes seconds.")
@click.option("--baseline", default=BASELINE, show_default=True, help="Method that gains are relative to.")
def leaderboard(
    store: str, uri: str | None, study: str | None, out: str | None, pictures: bool, baseline: str
) -> None:
    """Compare methods: per data set and over all of them, with what is significant and what is missing.

    Reads the finished entries of a store, or those that were logged to an MLflow address.
    """
    from aucbench.leaderboard import build
    from aucbench.leaderboard.render import terminal

    cells = _stored(store, study) if uri is None else _logged(uri, study)
    folder = _made(out)
    remarks = (_REMARK,) if uri is not None else left_out(Store(store, writable=False), study)
    report = build.build(cells, study or uri or store, study is not None, remarks, baseline)
    terminal.show(report)
    if folder:
        from aucbench.leaderboard.render.export import PAGE, write

        files = write(report, cells, folder, pictures)
        print(f"{len(files)} files written to {folder}; open {folder / PAGE}")


@click.command()
@click.argument("table")
@store_option
@click.option(
    "--study", "studies", multiple=True,
    help="Name of the study, or of several when given again; that of the table when left out.",
)  # fmt: skip
@click.option("--out", default=None, help="Folder to write TABLE.md, TABLE.csv and TABLE.parquet to.")
def compare(table: str, store: str, studies: tuple[str, ...], out: str | None) -> None:
    """Put our results beside the published ones of TABLE, such as fsauc_table2.

    The results are those of the study of that name: run ``aucbench +experiment=TABLE`` first.
    """
    from aucbench.leaderboard import papers
    from aucbench.leaderboard.papers import TABLES
    from aucbench.suggestions import suggest

    names = studies or (table,)
    if table not in TABLES:
        raise ParameterError(f"Unknown table '{table}'. {suggest(table, list(TABLES))}")
    hint = f"run aucbench +experiment={table} first"
    kept = opened(store, hint)
    known = {plan.study for plan in kept.plans()}
    for study in names:
        if study not in known:
            raise ParameterError(f"The store at {store} has no study '{study}': {hint}.")
    cells = {cell.key: cell for study in names for cell in from_store(kept, study)}
    folder = _made(out)
    frame = papers.compare(TABLES[table], list(cells.values()))
    words = [f"--store {shlex.quote(store)}"] if store != StoreSettings.path else []
    words += [f"--study {shlex.quote(study)}" for study in studies]
    text = papers.markdown(table, TABLES[table], frame, " ".join(["aucbench compare", table, *words]))
    print(text)
    if folder:
        (folder / f"{table}.md").write_text(text, encoding="utf-8")
        frame.to_csv(folder / f"{table}.csv", index=False)
        frame.to_parquet(folder / f"{table}.parquet", index=False)
        print(f"written to {folder}", file=sys.stderr)


def _stored(path: str, study: str | None) -> list[BoardCell]:
    cells = from_store(opened(path), study)
    if not cells and study is None:
        raise ParameterError(f"The store at {path} holds no finished cell yet: run aucbench first.")
    if not cells and study is not None:
        raise ParameterError(
            f"The study '{study}' in the store at {path} has no cells: its data may be lacking, or every run "
            f"of it was refused. aucbench status --study {shlex.quote(study)} says more."
        )
    return cells


def _logged(uri: str, study: str | None) -> list[BoardCell]:
    from aucbench import tracking

    tracking.check_address(uri)
    results = tracking.read_cells(uri, study)
    if not results:
        what = "entries" if study is None else f"entries of a study '{study}'"
        raise ParameterError(f"No {what} were logged to {uri}.")
    return of_results(results)


def _made(out: str | None) -> Path | None:
    """The folder to write to, made at once: what cannot be written need not be computed."""
    if out is None:
        return None
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"--out: {out} cannot be made ({error.strerror}).") from error
    if not os.access(folder, os.W_OK):
        raise ParameterError(f"--out: {out} cannot be written to.")
    return folder
