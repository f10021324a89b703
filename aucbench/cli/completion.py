"""Answers to the shell's completion queries: commands, names of plugins, and overrides."""

import os
from collections.abc import Iterable, Sequence

from aucbench import api
from aucbench.cli.commands import COMMANDS
from aucbench.contracts.validation import Family

FAMILIES = {
    "fetch": [Family.datasets],
    "suggest": [Family.datasets],
    "data": [Family.datasets],
    "try": [Family.algorithms],
    "check": list(Family),
}
WORDS = {"list": (*Family, "suites"), "new": ("algorithm", "dataset", "loss", "features")}


def complete(arguments: Sequence[str]) -> int:
    """Print the candidates for the line in ``COMP_LINE``; returns the exit status."""
    line = os.environ["COMP_LINE"]
    words = line.split()
    unfinished = "" if line.endswith(" ") else words[-1]
    before = words[1 : len(words) - (1 if unfinished else 0)]
    found = [name for name in _candidates(unfinished, before) if name.startswith(unfinished)]
    print(("\n" if "query=fish" in arguments else " ").join(found))
    return 0


def _candidates(unfinished: str, before: list[str]) -> Iterable[str]:
    command = before[0] if before and before[0] in COMMANDS else "run"
    if command == "results":
        from aucbench.cli.commands.results import results

        return results.commands
    if command != "run":
        plugins = [name for each in FAMILIES.get(command, ()) for name in api.catalog().plugins[each]]
        return sorted({*plugins, *WORDS.get(command, ())})
    from aucbench.config.compose import completions

    overrides = [word for word in before if "=" in word]
    of_hydra = completions(api.catalog(), " ".join([*overrides, unfinished]))
    return of_hydra if before else [*COMMANDS, *of_hydra]
