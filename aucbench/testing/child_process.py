"""The checks of a plugin in a process of its own, in which compiled code may crash or hang."""

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
from typing import IO

from aucbench.contracts.source_location import source_file
from aucbench.contracts.validation import Family
from aucbench.processes import ChildProcess
from aucbench.testing.check_plugin import examined
from aucbench.testing.checks import CHECKS
from aucbench.testing.examine import Watcher, following
from aucbench.testing.findings import Finding, Status

GRACE = 15.0  # seconds without a message, beyond the time limit, after which a plugin hangs
WRITES, WRITING = 50, 0.1  # times, and seconds each, that a process has to write where it is
INTERRUPTED = "interrupted"


def examined_apart(
    family: Family, plugin: type, patience: float, watcher: Watcher, grace: float = GRACE
) -> tuple[Finding, ...]:
    """Try all checks of its family on a plugin, as `examined` does, in a forked process where possible.

    The process is killed when it does not respond within `grace` seconds beyond the time limit `patience`.
    """
    if sys.platform != "linux":  # elsewhere a process that was forked cannot use all libraries
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries complain about problems this small
            return examined(family, plugin, patience, watcher)
    limit = None if family is Family.datasets or patience == inf else patience + grace
    findings: list[Finding] = []
    trying = CHECKS[family][0].name
    with tempfile.TemporaryFile("w+") as lines:  # where the process was when it crashed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads that a fork loses do nothing here
            context = multiprocessing.get_context("fork")
            child = ChildProcess(context, _work, lines, family, plugin, patience)
        try:
            while child.connection.poll(limit):
                message = child.connection.recv()
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
            os.kill(child.process.pid, signal.SIGUSR1)
            for _ in range(WRITES):
                has_begun = os.fstat(lines.fileno()).st_size > 0
                child.process.join(WRITING)
                if has_begun:
                    break
            words = f"No response for {limit:.0f} s: compiled code appears to hang."
        except EOFError:
            child.process.join()
            words = _ending(child.process.exitcode)
        finally:
            child.kill()
        names = [check.name for check in CHECKS[family]]
        last = Finding(trying, Status.failed, words, place=_place(lines, plugin))
    rest = [following(name, trying) for name in names[names.index(trying) + 1 :]]
    return (*findings, last, *rest)


class _Reporter(Watcher):
    """Sends the progress to the other process."""

    def __init__(self, connection: Connection):
        self._connection = connection

    def trying(self, name: str) -> None:
        self._connection.send(name)

    def found(self, finding: Finding) -> None:
        self._connection.send(finding)


def _work(connection: Connection, lines: IO[str], family: Family, plugin: type, patience: float) -> None:
    warnings.simplefilter("ignore")  # as above
    faulthandler.enable(lines, all_threads=False)
    faulthandler.register(signal.SIGUSR1, lines, all_threads=False)
    reporter = _Reporter(connection)
    try:
        found = examined(family, plugin, patience, reporter)
    except KeyboardInterrupt:
        connection.send(INTERRUPTED)
        return
    if len(found) == 1:  # it could not even be made, which no watcher is told
        reporter.found(found[0])
    connection.send(None)


def _ending(status: int) -> str:
    if status >= 0:
        return f"It ends the program (os._exit, status {status}); it must raise an error instead."
    name = signal.Signals(-status).name
    if name in ("SIGSEGV", "SIGBUS", "SIGABRT"):
        variable = "BOUNDSCHECK" if os.environ.get("NUMBA_BOUNDSCHECK") != "1" else "DISABLE_JIT"
        return (
            f"Compiled code crashed ({name}), perhaps at an index outside of an array, which it does not "
            f"check: with NUMBA_{variable}=1 the same call says where."
        )
    return f"The process was killed by {name}{'; is it out of memory?' if name == 'SIGKILL' else '.'}"


def _place(lines: IO[str], plugin: type) -> str:
    """The innermost line of the plugin's own file among those that were written on a crash."""
    own = source_file(plugin)
    lines.seek(0)
    for file, number in re.findall(r'File "([^"]+)", line (\d+)', lines.read()):
        if file == own:
            return f"{file}:{number}: {linecache.getline(file, int(number)).strip()}"
    return ""
