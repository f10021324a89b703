"""The command line: the first word is a subcommand, or everything is Hydra's."""

import os
import sys
from collections.abc import Sequence

INTERRUPTED = 130
SUBCOMMANDS = {
    "run": "train and measure; Hydra overrides follow (run --help)",
    "list": "show the registered algorithms, data sets, losses and feature maps",
    "fetch": "download data sets, or check that the mirror has them",
    "data": "show which data are cached and how large they are, or remove them",
    "new": "write a package with a working algorithm, dataset, loss or features",
    "check": "try plugins against the rules of the contract",
    "try": "run a method against others on small data: curves and a verdict",
    "status": "show how far the studies of a store are, and what failed",
    "leaderboard": "compare methods: tables, tests, curves, one page",
    "compare": "put our results beside a paper's table",
    "sync": "log to MLflow what the store has and MLflow has not",
    "charts": "print where MLflow shows the curves of a study",
    "export-model": "write the weights of a linear method as an MLflow model",
}

USAGE = """\
aucbench: which stochastic method for maximising the AUC is best, on which data, at what cost?

Usage:
  aucbench [run] [OVERRIDE ...]     train and measure (python -m aucbench does the same)
  aucbench COMMAND [ARGUMENT ...]

Examples:
  aucbench                                        psam on breast_cancer
  aucbench algo=solam dataset=a9a budget.epochs=5
  aucbench -m algo=solam,opauc,psam dataset=a9a,w8a runs=5
  aucbench dataset=libsvm dataset.path=my.txt
  aucbench +experiment=smoke parallel=2           a table of a paper, or a small one

Commands:
{commands}

Options:
  -h, --help       this page (aucbench run --help shows every field and choice)
  --version        the version
  -m, --multirun   run every combination of comma-separated values
  --dry-run        show what would run, what the store has, and what the rest will take
  --only-failed    run only the cells that failed before
  -sc install=bash print the completion script (see README)

Exit status: 0 all went well, 1 a cell failed or an internal error, 2 bad input (one sentence says what).
HYDRA_FULL_ERROR=1 shows the traceback.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    first = arguments[0] if arguments else ""
    if first in ("-h", "--help", "help"):
        width = max(map(len, SUBCOMMANDS))
        lines = [f"  {name:<{width}}  {text}" for name, text in SUBCOMMANDS.items()]
        print(USAGE.format(commands="\n".join(lines)), end="")
        return 0
    if first == "--version":
        from importlib.metadata import version

        print(f"aucbench {version('aucbench')}")
        return 0
    from aucbench.cli.failing import guarded

    _plain_warnings()
    traceback = os.environ.get("HYDRA_FULL_ERROR") == "1"
    try:
        status = guarded(lambda: _dispatch(first, arguments, traceback), traceback)
    except KeyboardInterrupt:
        runs = first == "run" or first not in SUBCOMMANDS
        print(f"aucbench: interrupted{'; finished cells are in the store' * runs}", file=sys.stderr)
        return INTERRUPTED
    # The libraries' millions of objects need no last look by the collector: it costs a second.
    import gc

    gc.freeze()
    return status


def _dispatch(first: str, arguments: list[str], traceback: bool) -> int:
    if _asks_completion(arguments):
        from aucbench.cli.completion import complete

        return complete(arguments)
    if first in SUBCOMMANDS and first != "run":
        import click

        from aucbench.cli.commands import COMMANDS

        try:
            result = COMMANDS[first].main(arguments[1:], prog_name=f"aucbench {first}", standalone_mode=False)
        except click.Abort:  # click's own word for it
            raise KeyboardInterrupt from None
        return int(result or 0)
    if first.isidentifier() and first not in SUBCOMMANDS:
        from aucbench.errors import ParameterError
        from aucbench.registry import suggest

        raise ParameterError(
            f"'{first}' is neither a command nor an override (NAME=VALUE). "
            f"{suggest(first, list(SUBCOMMANDS))}"
        )
    from aucbench.cli.running import run

    return run(arguments[1:] if first == "run" else arguments, traceback)


def _plain_warnings() -> None:
    """Show a plugin that was left out as a sentence, not as a line of our source."""
    import warnings

    usual = warnings.formatwarning

    def plain(message: object, category: type[Warning], *rest: object) -> str:
        if category.__name__ == "PluginWarning":
            return f"aucbench: warning: {message}\n"
        return usual(message, category, *rest)  # type: ignore[arg-type]

    warnings.formatwarning = plain  # type: ignore[assignment]


def _asks_completion(arguments: Sequence[str]) -> bool:
    return "COMP_LINE" in os.environ and any(word.startswith("query=") for word in arguments)
