"""Entry point of the command line; arguments that do not begin with a command belong to `run`."""

import atexit
import contextlib
import errno
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from aucbench.cli.commands import BAD_INPUT, COMMANDS, INTERRUPTED
from aucbench.errors import FAULTS, AucbenchError, ParameterError
from aucbench.humanize import harmless, without_secrets
from aucbench.suggestions import suggest

WARNINGS = ("PluginWarning", "VersionWarning")  # shown as one sentence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    if arguments is None:  # run as a program, not called as a function
        sys.stdout, sys.stderr = Output(sys.stdout), Output(sys.stderr)
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
    warnings.formatwarning = partial(_warning, warnings.formatwarning)
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _interrupted_again
    try:
        if "COMP_LINE" in os.environ and any(argument.startswith("query=") for argument in arguments):
            from aucbench.cli.help import complete

            return complete(arguments)
        function = _command(first, arguments)
        command_line = arguments[1:] if first in COMMANDS else arguments
        status = int(function(command_line) or 0)
    except (Exception, KeyboardInterrupt) as error:
        if _was_interrupted(error):
            runs = first == "run" or first not in COMMANDS
            print(f"aucbench: interrupted{'; finished cells are in the store' * runs}", file=sys.stderr)
            return INTERRUPTED
        sentence = _sentence_of(error)
        if sentence is None or os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        print(f"aucbench: {harmless(without_secrets(sentence))}", file=sys.stderr)
        status = BAD_INPUT
    sys.stdout.flush()
    if trouble := getattr(sys.stdout, "trouble", ""):
        print(f"aucbench: standard output could not be written ({trouble}).", file=sys.stderr)
        status = status or BAD_INPUT
    # Garbage collection at exit takes about a second for millions of library objects. Ctrl-C during
    # the exit would show a traceback, although all output is written.
    gc.freeze()
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    return status


def _command(first: str, arguments: list[str]) -> Callable[[list[str]], int | None]:
    """The function that runs the command of a command line."""
    if first.isidentifier() and first not in COMMANDS:
        raise ParameterError(
            f"'{first}' is neither a command nor an override (NAME=VALUE). {suggest(first, list(COMMANDS))}"
        )
    name = first if first in COMMANDS else "run"
    if name == "run" and "--dry-run" in arguments:  # printed before the slow import of the libraries
        print("aucbench: planning ...", file=sys.stderr, flush=True)
    command = COMMANDS[name]
    function = getattr(import_module(f"aucbench.cli.commands.{command.module}"), command.function)
    names = {"prog_name": f"aucbench {name}", "help_option_names": ["-h", "--help"]}
    return function if name == "run" else partial(function.main, standalone_mode=False, **names)


def _sentence_of(error: BaseException) -> str | None:
    """The message for errors of aucbench, files, memory and click; None for any other error."""
    if isinstance(error, AucbenchError):
        return str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, OSError) and error.errno in FAULTS:  # some libraries name no file
        return f"A file could not be written: {os.strerror(error.errno)}."
    if isinstance(error, MemoryError):
        amount = f" ({error})" if str(error) else ""
        return f"There is not enough memory{amount}: allow more, or name fewer columns or rows."
    return error.format_message() if hasattr(error, "format_message") else None  # click's errors


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error: click's Abort, or an ImportError of an extension module."""
    while error is not None and not isinstance(error, KeyboardInterrupt) and type(error).__name__ != "Abort":
        error = error.__cause__ or error.__context__
    return error is not None


def _interrupted_again(unraisable: Any) -> None:
    """Repeat a Ctrl-C that Python would ignore because it arrived while an object was freed."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()
    else:
        sys.__unraisablehook__(unraisable)


def _warning(usual: Any, message: object, category: type[Warning], *args: object, **kwargs: object) -> str:
    """A warning of aucbench as one sentence, without a line of source."""
    if category.__name__ in WARNINGS:
        return f"aucbench: warning: {message}\n"
    return str(usual(message, category, *args, **kwargs))


class Output:
    """A standard stream that ignores errors of writing, so that a run continues without it.

    `trouble` is the error message, empty if the reader closed the pipe. Unencodable characters are replaced.
    """

    def __init__(self, stream: Any):
        self.trouble = ""
        self._stream = stream if stream is not None else open(os.devnull, "w")  # noqa: SIM115  (until the exit)
        self._stream.reconfigure(errors="replace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write as much as the stream takes."""
        with self._tolerated():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush as much as the stream takes."""
        with self._tolerated():
            self._stream.flush()

    @contextlib.contextmanager
    def _tolerated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: the stream is closed
            if isinstance(error, OSError) and error.errno != errno.EPIPE:
                self.trouble = error.strerror or str(error)
            # Discard the buffer: Python would try to write it again at the exit.
            with open(os.devnull, "w") as nowhere, contextlib.suppress(OSError, ValueError):
                os.dup2(nowhere.fileno(), self._stream.fileno())
