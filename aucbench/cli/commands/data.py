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

LABELS = 10  # largest number of listed labels


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all-small", is_flag=True, help="Fetch all data sets that need at most 100 MB each.")
@click.option("--yes", is_flag=True, help="Allow downloads of more than 100 MB.")
def fetch(names: tuple[str, ...], all_small: bool, yes: bool) -> None:
    """Download the files of the data sets NAMES, or find them in the mirror, and parse them into the cache.

    AUCBENCH_MIRROR names a folder or an address that provides the files, and AUCBENCH_CACHE the folder that
    keeps them. AUCBENCH_OFFLINE=1 disables the network.
    """
    if not names and not all_small:
        raise ParameterError("Name the data sets to fetch, or use --all-small.")
    catalog = api.catalog()
    datasets = {name: catalog.dataset(name)() for name in names}
    for plugin in catalog.plugins[Family.datasets].values() if all_small else ():
        if _is_small(plugin.cls):
            datasets.setdefault(plugin.name, plugin.cls())
    failed = []
    for name, dataset in datasets.items():
        try:
            _fetch(dataset, yes)
        except AucbenchError as error:
            if len(datasets) == 1:
                raise
            failed.append(name)
            say(str(error))
    if failed:
        raise FetchError(f"{len(failed)} of {len(datasets)} data sets failed: {', '.join(failed)}.")


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
    is_published = isinstance(files, tuple) and bool(files)  # otherwise the data are in a user's file
    return is_published and not DatasetFacts(cls).large and not any(file.by_hand for file in files)


@click.group("data", invoke_without_command=True)
@click.pass_context
@click.option("--remove", "removed", multiple=True, metavar="NAME", help="Remove a data set; repeatable.")
@click.option("--remove-all", is_flag=True, help="Remove everything that is listed.")
def show_data(context: click.Context, removed: tuple[str, ...], remove_all: bool) -> None:
    """Show the cached data sets and their sizes, or remove some of them.

    Data from your own files are listed by the paths of the files. NAME is a data set, such a path, or the
    name of the file. Rows from standard input and from arrays in Python are kept in the cache as files.
    Your own files and the files of a mirror folder are never changed. Removed data are fetched or parsed
    again when needed. For results, aucbench results size and prune show and reduce the size of a store.
    """
    if context.invoked_subcommand:
        return
    from aucbench.data import cache_folder
    from aucbench.data.files import cache_inventory

    datasets = [plugin.cls() for plugin in api.catalog().plugins[Family.datasets].values()]
    listed = {entry.name: entry for entry in cache_inventory.held(datasets)}
    for name in sorted(listed) if remove_all else removed:
        aliases = {key: (key, Path(key).name, entry.dataset) for key, entry in listed.items()}
        keys = [key for key, names in aliases.items() if name in names or str(Path(name).absolute()) == key]
        if not keys:
            raise _nothing_of(name, listed)
        for key in keys:
            print(f"{key}: {filesize(cache_inventory.remove(listed.pop(key)))} removed")
    if removed or remove_all:
        return
    print(f"{cache_folder()}")
    for entry in listed.values():
        sizes = f"{filesize(entry.parsed_bytes):>9} parsed  {filesize(entry.file_bytes):>9} of files"
        print(f"  {sizes}  {entry.name}")
    total = sum(entry.parsed_bytes + entry.file_bytes for entry in listed.values())
    print(f"  {filesize(total):>9} in all")


def _nothing_of(name: str, names: Iterable[str]) -> ParameterError:
    content = ", ".join(names) or "no data"
    return ParameterError(f"There is nothing of '{name}' in the cache, which holds {content}.")


@show_data.command("verify")
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Compare the cached files of the data sets NAMES, or of all, with their checksums.

    A damaged part is removed, and parsed again when needed; the exit status is then 2.
    """
    from aucbench.data.files import cache_inventory

    cached = sorted({entry.dataset for entry in cache_inventory.held(()) if entry.parts})
    for name in names:
        if name not in cached:
            raise _nothing_of(name, cached)
    parts = [(name, *item) for name in names or cached for item in cache_inventory.verify(name).items()]
    for name, part, damaged in parts:
        state = f"removed, {', '.join(damaged)} is damaged or of another version" if damaged else "undamaged"
        print(f"{name}: {part}: {state}")
    if bad := sum(bool(damaged) for _, _, damaged in parts):
        raise DataError(f"{bad} of {len(parts)} parts were removed, and are parsed again when needed.")
    print(f"{len(parts)} parts are undamaged")


@show_data.command("describe")
@click.argument("file")
@click.argument("overrides", nargs=-1)
def describe(file: str, overrides: tuple[str, ...]) -> None:
    """Show how FILE is read: its rows, labels and columns.

    FILE is a file of your own, or - for standard input. OVERRIDES are overrides of a run, such as
    dataset.target=outcome or 'dataset.drop=[id]'. If the name of the file does not show its format,
    set it, for example dataset=npz.
    """
    from aucbench.data.files.kept_files import STDIN, keep
    from aucbench.reports.views.text import TextTable, show_table

    file = keep(STDIN, partial(shutil.copyfileobj, sys.stdin.buffer)) if file == "-" else file
    data = analysis.describe_data(file, *overrides)
    labels = [f"{label} ({rows:,})" for label, rows in data.labels.items()]
    more = f" and {len(labels) - LABELS} more" if len(labels) > LABELS else ""
    print(f"{file}: {data.rows:,} rows, {data.features:,} features, {data.nonzeros:,} values not 0")
    print(f"labels: {', '.join(labels[:LABELS])}{more}")
    if data.repeated:
        print(
            f"equal rows: {data.repeated:,} of {data.rows:,} rows equal an earlier one; "
            "protocol.duplicates=together keeps equal rows on one side of a split"
        )
    if data.test_rows:
        print(f"test file: {data.test_rows:,} rows, {data.test_repeated:,} of which are also training rows")
    if data.columns:
        rows = [
            [f"{number}", column.name, column.kind, f"{column.levels or ''}", f"{column.missing or ''}"]
            for number, column in enumerate(data.columns)
        ]
        table = TextTable(["column", "name", "read as", "levels", "missing"], [True] * 3 + [False] * 2, rows)
        notes = [f"{column.name or i}: {column.note}" for i, column in enumerate(data.columns) if column.note]
        show_table("", table, notes, is_framed=False)
    arguments = list(overrides)
    if any(column.missing for column in data.columns) and "dataset.missing=median" not in overrides:
        print(
            "cells are missing: a run needs dataset.missing=median, or other columns; "
            "dataset.add_indicator=true adds columns that indicate such cells"
        )
        arguments.append("dataset.missing=median")
    print(f"run: {analysis.run_command(file, *arguments)}")
