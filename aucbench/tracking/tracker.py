"""Logging of entries and studies to MLflow, once per address, during a study or later by `sync`."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import time
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from aucbench.errors import TrackingError
from aucbench.humanize import without_secrets
from aucbench.pool import file_lock
from aucbench.studies.method_look import shown_looks
from aucbench.studies.record import EntryPlan, StudyPlan
from aucbench.studies.result import FinishedEntry
from aucbench.studies.store import Store
from aucbench.studies.study import UNNAMED, Observer
from aucbench.tracking import chart_views, run_data
from aucbench.tracking.client import WHOLE, Connection, absolute, has_run, reason

MOST_PARAMS, PARAM_LENGTH = 100, 6000
MOST_METRICS = 900  # MLflow accepts 1,000 items per call, including parameters
STUDIES = "studies"  # the experiment with a run per study
STANDINGS = ("rank", "gain", "gain_low", "gain_high")  # metrics of a study's runs
LOCK_SECONDS = 600.0
T = TypeVar("T")


class Tracker:
    """Sends entries to one address, over one connection that is opened for the first entry.

    The store, if there is one, records the logged entries of each address. A failure raises a
    `TrackingError` that names the place of the results. During a study, `entry_finished` and `board_written`
    log finished entries, notify the observer, and stop at the first error, which is stored as `trouble`.
    """

    def __init__(self, uri: str, store: Store | None, observer: Observer | None = None):
        self._uri, self._store, self._observer = uri, store, observer or Observer()
        self.trouble: TrackingError | None = None
        self._address = absolute(uri)
        self._connection: Connection | None = None

    def entry_finished(self, executed: FinishedEntry) -> None:
        """Send the entry if all of its cells are finished or have failed."""
        if executed.cells and not executed.missing and not self.trouble:
            self._observer.stage("logging to MLflow")  # the import of MLflow is slow
            with self._troubled():
                self._observer.entry_logged(executed, self.log(executed))

    def board_written(self, study: str, page: Path, standings: pd.DataFrame) -> None:
        """Send the folder of the page of a study's leaderboard, and the standings to its runs."""
        if not self.trouble:
            with self._troubled():
                self.log_board(study, page.parent, standings)

    @contextlib.contextmanager
    def _troubled(self) -> Iterator[None]:
        try:
            yield
        except TrackingError as error:
            self.trouble = error

    def log(self, entry: FinishedEntry) -> str:
        """Log an entry unless the store has recorded its run; returns the MLflow run id.

        If MLflow has a run with the entry's key, a finished run is kept, unless the store has recorded
        changes of cells since then. An unfinished run is replaced, because its process died or the answer of
        the server was lost.
        """
        if (logged_id := self.known(entry.key)) is not None:
            return logged_id
        hint = "the result is not kept anywhere"
        if self._store is not None:
            command = f"aucbench sync --store {self._store.path} --uri {without_secrets(self._uri)}"
            hint = f"the result is in the store {self._store.path}, and {command} sends it"
        with self._exclusive():
            if (logged_id := self.known(entry.key)) is not None:
                return logged_id
            address = without_secrets(self._address)
            has_changed = self._store is not None and self._store.tracked(address, entry.key) == ""
            run_id = self._sent("The entry", hint, partial(_log_entry, entry, has_changed))
            if self._store is not None:
                self._store.mark_tracked(address, entry.key, run_id)
        return run_id

    def log_board(self, study: str, folder: Path, standings: pd.DataFrame | None = None) -> str:
        """Send the files of a leaderboard to the run of its study, and standings to the runs of its entries.

        `standings` has a row for each method on each data set: rank, gain and interval become metrics of the
        run, and the verdict a tag; the descriptions of runs and experiments link to the leaderboard. Returns
        the id of the run of the study.
        """
        subject, hint = f"The leaderboard of the study {study}", "its entries are there"
        with self._exclusive():
            board = self._sent(subject, hint, partial(_log_study, study, folder))
            if standings is not None:
                self._sent(subject, hint, partial(_log_standings, study, standings, board))
        return board

    def known(self, key: str) -> str | None:
        """The id of the run under which the entry was logged; None without a recorded run."""
        run_id = self._store.tracked(without_secrets(self._address), key) if self._store else None
        return run_id if run_id and has_run(self._address, run_id) else None

    def _sent(self, subject: str, hint: str, action: Callable[[Connection], T]) -> T:
        """The result of an action, repeated once with a new connection if an existing one fails."""
        try:
            if self._connection is not None:
                with contextlib.suppress(Exception):
                    return action(self._connection)
            self._connection = None
            self._connection = Connection(self._uri)
            return action(self._connection)
        except Exception as error:  # no error of a tracking store must look like a lost result
            address = without_secrets(self._uri)
            raise TrackingError(
                f"{subject} could not be logged to {address} ({reason(error, self._uri)}); {hint}."
            ) from error

    def _exclusive(self) -> contextlib.AbstractContextManager[Any]:
        """Wait for other processes that log from the store, because they do not see each other's new runs."""
        if self._store is None:
            return contextlib.nullcontext()
        return file_lock(self._store.path / "tracked" / "lock", LOCK_SECONDS)


def _log_entry(entry: FinishedEntry, has_changed: bool, connection: Connection) -> str:
    """Log an entry and delete its earlier runs: unfinished, with fewer cells, or with changed cells."""
    client, experiment = connection.client, connection.experiment(entry.title, chart_views.experiment_tags)
    prefix = entry.key.partition("-")[0]  # an incomplete entry has its number of cells behind the key
    runs = connection.runs(experiment, f"tags.key LIKE '{prefix}%'")
    tags = run_data.tags(entry)
    finished = [
        run.info.run_id
        for run in runs
        if not has_changed
        and run.info.status in WHOLE
        # Measures may have been added to cells since they were logged.
        and all(run.data.tags.get(name) == tags.get(name) for name in ("key", "metrics"))
    ]
    if finished:
        run_id: str = finished[0]
    else:
        # The key is set when the run is created, so that an unfinished run can be found.
        full, start = tags | {chart_views.NOTE: run_data.note(entry)}, int(time() * 1000)
        name = run_data.run_name(entry.record)
        run_id = client.create_run(experiment, start_time=start, tags=full, run_name=name).info.run_id
        _fill(client, run_id, start, entry)
    if entry.study is not None:  # runs of the same study and settings with fewer cells
        params = run_data.params(entry)
        stored = {key: str(value)[:PARAM_LENGTH] for key, value in params.items()}
        runs += [
            run
            for run in connection.runs(experiment, chart_views.condition(entry.study))
            if run.data.tags.get("study") == entry.study
            and run.data.params | {"runs": stored["runs"]} == stored
            and int(run.data.params.get("runs", params["runs"])) < params["runs"]
        ]
    for old_id in {run.info.run_id for run in runs} - {run_id}:
        client.delete_run(old_id)
    return run_id


def _log_standings(study: str, standings: pd.DataFrame, board: str, connection: Connection) -> None:
    """Write the standings on the runs of the study, in place of earlier ones."""
    from mlflow.entities import Metric, RunTag

    looks = shown_looks(list(standings["method"].unique()))
    now, studies_id = int(time() * 1000), connection.experiment(STUDIES)

    def linked(tags: Mapping[str, str]) -> str:
        return chart_views.with_board(tags.get(chart_views.NOTE, ""), study, studies_id, board)

    for data_set, rows in standings.groupby("data_set"):
        experiment = connection.client.get_experiment_by_name(data_set)
        if experiment is None:
            continue
        number, text = experiment.experiment_id, linked(experiment.tags)
        if text.startswith(chart_views.DESCRIPTION):  # otherwise a user has changed it
            connection.client.set_experiment_tag(number, chart_views.NOTE, text)
        for run in connection.runs(number, chart_views.condition(study)):
            named = rows[rows["method"] == run.info.run_name]
            matches = rows[rows["algorithm"] == run.data.tags.get("algo")] if named.empty else named
            if len(matches) != 1:
                continue
            (row,) = matches.to_dict("records")
            values = {key: row[key] for key in STANDINGS if pd.notna(row[key])}
            metrics = [Metric(f"standing/{key}", float(value), now, 0) for key, value in values.items()]
            tags = [
                RunTag("verdict", row["verdict"]),
                # The first eight methods of a study have different colours.
                RunTag("mlflow.runColor", looks[row["method"]].colour),
                RunTag(chart_views.NOTE, linked(run.data.tags)),
            ]
            connection.client.log_batch(run.info.run_id, metrics=metrics, tags=tags)


def _fill(client: Any, run_id: str, start: int, entry: FinishedEntry) -> None:
    """Send metrics, parameters and files of an entry, and finish its run."""
    from mlflow.entities import Metric, Param

    # Timestamps are training times, so that MLflow's relative time axis shows AUC against training time.
    metrics = [
        Metric(key, value, start + round(seconds * 1000), step)
        for key, value, seconds, step in run_data.metrics(entry)
    ]
    params = [Param(key, str(value)[:PARAM_LENGTH]) for key, value in run_data.params(entry).items()]
    for at in range(0, len(metrics), MOST_METRICS):
        batch = () if at else params[:MOST_PARAMS]
        client.log_batch(run_id, metrics=metrics[at : at + MOST_METRICS], params=batch)
    with tempfile.TemporaryDirectory() as folder:
        run_data.write_files(entry, Path(folder))
        client.log_artifacts(run_id, folder)
    status = "FAILED" if any(cell.diverged for cell in entry.cells) else "FINISHED"
    end = metrics[-1].timestamp  # end of the longest training
    client.set_terminated(run_id, status=status, end_time=max(end, start + 1))


def _log_study(study: str, folder: Path, connection: Connection) -> str:
    """Send the files of a folder to the run of a study; returns the run id."""
    client, experiment = connection.client, connection.experiment(STUDIES)
    all_runs = connection.runs(experiment, "tags.study != ''")
    runs = [run for run in all_runs if run.data.tags["study"] == study]
    if not runs:
        text = f"The files of the study **{study}**: its leaderboard and the data behind it."
        tags = {"study": study, "mlflow.source.name": "aucbench", chart_views.NOTE: text}
        runs = [client.create_run(experiment, tags=tags, run_name=study)]
    run_id: str = runs[0].info.run_id
    client.log_artifacts(run_id, str(folder))
    client.set_terminated(run_id, status="FINISHED")
    return run_id


def named(plan: StudyPlan) -> str | None:
    """The name of a plan's study, None if it has none."""
    return None if plan.study.startswith(UNNAMED) else plan.study


class Synced(NamedTuple):
    """Numbers of entries that were sent, were already logged, or are incomplete."""

    sent: int
    known: int
    incomplete: int
    boards: list[str]  # studies whose leaderboards were sent


def sync(
    store: Store,
    uri: str,
    plans: Sequence[StudyPlan],
    on_entry: Callable[[FinishedEntry, str], None] = lambda entry, run_id: None,
) -> Synced:
    """Log all complete entries of some plans that an address lacks, and the leaderboards of the plans.

    `on_entry` gets every entry that was sent, with its run id. Entries sent before a `TrackingError` stay.
    """
    tracker = Tracker(uri, store)
    sent = known = incomplete = 0
    entries: dict[str, tuple[StudyPlan, EntryPlan]] = {}
    for plan in plans:
        for planned in (*(plan.replaced or ()), *plan.entries):  # a larger entry replaces a smaller one
            entries.setdefault(planned.key, (plan, planned))
    for plan, planned in entries.values():
        if tracker.known(planned.key) is not None:
            known += 1
        elif not all(map(store.has, planned.cells)):
            incomplete += 1
        else:
            cells = tuple(cell for key in planned.cells if (cell := store.get(key)) is not None)
            entry = FinishedEntry(planned.key, named(plan), cells, ruleset=planned.ruleset or None)
            on_entry(entry, tracker.log(entry))
            sent += 1
    boards = []
    for study in dict.fromkeys(filter(None, map(named, plans))):
        if (folder := store.board_folder(study)).is_dir():
            tracker.log_board(study, folder)
            boards.append(study)
    return Synced(sent, known, incomplete, boards)
