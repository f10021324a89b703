"""``aucbench check``: the rules every plugin must obey, tried on registered ones."""

import textwrap

import click

from aucbench import api
from aucbench.cli.progress import bar
from aucbench.contracts.validation import Failure
from aucbench.errors import ParameterError, PluginError
from aucbench.humanize import counted
from aucbench.registry import Catalog, Plugin
from aucbench.suggestions import suggest
from aucbench.testing import CHECKS, Finding, Status
from aucbench.testing.check_plugin import examined_apart
from aucbench.testing.examine import PATIENCE

WIDTH = 110
INDENT = " " * 11


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Check every registered plugin.")
@click.option("--list", "listed", is_flag=True, help="Show the checks and the rules they stand for.")
@click.option(
    "--patience",
    default=PATIENCE,
    metavar="SECONDS",
    help="For all checks of a plugin, a minute unless given, compiling not counted; "
    "a slow one is tried on smaller problems.",
)
def check(names: tuple[str, ...], every: bool, listed: bool, patience: float) -> int:
    """Check the plugins NAMES, of whatever family, against the rules of the contract.

    Each rule that is broken is explained, with the smallest input that shows it; a plugin that could not be
    registered is explained too. Data sets that are not on this machine are downloaded; with
    AUCBENCH_OFFLINE=1 they are shown as exempt. Exit status 1 when a check failed or was not tried.
    """
    if listed:
        for family, checks in CHECKS.items():
            width = max(len(each.name) for each in checks)
            print(
                f"{family}:", *(f"  {each.name:<{width}}  {each.sentence}" for each in checks), "", sep="\n"
            )
        return 0
    if not names and not every:
        raise click.UsageError("Name the plugins to check, or use --all; --list shows the checks.")
    if not patience > 0.0:
        raise ParameterError(f"--patience must be > 0, got {patience:g}.")
    plugins, failures = _chosen(api.catalog(), names, every)
    return _check(plugins, failures, patience)


def _chosen(catalog: Catalog, names: tuple[str, ...], every: bool) -> tuple[list[Plugin], list[Failure]]:
    """The plugins of these names, or of classes called so, and what of these names was left out."""
    if every:
        return list(catalog), list(catalog.failures)
    found: dict[Plugin, None] = {}
    broken: dict[Failure, None] = {}
    for name in dict.fromkeys(names):
        same = [plugin for plugin in catalog if name in (plugin.name, plugin.cls.__name__)]
        failures = [failure for failure in catalog.failures if name in failure.names]
        if not same and not failures:
            known = sorted({plugin.name for plugin in catalog})
            raise PluginError(f"Unknown plugin '{name}'. {suggest(name, known)}")
        found |= dict.fromkeys(same)
        broken |= dict.fromkeys(failures)
    return list(found), list(broken)


def _check(plugins: list[Plugin], failures: list[Failure], patience: float) -> int:
    counts = dict.fromkeys(Status, 0)
    for failure in failures:
        print(f"{failure.what}: left out, it could not be registered")
        print(f"  failed   {failure.reason}{'' if failure.reason.endswith('?') else '.'}")
        _details(("the place", failure.place))
    for plugin in plugins:
        findings, seconds = _examined(plugin, patience)
        _report(plugin, findings, seconds)
        for finding in findings:
            counts[finding.status] += 1
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    unusable = f"; {len(failures)} could not be registered" if failures else ""
    print(f"{counted(len(plugins), 'plugin')} checked: {told}{unusable}")
    return 1 if counts[Status.failed] or counts[Status.untried] or failures else 0


def _examined(plugin: Plugin, patience: float) -> tuple[tuple[Finding, ...], list[float]]:
    """The findings, and the seconds that the time limit counted; none if the process ended early."""
    seconds: list[float] = []
    with bar("{desc}") as shown:  # of a terminal

        def listen(message: Finding | str | float) -> None:
            if isinstance(message, str):
                shown.set_description_str(f"aucbench: {plugin.name}: {message}")
            elif isinstance(message, float):
                seconds.append(message)

        return examined_apart(plugin.family, plugin.cls, patience, listen), seconds


def _report(plugin: Plugin, findings: tuple[Finding, ...], seconds: list[float]) -> None:
    """Print what did not pass, a cause once and with it the checks that it stopped."""
    passed = sum(finding.status is Status.passed for finding in findings)
    print(
        f"{plugin.name} ({plugin.family.singular} of {plugin.distribution} {plugin.version}): "
        f"{passed} of {len(findings)} checks passed" + "".join(f" in {each:.1f} s" for each in seconds)
    )
    rules = {check.name: check.sentence for check in CHECKS[plugin.family]}
    for finding in findings:
        if finding.status is Status.failed:
            print(f"  failed   {finding.check}: {finding.message}")
            stopped = [each.check for each in findings if each.follows == finding.check]
            told = f"{counted(len(stopped), 'other check')}: {', '.join(stopped)}"
            _details(
                ("the place", finding.place),
                ("the rule", rules[finding.check]),
                ("it stops", textwrap.fill(told, WIDTH, subsequent_indent=INDENT + " " * 11) * bool(stopped)),
            )
        elif finding.check == "runs" and finding.status is Status.passed and finding.message:
            print(f"  note     {finding.message}")
    others: dict[tuple[Status, str], list[str]] = {}  # names of checks by status and message
    for each in findings:
        if each.status in (Status.exempt, Status.untried) and not each.follows:
            others.setdefault((each.status, each.message), []).append(each.check)
    for (status, message), names in others.items():
        print(f"  {status:<7}  {', '.join(names)}: {message}")


def _details(*lines: tuple[str, str]) -> None:
    for what, text in lines:
        if text:
            print(f"{INDENT}{what:<9}  {text}")
