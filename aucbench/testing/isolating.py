"""Trying a plugin in a process of its own: compiled code may crash, or never end, and the command goes on."""

import faulthandler
import linecache
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import warnings
from math import inf
from multiprocessing.connection import Connection
from typing import IO, Any

from aucbench.contracts.source_location import source_file
from aucbench.registry import Family
from aucbench.testing.catalogue import CHECKS, examined
from aucbench.testing.examining import Watcher, following
from aucbench.testing.findings import Finding, Status

GRACE = 15.0  # seconds beyond its patience after which nothing is heard of a plugin that hangs
WRITING = 0.5  # seconds to write where it is
INTERRUPTED = "interrupted"


class _Reporter(Watcher):
    """Sends what happens to the other process."""

    def __init__(self, sender: Connection):
        self._sender = sender

    def trying(self, name: str) -> None:
        """Send the name."""
        self._sender.send(name)

    def found(self, finding: Finding) -> None:
        """Send the finding."""
        self._sender.send(finding)


def examined_apart(
    family: Family, plugin: Any, patience: float, watcher: Watcher, grace: float = GRACE
) -> tuple[Finding, ...]:
    """Try all checks of its family on a plugin, as `examined` does, in a forked process where there are such.

    Parameters
    ----------
    family : Family
        Of the plugin.
    plugin : class or instance
        A class is tried with its default parameters.
    patience : float
        Seconds for all checks.
    watcher : Watcher
        Told what happens, in this process.
    grace : float
        Seconds beyond the patience after which the process is ended.
    """
    if sys.platform != "linux":  # elsewhere a process that was forked cannot use all libraries
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries complain about problems this small
            return examined(family, plugin, patience, watcher)
    receiver, sender = multiprocessing.Pipe(duplex=False)
    lines = tempfile.TemporaryFile("w+")  # where the process was when it crashed  # noqa: SIM115
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_work, args=(sender, lines, family, plugin, patience))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads that a fork would lose do nothing here
        process.start()
    sender.close()
    limit = None if family is Family.datasets or patience == inf else patience + grace
    findings: list[Finding] = []
    trying = CHECKS[family][0].name
    try:
        while receiver.poll(limit):
            message = receiver.recv()
            if message is None:
                return tuple(findings)
            if message == INTERRUPTED:
                raise KeyboardInterrupt
            if isinstance(message, Finding):
                findings.append(message)
                watcher.found(message)
            else:
                trying = message
                watcher.trying(trying)
        if process.pid is not None:
            os.kill(process.pid, signal.SIGUSR1)
            process.join(WRITING)
        words = f"Nothing was heard of it for {limit:.0f} s: compiled code that does not end."
    except EOFError:
        process.join()
        words = _ending(process.exitcode or 0)
    finally:
        process.kill()
        process.join()
        receiver.close()
    place = _place(lines, plugin)
    lines.close()
    return _ended(family, findings, Finding(trying, Status.failed, words, place=place))


def _work(sender: Connection, lines: IO[str], family: Family, plugin: Any, patience: float) -> None:
    warnings.simplefilter("ignore")  # as above
    faulthandler.enable(lines, all_threads=False)
    faulthandler.register(signal.SIGUSR1, lines, all_threads=False)
    reporter = _Reporter(sender)
    try:
        found = examined(family, plugin, patience, reporter)
    except KeyboardInterrupt:
        sender.send(INTERRUPTED)
        return
    if len(found) == 1:  # it could not even be made, which no watcher is told
        reporter.found(found[0])
    sender.send(None)


def _ending(status: int) -> str:
    if status >= 0:
        return f"It ends the program (os._exit, status {status}); it must raise an error instead."
    name = signal.Signals(-status).name
    if name in ("SIGSEGV", "SIGBUS", "SIGABRT"):
        return (
            f"Compiled code crashed ({name}), perhaps at an index outside of an array, which it does not "
            f"check: with {_variable()} the same call says where."
        )
    return f"The process was ended by {name}{'; is it out of memory?' if name == 'SIGKILL' else '.'}"


def _variable() -> str:
    return "NUMBA_BOUNDSCHECK=1" if os.environ.get("NUMBA_BOUNDSCHECK") != "1" else "NUMBA_DISABLE_JIT=1"


def _ended(family: Family, findings: list[Finding], last: Finding) -> tuple[Finding, ...]:
    """The findings, the check that ended the process, and those that were not reached."""
    names = [check.name for check in CHECKS[family]]
    rest = [following(name, last.check) for name in names[names.index(last.check) + 1 :]]
    return (*findings, last, *rest)


def _place(lines: IO[str], plugin: Any) -> str:
    """The innermost line of the plugin's own file among those that were written on a crash."""
    own = source_file(plugin if isinstance(plugin, type) else type(plugin))
    lines.seek(0)
    for file, number in re.findall(r'File "([^"]+)", line (\d+)', lines.read()):
        if file == own:
            return f"{file}:{number}: {linecache.getline(file, int(number)).strip()}"
    return ""
