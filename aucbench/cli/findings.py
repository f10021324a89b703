"""What ``aucbench check`` shows: which check is tried, and what was found."""

import textwrap
from time import perf_counter
from typing import TextIO

from aucbench.contracts.validation import Failure
from aucbench.registry import Plugin
from aucbench.testing import CHECKS, Finding, Status
from aucbench.testing.examine import Watcher

WIDTH = 110
INDENT = " " * 11


class Progress(Watcher):
    """Shows on a terminal which check is tried, on a line that is cleared; elsewhere nothing.

    Parameters
    ----------
    name : str
        Of the plugin.
    total : int
        How many checks there are.
    out : text stream
        Written to when it is a terminal.
    """

    def __init__(self, name: str, total: int, out: TextIO):
        self._name, self._total, self._out = name, total, out
        self._terminal = out.isatty()
        self._done = 0
        self._begin = perf_counter()

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return perf_counter() - self._begin

    def trying(self, name: str) -> None:
        """Show the check."""
        self._show(f"aucbench: {self._name}: {name} ({self._done + 1} of {self._total})")

    def found(self, finding: Finding) -> None:
        """Count it."""
        self._done += 1

    def close(self) -> None:
        """Clear the line."""
        self._show("")

    def _show(self, text: str) -> None:
        if self._terminal:
            print(f"\r\x1b[K{text}", end="", file=self._out, flush=True)


def report(plugin: Plugin, findings: tuple[Finding, ...], seconds: float) -> None:
    """Print what did not pass, a cause once and with it the checks that it stopped."""
    passed = sum(finding.status is Status.passed for finding in findings)
    print(
        f"{plugin.name} ({plugin.family.singular} of {plugin.distribution} {plugin.version}): "
        f"{passed} of {len(findings)} checks passed in {seconds:.1f} s"
    )
    rules = {check.name: check.sentence for check in CHECKS[plugin.family]}
    for finding in findings:
        if finding.status is Status.failed:
            _line(f"failed   {finding.check}: {finding.message}")
            stopped = [each.check for each in findings if each.follows == finding.check]
            _details(
                ("the place", finding.place),
                ("the rule", rules[finding.check]),
                ("the input", finding.shown),
                ("try again", finding.line),
            )
            if stopped:
                _details(("it stops", _listed(stopped)))
        elif finding.check == "runs" and finding.status is Status.passed and finding.message:
            _line(f"note     {finding.message}")
    others = [
        each for each in findings if each.status in (Status.exempt, Status.untried) and not each.follows
    ]
    for status, message in dict.fromkeys((each.status, each.message) for each in others):
        names = [each.check for each in others if (each.status, each.message) == (status, message)]
        _line(f"{status:<7}  {', '.join(names)}: {message}")


def report_failure(failure: Failure) -> None:
    """Print why something announced could not be registered."""
    print(f"{failure.what}: left out, it could not be registered")
    _line(f"failed   {failure.reason}{'' if failure.reason.endswith('?') else '.'}")
    _details(("the place", failure.place))


def _line(text: str) -> None:
    print(f"  {text}")


def _details(*lines: tuple[str, str]) -> None:
    for what, text in lines:
        if text:
            print(f"{INDENT}{what:<9}  {text}")


def _listed(names: list[str]) -> str:
    """Names in lines that are not too long."""
    words = f"{len(names)} other check{'' if len(names) == 1 else 's'}: {', '.join(names)}"
    return textwrap.fill(words, WIDTH, subsequent_indent=INDENT + " " * 11)
