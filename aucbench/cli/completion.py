"""Answers to the shell's completion queries: commands, names of plugins, and overrides."""

import os
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from aucbench import api
from aucbench.cli.commands import COMMANDS
from aucbench.contracts.validation import Family

NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "list": lambda: (*Family, "suites"),
    "fetch": lambda: api.catalog().plugins[Family.datasets],
    "suggest": lambda: api.catalog().plugins[Family.datasets],
    "data": lambda: api.catalog().plugins[Family.datasets],
    "check": lambda: sorted({plugin.name for plugin in api.catalog()} | {"--all", "--list"}),
    "new": lambda: ("algorithm", "dataset", "loss", "features"),
    "try": lambda: sorted(api.catalog().plugins[Family.algorithms]),
}


def complete(arguments: Sequence[str]) -> int:
    """Print the candidates for the line in ``COMP_LINE``; returns the exit status."""

    line = os.environ["COMP_LINE"]
    words = line.split()
    unfinished = "" if line.endswith(" ") else words[-1]
    before = words[1 : len(words) - (1 if unfinished else 0)]
    found = [name for name in _candidates(unfinished, before) if name.startswith(unfinished)]
    print(("\n" if "query=fish" in arguments else " ").join(found))
    return 0


def _candidates(unfinished: str, before: list[str]) -> list[str]:
    command = before[0] if before and before[0] in COMMANDS else "run"
    if before[-1:] == ["--with"]:
        return sorted(str(path) for path in Path().glob("*.zip"))
    if command == "results":
        return _of_results(before[1:])
    if command != "run":
        return [str(name) for name in NAMES[command]()] if command in NAMES else []
    overrides = [word for word in before if "=" in word]
    if values := _values(unfinished, overrides):
        return values
    from aucbench.config.compose import completions

    of_hydra = completions(api.catalog(), " ".join([*overrides, unfinished]))
    return of_hydra if before else [*COMMANDS, *of_hydra]


def _of_results(before: list[str]) -> list[str]:
    """Subcommands; then the studies of the default store, or the archives of this folder."""
    from aucbench.cli.commands.results import results
    from aucbench.studies.default_settings import StoreSettings
    from aucbench.studies.store import Store

    if not before:
        return list(results.commands)
    if before == ["export"]:
        return [plan.study for plan in Store(str(StoreSettings.path), writable=False).plans()]
    return sorted(str(path) for path in Path().glob("*.zip"))


def _values(unfinished: str, overrides: Sequence[str]) -> list[str]:
    """The values of a field with a fixed set of them, as overrides; Hydra offers the default only."""
    from aucbench.config.structured_configs import GROUPS
    from aucbench.contracts import field_types
    from aucbench.studies.default_settings import Settings

    name, sign, _ = unfinished.partition("=")
    group, _, field = name.rpartition(".")
    if not sign or (group and group not in GROUPS):
        return []
    owner: Any = Settings
    if group:
        from aucbench.config.compose import chosen, compose, session

        with session(api.catalog()):
            name_of_plugin = chosen(compose(overrides), group)
        owner = api.catalog().find(GROUPS[group], str(name_of_plugin)).cls
    kind = field_types(owner).get(field)
    members = kind.base if kind and isinstance(kind.base, type) and issubclass(kind.base, StrEnum) else ()
    return [f"{name}={member}" for member in members]
