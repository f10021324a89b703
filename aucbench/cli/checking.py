"""``aucbench check``: the rules every plugin must obey, tried on registered ones."""

import warnings
from time import perf_counter
from typing import Any

import click

import aucbench
from aucbench.errors import PluginError
from aucbench.registry import Catalog, Family, Plugin, suggest


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Check every registered plugin.")
@click.option("--list", "listed", is_flag=True, help="Show the checks and the rules they stand for.")
def check(names: tuple[str, ...], every: bool, listed: bool) -> int:
    """Check the plugins NAMES, of whatever family, against the rules of the contract.

    Each rule that is broken is explained, with the smallest input that shows it. Data sets that are not on
    this machine are downloaded; with AUCBENCH_OFFLINE=1 they are shown as exempt. Exit status 1 when a check
    failed.
    """
    if listed:
        _print_rules()
        return 0
    if not names and not every:
        raise click.UsageError("Name the plugins to check, or use --all; --list shows the checks.")
    plugins = _chosen(aucbench.catalog(), names, every)
    return _check(plugins)


def _print_rules() -> None:
    from aucbench.testing import CHECKS

    for family, checks in CHECKS.items():
        print(f"{family}:")
        width = max(len(each.name) for each in checks)
        for each in checks:
            print(f"  {each.name:<{width}}  {each.sentence}")
        print()


def _chosen(catalog: Catalog, names: tuple[str, ...], every: bool) -> list[Plugin]:
    """The plugins of these names, those of several families when they share one."""
    if every:
        return list(catalog)
    found = []
    for name in dict.fromkeys(names):
        same = [plugin for plugin in catalog if plugin.name == name]
        if not same:
            known = sorted({plugin.name for plugin in catalog})
            raise PluginError(f"Unknown plugin '{name}'. {suggest(name, known)}")
        found += same
    return found


def _check(plugins: list[Plugin]) -> int:
    from aucbench.testing import CHECKS, Status

    counts = dict.fromkeys(Status, 0)
    for plugin in plugins:
        begin = perf_counter()
        findings = _findings(plugin)
        seconds = perf_counter() - begin
        passed = sum(finding.status is Status.passed for finding in findings)
        print(
            f"{plugin.name} ({plugin.family.singular} of {plugin.distribution} {plugin.version}): "
            f"{passed} of {len(findings)} checks passed in {seconds:.1f} s"
        )
        rules = {check.name: check.sentence for check in CHECKS[plugin.family]}
        for finding in findings:
            counts[finding.status] += 1
            if finding.status is not Status.passed:
                print(f"  {finding.status:<6}  {finding.check}: {finding.message}")
            if finding.status is Status.failed:
                for what, text in (
                    ("the rule", rules[finding.check]),
                    ("the input", finding.shown),
                    ("try again", finding.line),
                ):
                    if text:
                        print(f"          {what:<9}  {text}")
    noun = "plugin" if len(plugins) == 1 else "plugins"
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    print(f"{len(plugins)} {noun} checked: {told}")
    return 1 if counts[Status.failed] else 0


def _findings(plugin: Plugin) -> tuple[Any, ...]:
    from aucbench import testing

    functions: dict[Family, Any] = {
        Family.algorithms: testing.check_algorithm,
        Family.datasets: testing.check_dataset,
        Family.losses: testing.check_loss,
        Family.features: testing.check_features,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries complain about problems this small
        findings: tuple[Any, ...] = functions[plugin.family](plugin.cls, raise_on_failure=False)
    return findings
