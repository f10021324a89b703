"""``aucbench fetch`` and ``aucbench data``: the data sets in the cache."""

import shutil
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

from aucbench import analysis, api
from aucbench.cli.progress import say
from aucbench.contracts import DatasetFacts
from aucbench.contracts.validation import Family
from aucbench.errors import AucbenchError, DataError, FetchError, ParameterError
from aucbench.humanize import filesize

LABELS = 10  # most labels that are listed


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all-small", is_flag=True, help="All data sets that need no more than 100 MB each.")
@click.option("--yes", is_flag=True, help="Download more than 100 MB, too.")
def fetch(names: tuple[str, ...], all_small: bool, yes: bool) -> None:
    """Download the files of data sets NAMES, or find them in the mirror, and parse them into the cache.

    AUCBENCH_MIRROR names a folder or an address to take the files from, AUCBENCH_CACHE where they are kept,
    and AUCBENCH_OFFLINE=1 keeps off the network.
    """
    if not names and not all_small:
        raise ParameterError("Name the data sets to fetch, or use --all-small.")
    catalog = api.catalog()
    wanted = {name: catalog.dataset(name)() for name in names}
    for plugin in catalog.plugins[Family.datasets].values() if all_small else ():
        if _is_small(plugin.cls):
            wanted.setdefault(plugin.name, plugin.cls())
    failed = []
    for name, dataset in wanted.items():
        try:
            _fetch(dataset, yes)
        except AucbenchError as error:
            if len(wanted) == 1:
                raise
            failed.append(name)
            say(str(error))
    if failed:
        raise FetchError(f"{len(failed)} of {len(wanted)} data sets failed: {', '.join(failed)}.")


def _fetch(dataset: Any, yes: bool) -> None:
    from aucbench import data

    name = dataset.name
    if not DatasetFacts(type(dataset)).files:
        print(f"{name}: nothing to fetch, it comes with an installed package or is generated")
        return
    for part in ("train", "test") if data.has_test_part(dataset) else ("train",):
        for path in data.fetch(dataset, large=yes, part=part):
            print(f"{name}: {path}")
        loaded = data.load(dataset, part)
        print(f"{name}: {part} part, {loaded.X.shape[0]:,} rows, {loaded.X.shape[1]:,} features")


def _is_small(cls: type) -> bool:
    files = DatasetFacts(cls).files
    is_published = isinstance(files, tuple) and bool(files)  # else they are of a file of one's own
    return is_published and not DatasetFacts(cls).large and not any(file.by_hand for file in files)


@click.group("data", invoke_without_command=True)
@click.pass_context
@click.option("--remove", "removed", multiple=True, metavar="NAME", help="Remove a data set; repeatable.")
@click.option("--remove-all", is_flag=True, help="Remove everything that is listed.")
def show_data(context: click.Context, removed: tuple[str, ...], remove_all: bool) -> None:
    """Show which data sets are cached and how large they are, or remove some.

    What was read from files of your own is listed by their paths; NAME is a data set, such a path, or the
    name of the file. Rows from standard input and from arrays in Python are kept in the cache as files.
    Files of a mirror folder and of your own are never touched, and what is removed is fetched or parsed again
    when it is needed. Results are not data sets: aucbench results size and prune show and reduce a store.
    """
    if context.invoked_subcommand:
        return
    from aucbench.data import cache_folder
    from aucbench.data.files import cache_inventory

    known = [plugin.cls() for plugin in api.catalog().plugins[Family.datasets].values()]
    listed = {each.name: each for each in cache_inventory.held(known)}
    for name in sorted(listed) if remove_all else removed:
        called = {key: (key, Path(key).name, each.dataset) for key, each in listed.items()}
        wanted = [key for key, names in called.items() if name in names or str(Path(name).absolute()) == key]
        if not wanted:
            raise _nothing_of(name, listed)
        for key in wanted:
            print(f"{key}: {filesize(cache_inventory.remove(listed.pop(key)))} removed")
    if removed or remove_all:
        return
    print(f"{cache_folder()}")
    for each in listed.values():
        sizes = f"{filesize(each.parsed_bytes):>9} parsed  {filesize(each.file_bytes):>9} of files"
        print(f"  {sizes}  {each.name}")
    total = sum(each.parsed_bytes + each.file_bytes for each in listed.values())
    print(f"  {filesize(total):>9} in all")


def _nothing_of(name: str, known: Iterable[str]) -> ParameterError:
    held = ", ".join(known) or "no data"
    return ParameterError(f"There is nothing of '{name}' in the cache, which holds {held}.")


@show_data.command("verify")
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Compare the cached files of data sets NAMES, or of all, with their checksums.

    A damaged part is removed, and parsed again when it is needed; the exit status is then 1.
    """
    from aucbench.data.files import cache_inventory

    cached = sorted({each.dataset for each in cache_inventory.held(()) if each.parts})
    for name in names:
        if name not in cached:
            raise _nothing_of(name, cached)
    parts = [(name, *found) for name in names or cached for found in cache_inventory.verify(name).items()]
    for name, part, damaged in parts:
        found = f"removed, {', '.join(damaged)} is damaged or of another version" if damaged else "undamaged"
        print(f"{name}: {part}: {found}")
    if bad := sum(bool(damaged) for _, _, damaged in parts):
        raise DataError(f"{bad} of {len(parts)} parts were removed, and are parsed again when needed.")
    print(f"{len(parts)} parts are undamaged")


@show_data.command("describe")
@click.argument("file")
@click.argument("overrides", nargs=-1)
def describe(file: str, overrides: tuple[str, ...]) -> None:
    """Show how a FILE of one's own, or - for standard input, is read: its rows, labels and columns.

    OVERRIDES are those of a run, such as dataset.target=outcome or 'dataset.drop=[id]'; dataset=npz and the
    like say how to read a file whose name does not.
    """
    from aucbench.data.files.kept_files import STDIN, keep
    from aucbench.reports.views.text import TextTable, show_table

    file = keep(STDIN, partial(shutil.copyfileobj, sys.stdin.buffer)) if file == "-" else file
    found = analysis.describe_data(file, *overrides)
    labels = [f"{label} ({rows:,})" for label, rows in found.labels.items()]
    more = f" and {len(labels) - LABELS} more" if len(labels) > LABELS else ""
    print(f"{file}: {found.rows:,} rows, {found.features:,} features, {found.nonzeros:,} values not 0")
    print(f"labels: {', '.join(labels[:LABELS])}{more}")
    if found.repeated:
        print(
            f"equal rows: {found.repeated:,} of {found.rows:,} rows equal an earlier one; "
            "protocol.duplicates=together keeps equal rows on one side of a split"
        )
    if found.test_rows:
        print(f"test file: {found.test_rows:,} rows, {found.test_repeated:,} of which are also training rows")
    if found.columns:
        rows = [
            [f"{number}", each.name, each.kind, f"{each.levels or ''}", f"{each.missing or ''}"]
            for number, each in enumerate(found.columns)
        ]
        table = TextTable(["column", "name", "read as", "levels", "missing"], [True] * 3 + [False] * 2, rows)
        notes = [f"{each.name or at}: {each.note}" for at, each in enumerate(found.columns) if each.note]
        show_table("", table, notes, is_framed=False)
    wanted = list(overrides)
    if any(column.missing for column in found.columns) and "dataset.missing=median" not in overrides:
        print(
            "cells are missing: a run needs dataset.missing=median, or other columns; "
            "dataset.add_indicator=true adds columns that indicate such cells"
        )
        wanted.append("dataset.missing=median")
    print(f"run: {analysis.run_command(file, *wanted)}")
