"""The command line, as its own ``--help`` tells it."""

import contextlib
import io
from importlib import import_module

from aucbench.cli.commands import COMMANDS
from aucbench.cli.main import main


def pages() -> dict[str, str]:
    """Texts by file name below ``generated``."""
    parts = [
        "# Command line\n\nWhat `aucbench --help` and `aucbench COMMAND --help` print.",
        _block(["--help"]),
    ]
    for name in COMMANDS:
        if name != "run":
            parts.append(f"## aucbench {name}\n\n{_block([name, '--help'])}")
            parts += [_block([name, own, "--help"]) for own in _subcommands(name)]
    parts.append(
        "## aucbench run\n\nEvery word after `run` is a choice or a field, see [running](../running.md) and "
        "the [configuration](configuration.md)."
    )
    return {"commands.md": "\n\n".join(parts) + "\n"}


def _subcommands(name: str) -> list[str]:
    command = COMMANDS[name]
    function = getattr(import_module(f"aucbench.cli.commands.{command.module}"), command.function)
    return sorted(getattr(function, "commands", ()))


def _block(words: list[str]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = main(words)
    if status:
        raise RuntimeError(f"aucbench {' '.join(words)} ended with status {status}")
    return f"```text\n{printed.getvalue().rstrip()}\n```"
