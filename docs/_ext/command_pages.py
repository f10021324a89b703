"""The page of the command line, with the output of ``--help``."""

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
            parts += [_block([name, subcommand, "--help"]) for subcommand in _subcommands(name)]
    parts.append(
        "## aucbench run\n\nEvery word after `run` is a choice or a field, see [running](../running.md) and "
        "the [configuration](configuration.md)."
    )
    return {"commands.md": "\n\n".join(parts) + "\n"}


def _subcommands(name: str) -> list[str]:
    command = COMMANDS[name]
    function = getattr(import_module(f"aucbench.cli.commands.{command.module}"), command.function)
    return sorted(getattr(function, "commands", ()))


def _block(argv: list[str]) -> str:
    stdout = io.StringIO()
    with contextlib.redirect_stdout(stdout):
        status = main(argv)
    if status:
        raise RuntimeError(f"aucbench {' '.join(argv)} ended with status {status}")
    return f"```text\n{stdout.getvalue().rstrip()}\n```"
