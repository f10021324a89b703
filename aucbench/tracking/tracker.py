"""Entries and studies sent to MLflow, each exactly once per address, at once or later by `sync`."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

import numpy as np
from filelock import FileLock

from aucbench.errors import TrackingError
from aucbench.studies.record import EntryPlan, StudyPlan
from aucbench.studies.result import FinishedEntry
from aucbench.studies.store import Store
from aucbench.studies.study import Observer, Study
from aucbench.tracking import chart_views, run_data
from aucbench.tracking.artifacts import inputs, write_files
from aucbench.tracking.client import WHOLE, Connection, absolute, has_run, reason, shown

MOST_PARAMS, PARAM_LENGTH = 100, 6000
MOST_ITEMS = 900  # MLflow takes 1,000 a call
STUDIES = "studies"  # the experiment of whole studies
LOCK_SECONDS = 600.0


class Tracker:
    """Sends entries to one address, over one connection that is made when the first one is to be sent.

    The store, if there is one, remembers what was logged where. An address that does not work is a
    `TrackingError`, which says where the results are.
    """

    def __init__(self, uri: str, store: Store | None):
        self._uri, self._store = uri, store
        self._address = absolute(uri)
        self._connection: Connection | None = None

    def log(self, entry: FinishedEntry) -> str:
        """Log an entry unless the store remembers that it was logged; returns the MLflow run id.

        A run with the entry's key that is already there is taken for it when it is finished, and replaced
        when it is not: then a process died, or the answer of a server was lost.
        """
        known = self.known(entry.key)
        if known is not None:
            return known
        with self._alone():
            run_id = self.known(entry.key) or self._attempt(
                "The entry", lambda connection: _settle(connection, entry)
            )
            if self._store:
                self._store.mark_tracked(shown(self._address), entry.key, run_id)
        return run_id

    def known(self, key: str) -> str | None:
        """The run under which the entry of that key was logged, None where the store knows of none."""
        run_id = self._store.tracked(shown(self._address), key) if self._store else None
        return run_id if run_id is not None and has_run(self._address, run_id) else None

    def log_study(self, study: str, folder: Path) -> str:
        """Keep the files of a folder as those of the study's run, unless they are there; returns its id."""
        with self._alone():
            known = self.known_study(study, folder)
            if known is not None:
                return known
            digest = _digest(folder)  # before they are sent: what changes meanwhile is sent again
            run_id = self._attempt(
                f"The study {study}", lambda connection: _settle_study(connection, study, folder)
            )
            if self._store:
                self._store.mark_tracked(shown(self._address), _study_key(study), f"{run_id} {digest}")
        return run_id

    def known_study(self, study: str, folder: Path) -> str | None:
        """The run that has the files of the folder as they are, None where the store knows of none."""
        kept = self._store.tracked(shown(self._address), _study_key(study)) if self._store else None
        run_id, _, digest = (kept or "").partition(" ")
        return run_id if run_id and digest == _digest(folder) and has_run(self._address, run_id) else None

    def _attempt(self, what: str, action: Callable[[Connection], str]) -> str:
        """Do it; once more over a new connection where the old one had worked, since it may be stale."""
        try:
            if self._connection is not None:
                with contextlib.suppress(Exception):
                    return action(self._connection)
            self._connection = None
            self._connection = Connection(self._uri)
            return action(self._connection)
        except Exception as error:  # whatever a tracking store raises must not look like a lost result
            raise self._trouble(what, error) from error

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process logs from this store: two would not see each other's run."""
        if self._store is None:
            yield
            return
        folder = self._store.path / "tracked"
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock", timeout=LOCK_SECONDS):
            yield

    def _trouble(self, what: str, error: Exception) -> TrackingError:
        sentence = f"{what} could not be logged to {shown(self._uri)} ({reason(error)})"
        if self._store is None:
            return TrackingError(f"{sentence}; the result is not kept anywhere.")
        again = f"aucbench sync --store {self._store.path} --uri {shown(self._uri)}"
        return TrackingError(
            f"{sentence}; the result is in the store {self._store.path}, and {again} sends it."
        )


class StudyTracker(Observer):
    """Logs the entries of a study as they finish, and its leaderboard; after the first trouble nothing more.

    The observer is told of each entry that is sent.
    """

    def __init__(self, tracker: Tracker, observer: Observer):
        self._tracker, self._observer = tracker, observer
        self._study: str | None = None
        self.trouble: TrackingError | None = None

    def study_begun(self, study: Study) -> None:
        """Remember its name."""
        self._study = study.name

    def entry_finished(self, executed: FinishedEntry) -> None:
        """Send the entry, where all of its cells are finished or have failed."""
        if self.trouble or executed.missing or not executed.cells:
            return
        self._observer.logging_begun(executed)
        try:
            self._observer.entry_logged(executed, self._tracker.log(executed))
        except TrackingError as error:
            self.trouble = error

    def board_written(self, page: Path) -> None:
        """Send the folder in which the page lies."""
        if self._study and not self.trouble:
            try:
                self._tracker.log_study(self._study, page.parent)
            except TrackingError as error:
                self.trouble = error


def _settle(connection: Connection, entry: FinishedEntry) -> str:
    """The entry's run, and no other one of it: neither half-written nor from when it had fewer cells."""
    experiment = connection.experiment(entry.title, chart_views.experiment_tags)
    whole = entry.key.partition("-")[0]  # an incomplete entry has its number of cells behind the key
    found = connection.runs(experiment, f"tags.key LIKE '{whole}%'")
    own = run_data.tags(entry).get("metrics", "")  # cells may have got more measures since they were logged
    finished = [
        run.info.run_id
        for run in found
        if run.data.tags["key"] == entry.key
        and run.data.tags.get("metrics", "") == own
        and run.info.status in WHOLE
    ]
    run_id = finished[0] if finished else _write(connection, experiment, entry)
    for run in found:
        if run.info.run_id != run_id:
            connection.client.delete_run(run.info.run_id)
    return str(run_id)


def _write(connection: Connection, experiment: str, entry: FinishedEntry) -> str:
    from mlflow.entities import Metric, Param

    client = connection.client
    # Timestamps are the training clock, so that MLflow's relative time axis shows AUC against training time.
    curve, along = run_data.series(entry)
    start = int(time() * 1000)
    metrics = [
        Metric(key, float(value), start + round(seconds * 1000), int(step))
        for key, values in along.items()
        for value, seconds, step in zip(values, curve["train_seconds"], curve["iteration"], strict=True)
        if np.isfinite(value)
    ]
    metrics += [
        Metric(run_data.LOG_TIME, value, start + round(1000 * run_data.seconds_at(step)), step)
        for step, value in run_data.over_log_time(entry, curve).items()
    ]
    end = start + round(max(cell.record.result.train_seconds for cell in entry.cells) * 1000)
    steps = max(cell.record.result.iterations for cell in entry.cells)
    metrics += [Metric(key, value, end, steps) for key, value in run_data.totals(entry.cells).items()]
    params = [Param(key, str(value)[:PARAM_LENGTH]) for key, value in run_data.params(entry).items()]
    tags = run_data.tags(entry) | {"mlflow.note.content": run_data.note(entry)}
    # The key is there from the first moment: by it a half-written run is found.
    run = client.create_run(experiment, start_time=start, tags=tags, run_name=run_data.run_name(entry.record))
    run_id: str = run.info.run_id
    first = MOST_ITEMS - MOST_PARAMS
    client.log_batch(run_id, metrics=metrics[:first], params=params[:MOST_PARAMS])
    for start_at in range(first, len(metrics), MOST_ITEMS):
        client.log_batch(run_id, metrics=metrics[start_at : start_at + MOST_ITEMS])
    client.log_inputs(run_id, inputs(entry))
    with tempfile.TemporaryDirectory() as folder:
        write_files(entry, Path(folder))
        client.log_artifacts(run_id, folder)
    status = "FAILED" if any(cell.diverged for cell in entry.cells) else "FINISHED"
    client.set_terminated(run_id, status=status, end_time=max(end, start + 1))
    return run_id


def _settle_study(connection: Connection, study: str, folder: Path) -> str:
    client = connection.client
    experiment = connection.experiment(STUDIES)
    found = [
        run for run in connection.runs(experiment, "tags.study != ''") if run.data.tags["study"] == study
    ]
    if found:
        run_id = found[0].info.run_id
    else:
        text = f"The files of the study **{study}**: its leaderboard and what it was made from."
        tags = {"study": study, "mlflow.source.name": "aucbench", "mlflow.note.content": text}
        run_id = client.create_run(experiment, tags=tags, run_name=study).info.run_id
    client.log_artifacts(run_id, str(folder))
    wanted = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    _remove_others(client, run_id, wanted)
    client.set_terminated(run_id, status="FINISHED")
    return str(run_id)


def _study_key(study: str) -> str:
    return f"study-{sha256(study.encode()).hexdigest()[:32]}"


def _digest(folder: Path) -> str:
    """The digest of the names and the contents of all files."""
    found = sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        data = file.read_bytes()
        found.update(f"{file.relative_to(folder).as_posix()} {len(data)} ".encode() + data)
    return found.hexdigest()


def _remove_others(client: Any, run_id: str, wanted: set[str]) -> None:
    """Remove files that were logged before and are gone from the folder."""
    from mlflow.store.artifact import artifact_repository_registry

    stale = [path for path in _files(client, run_id) if path not in wanted]
    if stale:
        registry: Any = artifact_repository_registry
        place = client.get_run(run_id).info.artifact_uri
        repository = registry.get_artifact_repository(place, tracking_uri=client.tracking_uri)
        for path in stale:
            repository.delete_artifacts(path)


def _files(client: Any, run_id: str, path: str | None = None) -> Iterator[str]:
    for file in client.list_artifacts(run_id, path):
        if file.is_dir:
            yield from _files(client, run_id, file.path)
        else:
            yield file.path


@dataclass(frozen=True)
class Synced:
    """How many entries were sent, were there before, or are not complete yet."""

    sent: int
    known: int
    incomplete: int
    boards: list[str]  # studies whose leaderboards were sent


def sync(
    store: Store,
    uri: str,
    plans: Sequence[StudyPlan],
    study_of: Callable[[StudyPlan], str | None],
    on_entry: Callable[[FinishedEntry, str], None] = lambda entry, run_id: None,
) -> Synced:
    """Log every complete entry of some plans, and their leaderboards, that an address does not have yet.

    `study_of` gives the name of a plan's study, None for one without; `on_entry` gets every entry that was
    sent, and its run's id. What was sent before a `TrackingError` stays.
    """
    tracker = Tracker(uri, store)
    sent = known = incomplete = 0
    entries: dict[str, tuple[StudyPlan, EntryPlan]] = {}
    for plan in plans:
        for planned in (*plan.entries, *(plan.replaced or ())):
            entries.setdefault(planned.key, (plan, planned))
    for plan, planned in entries.values():
        if tracker.known(planned.key) is not None:
            known += 1
        elif not all(map(store.has, planned.cells)):
            incomplete += 1
        else:
            cells = tuple(cell for key in planned.cells if (cell := store.get(key)) is not None)
            entry = FinishedEntry(planned.key, study_of(plan), cells, ruleset=planned.ruleset or None)
            on_entry(entry, tracker.log(entry))
            sent += 1
    boards = []
    for study in dict.fromkeys(filter(None, map(study_of, plans))):
        folder = store.board_folder(study)
        if folder.is_dir() and tracker.known_study(study, folder) is None:
            tracker.log_study(study, folder)
            boards.append(study)
    return Synced(sent, known, incomplete, boards)
