"""Run the checks of a family on a plugin, in this process or another."""

import linecache
import re
import signal
import warnings
from math import inf
from typing import Any

from aucbench.contracts.source_location import source_file
from aucbench.contracts.validation import Family
from aucbench.pool import Pool, ProcessEnded, tell
from aucbench.testing.checks import CHECKS
from aucbench.testing.examine import PATIENCE, Progress, conclude, examine, following
from aucbench.testing.findings import Finding, Status, explain

GRACE = 15.0  # seconds beyond twice the time limit, after which a plugin counts as hanging


def check_algorithm(
    plugin: Any, *, loss: Any = None, raise_on_failure: bool = True, patience: float = PATIENCE
) -> tuple[Finding, ...]:
    """Run every check of algorithms on a method.

    Parameters
    ----------
    plugin : class or instance
        A class is tried with its default parameters.
    loss : Loss, optional
        An instance to train with; by default the first registered one that the method accepts.
    raise_on_failure : bool
        Whether a broken rule raises an error; otherwise it is only reported in the findings.
    patience : float
        Time limit for all checks in seconds. A slow method is tried on smaller problems; checks that do not
        fit in the time have the status untried.

    Returns
    -------
    tuple of Finding
        One for each of `ALGORITHM_CHECKS`.

    Raises
    ------
    CheckFailure
        A rule is broken; the text lists every failing check, with the smallest failing input.
    """
    return conclude(plugin, examined(Family.algorithms, plugin, patience, loss=loss), raise_on_failure)


def check_loss(
    plugin: Any, *, raise_on_failure: bool = True, patience: float = PATIENCE
) -> tuple[Finding, ...]:
    """As `check_algorithm` for a loss and `LOSS_CHECKS`; a failure names the smallest failing margin."""
    return conclude(plugin, examined(Family.losses, plugin, patience), raise_on_failure)


def check_dataset(plugin: Any, *, raise_on_failure: bool = True) -> tuple[Finding, ...]:
    """As `check_algorithm` for a data set and `DATASET_CHECKS`; one without its files is exempt."""
    return conclude(plugin, examined(Family.datasets, plugin), raise_on_failure)


def check_features(
    plugin: Any, *, raise_on_failure: bool = True, patience: float = PATIENCE
) -> tuple[Finding, ...]:
    """As `check_algorithm` for a feature map and `FEATURE_CHECKS`."""
    return conclude(plugin, examined(Family.features, plugin, patience), raise_on_failure)


def examined(
    family: Family,
    plugin: Any,
    patience: float = PATIENCE,
    progress: Progress = lambda message: None,
    loss: Any = None,
) -> tuple[Finding, ...]:
    """Run all checks of the family on a plugin, class or instance; raises nothing."""
    checks = CHECKS[family]
    try:
        subject = checks[0].prepare(plugin, patience, loss)
    except (Exception, SystemExit) as error:  # the class cannot be instantiated
        reason, place = explain(plugin if isinstance(plugin, type) else type(plugin), error)
        reason = f"With default parameters, which every field needs, it cannot be made: {reason}"
        finding = Finding(checks[0].name, Status.failed, reason, place)
        progress(finding)
        return (finding,)
    return examine(checks, subject, progress)


def examined_apart(
    family: Family, plugin: type, patience: float, progress: Progress, grace: float = GRACE
) -> tuple[Finding, ...]:
    """Run all checks of the family on a plugin in another process, where compiled code may crash or hang.

    The process is killed after twice the time limit `patience`, plus `grace` seconds for its start.
    """
    limit = None if family is Family.datasets or patience == inf else 2.0 * patience + grace
    findings: list[Finding] = []

    def listen(message: Finding | str | float) -> None:
        if isinstance(message, Finding):
            findings.append(message)
        progress(message)

    with Pool() as pool:
        future = pool.submit(_examined, family, plugin, patience, seconds=limit, listener=listen)
        try:
            return tuple(future.result())
        except ProcessEnded as ended:
            reason = f"It ends the program (os._exit, status {ended.status}); it must raise an error instead."
            if ended.is_late:
                reason = f"No end within {limit:.0f} s: it hangs, or is too slow to be tried."
            elif ended.status < 0:
                reason = (
                    f"It was ended by {signal.Signals(-ended.status).name}: a crash of compiled code "
                    "(with NUMBA_BOUNDSCHECK=1 a wrong index is told), or no memory was left."
                )
            place = _place(ended.trace, plugin)
    current, *remaining = (check.name for check in CHECKS[family][len(findings) :])
    last = Finding(current, Status.failed, reason, place)
    return (*findings, last, *(following(name, current) for name in remaining))


def _examined(family: Family, plugin: type, patience: float) -> tuple[Finding, ...]:
    warnings.simplefilter("ignore")  # libraries warn about small problems
    return examined(family, plugin, patience, tell)


def _place(trace: str, plugin: type) -> str:
    """The innermost line of the plugin's file in the trace of a crash."""
    path = source_file(plugin)
    for file, number in re.findall(r'File "([^"]+)", line (\d+)', trace):
        if file == path:
            return f"{file}:{number}: {linecache.getline(file, int(number)).strip()}"
    return ""
