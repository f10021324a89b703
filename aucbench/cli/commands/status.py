"""``aucbench status``: the progress of the studies of a store."""

from collections import Counter

import click
from msgspec.structs import asdict

from aucbench.cli.commands import FAILED
from aucbench.cli.commands._store import opened, plans_of, store_option
from aucbench.humanize import counted
from aucbench.studies.provenance import changed_versions
from aucbench.studies.record import FailureRecord, StudyPlan
from aucbench.studies.result import failures_by_word
from aucbench.studies.store import Store
from aucbench.studies.study import UNNAMED


@click.command()
@store_option
@click.option("--study", default=None, help="Name of a study; by default, all studies.")
@click.option("--all", "everything", is_flag=True, help="Also show complete runs without a name.")
@click.option("--failures", is_flag=True, help="Show the tracebacks of failed cells.")
def status(store: str, study: str | None, everything: bool, failures: bool) -> int:
    """Show how many cells of each study are done, diverged, failed and missing.

    The exit status is 1 if a cell has failed.
    """
    storage = opened(store)
    plans = plans_of(storage, study)
    failed: dict[str, FailureRecord] = {}
    hidden = 0
    for plan in plans:
        complete = all(storage.has(key) for entry in plan.entries for key in entry.cells)
        if complete and not everything and not study and plan.study.startswith(UNNAMED):
            hidden += 1
            continue
        failed |= _show(storage, plan)
    if hidden:
        print(f"{counted(hidden, 'finished unnamed study')} not shown (use --all)")
    for failure in failed.values():
        where = f"{failure.algorithm.name} on {failure.dataset.title}"
        seeds = " ".join(f"{name}={seed}" for name, seed in asdict(failure.seeds).items())
        print(f"{failure.reason}: {where} ({seeds}): {failure.message}")
        if failures and failure.traceback:
            print(failure.traceback)
    return FAILED if failures_by_word(list(failed.values()))["failed"] else 0


def _show(store: Store, plan: StudyPlan) -> dict[str, FailureRecord]:
    """Print one study; returns its failures by key."""
    from aucbench.reports.views.text import TextTable, show_table

    rows = []
    failures: dict[str, FailureRecord] = {}
    versions: Counter[str] = Counter()
    for entry in plan.entries:
        records = {key: record for key in entry.cells if (record := store.record(key)) is not None}
        unfinished = [key for key in entry.cells if key not in records]
        failed = {key: failure for key in unfinished if (failure := store.failure(key)) is not None}
        failures |= failed
        for record in records.values():
            for name, (recorded, installed) in changed_versions(record).items():
                remark = f"{installed} is installed" if installed else "it is not installed"
                versions[f"made with {name} {recorded}, {remark}"] += 1
        by_word = failures_by_word(list(failed.values()))
        diverged = sum(record.diverged for record in records.values())
        counts = [len(records) - diverged, diverged + by_word["diverged"], by_word["failed"]]
        rows.append([entry.algorithm, entry.dataset, *counts, len(unfinished) - len(failed)])
    rows.append(["all", "", *map(sum, list(zip(*rows, strict=True))[2:])])
    lines = [[str(value) for value in row] for row in rows]
    head = ["method", "data set", "done", "diverged", "failed", "missing"]
    show_table(plan.study, TextTable(head, [True, True] + [False] * 4, lines), is_framed=False)
    for sentence, count in versions.items():
        print(f"{counted(count, 'cell')} {sentence}")
    for reason in plan.unavailable:
        print(f"left out: {reason}")
    print(f"planned {plan.planned[:19]}{f' by: {plan.command}' if plan.command else ''}\n")
    return failures
