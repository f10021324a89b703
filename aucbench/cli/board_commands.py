"""``aucbench leaderboard`` and ``aucbench compare``."""

import shlex
import sys
from pathlib import Path

import click

from aucbench.boards.collecting import Cell, from_store, of_results
from aucbench.config.settings import StoreSettings
from aucbench.errors import ParameterError
from aucbench.store import Store

_store = click.option("--store", default=StoreSettings.path, show_default=True, help="Folder of the store.")


@click.command()
@_store
@click.option("--mlflow", "uri", default=None, help="Read what was logged to this address, and no store.")
@click.option("--study", default=None, help="Name of one study; everything when left out.")
@click.option("--out", default=None, help="Folder for CSV, Parquet, Markdown, LaTeX, the page and pictures.")
@click.option("--pictures/--no-pictures", default=True, help="Whether --out draws, which takes seconds.")
def leaderboard(store: str, uri: str | None, study: str | None, out: str | None, pictures: bool) -> None:
    """Compare methods: per data set and over all of them, with what is significant and what is missing.

    Reads the finished entries of a store, or those that were logged to an MLflow address.
    """
    from aucbench.boards import building, terminal

    cells, source = _cells(store, uri, study)
    report = building.build(cells, study or source, one_study=study is not None)
    terminal.show(report)
    if out:
        from aucbench.boards.files import PAGE, write

        files = write(report, cells, Path(out), pictures)
        print(f"{len(files)} files written to {out}; open {Path(out) / PAGE}")


@click.command()
@click.argument("table")
@_store
@click.option("--study", default=None, help="Name of the study; that of the table when left out.")
@click.option("--out", default=None, help="Folder to write TABLE.md, TABLE.csv and TABLE.parquet to.")
def compare(table: str, store: str, study: str | None, out: str | None) -> None:
    """Put our results beside the published ones of TABLE, such as fsauc_table2.

    The results are those of the study of that name: run ``aucbench +experiment=TABLE`` first.
    """
    from aucbench.boards import comparing
    from aucbench.boards.published import TABLES
    from aucbench.registry import suggest

    if table not in TABLES:
        raise ParameterError(f"Unknown table '{table}'. {suggest(table, list(TABLES))}")
    published = TABLES[table]
    frame = comparing.compare(published, from_store(_opened(store), study or table))
    words = [f"--store {shlex.quote(store)}"] if store != StoreSettings.path else []
    words += [f"--study {shlex.quote(study)}"] if study else []
    text = comparing.markdown(table, published, frame, " ".join(["aucbench compare", table, *words]))
    print(text)
    if out:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{table}.md").write_text(text, encoding="utf-8")
        frame.to_csv(folder / f"{table}.csv", index=False)
        frame.assign(**{"verdict": frame["verdict"].astype(str)} if len(frame) else {}).to_parquet(
            folder / f"{table}.parquet", index=False
        )
        print(f"written to {folder}", file=sys.stderr)


def _cells(store: str, uri: str | None, study: str | None) -> tuple[list[Cell], str]:
    if uri is None:
        cells = from_store(_opened(store), study)
        if not cells:
            raise ParameterError(f"The store at {store} holds no finished cell yet.")
        return cells, store
    from aucbench import tracking

    tracking.check_address(uri)
    results = tracking.read_cells(uri, study)
    if not results:
        what = "entries" if study is None else f"entries of a study '{study}'"
        raise ParameterError(f"No {what} were logged to {uri}.")
    return of_results(results), uri


def _opened(store: str) -> Store:
    if not Path(store).is_dir():
        raise ParameterError(f"There is no store at {store}: run aucbench first, or name one with --store.")
    return Store(store)
