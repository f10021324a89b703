"""``aucbench list``: the registered plugins."""

import sys
from typing import Any

import click

from aucbench import api
from aucbench.contracts import DatasetFacts, MethodFacts
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.registry import Catalog
from aucbench.studies.provenance import missing_packages
from aucbench.suggestions import suggest

OWN_COLUMNS = {Family.algorithms: ("access", "weights"), Family.datasets: ("family",)}
SUITES = "suites"
WIDE = 120  # columns of a terminal that has room for the modules of plugins


@click.command("list")
@click.argument("family", required=False)
def list_plugins(family: str | None) -> None:
    """Show the registered plugins: name, one line, distribution, module; access and weights of methods,
    family of data sets.

    Terminals of fewer than 120 columns do not show the module.

    Methods with yes under `weights` take weights of training rows (`sample_weight` of AUCClassifier.fit).

    FAMILY is one of algorithms, datasets, losses, features, or suites, which are named sets of data sets for
    a sweep (aucbench -m +suite=NAME); all of them when left out.
    """
    if family is not None and family not in (known := [*Family, SUITES]):
        raise ParameterError(f"Unknown family '{family}'. {suggest(family, known)}")
    catalog = api.catalog()
    for each in Family if family is None else [Family(family)] if family != SUITES else []:
        _print_family(catalog, each)
    if family in (None, SUITES):
        _print_suites(catalog)


def _print_family(catalog: Catalog, family: Family) -> None:
    console = _console()
    # The description needs the room on a narrow terminal.
    is_wide = console.width >= WIDE
    columns = ["name", "what", *OWN_COLUMNS.get(family, ()), "distribution"]
    rows = []
    for plugin in catalog.plugins[family].values():
        cls: Any = plugin.cls
        missing = missing_packages(cls) if family is Family.algorithms else ""
        row = [plugin.name, f"({missing}) {plugin.summary}" if missing else plugin.summary]
        if family is Family.algorithms:
            row += [str(cls.access), "yes" if MethodFacts(cls).weighted else ""]
        if family is Family.datasets:
            row.append(DatasetFacts(cls).family or plugin.name)
        row += [f"{plugin.distribution} {plugin.version}", *([plugin.source] if is_wide else [])]
        rows.append(row)
    _print_table(console, family, columns + ["source"] * is_wide, rows)


def _print_suites(catalog: Catalog) -> None:
    from aucbench.config.suites import suites

    found = suites(catalog)
    rows = [[each.name, each.title, f"{len(each.datasets)}", f"{len(each.families)}"] for each in found]
    _print_table(_console(), SUITES, ["name", "what", "data sets", "families"], rows)


def _console() -> Any:
    from rich.console import Console

    width = None if sys.stdout.isatty() else 200  # a pipe has no width; do not cut at 80
    return Console(width=width, markup=False, highlight=False)


def _print_table(console: Any, title: str, columns: list[str], rows: list[list[str]]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(
            column, overflow="fold" if column != "what" else "ellipsis", no_wrap=column in ("name", "access")
        )
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print()
