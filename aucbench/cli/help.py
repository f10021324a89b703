"""Help on the settings of a run: ``run --help``, ``--cfg job``, fields of a plugin, shell completion."""

import inspect
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING
from itertools import chain
from typing import Any

from aucbench import api
from aucbench.cli.commands import COMMANDS
from aucbench.contracts.validation import Family
from aucbench.reports.views.text import console

MOST_CHOICES = 80  # largest number of choices listed for a group
LONGEST_VALUE = 24  # characters
WORDS = {  # words that the shell completes; a family stands for its plugins
    **dict.fromkeys(("fetch", "suggest", "data"), (Family.datasets,)),
    "try": (Family.algorithms,),
    "check": tuple(Family),
    "list": (*map(str, Family), "suites"),
    "new": ("algorithm", "dataset", "loss", "features"),
    "results": ("check", "export", "import", "merge", "prune", "size", "verify"),
}


def show_run(request: Any) -> None:
    """Print every flag, group, choice and field of a run, with the values after the overrides."""
    from aucbench.config.compose import CHOSEN, Composer
    from aucbench.config.words import flag_parser
    from aucbench.studies.default_settings import Running, Settings

    composer, out = Composer(api.catalog(), request), console()
    out.print(
        f"{flag_parser().format_help()}\nGroups and their choices, GROUP=NAME (+experiment=, +suite=):\n"
    )
    for group, names in composer.groups().items():
        summary = f"{len(names)} choices: aucbench list {group}s"
        out.print(f"{group}: {', '.join(names) if len(names) <= MOST_CHOICES else summary}")
    out.print(
        "\nFields, their values and meanings (NAME=VALUE or GROUP.FIELD=VALUE).\n"
        "For fields of other choices: aucbench run --help algo=solam tuning=random."
    )
    run = composer.single()
    parts = {name: value for name, value in run.items() if isinstance(value, dict)}
    show_fields("", {name: run[name] for name in run if name not in parts}, (Settings, Running))
    for name, fields in parts.items():
        cls, chosen = composer.class_of(name, run), fields.pop(CHOSEN, None)
        if fields:
            out.print(f"\n{name}{f'={chosen}' if chosen else ''}")
            show_fields(f"{name}.", fields, (cls,) if cls else ())


def show_fields(prefix: str, values: Mapping[str, Any], classes: Sequence[type]) -> None:
    """Print a line for each field of some classes: its name, its value and its meaning."""
    from rich.table import Table

    meaning = {name: text for cls in classes for name, text in _meanings(cls).items()}
    table, out = Table.grid(padding=(0, 2)), console()
    table.add_column(overflow="fold", max_width=out.width // 2)
    table.add_column()
    for name, value in values.items():
        table.add_row(f"  {prefix}{name}={_shown(value)}", meaning.get(name, ""))
    out.print(table)


def _shown(value: Any) -> str:
    if value is MISSING:
        return "?"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    text = str(list(value) if isinstance(value, tuple) else value).replace("'", "")
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def _meanings(cls: type) -> dict[str, str]:
    """The first sentence of the description of each parameter in a docstring of numpydoc's form."""
    meanings: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(base.__doc__ or "").partition("Parameters\n----------\n")[2]
        section = re.split(r"^\S.*\n---", text, maxsplit=1, flags=re.MULTILINE)[0]
        for names, body in re.findall(
            r"^(\S[^:\n]*?) :[^\n]*\n((?:(?:[ ]+[^\n]*)?(?:\n|$))+)", section, re.MULTILINE
        ):
            sentence = re.split(r"(?<=[.;])\s", " ".join(body.split()).replace("``", ""), maxsplit=1)[0]
            if sentence and not sentence.startswith("As for"):  # the base class documents it
                meanings |= dict.fromkeys(names.split(", "), sentence.rstrip(".;"))
    return meanings


def complete(arguments: Sequence[str]) -> int:
    """Print the candidates for the line in ``COMP_LINE``; returns the exit status."""
    line = os.environ["COMP_LINE"]
    words = line.split()
    unfinished = "" if line.endswith(" ") else words[-1]
    before = words[1 : len(words) - (1 if unfinished else 0)]
    matches = [name for name in _candidates(before) if name.startswith(unfinished)]
    print(("\n" if "query=fish" in arguments else " ").join(matches))
    return 0


def _candidates(before: list[str]) -> Iterable[str]:
    command = before[0] if before and before[0] in COMMANDS else "run"
    if command != "run":
        offered = WORDS.get(command, ())
        names = (api.catalog().plugins[item] if isinstance(item, Family) else (item,) for item in offered)
        return sorted(set(chain.from_iterable(names)))
    from aucbench.config.compose import Composer
    from aucbench.config.words import Request

    composer = Composer(api.catalog(), Request(tuple(word for word in before if "=" in word)))
    groups = {
        f"+{name}" if name in ("experiment", "suite") else name: choices
        for name, choices in composer.groups().items()
    }
    candidates = [f"{group}={name}" for group, names in groups.items() for name in names]
    for part, value in composer.single().items():
        candidates += [f"{part}.{field}=" for field in value] if isinstance(value, dict) else [f"{part}="]
    return candidates if before else [*COMMANDS, *candidates]
