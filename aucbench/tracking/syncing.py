"""Sending later what a store has: the complete entries of its plans that an address does not have yet."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from aucbench.studies.record import EntryPlan, StudyPlan
from aucbench.studies.result import FinishedEntry
from aucbench.studies.store import Store
from aucbench.tracking.sending import Tracker


@dataclass(frozen=True)
class Synced:
    """What came of it.

    Parameters
    ----------
    sent, known, incomplete : int
        Entries that were sent, that were there before, and that are not complete yet.
    boards : list of str
        Studies whose leaderboards were sent.
    """

    sent: int
    known: int
    incomplete: int
    boards: list[str]


def sync(
    store: Store,
    uri: str,
    plans: Sequence[StudyPlan],
    study_of: Callable[[StudyPlan], str | None],
    on_entry: Callable[[FinishedEntry, str], None] = lambda entry, run_id: None,
) -> Synced:
    """Log every complete entry of some plans, and their leaderboards, that an address does not have yet.

    Parameters
    ----------
    store : Store
        Has the cells, and remembers what was logged where.
    uri : str
        An MLflow tracking address.
    plans : sequence of StudyPlan
        Some of `Store.plans`.
    study_of : callable
        Name of a plan's study, None for one without.
    on_entry : callable
        Gets every entry that was sent, and its run's id.

    Raises
    ------
    TrackingError
        The address does not work; what was sent before stays.
    """
    tracker = Tracker(uri, store)
    sent = known = incomplete = 0
    for plan, planned in _entries(plans):
        if tracker.known(planned.key) is not None:
            known += 1
        elif not all(map(store.has, planned.cells)):
            incomplete += 1
        else:
            cells = tuple(cell for key in planned.cells if (cell := store.get(key)) is not None)
            entry = FinishedEntry(planned.key, study_of(plan), cells)
            on_entry(entry, tracker.log(entry))
            sent += 1
    boards = []
    for study in dict.fromkeys(filter(None, map(study_of, plans))):
        folder = store.board_folder(study)
        if folder.is_dir() and tracker.known_study(study, folder) is None:
            tracker.log_study(study, folder)
            boards.append(study)
    return Synced(sent, known, incomplete, boards)


def _entries(plans: Sequence[StudyPlan]) -> Iterator[tuple[StudyPlan, EntryPlan]]:
    seen = set()
    for plan in plans:
        for planned in plan.entries:
            if planned.key not in seen:
                seen.add(planned.key)
                yield plan, planned
