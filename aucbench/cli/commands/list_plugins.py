"""``aucbench list``: the registered plugins."""

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
from aucbench.reports.views.text import TextTable, console, show_table
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

    FAMILY is algorithms, datasets, losses, features or suites. A suite is a named set of data sets for a
    sweep (aucbench -m +suite=NAME). Without FAMILY, the names in all families are shown. With NAME, or the
    name of a plugin instead of FAMILY, the fields of that plugin are shown.

    Methods with yes under `weights` take weights of training rows (`sample_weight` of AUCClassifier.fit).

    \b
    Examples:
      aucbench list algorithms
      aucbench list psam
    """
    catalog = api.catalog()
    if family is None:
        _show_names(catalog)
    elif family == SUITES:
        _show_suites(catalog)
    elif family not in list(Family):
        named = [plugin for plugin in catalog if plugin.name == family]
        if not named:
            raise ParameterError(f"Unknown family '{family}'. {suggest(family, [*Family, SUITES])}")
        for plugin in named:
            _show_plugin(plugin)
    elif name is None:
        _show_family(catalog, Family(family))
    else:
        _show_plugin(catalog.find(family, name))


def _show_names(catalog: Catalog) -> None:
    """Print the names of each family; data sets are only counted, because there are many."""
    for family in Family:
        names = sorted(catalog.plugins[family])
        _wrapped(f"{family}: {f'{len(names)} of them' if family is Family.datasets else ', '.join(names)}")
    _wrapped(f"{SUITES}: {', '.join(suite.name for suite in _suites(catalog))}")
    print("\nMore: aucbench list FAMILY, aucbench list FAMILY NAME")


def _show_family(catalog: Catalog, family: Family) -> None:
    plugins = sorted(catalog.plugins[family].values(), key=lambda plugin: plugin.name)
    foreign = any(plugin.distribution != OURS for plugin in plugins)
    rows = []
    for plugin in plugins:
        cls: Any = plugin.cls
        row = [plugin.name, plugin.summary]
        if family is Family.algorithms:
            if missing := missing_packages(cls):
                row[1] = f"({missing}) {plugin.summary}"
            weighted = "yes" if MethodFacts(cls).weighted else ""
            row += [str(class_of_model(cls)), str(cls.access), weighted]
        if family is Family.datasets:
            row.append(DatasetFacts(cls).family or plugin.name)
        if foreign:
            row.append("" if plugin.distribution == OURS else f"{plugin.distribution} {plugin.version}")
        rows.append(row)
    _show_table(["name", "what", *OWN_COLUMNS.get(family, ()), *["distribution"] * foreign], rows)


def _show_plugin(plugin: Plugin) -> None:
    """Print the fields of a plugin with their defaults and meanings."""
    cls: Any = plugin.cls
    _wrapped(f"{plugin.name}: {plugin.summary.replace('``', '')}")
    print(f"{plugin.distribution} {plugin.version}, {plugin.source}")
    (group,) = (name for name, family in FAMILIES.items() if family is plugin.family)
    show_fields(f"{group}.", {field.name: field.default for field in fields(cls)}, (cls,))


def _show_suites(catalog: Catalog) -> None:
    suites = _suites(catalog)
    rows = [[suite.name, suite.title, f"{len(suite.datasets)}", f"{len(suite.families)}"] for suite in suites]
    _show_table(["name", "what", "data sets", "families"], rows)


def _suites(catalog: Catalog) -> list[Any]:
    from aucbench.config.compose import Composer

    return Composer(catalog).suites()


def _wrapped(text: str) -> None:
    print(textwrap.fill(text, min(console().width, 120), subsequent_indent="  ", break_on_hyphens=False))


def _show_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table; the second column, the summary of a plugin, takes the remaining width."""
    widths = [max(map(len, texts)) for texts in zip(columns, *rows, strict=True)]
    room = max(20, console().width - 1 - 2 * len(widths) - sum(widths) + widths[1])
    shortened = [[row[0], textwrap.shorten(row[1], room, placeholder="…"), *row[2:]] for row in rows]
    show_table("", TextTable(columns, [True] * len(columns), shortened), is_framed=False)
