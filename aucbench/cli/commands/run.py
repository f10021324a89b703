"""``aucbench run``: train and measure, or show the planned cells and their estimated cost."""

import contextlib
import shlex
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from time import time
from typing import Any

import psutil

from aucbench import api
from aucbench.cli.commands import BAD_INPUT, FAILED
from aucbench.cli.console import Console, identity_of, names_of, show_line
from aucbench.cli.help import show_run
from aucbench.cli.progress import BarView, bar, say
from aucbench.config.compose import Composer
from aucbench.config.words import completion_script, parse
from aucbench.data.files.kept_files import STDIN, keep
from aucbench.errors import AucbenchError, ParameterError
from aucbench.humanize import counted, duration, filesize
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.execute import PlannedStudy, opened_store
from aucbench.studies.execution.plan import plan_study
from aucbench.studies.record import CellStatus
from aucbench.studies.result import CellResult, FinishedEntry, by_reason, failures_by_word
from aucbench.studies.study import Study

LISTED = 40  # largest number of listed entries of a plan; a larger plan has one line per method
CELL_SECONDS, MLFLOW_SECONDS = 0.01, 5.0  # overhead per cell; MLflow's import and first run
CHEAP = 2.0  # seconds; a slower reference is not trained automatically
# Upper bound of log_reg's seconds per training row and pair of columns; a column has at most 50 pairs.
PAIR_SECONDS, MOST_COLUMNS = 4e-9, 50
OF_THE_METHOD = (
    "algo", "loss", "budget", "tuning", "study", "tracking", "metrics", "store.weights", "reference",
)  # fmt: skip
ROWS_OF_STDIN = "dataset.path=-"


def run(words: Sequence[str]) -> int:
    """Run the command line `words`, flags and overrides; returns the exit status."""
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
        executed = getattr(console.view, "executed", None)  # None unless the study has one entry
        if executed and (sentence := _against_reference(words, console.view.study, executed)):
            show_line("verdict", sentence)
    if result.untracked:  # the results are shown, and the store has them
        say(str(result.untracked))
    if result.refused:
        return BAD_INPUT
    if failures_by_word(result.failures)["failed"]:
        return FAILED
    return BAD_INPUT if result.untracked else 0


def _against_reference(words: Sequence[str], study: Study, executed: FinishedEntry) -> str:
    """The gain of a single run over the reference, with an interval and a verdict, in one sentence.

    Empty for the reference itself, and if a cell failed or diverged. The results of the reference are read
    from the store. If they are missing, the reference is trained if training takes less than two seconds;
    otherwise the sentence names the command.
    """
    from aucbench.reports.cell_frame import REFERENCE, TUNED_REFERENCE

    if not executed.cells or executed.failures or any(cell.diverged for cell in executed.cells):
        return ""
    is_tuned = any(cell.record.tuned for cell in executed.cells)
    reference = study.running.reference or (TUNED_REFERENCE if is_tuned else REFERENCE)
    if reference == executed.record.algorithm.name:
        return ""
    common = [text for text in words if not text.lstrip("+").startswith((*OF_THE_METHOD, "--only"))]
    arguments = [f"algo={reference}", *common, "tracking=none"]
    data, observer = executed.record.data, api.LastEntry()
    pairs = data.train_rows * data.features * min(data.features, MOST_COLUMNS) * len(executed.cells)
    try:
        if (is_tuned or pairs * PAIR_SECONDS > CHEAP) and _lacks(study, arguments):
            return f"not known yet; train the reference: {shlex.join(['aucbench', *arguments[:-1]])}"
        api.run_study(arguments, observer)
    except AucbenchError as error:  # the run itself succeeded
        return f"not known: {error}"
    if observer.entry is None or not observer.entry.cells:
        return ""
    return _gain((*executed.cells, *observer.entry.cells), reference, study.running.rope)


def _lacks(study: Study, arguments: Sequence[str]) -> bool:
    """Whether the store lacks cells of the reference."""
    with opened_store(study.store_path) as store:
        plan = plan_study(api.study_of(parse(arguments)), store)
        return plan.count(CellStatus.finished) < len(plan.cells())


def _gain(cells: Sequence[CellResult], reference: str, rope: float | None) -> str:
    from aucbench.reports.build import build
    from aucbench.reports.cells import of_results
    from aucbench.reports.columns import RESULTS

    report = build(of_results(cells), "", True, planned_reference=reference, planned_rope=rope)
    gains = report.gains[report.gains["method"] != reference]
    means = report.results.set_index("method")["mean"]
    if len(gains) != 1 or reference not in means:
        return ""
    (row,) = gains.to_dict("records")
    verdict = f", {row['verdict']}" if row["verdict"] else ""
    gain = RESULTS["gain"].shown({**row, "gain_low": row["low"], "gain_high": row["high"]})
    aucs = ", ".join(f"{name} {means[name]:.4f}" for name in (row["method"], reference))
    return f"{aucs}: {gain}{verdict}; {counted(int(row['runs']), 'run')}"


def _with_standard_input(words: Sequence[str]) -> list[str]:
    """The command line with ``-`` replaced by a cached file that holds the rows of standard input."""
    if {"-m", "--multirun"} & set(words):
        raise ParameterError(
            f"{ROWS_OF_STDIN} gives the rows once, and a sweep needs them again: write them to a file."
        )
    path = keep(STDIN, partial(shutil.copyfileobj, sys.stdin.buffer))
    return [f"dataset.path={path}" if text == ROWS_OF_STDIN else text for text in words]


class _PlanView(BarView):
    """Shows the progress of a dry run: the number of cells, and the entry being estimated."""

    seconds = 0.0  # time of imports, loading and planning, which a run spends as well

    def planned(self, cells: int, stored: int) -> None:
        say(f"{counted(cells, 'cell')}, {stored} of them in the store; estimating the time of the others ...")
        self._bar = bar(unit=" entries")
        self.seconds = time() - psutil.Process().create_time()

    def started(self, entry: Entry) -> None:
        self._bar.set_description(f"{entry.algorithm.name} on {entry.dataset.title}")
        self._bar.update(1)


def _show_plan(planned: PlannedStudy, preparing: float) -> int:
    """Print the plan (``--dry-run``); returns the exit status, which is 2 if an entry was refused."""
    from aucbench.reports.views.text import TextTable, show_table

    plan = planned.plan
    names = names_of([entry.entry for entry in plan.entries])
    by_method = len(plan.entries) > LISTED
    rows: dict[str, list[Any]] = {}
    for entry, cost in zip(plan.entries, planned.estimates, strict=True):
        method, dataset = names[identity_of(entry.entry)]
        rows.setdefault(method if by_method else f"{method} on {dataset}", []).append((entry, cost))
    lines = []
    for name, pairs in rows.items():
        states = [cell.status for entry, _ in pairs for cell in entry.cells]
        costs = [cost for _, cost in pairs if cost.trainings]
        seconds = [cost.seconds for cost in costs if cost.seconds is not None]
        about = "~" * (not all(cost.measured for cost in costs))
        core = f"{about}{duration(sum(seconds))}" if len(seconds) == len(costs) else "?"
        lines.append(
            [
                name,
                *[f"{len(pairs)}"] * by_method,
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
            total = planned.seconds + preparing + CELL_SECONDS * planned.trainings / planned.workers
            total += MLFLOW_SECONDS if plan.study.tracking_uri else 0.0
            about = f"about {duration(total)}, of which {duration(planned.seconds)} is timed training"
        workers = "" if planned.workers == 1 else f" on {planned.workers} workers"
        print(
            f"{about}{workers}; up to {filesize(planned.memory)} of data "
            "(~ marks estimates from short probes, ? methods whose probe took too long)"
        )
    for text in by_reason(plan.unavailable):
        print(f"left out: {text}")
    for text in by_reason(plan.refused):
        print(f"refused: {text}")
    return BAD_INPUT if plan.refused else 0
