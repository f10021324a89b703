"""``aucbench run``: train and measure, or show what would run and what that will take."""

import contextlib
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from time import time
from typing import Any

import psutil

from aucbench import api
from aucbench.cli.commands import BAD_INPUT, FAILED
from aucbench.cli.console import Console, names_of
from aucbench.cli.help import show_run
from aucbench.cli.progress import BarView, bar, say
from aucbench.config.compose import Composer
from aucbench.config.words import completion_script, parse
from aucbench.data.files.kept_files import STDIN, keep
from aucbench.errors import ParameterError
from aucbench.humanize import counted, duration, filesize
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.execute import PlannedStudy
from aucbench.studies.record import CellStatus
from aucbench.studies.result import by_reason, failures_by_word

LISTED = 40  # entries of a plan; those of a larger one are shown together, a line for each method
CELL_SECONDS, MLFLOW_SECONDS = 0.01, 5.0  # besides training: a cell; MLflow's import with its first run
ROWS_OF_STDIN = "dataset.path=-"


def run(words: Sequence[str]) -> int:
    """Run what the words ask for; returns the exit status."""
    if ROWS_OF_STDIN in words:
        words = _with_standard_input(words)
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
        say(str(result.untracked))
    if result.refused:
        return BAD_INPUT
    if failures_by_word(result.failures)["failed"]:
        return FAILED
    return BAD_INPUT if result.untracked else 0


def _with_standard_input(words: Sequence[str]) -> list[str]:
    """The words with a file of the cache, which keeps the rows of standard input, in the place of ``-``."""
    if {"-m", "--multirun"} & set(words):
        raise ParameterError(
            f"{ROWS_OF_STDIN} gives the rows once, and a sweep needs them again: write them to a file."
        )
    path = keep(STDIN, partial(shutil.copyfileobj, sys.stdin.buffer))
    return [f"dataset.path={path}" if word == ROWS_OF_STDIN else word for word in words]


class _PlanView(BarView):
    """Shows how far a dry run is: how many cells there are, and which entry is being estimated."""

    seconds = 0.0  # of importing, loading and planning, which the run itself spends as well

    def planned(self, cells: int, stored: int) -> None:
        say(f"{counted(cells, 'cell')}, {stored} of them in the store; estimating the time of the others ...")
        self._bar = bar(unit=" entries")
        self.seconds = time() - psutil.Process().create_time()

    def started(self, entry: Entry) -> None:
        self._bar.set_description(f"{entry.algorithm.name} on {entry.dataset.title}")
        self._bar.update(1)


def _show_plan(planned: PlannedStudy, preparing: float) -> int:
    """Print the plan (``--dry-run``); returns the exit status: 2 where something was refused."""
    from aucbench.reports.views.text import TextTable, show_table

    plan = planned.plan
    names = names_of([each.entry for each in plan.entries])
    by_method = len(plan.entries) > LISTED
    rows: dict[str, list[Any]] = {}
    for each, cost in zip(plan.entries, planned.estimates, strict=True):
        method, dataset = names[id(each.entry)]
        rows.setdefault(method if by_method else f"{method} on {dataset}", []).append((each, cost))
    lines = []
    for name, own in rows.items():
        states = [cell.status for each, _ in own for cell in each.cells]
        costs = [cost for _, cost in own if cost.trainings]
        core = "?"
        if all(cost.seconds is not None for cost in costs):
            core = "~" * any(not cost.measured for cost in costs) + duration(
                sum(cost.seconds for cost in costs)
            )
        lines.append(
            [
                name,
                *[f"{len(own)}"] * by_method,
                f"{len(states)}",
                f"{states.count(CellStatus.finished)}",
                f"{states.count(CellStatus.failed)}",
                f"{sum(cost.trainings for cost in costs):,}",
                f"{sum(cost.passes for cost in costs):,.0f}",
                core if costs else "",
                filesize(max(cost.memory for cost in costs)) if costs else "",
            ]
        )
    head = ["method" if by_method else "entry", *["data sets"] * by_method]
    head += ["cells", "stored", "failed", "trainings", "passes", "core time", "memory"]
    show_table("", TextTable(head, [True] + [False] * (len(head) - 1), lines))
    print(
        f"{counted(len(plan.entries), 'entry')}, {counted(len(plan.cells()), 'cell')}, "
        f"{plan.count(CellStatus.finished)} of them stored; {counted(planned.trainings, 'training')} to run"
    )
    if planned.trainings:
        about = "an unknown time, since some probes took too long"
        if planned.seconds is not None:
            whole = planned.seconds + preparing + CELL_SECONDS * planned.trainings / planned.workers
            whole += MLFLOW_SECONDS if plan.study.tracking_uri else 0.0
            about = f"about {duration(whole)}, of which {duration(planned.seconds)} is timed training"
        many = "" if planned.workers == 1 else f" on {planned.workers} workers"
        print(
            f"{about}{many}; up to {filesize(planned.memory)} of data "
            "(~ marks estimates from short probes, ? methods whose probe took too long)"
        )
    for text in by_reason(plan.unavailable):
        print(f"left out: {text}")
    for text in by_reason(plan.refused):
        print(f"refused: {text}")
    return BAD_INPUT if plan.refused else 0
