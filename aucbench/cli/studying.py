"""A study from the command line: shown, logged, summed up."""

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aucbench import tracking
from aucbench.cli.failing import BAD_INPUT
from aucbench.cli.naming import Names
from aucbench.cli.reporting import EntryConsole, StudyConsole
from aucbench.errors import AucbenchError, TrackingError
from aucbench.studies.conducting import Conducted, Executed
from aucbench.studies.recording import failures_by_word
from aucbench.studies.running import Study, opened_store, run_study

if TYPE_CHECKING:
    from aucbench.store import Store

FAILED = 1


@dataclass(frozen=True)
class Request:
    """A study, and where its results go."""

    study: Study
    store_path: str | None
    uri: str | None
    dry_run: bool = False


def conduct_study(request: Request, single: bool) -> tuple[int, list[float]]:
    """Run and show a study; returns the exit status and the mean test AUC of each of its entries.

    Parameters
    ----------
    request : Request
        What was asked for.
    single : bool
        Whether it is one entry, which is shown at length.
    """
    if request.uri:
        tracking.check_address(request.uri)
    if request.study.running.baseline:
        from aucbench.boards.baselines import check_baseline

        check_baseline(request.study.running.baseline.partition(" (")[0], ())
    with opened_store(request.store_path) as store:
        if request.dry_run:
            from aucbench.cli.previewing import show_plan

            status = show_plan(request.study.plan(store), store, request.study.running)
            return status, [float("nan")] * len(request.study.entries)
        return _run(request, store, single)


def _run(request: Request, store: "Store", single: bool) -> tuple[int, list[float]]:
    study = request.study
    console = EntryConsole() if single else StudyConsole(Names(study.entries))
    log = _Log(request, store)
    aucs: dict[int, float] = {}  # by identity of the entry

    def finished(executed: Executed) -> None:
        run_id = log.log(executed, console)
        aucs[id(executed.entry)] = console.entry(executed, request.store_path, request.uri, run_id)

    with contextlib.ExitStack() as stack:
        stack.callback(console.close)
        plan, conducted = run_study(study, store, console, finished)
    if single and conducted.refused:
        raise conducted.refused[0].error
    is_written = bool(study.name) and store.board_folder(str(study.name)).is_dir()
    if study.name and not single and plan.entries and (conducted.finished or not is_written):
        console.stage("writing the leaderboard")
        page = _write_board(store, study.name, study.running.baseline)
        log.study(study.name, page.parent)
        print(f"leaderboard  {page}")
    console.study(plan, conducted, request.store_path, request.uri)
    log.report(conducted)
    return _status(conducted), [aucs.get(id(entry), float("nan")) for entry in study.entries]


def _write_board(store: "Store", study: str, baseline: str | None) -> Path:
    """The study's leaderboard beside its results, without pictures; returns the page."""
    from aucbench.boards.baselines import BASELINE
    from aucbench.boards.building import build
    from aucbench.boards.collecting import from_store, left_out
    from aucbench.leaderboard.render.export import PAGE, write

    cells = from_store(store, study)
    folder = store.board_folder(study)
    remarks = left_out(store, study)
    report = build(cells, study, one_study=True, remarks=remarks, baseline=baseline or BASELINE)
    write(report, cells, folder, pictures=False)
    return folder / PAGE


def _status(conducted: Conducted) -> int:
    if conducted.refused:
        return BAD_INPUT
    return FAILED if failures_by_word(conducted.failures)["failed"] else 0


class _Log:
    """Logs entries to MLflow as they finish; after the first trouble it tries no more."""

    def __init__(self, request: Request, store: "Store"):
        self._tracker = (
            tracking.Tracker(request.uri, store if request.store_path else None) if request.uri else None
        )
        self._trouble: AucbenchError | None = None

    def log(self, executed: Executed, console: EntryConsole | StudyConsole) -> str | None:
        """The run's id, None where it could not be logged or nothing is to be."""
        if not self._tracker or self._trouble or executed.missing or not executed.cells:
            return None
        console.logging(executed)
        try:
            return self._tracker.log(tracking.LoggedEntry.of(executed))
        except TrackingError as error:
            self._trouble = error
            return None

    def study(self, name: str, folder: Path) -> None:
        """Log the leaderboard of a study as files of its own run."""
        if self._tracker and not self._trouble:
            try:
                self._tracker.log_study(name, folder)
            except TrackingError as error:
                self._trouble = error

    def report(self, conducted: Conducted) -> None:
        """Say once, behind the results, that some were not logged: they are there, the store has them.

        Raises
        ------
        AucbenchError
            Where nothing else decides the exit status.
        """
        if self._trouble and (conducted.failures or conducted.refused):
            print(f"aucbench: {self._trouble}", file=sys.stderr)
        elif self._trouble:
            raise self._trouble
