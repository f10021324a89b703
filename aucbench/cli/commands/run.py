"""``aucbench run``: train and measure, or show what would run and what that will take."""

import contextlib
import sys
from collections.abc import Sequence
from time import time
from typing import Any

import psutil

from aucbench import api
from aucbench.cli.console import Console, names_of
from aucbench.cli.exit_status import BAD_INPUT, FAILED
from aucbench.cli.help import show_run
from aucbench.cli.progress import BarView, bar
from aucbench.cli.standard_input import with_standard_input
from aucbench.config.compose import Composer
from aucbench.config.words import completion_script, parse
from aucbench.humanize import counted, duration, filesize
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.cost_estimate import Estimate
from aucbench.studies.execution.execute import PlannedStudy
from aucbench.studies.execution.plan import PlannedEntry
from aucbench.studies.record import CellStatus
from aucbench.studies.result import by_reason, failures_by_word

LISTED = 40  # entries of a plan; those of a larger one are shown together, a line for each method
CELL_SECONDS, MLFLOW_SECONDS = 0.01, 5.0  # besides training: a cell; MLflow's import with its first run


def run(words: Sequence[str]) -> int:
    """Run what the words ask for; returns the exit status."""
    words = with_standard_input(words)
    request = parse(words)
    if request.help:
        show_run(request)
        return 0
    if request.cfg:
        print(Composer(api.catalog(), request).yaml(), end="")
        return 0
    if request.completion:
        completion_script(" ".join(request.overrides))
        return 0
    if request.dry_run:
        with contextlib.closing(_PlanView()) as view:
            planned = api.plan_study(words, view)
        return _show_plan(planned, view.seconds)
    console: Any = Console()
    with contextlib.closing(console):
        result = api.run_study(words, console)
        console.show_verdict(words)
    if result.untracked:  # the results are shown, and the store has them
        print(f"aucbench: {result.untracked}", file=sys.stderr)
    if result.refused:
        return BAD_INPUT
    if failures_by_word(result.failures)["failed"]:
        return FAILED
    return BAD_INPUT if result.untracked else 0


class _PlanView(BarView):
    """Shows how far a dry run is: how many cells there are, and which entry is being estimated."""

    seconds = 0.0  # of importing, loading and planning, which the run itself spends as well

    def planned(self, cells: int, stored: int) -> None:
        text = f"{counted(cells, 'cell')}, {stored} of them in the store; estimating the time of the others"
        print(f"aucbench: {text} ...", file=sys.stderr, flush=True)
        self._bar = bar(unit=" entries")
        self.seconds = time() - psutil.Process().create_time()

    def started(self, entry: Entry) -> None:
        self._bar.set_description(f"{entry.algorithm.name} on {entry.dataset.title}")
        self._bar.update(1)


def _show_plan(planned_study: PlannedStudy, preparing: float) -> int:
    """Print the plan (``--dry-run``); returns the exit status: 2 where something was refused."""
    from aucbench.reports.views.text import TextTable, show_table

    plan = planned_study.plan
    names = names_of([planned.entry for planned in plan.entries])
    rows: dict[str, list[tuple[PlannedEntry, Estimate]]] = {}
    by_method = len(plan.entries) > LISTED
    for planned, each in zip(plan.entries, planned_study.estimates, strict=True):
        method, dataset = names[id(planned.entry)]
        rows.setdefault(method if by_method else f"{method} on {dataset}", []).append((planned, each))
    head = ["method" if by_method else "entry", *["data sets"] * by_method]
    head += ["cells", "stored", "failed", "trainings", "passes", "core time", "memory"]
    lines = []
    for name, own in rows.items():
        states = [cell.status for planned, _ in own for cell in planned.cells]
        costs = [each for _, each in own if each.trainings]
        known = [each.seconds for each in costs if each.seconds is not None]
        core = "?" if len(known) < len(costs) else duration(sum(known))
        exact = "~" * any(not each.measured for each in costs) * (core != "?")
        lines.append(
            [
                name,
                *[f"{len(own)}"] * by_method,
                f"{len(states)}",
                f"{states.count(CellStatus.finished)}",
                f"{states.count(CellStatus.failed)}",
                f"{sum(each.trainings for each in costs):,}",
                f"{sum(each.passes for each in costs):,.0f}",
                exact + core if costs else "",
                filesize(max(each.memory for each in costs)) if costs else "",
            ]
        )
    show_table("", TextTable(head, [True] + [False] * (len(head) - 1), lines))
    print(
        f"{counted(len(plan.entries), 'entry')}, {counted(len(plan.cells()), 'cell')}, "
        f"{plan.count(CellStatus.finished)} of them stored; "
        f"{counted(planned_study.trainings, 'training')} to run"
    )
    if planned_study.trainings:
        seconds, workers = planned_study.seconds, planned_study.workers
        many = "" if workers == 1 else f" on {workers} workers"
        about = "an unknown time, since some probes took too long"
        if seconds is not None:
            logging = MLFLOW_SECONDS if planned_study.study.tracking_uri else 0.0
            whole = seconds + preparing + logging + CELL_SECONDS * planned_study.trainings / workers
            about = f"about {duration(whole)}, of which {duration(seconds)} is timed training"
        print(
            f"{about}{many}; up to {filesize(planned_study.memory)} of data "
            "(~ marks estimates from short probes, ? methods whose probe took too long)"
        )
    for text in by_reason(plan.unavailable):
        print(f"left out: {text}")
    for text in by_reason(plan.refused):
        print(f"refused: {text}")
    return BAD_INPUT if plan.refused else 0
