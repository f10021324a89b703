"""``aucbench list``: the registered plugins."""

import shutil
import textwrap
from dataclasses import fields
from typing import Any

import click

from aucbench import api
from aucbench.cli.help import show_fields
from aucbench.contracts import DatasetFacts, MethodFacts, class_of_model
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.registry import Catalog, Plugin
from aucbench.studies.plugin_metadata import FAMILIES
from aucbench.studies.provenance import missing_packages
from aucbench.suggestions import suggest

OWN_COLUMNS = {Family.algorithms: ("model", "access", "weights"), Family.datasets: ("family",)}
SUITES = "suites"
OURS = "aucbench"  # the distribution of the built-in plugins


@click.command("list")
@click.argument("family", required=False)
@click.argument("name", required=False)
def list_plugins(family: str | None, name: str | None) -> None:
    """Show the registered plugins.

    FAMILY is one of algorithms, datasets, losses, features, or suites, which are named sets of data sets for
    a sweep (aucbench -m +suite=NAME). Without it, the names of all families are shown; with NAME, or the name
    of a plugin in place of the family, the fields of that plugin.

    Methods with yes under `weights` take weights of training rows (`sample_weight` of AUCClassifier.fit).

    \b
    Examples:
      aucbench list algorithms
      aucbench list psam
    """
    known = [*Family, SUITES]
    catalog = api.catalog()
    if family is None:
        _print_names(catalog)
    elif family not in known:
        named = [plugin for plugin in catalog if plugin.name == family]
        if not named:
            raise ParameterError(f"Unknown family '{family}'. {suggest(family, known)}")
        for plugin in named:
            _print_plugin(plugin)
    elif family == SUITES:
        _print_suites(catalog)
    elif name is None:
        _print_family(catalog, Family(family))
    else:
        plugins = catalog.plugins[Family(family)]
        if name not in plugins:
            raise ParameterError(f"Nothing in {family} is called '{name}'. {suggest(name, list(plugins))}")
        _print_plugin(plugins[name])


def _print_names(catalog: Catalog) -> None:
    """The names of each family, wrapped; the data sets are too many and are counted."""
    from aucbench.config.compose import Composer

    width = min(shutil.get_terminal_size().columns, 120)
    for family in Family:
        names = sorted(catalog.plugins[family])
        text = f"{len(names)} of them" if family is Family.datasets else ", ".join(names)
        print(textwrap.fill(f"{family}: {text}", width, subsequent_indent="  ", break_on_hyphens=False))
    print(f"{SUITES}: {', '.join(sorted(each.name for each in Composer(catalog).suites()))}")
    print("\nMore: aucbench list FAMILY, aucbench list FAMILY NAME")


def _print_family(catalog: Catalog, family: Family) -> None:
    plugins = sorted(catalog.plugins[family].values(), key=lambda plugin: plugin.name)
    foreign = any(plugin.distribution != OURS for plugin in plugins)
    columns = ["name", "what", *OWN_COLUMNS.get(family, ()), *["distribution"] * foreign]
    rows = []
    for plugin in plugins:
        cls: Any = plugin.cls
        missing = missing_packages(cls) if family is Family.algorithms else ""
        row = [plugin.name, f"({missing}) {plugin.summary}" if missing else plugin.summary]
        if family is Family.algorithms:
            facts = MethodFacts(cls)
            row += [str(class_of_model(cls)), str(cls.access), "yes" if facts.weighted else ""]
        if family is Family.datasets:
            row.append(DatasetFacts(cls).family or plugin.name)
        if foreign:
            row.append("" if plugin.distribution == OURS else f"{plugin.distribution} {plugin.version}")
        rows.append(row)
    _print_table(columns, rows)


def _print_plugin(plugin: Plugin) -> None:
    """The fields of a plugin with their defaults and meanings."""
    own: Any = plugin.cls
    width = min(shutil.get_terminal_size().columns, 120)
    print(textwrap.fill(f"{plugin.name}: {plugin.summary.replace('``', '')}", width))
    print(f"{plugin.distribution} {plugin.version}, {plugin.source}")
    defaults = {each.name: each.default for each in fields(own)}
    (group,) = (name for name, family in FAMILIES.items() if family is plugin.family)
    show_fields(f"{group}.", defaults, (own,))


def _print_suites(catalog: Catalog) -> None:
    from aucbench.config.compose import Composer

    found = sorted(Composer(catalog).suites(), key=lambda each: each.name)
    rows = [[each.name, each.title, f"{len(each.datasets)}", f"{len(each.families)}"] for each in found]
    _print_table(["name", "what", "data sets", "families"], rows)


def _print_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table; the second column, what a plugin is, has the room that the others leave."""
    from aucbench.reports.views.text import TextTable, console, show_table

    widths = [max(map(len, texts)) for texts in zip(columns, *rows, strict=True)]
    room = max(20, console().width - 1 - 2 * len(widths) - sum(widths) + widths[1])
    for row in rows:
        row[1] = row[1] if len(row[1]) <= room else f"{row[1][: room - 1]}…"
    show_table("", TextTable(columns, [True] * len(columns), rows), is_framed=False)
