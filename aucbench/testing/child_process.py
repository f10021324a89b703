"""The checks of a plugin in a process of its own, in which compiled code may crash or hang."""

import linecache
import os
import re
import signal
import warnings
from math import inf

from aucbench.contracts.source_location import source_file
from aucbench.contracts.validation import Family
from aucbench.pool import Pool, ProcessEnded, tell
from aucbench.testing.check_plugin import examined
from aucbench.testing.checks import CHECKS
from aucbench.testing.examine import Progress, following
from aucbench.testing.findings import Finding, Status

GRACE = 15.0  # seconds without a message, beyond the time limit, after which a plugin hangs


def examined_apart(
    family: Family, plugin: type, patience: float, progress: Progress, grace: float = GRACE
) -> tuple[Finding, ...]:
    """Try all checks of its family on a plugin, as `examined` does, in another process.

    The process is killed when it does not respond within `grace` seconds beyond the time limit `patience`.
    """
    limit = None if family is Family.datasets or patience == inf else patience + grace
    names = [check.name for check in CHECKS[family]]
    findings: list[Finding] = []

    def listen(message: Finding | str) -> None:
        if isinstance(message, Finding):
            findings.append(message)
        progress(message)

    with Pool() as pool:
        try:
            found: tuple[Finding, ...] = pool.submit(
                _examined, family, plugin, patience, silence=limit, listener=listen
            ).result()
            return found
        except ProcessEnded as ended:
            words, trace = _ending(ended.status), ended.trace
            if ended.is_late:
                words = f"No response for {limit:.0f} s: compiled code appears to hang."
    trying, *rest = names[len(findings) :]
    last = Finding(trying, Status.failed, words, place=_place(trace, plugin))
    return (*findings, last, *(following(name, trying) for name in rest))


def _examined(family: Family, plugin: type, patience: float) -> tuple[Finding, ...]:
    warnings.simplefilter("ignore")  # libraries complain about problems this small
    return examined(family, plugin, patience, tell)


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


def _place(trace: str, plugin: type) -> str:
    """The innermost line of the plugin's own file among those that were written on a crash."""
    own = source_file(plugin)
    for file, number in re.findall(r'File "([^"]+)", line (\d+)', trace):
        if file == own:
            return f"{file}:{number}: {linecache.getline(file, int(number)).strip()}"
    return ""
