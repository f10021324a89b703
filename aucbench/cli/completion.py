"""Answers to the shell's completion queries: subcommands and plugin names, else Hydra's overrides."""

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import aucbench
from aucbench.cli import SUBCOMMANDS


def complete(arguments: Sequence[str]) -> int:
    """Print the candidates for the line in ``COMP_LINE``; returns the exit status."""
    from aucbench.contracts.validation import Family

    line = os.environ["COMP_LINE"]
    words = line.split()
    unfinished = "" if line.endswith(" ") else words[-1]
    before = words[1 : len(words) - (1 if unfinished else 0)]
    if before[:1] == ["list"]:
        return _offer(unfinished, Family)
    if before[:1] in (["fetch"], ["data"]):
        return _offer(unfinished, aucbench.catalog().plugins[Family.datasets])
    if before[:1] == ["check"]:
        return _offer(
            unfinished, sorted({plugin.name for plugin in aucbench.catalog()} | {"--all", "--list"})
        )
    if before[:1] == ["new"]:
        return _offer(unfinished, ("algorithm", "dataset", "loss", "features"))
    if before[:1] == ["try"]:
        return _offer(unfinished, sorted(aucbench.catalog().plugins[Family.algorithms]))
    if before and before[0] in SUBCOMMANDS and before[0] != "run":
        return 0
    if not before:
        _offer(unfinished, SUBCOMMANDS)
    overrides = before[before[:1] == ["run"] :]
    choices = _choices(unfinished, overrides)
    if choices:
        return _offer(unfinished, choices)
    from aucbench.cli.running import run

    # Hydra does not know the word run; for it the overrides begin right after the command's name.
    os.environ["COMP_LINE"] = " ".join([words[0], *overrides, unfinished])
    return run(list(arguments))


def _choices(unfinished: str, overrides: Sequence[str]) -> list[str]:
    """The values of a field with a fixed set of them, as overrides; Hydra offers the default only."""
    from aucbench.config import composing, twins
    from aucbench.config.settings import Settings
    from aucbench.contracts import field_types

    name, sign, _ = unfinished.partition("=")
    group, _, field = name.rpartition(".")
    if not sign or (group and group not in twins.GROUPS):
        return []
    owner: Any = Settings
    if group:
        catalog = aucbench.catalog()
        chosen = composing.choices(composing.compose(catalog, [word for word in overrides if "=" in word]))
        owner = catalog.find(twins.GROUPS[group], str(chosen[group])).cls
    kind = field_types(owner).get(field)
    members = kind.base if kind and isinstance(kind.base, type) and issubclass(kind.base, StrEnum) else ()
    return [f"{name}={member}" for member in members]


def _offer(unfinished: str, names: object) -> int:
    print(" ".join(str(name) for name in names if str(name).startswith(unfinished)))  # type: ignore[attr-defined]
    return 0
