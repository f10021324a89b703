"""A study from the command line: shown, logged, summed up."""

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aucbench import tracking
from aucbench.cli.failing import BAD_INPUT
from aucbench.cli.reporting import EntryConsole, StudyConsole
from aucbench.errors import AucbenchError, TrackingError
from aucbench.studies.conducting import Conducted, Executed
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
    with opened_store(request.store_path) as store:
        if request.dry_run:
            from aucbench.cli.previewing import show_plan

            status = show_plan(request.study.plan(store), store, request.study.running)
            return status, [float("nan")] * len(request.study.entries)
        return _run(request, store, single)


def _run(request: Request, store: "Store", single: bool) -> tuple[int, list[float]]:
    study = request.study
    console = EntryConsole() if single else StudyConsole()
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
    console.study(plan, conducted, request.store_path, request.uri)
    if log.trouble and not conducted.failures:  # after the summary: the result is there, the store has it
        raise log.trouble
    return _status(conducted), [aucs.get(id(entry), float("nan")) for entry in study.entries]


def _status(conducted: Conducted) -> int:
    if conducted.refused:
        return BAD_INPUT
    return FAILED if conducted.failures else 0


class _Log:
    """Logs entries to MLflow as they finish; after the first trouble it only says so once."""

    def __init__(self, request: Request, store: "Store"):
        self._uri, self._store = request.uri, store if request.store_path else None
        self.trouble: AucbenchError | None = None

    def log(self, executed: Executed, console: EntryConsole | StudyConsole) -> str | None:
        """The run's id, None where it could not be logged or nothing is to be."""
        if not self._uri or self.trouble or executed.missing or not executed.cells:
            return None
        console.logging(executed)
        try:
            return tracking.log_entry(executed, self._uri, self._store)
        except TrackingError as error:
            self.trouble = error
            return None
