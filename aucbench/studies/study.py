"""A study: its entries and the settings of its execution; and callbacks that report its progress."""

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
MOST_CELLS = 1_000_000  # larger studies need a confirmation: a number is probably mistyped


def check_size(cells: int) -> None:
    """Refuse a study with more than `MOST_CELLS` cells."""
    if cells > MOST_CELLS:
        raise ParameterError(f"The study has {cells:,} cells or more; --yes runs more than {MOST_CELLS:,}.")


@dataclass(frozen=True)
class Study:
    """Entries, the settings of their execution, and the destinations of their results."""

    entries: Sequence[Entry]  # entries in display order
    running: Running = field(default_factory=Running)
    name: str | None = None  # name of its plan in the store
    command: str = ""  # command that started the study, stored with the plan
    store_path: str | None = None  # None: nothing is stored
    tracking_uri: str | None = None  # address of MLflow; None logs nothing
    swept: bool = False  # a sweep rather than a single run
    skip_missing_data: bool = False  # leave out entries whose data cannot be obtained
    only_failed: bool = False  # run only cells that failed before
    yes: bool = False  # run the study with any number of cells
    refused: "Sequence[Refused]" = ()  # entries refused earlier, counted with the other refused entries

    @property
    def is_timed_alone(self) -> bool:
        """Whether cells train while nothing else runs."""
        return self.running.timing is Timing.exclusive


class Observer:
    """Callbacks that report the progress of a study; override the methods that you need in a subclass."""

    def study_begun(self, study: Study) -> None:
        """The study is composed, but not planned."""

    def files_missing(self, sizes: Mapping[str, int | None]) -> None:
        """Files of these data sets of a suite are missing: bytes to download, None if no source has them."""

    def planned(self, cells: int, stored: int) -> None:
        """The study has `cells` cells, of which the store has `stored`."""

    def data_read(self, title: str, columns: "Sequence[ColumnRecord]") -> None:
        """The study uses a user's table; `columns` describes how each column was read."""

    def stage(self, text: str) -> None:
        """A stage begins in this process, such as loading or training."""

    def progress(self, share: float) -> None:
        """The training in this process has spent this share of its budget."""

    def started(self, entry: Entry) -> None:
        """One or more trainings of the entry begin."""

    def cell_finished(self, entry: Entry, failure: FailureRecord | None) -> None:
        """A cell of the entry ended; `failure` is the stored record of a failed cell, else None."""

    def entry_finished(self, executed: "FinishedEntry") -> None:
        """No cell of the entry is left to be run."""

    def entry_logged(self, executed: "FinishedEntry", run_id: str) -> None:
        """The entry was logged to MLflow as the run `run_id`."""

    def study_finished(self, result: "StudyResult") -> None:
        """No cell of the study is left to be run."""
