"""The command line, as its own ``--help`` tells it."""

import contextlib
import io

from aucbench.cli.commands import COMMANDS
from aucbench.cli.main import main


def pages() -> dict[str, str]:
    """Texts by file name below ``generated``."""
    parts = [
        "# Command line\n\nWhat `aucbench --help` and `aucbench COMMAND --help` print.",
        _block(["--help"]),
    ]
    parts += [
        f"## aucbench {name}\n\n{_block([name, '--help'])}"
        for name in COMMANDS
        if name not in ("run", "help")
    ]
    parts.append(
        "## aucbench run\n\nEvery word after `run` is a choice or a field, see [running](../running.md) and "
        "the [configuration](configuration.md)."
    )
    return {"commands.md": "\n\n".join(parts) + "\n"}


def _block(words: list[str]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = main(words)
    if status:
        raise RuntimeError(f"aucbench {' '.join(words)} ended with status {status}")
    return f"```text\n{printed.getvalue().rstrip()}\n```"
