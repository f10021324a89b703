"""``aucbench check``: the rules every plugin must obey, tried on registered ones."""

import sys
import textwrap
from time import perf_counter
from typing import TextIO

import click

from aucbench import api
from aucbench.contracts.validation import Failure
from aucbench.errors import ParameterError, PluginError
from aucbench.humanize import counted
from aucbench.registry import Catalog, Plugin, suggest
from aucbench.testing import CHECKS, Finding, Status
from aucbench.testing.child_process import examined_apart
from aucbench.testing.examine import Watcher
from aucbench.testing.time_limit import PATIENCE

WIDTH = 110
INDENT = " " * 11


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Check every registered plugin.")
@click.option("--list", "listed", is_flag=True, help="Show the checks and the rules they stand for.")
@click.option(
    "--patience",
    type=float,
    metavar="SECONDS",
    help="For all checks of a plugin, a minute unless given; a slow one is tried on smaller problems.",
)
def check(names: tuple[str, ...], every: bool, listed: bool, patience: float | None) -> int:
    """Check the plugins NAMES, of whatever family, against the rules of the contract.

    Each rule that is broken is explained, with the smallest input that shows it; a plugin that could not be
    registered is explained too. Data sets that are not on this machine are downloaded; with
    AUCBENCH_OFFLINE=1 they are shown as exempt. Exit status 1 when a check failed or was not tried.
    """
    if listed:
        _print_rules()
        return 0
    if not names and not every:
        raise click.UsageError("Name the plugins to check, or use --all; --list shows the checks.")
    if patience is not None and not patience > 0.0:
        raise ParameterError(f"--patience must be > 0, got {patience:g}.")
    plugins, failures = _chosen(api.catalog(), names, every)
    return _check(plugins, failures, patience)


def _print_rules() -> None:
    for family, checks in CHECKS.items():
        print(f"{family}:")
        width = max(len(each.name) for each in checks)
        for each in checks:
            print(f"  {each.name:<{width}}  {each.sentence}")
        print()


def _chosen(catalog: Catalog, names: tuple[str, ...], every: bool) -> tuple[list[Plugin], list[Failure]]:
    """The plugins of these names, or of classes called so, and what of these names was left out."""
    if every:
        return list(catalog), list(catalog.failures)
    found: dict[Plugin, None] = {}
    broken: dict[Failure, None] = {}
    for name in dict.fromkeys(names):
        same = [plugin for plugin in catalog if name in (plugin.name, plugin.cls.__name__)]
        failures = [failure for failure in catalog.failures if failure.is_called(name)]
        if not same and not failures:
            known = sorted({plugin.name for plugin in catalog})
            raise PluginError(f"Unknown plugin '{name}'. {suggest(name, known)}")
        found |= dict.fromkeys(same)
        broken |= dict.fromkeys(failures)
    return list(found), list(broken)


def _check(plugins: list[Plugin], failures: list[Failure], patience: float | None) -> int:
    counts = dict.fromkeys(Status, 0)
    for failure in failures:
        report_failure(failure)
    for plugin in plugins:
        progress = Progress(plugin.name, len(CHECKS[plugin.family]), sys.stderr)
        findings = examined_apart(
            plugin.family, plugin.cls, PATIENCE if patience is None else patience, progress
        )
        progress.close()
        report(plugin, findings, progress.seconds)
        for finding in findings:
            counts[finding.status] += 1
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    unusable = f"; {len(failures)} could not be registered" if failures else ""
    print(f"{counted(len(plugins), 'plugin')} checked: {told}{unusable}")
    return 1 if counts[Status.failed] or counts[Status.untried] or failures else 0


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
        """Seconds since construction."""
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
    words = f"{counted(len(names), 'other check')}: {', '.join(names)}"
    return textwrap.fill(words, WIDTH, subsequent_indent=INDENT + " " * 11)
