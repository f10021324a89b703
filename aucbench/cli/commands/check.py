"""``aucbench check``: the rules every plugin must obey, tried on registered ones."""

import textwrap
from collections import Counter

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
    "--patience", default=PATIENCE, metavar="SECONDS",
    help="For all checks of a plugin, a minute unless given, compiling not counted; "
    "a slow one is tried on smaller problems.",
)  # fmt: skip
def check(names: tuple[str, ...], every: bool, listed: bool, patience: float) -> int:
    """Check the plugins NAMES, of whatever family, against the rules of the contract.

    Each rule that is broken is explained, with the smallest input that shows it; a plugin that could not be
    registered is explained too. Data sets that are not on this machine are downloaded; with
    AUCBENCH_OFFLINE=1 they are shown as exempt. Exit status 1 when a check failed or was not tried.
    """
    if listed:
        for family, checks in CHECKS.items():
            width = max(len(each.name) for each in checks)
            lines = [f"  {each.name:<{width}}  {each.sentence}" for each in checks]
            print(f"{family}:", *lines, "", sep="\n")
        return 0
    if not names and not every:
        raise click.UsageError("Name the plugins to check, or use --all; --list shows the checks.")
    if not patience > 0.0:
        raise ParameterError(f"--patience must be > 0, got {patience:g}.")
    catalog = api.catalog()
    chosen = [*catalog, *catalog.failures] if every else _chosen(catalog, names)
    plugins = [each for each in chosen if isinstance(each, Plugin)]
    failures = [each for each in chosen if isinstance(each, Failure)]
    for failure in failures:
        print(f"{failure.what}: left out, it could not be registered")
        print(f"  failed   {failure.reason}{'' if failure.reason.endswith('?') else '.'}")
        _details(("the place", failure.place))
    counts = Counter(finding.status for plugin in plugins for finding in _checked(plugin, patience))
    told = ", ".join(f"{counts[status]} {status}" for status in Status)
    unusable = f"; {len(failures)} could not be registered" if failures else ""
    print(f"{counted(len(plugins), 'plugin')} checked: {told}{unusable}")
    return int(bool(counts[Status.failed] or counts[Status.untried] or failures))


def _chosen(catalog: Catalog, names: tuple[str, ...]) -> list[Plugin | Failure]:
    """The plugins of these names, or of classes called so, and what of these names was left out."""
    found: dict[Plugin | Failure, None] = {}
    for name in names:
        same: list[Plugin | Failure] = [each for each in catalog if name in (each.name, each.cls.__name__)]
        same += [failure for failure in catalog.failures if name in failure.names]
        if not same:
            known = sorted({plugin.name for plugin in catalog})
            raise PluginError(f"Unknown plugin '{name}'. {suggest(name, known)}")
        found |= dict.fromkeys(same)
    return list(found)


def _checked(plugin: Plugin, patience: float) -> tuple[Finding, ...]:
    """Check a plugin and print what did not pass, a cause once and with it the checks that it stopped."""
    seconds: list[float] = []  # that the time limit counted; none if the process ended early
    with bar("{desc}") as shown:  # of a terminal

        def listen(message: Finding | str | float) -> None:
            if isinstance(message, str):
                shown.set_description_str(f"aucbench: {plugin.name}: {message}")
            elif isinstance(message, float):
                seconds.append(message)

        findings = examined_apart(plugin.family, plugin.cls, patience, listen)
    passed = sum(finding.status is Status.passed for finding in findings)
    print(
        f"{plugin.name} ({plugin.family.singular} of {plugin.distribution} {plugin.version}): "
        f"{passed} of {len(findings)} checks passed" + "".join(f" in {each:.1f} s" for each in seconds)
    )
    rules = {check.name: check.sentence for check in CHECKS[plugin.family]}
    others: dict[tuple[Status, str], list[str]] = {}  # names of checks by status and message
    for finding in findings:
        if finding.status is Status.failed:
            print(f"  failed   {finding.check}: {finding.message}")
            stopped = [each.check for each in findings if each.follows == finding.check]
            told = f"{counted(len(stopped), 'other check')}: {', '.join(stopped)}"
            told = textwrap.fill(told, WIDTH, subsequent_indent=INDENT + " " * 11) * bool(stopped)
            _details(("the place", finding.place), ("the rule", rules[finding.check]), ("it stops", told))
        elif finding.check == "runs" and finding.status is Status.passed and finding.message:
            print(f"  note     {finding.message}")
        elif finding.status is not Status.passed and not finding.follows:
            others.setdefault((finding.status, finding.message), []).append(finding.check)
    for (status, message), names in others.items():
        print(f"  {status:<7}  {', '.join(names)}: {message}")
    return findings


def _details(*lines: tuple[str, str]) -> None:
    for what, text in lines:
        if text:
            print(f"{INDENT}{what:<9}  {text}")
