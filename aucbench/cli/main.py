"""Entry point of the command line; a first word that is not a command belongs to `run`."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from aucbench.cli.commands import COMMANDS
from aucbench.cli.exit_status import BAD_INPUT, INTERRUPTED, sentence_of
from aucbench.cli.output import tolerant_output
from aucbench.humanize import harmless, without_secrets

LEAST_DATA = 700_000_000  # bytes with which a run on a small data set has always ended well


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    if arguments is None:  # a program of its own, not a caller's function
        tolerant_output()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    first = arguments[0] if arguments else ""
    if first in ("-h", "--help", "help"):
        width = max(map(len, COMMANDS))
        lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
        usage = Path(__file__).with_name("usage.txt").read_text("utf-8")
        print(usage.format(commands="\n".join(lines)), end="")
        return 0
    if first == "--version":
        from importlib.metadata import version

        print(f"aucbench {version('aucbench')}")
        return 0
    _plain_warnings()
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _interrupted_again
    try:
        _refuse_small_limit()
        if "COMP_LINE" in os.environ and any(word.startswith("query=") for word in arguments):
            from aucbench.cli.help import complete

            return complete(arguments)
        function = _command(first, arguments)
        words = arguments[1:] if first in COMMANDS else arguments
        status = int(function(words) or 0)
    except KeyboardInterrupt:
        return _interrupted(first)
    except Exception as error:
        if _was_interrupted(error):
            return _interrupted(first)
        sentence = sentence_of(error)
        if sentence is None or os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        print(f"aucbench: {harmless(without_secrets(sentence))}", file=sys.stderr)
        status = BAD_INPUT
    sys.stdout.flush()
    if trouble := getattr(sys.stdout, "trouble", ""):
        print(f"aucbench: standard output could not be written ({trouble}).", file=sys.stderr)
        status = status or BAD_INPUT
    # Skip garbage collection at exit, which takes about a second for millions of library objects. Ctrl-C in
    # the exit itself would show a traceback, though all is written.
    import atexit
    import gc
    import signal

    gc.freeze()
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    return status


def _refuse_small_limit() -> None:
    """Refuse a limit of data within which SciPy's BLAS would look for memory for ever as it is loaded."""
    if sys.platform == "win32":
        return
    import resource

    from aucbench.errors import ParameterError

    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if limit != resource.RLIM_INFINITY and limit < LEAST_DATA:
        raise ParameterError(
            f"This process may have {limit / 1e6:,.0f} MB of data, and needs {LEAST_DATA / 1e6:,.0f} MB to "
            "start; raise the limit (ulimit -d, prlimit --data)."
        )


def _interrupted_again(unraisable: Any) -> None:
    """Repeat Ctrl-C where Python would ignore it, as it came while an object was freed."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import signal
    import threading

    threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()


def _interrupted(first: str) -> int:
    runs = first == "run" or first not in COMMANDS
    print(f"aucbench: interrupted{'; finished cells are in the store' * runs}", file=sys.stderr)
    return INTERRUPTED


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error; an extension module turns Ctrl-C during import into an ImportError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _command(first: str, words: list[str]) -> Callable[[list[str]], int | None]:
    """The function that runs the command of a command line."""
    if first.isidentifier() and first not in COMMANDS:
        from aucbench.errors import ParameterError
        from aucbench.suggestions import suggest

        raise ParameterError(
            f"'{first}' is neither a command nor an override (NAME=VALUE). {suggest(first, list(COMMANDS))}"
        )
    name = first if first in COMMANDS else "run"
    if name == "run" and "--dry-run" in words:  # checked before the slow import of the libraries
        print("aucbench: planning ...", file=sys.stderr, flush=True)
    command = COMMANDS[name]
    function = getattr(import_module(f"aucbench.cli.commands.{command.module}"), command.function)
    return function if name == "run" else partial(_click_command, function, f"aucbench {name}")


def _click_command(command: Any, name: str, words: list[str]) -> int | None:
    import click

    try:
        return command.main(words, prog_name=name, standalone_mode=False, help_option_names=["-h", "--help"])
    except click.Abort:  # click's KeyboardInterrupt
        raise KeyboardInterrupt from None


def _plain_warnings() -> None:
    """Show warnings of aucbench as one sentence, without a line of source."""
    import warnings

    usual: Any = warnings.formatwarning

    def plain(message: object, category: type[Warning], *rest: object) -> str:
        is_ours = category.__name__ in ("PluginWarning", "VersionWarning")
        return f"aucbench: warning: {message}\n" if is_ours else usual(message, category, *rest)

    warnings.formatwarning = plain  # type: ignore[assignment]
