"""``aucbench check``: check registered plugins against the rules that every plugin must obey."""

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
@click.option("--list", "listed", is_flag=True, help="List the checks with their rules.")
@click.option(
    "--patience", default=PATIENCE, metavar="SECONDS",
    help="Time limit for all checks of a plugin, a minute by default, without compilation; "
    "slow plugins are checked on smaller problems.",
)  # fmt: skip
def check(names: tuple[str, ...], every: bool, listed: bool, patience: float) -> int:
    """Check the plugins NAMES, of any family, against the rules of the contract.

    Each broken rule is explained, with the smallest input that breaks it. If a plugin could not be
    registered, the reason is shown. Data sets that are not on this machine are downloaded; with
    AUCBENCH_OFFLINE=1, they are shown as exempt. The exit status is 1 if a check failed or was not tried.
    """
    if listed:
        for family, checks in CHECKS.items():
            width = max(len(rule.name) for rule in checks)
            lines = [f"  {rule.name:<{width}}  {rule.sentence}" for rule in checks]
            print(f"{family}:", *lines, "", sep="\n")
        return 0
    if not names and not every:
        raise click.UsageError("Name the plugins to check, or use --all; --list shows the checks.")
    if not patience > 0.0:
        raise ParameterError(f"--patience must be > 0, got {patience:g}.")
    catalog = api.catalog()
    chosen = [*catalog, *catalog.failures] if every else _chosen(catalog, names)
    plugins = [item for item in chosen if isinstance(item, Plugin)]
    failures = [item for item in chosen if isinstance(item, Failure)]
    for failure in failures:
        print(f"{failure.what}: left out, it could not be registered")
        print(f"  failed   {failure.reason}{'' if failure.reason.endswith('?') else '.'}")
        _details(("the place", failure.place))
    counts = Counter(finding.status for plugin in plugins for finding in _check(plugin, patience))
    summary = ", ".join(f"{counts[status]} {status}" for status in Status)
    unusable = f"; {len(failures)} could not be registered" if failures else ""
    print(f"{counted(len(plugins), 'plugin')} checked: {summary}{unusable}")
    return int(bool(counts[Status.failed] or counts[Status.untried] or failures))


def _chosen(catalog: Catalog, names: tuple[str, ...]) -> list[Plugin | Failure]:
    """The plugins with these plugin or class names, and the failed registrations of these names."""
    chosen: dict[Plugin | Failure, None] = {}
    for name in names:
        same: list[Plugin | Failure] = [item for item in catalog if name in (item.name, item.cls.__name__)]
        same += [failure for failure in catalog.failures if name in failure.names]
        if not same:
            known = sorted({plugin.name for plugin in catalog})
            raise PluginError(f"Unknown plugin '{name}'. {suggest(name, known)}")
        chosen |= dict.fromkeys(same)
    return list(chosen)


def _check(plugin: Plugin, patience: float) -> tuple[Finding, ...]:
    """Check a plugin and print the checks that did not pass; a failure lists the checks that it stopped."""
    seconds: list[float] = []  # time counted against the limit; empty if the process ended early
    with bar("{desc}") as progress:  # shown on a terminal only

        def listen(message: Finding | str | float) -> None:
            if isinstance(message, str):
                progress.set_description_str(f"aucbench: {plugin.name}: {message}")
            elif isinstance(message, float):
                seconds.append(message)

        findings = examined_apart(plugin.family, plugin.cls, patience, listen)
    passed = sum(finding.status is Status.passed for finding in findings)
    print(
        f"{plugin.name} ({plugin.family.singular} of {plugin.distribution} {plugin.version}): "
        f"{passed} of {len(findings)} checks passed" + "".join(f" in {elapsed:.1f} s" for elapsed in seconds)
    )
    rules = {check.name: check.sentence for check in CHECKS[plugin.family]}
    by_message: dict[tuple[Status, str], list[str]] = {}  # names of checks by status and message
    for finding in findings:
        if finding.status is Status.failed:
            print(f"  failed   {finding.check}: {finding.message}")
            stopped = [follower.check for follower in findings if follower.follows == finding.check]
            text = f"{counted(len(stopped), 'other check')}: {', '.join(stopped)}"
            text = textwrap.fill(text, WIDTH, subsequent_indent=INDENT + " " * 11) * bool(stopped)
            _details(("the place", finding.place), ("the rule", rules[finding.check]), ("it stops", text))
        elif finding.check == "runs" and finding.status is Status.passed and finding.message:
            print(f"  note     {finding.message}")
        elif finding.status is not Status.passed and not finding.follows:
            by_message.setdefault((finding.status, finding.message), []).append(finding.check)
    for (status, message), names in by_message.items():
        print(f"  {status:<7}  {', '.join(names)}: {message}")
    return findings


def _details(*lines: tuple[str, str]) -> None:
    for label, text in lines:
        if text:
            print(f"{INDENT}{label:<9}  {text}")
