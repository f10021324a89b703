"""``--dry-run``: what a study would run, and what that will take."""

import sys

from aucbench.cli.console import names_of
from aucbench.cli.exit_status import BAD_INPUT
from aucbench.execution.cost_estimate import Estimate
from aucbench.execution.execute import PlannedStudy
from aucbench.humanize import counted, duration, filesize
from aucbench.studies.record import CellStatus
from aucbench.studies.result import by_reason


def show_plan(planned_study: PlannedStudy) -> int:
    """Print the plan; returns the exit status: 2 where something was refused."""
    from rich.console import Console
    from rich.table import Table

    plan, estimates = planned_study.plan, planned_study.estimates
    names = names_of([planned.entry for planned in plan.entries])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("method", no_wrap=True)
    table.add_column("data set", no_wrap=True)
    for name in ("cells", "stored", "failed", "trainings", "passes", "core time", "memory"):
        table.add_column(name, justify="right", no_wrap=True)
    for planned, each in zip(plan.entries, estimates, strict=True):
        states = [cell.status for cell in planned.cells]
        table.add_row(
            *names[id(planned.entry)],
            f"{len(states)}",
            f"{states.count(CellStatus.finished)}",
            f"{states.count(CellStatus.failed)}",
            f"{each.trainings:,}",
            f"{each.passes:,.0f}",
            _time(each) if each.trainings else "",
            filesize(each.memory) if each.trainings else "",
        )
    Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 160).print(table)
    _print_totals(planned_study)
    for text in by_reason(plan.unavailable):
        print(f"left out: {text}")
    for text in by_reason(plan.refused):
        print(f"refused: {text}")
    return BAD_INPUT if plan.refused else 0


def _print_totals(planned: PlannedStudy) -> None:
    plan = planned.plan
    print(
        f"{counted(len(plan.entries), 'entry')}, {counted(len(plan.cells()), 'cell')}, "
        f"{plan.count(CellStatus.finished)} of them stored; {counted(planned.trainings, 'training')} to run"
    )
    if planned.trainings:
        time = "an unknown time" if planned.seconds is None else f"about {duration(planned.seconds)}"
        many = "" if planned.workers == 1 else f" on {planned.workers} workers"
        print(
            f"{time} of training{many}, up to {filesize(planned.memory)} of data "
            "(~ marks estimates from a short trial run)"
        )


def _time(each: Estimate) -> str:
    if each.seconds is None:
        return "?"
    return ("" if each.measured else "~") + duration(each.seconds)
