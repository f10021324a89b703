"""``--dry-run``: what a study would run, and what that would take."""

from aucbench.cli.failing import BAD_INPUT
from aucbench.cli.naming import Names
from aucbench.config.settings import Running
from aucbench.studies.estimating import Estimate, estimate, total_seconds
from aucbench.studies.performing import workshop
from aucbench.studies.planning import Plan
from aucbench.studies.record import CellStatus
from aucbench.studies.result import by_reason
from aucbench.studies.running import cores
from aucbench.studies.store import Store


def show_plan(plan: Plan, store: Store, running: Running) -> int:
    """Print the plan; returns the exit status: 2 where something was refused."""
    from rich.console import Console
    from rich.table import Table

    estimates = estimate(plan, store, workshop())
    names = Names([planned.entry for planned in plan.entries])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("method", no_wrap=True)
    table.add_column("data set", no_wrap=True)
    for name in ("cells", "stored", "failed", "trainings", "passes", "core time", "memory"):
        table.add_column(name, justify="right", no_wrap=True)
    for planned, each in zip(plan.entries, estimates, strict=True):
        states = [cell.status for cell in planned.cells]
        table.add_row(
            *names.pair(planned.entry),
            f"{len(states)}",
            f"{states.count(CellStatus.finished)}",
            f"{states.count(CellStatus.failed)}",
            f"{each.trainings:,}",
            f"{each.passes:,.0f}",
            _time(each) if each.trainings else "",
            f"{each.memory / 1e6:,.0f} MB" if each.trainings else "",
        )
    Console(markup=False, highlight=False, width=None if _is_terminal() else 160).print(table)
    _print_totals(plan, estimates, running)
    for text in by_reason(plan.unavailable):
        print(f"left out: {text}")
    for text in by_reason(plan.refused):
        print(f"refused: {text}")
    return BAD_INPUT if plan.refused else 0


def _print_totals(plan: Plan, estimates: list[Estimate], running: Running) -> None:
    workers = running.parallel or cores()
    seconds = total_seconds(estimates, workers)
    stored = plan.count(CellStatus.finished)
    memory = workers * max((each.memory for each in estimates), default=0)
    print(
        f"{len(plan.entries)} entries, {len(plan.cells())} cells, {stored} of them stored; "
        f"{sum(each.trainings for each in estimates):,} trainings to run"
    )
    if any(each.trainings for each in estimates):
        time = "an unknown time" if seconds is None else f"about {duration(seconds)}"
        many = "" if workers == 1 else f" on {workers} workers"
        print(f"{time} of training{many}, up to {memory / 1e6:,.0f} MB of rows; ~ from a trial run")


def _time(each: Estimate) -> str:
    if each.seconds is None:
        return "?"
    return ("" if each.measured else "~") + duration(each.seconds)


def duration(seconds: float) -> str:
    """Seconds in the largest unit that suits them."""
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def _is_terminal() -> bool:
    import sys

    return sys.stdout.isatty()
