"""A study: entries and where they run; and callbacks that report how it goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aucbench.data.readers.blocks import ColumnRecord
from aucbench.errors import ParameterError
from aucbench.studies.default_settings import Running, Timing
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import FailureRecord

if TYPE_CHECKING:
    from aucbench.studies.result import FinishedEntry, Refused, StudyResult

UNNAMED = "unnamed-"  # prefix in the names of unnamed studies
MOST_CELLS = 1_000_000  # of a study, unless the user confirms it: a mistyped number is more likely


def check_size(cells: int) -> None:
    """Refuse a study with more cells."""
    if cells > MOST_CELLS:
        raise ParameterError(f"The study has {cells:,} cells or more; --yes runs more than {MOST_CELLS:,}.")


@dataclass(frozen=True)
class Study:
    """Entries, how they are run, and where their results go."""

    entries: Sequence[Entry]  # in the order in which they are shown
    running: Running = field(default_factory=Running)
    name: str | None = None  # name of its plan in the store
    command: str = ""  # command that started the study, stored with the plan
    store_path: str | None = None  # None: nothing is stored
    tracking_uri: str | None = None  # address of MLflow; None logs nothing
    swept: bool = False  # whether it is a sweep, and not one run
    skip_missing_data: bool = False  # whether entries whose data cannot be obtained are left out
    only_failed: bool = False  # run only cells that failed before
    yes: bool = False  # run it, however many cells it has
    refused: "Sequence[Refused]" = ()  # entries that were refused before, to be counted with the others

    @property
    def is_timed_alone(self) -> bool:
        """Whether cells train while nothing else runs."""
        return self.running.timing is Timing.exclusive


class Observer:
    """Callbacks that report the progress of a study; derive from it and override those that you need."""

    def study_begun(self, study: Study) -> None:
        """The study is composed; nothing of it has been planned."""

    def files_missing(self, sizes: Mapping[str, int | None]) -> None:
        """Files of these data sets of a suite are missing: bytes to download, None if no source has them."""

    def planned(self, cells: int, stored: int) -> None:
        """The study has that many cells, of which the store has some."""

    def data_read(self, title: str, columns: "Sequence[ColumnRecord]") -> None:
        """The study uses a user's table; `columns` describes how each column was read."""

    def stage(self, text: str) -> None:
        """A stage begins in this process, such as loading or training."""

    def progress(self, share: float) -> None:
        """The training in this process has spent this share of its budget."""

    def started(self, entry: Entry) -> None:
        """A training of the entry, or some of them, begins."""

    def cell_finished(self, entry: Entry, failure: FailureRecord | None) -> None:
        """A cell of the entry ended; `failure` is None, or what the store keeps of a cell that failed."""

    def entry_finished(self, executed: "FinishedEntry") -> None:
        """Nothing of an entry is left to be run."""

    def entry_logged(self, executed: "FinishedEntry", run_id: str) -> None:
        """MLflow has the entry as that run."""

    def study_finished(self, result: "StudyResult") -> None:
        """Nothing of the study is left to be run."""
