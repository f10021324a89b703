"""``aucbench check``: the rules every plugin must obey, tried on registered ones."""

import sys
from typing import Any

import click

import aucbench
from aucbench.contracts.validation import Failure
from aucbench.errors import ParameterError, PluginError
from aucbench.registry import Catalog, Plugin, suggest


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
    plugins, failures = _chosen(aucbench.catalog(), names, every)
    return _check(plugins, failures, patience)


def _print_rules() -> None:
    from aucbench.testing import CHECKS

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
    from aucbench.cli.findings import Progress, report, report_failure
    from aucbench.testing import CHECKS, Status
    from aucbench.testing.child_process import examined_apart
    from aucbench.testing.time_limit import PATIENCE

    counts = dict.fromkeys(Status, 0)
    for failure in failures:
        report_failure(failure)
    for plugin in plugins:
        progress = Progress(plugin.name, len(CHECKS[plugin.family]), sys.stderr)
        findings: tuple[Any, ...] = examined_apart(
            plugin.family, plugin.cls, PATIENCE if patience is None else patience, progress
        )
        progress.close()
        report(plugin, findings, progress.seconds)
        for finding in findings:
            counts[finding.status] += 1
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    noun = "plugin" if len(plugins) == 1 else "plugins"
    unusable = f"; {len(failures)} could not be registered" if failures else ""
    print(f"{len(plugins)} {noun} checked: {told}{unusable}")
    return 1 if counts[Status.failed] or counts[Status.untried] or failures else 0
