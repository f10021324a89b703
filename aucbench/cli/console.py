"""Output of a run: stages and bars on standard error, summaries of its entries on standard output."""

import shlex
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from aucbench.cli.entry_summary import advice_on, auc_of, classes, summary
from aucbench.cli.progress import BarView, bar, say
from aucbench.data.readers.blocks import ColumnRecord, columns_in_words
from aucbench.humanize import counted, duration, without_secrets
from aucbench.studies.default_settings import StoreSettings
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import FailureRecord
from aucbench.studies.result import (
    FinishedEntry,
    StudyResult,
    by_reason,
    chosen_in_words,
    edges_in_words,
    failures_by_word,
)
from aucbench.studies.study import Study
from aucbench.tracking.client import serving

if TYPE_CHECKING:
    from aucbench.reports.cells import BoardCell


class Console:
    """An observer that shows one entry at length and a sweep in one line per entry."""

    _view = BarView()

    def __getattr__(self, name: str) -> Any:
        """Events after the beginning of a study go to its view, which is looked up when they happen."""
        return lambda *report: getattr(self._view, name)(*report)

    def study_begun(self, study: Study) -> None:
        """Choose the view for the study."""
        self._view = _SweepView(study) if study.swept else _EntryView(study)


class _View(BarView):
    """Base of both views: names of entries, and the final messages."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._names = names_of(study.entries)
        self._failed: list[tuple[str, FailureRecord]] = []  # with the name of their entry

    def data_read(self, title: str, columns: Sequence[ColumnRecord]) -> None:
        for line in columns_in_words(columns):
            say(f"{title}: {line}")

    def show_verdict(self, words: Sequence[str]) -> None:
        """A sweep ends with its ranking."""

    def _name(self, entry: Entry) -> str:
        return " on ".join(self._names[id(entry)])

    def _print_troubles(self, result: StudyResult) -> None:
        """Print failed cells, and entries left incomplete by `stop_after`."""
        for name, failure in self._failed:
            fold = f", fold {failure.fold}" if failure.fold else ""
            say(f"{failure.reason}: {name} (seed {failure.seed}{fold}): {failure.message}")
        if self._failed:
            say("aucbench status --failures shows tracebacks; --only-failed runs these cells again")
        if result.left:
            cells = counted(sum(left for _, left in result.left), "cell")
            say(f"stopped by stop_after; not run: {cells}; the same command continues with them")


class _EntryView(_View):
    """Shows one entry at length; bars only in a terminal."""

    _is_logged = False
    _executed: FinishedEntry | None = None

    def stage(self, text: str) -> None:
        self.close()
        sys.stdout.flush()
        say(f"{text} ...")

    def progress(self, share: float) -> None:
        if self._bar is None:
            (entry,) = self._study.entries
            self._bar = bar(
                "{l_bar}{bar}| {elapsed}<{remaining}", total=100, desc=entry.algorithm.name, unit="%"
            )
        self._bar.update(100 * share - self._bar.n)

    def planned(self, cells: int, stored: int) -> None:
        if stored:
            say(f"{stored} of {cells} cells were in the store")

    def started(self, entry: Entry) -> None:
        self.close()

    def entry_finished(self, executed: FinishedEntry) -> None:
        self.close()
        assert executed.entry is not None  # what the scheduler finishes has one
        self._executed = executed
        self._failed = [(self._name(executed.entry), failure) for failure in executed.failures]
        if not executed.cells:
            return
        for name, text in summary(executed).items():
            _line(name, text)
        if executed.from_store and self._study.store_path:
            _line("from", f"the store {self._study.store_path} (nothing was run again)")

    def entry_logged(self, executed: FinishedEntry, run_id: str) -> None:
        self._is_logged = True
        _line("MLflow", f"run {run_id}")

    def show_verdict(self, words: Sequence[str]) -> None:
        if self._executed is not None:
            from aucbench.cli.against_reference import against_reference

            if sentence := against_reference(words, self._study, self._executed):
                _line("verdict", sentence)

    def study_finished(self, result: StudyResult) -> None:
        self.close()
        if result.stored + result.finished:
            logged = [self._executed.title] if self._is_logged and self._executed else []
            print_next(self._study, logged, self._study.name)
        self._print_troubles(result)


class _SweepView(_View):
    """Shows a sweep: a bar of its cells, one line per entry, and how many cells are done or failed."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        self._described: list[str] = []  # data sets whose classes were printed
        self._cells: list[BoardCell] = []  # finished ones, without weights
        self._stored_as = study.name  # the name of the study in the store
        self._begun = perf_counter()

    def planned(self, cells: int, stored: int) -> None:
        say(f"{counted(cells, 'cell')}, {stored} of them in the store")
        self._bar = bar(total=cells, initial=stored, unit=" cells")

    def started(self, entry: Entry) -> None:
        self._bar.set_description(self._name(entry))

    def cell_finished(self, entry: Entry, failure: FailureRecord | None) -> None:
        self._bar.update(1)

    def entry_finished(self, executed: FinishedEntry) -> None:
        from aucbench.reports.cells import of_results

        if executed.cells and executed.title not in self._described:
            self._described.append(executed.title)
            tqdm.write(f"aucbench: {executed.title}: {classes(executed.record.data)}", file=sys.stderr)
        auc = auc_of(executed) if executed.cells else "no result"
        notes = [f"test AUC {auc}" if auc[0].isdigit() else auc]
        if chosen := chosen_in_words(cell.record for cell in executed.cells):
            notes.append(f"tuned: {chosen}")
        if executed.from_store:
            notes.append("from the store")
        notes += [f"{count} {word}" for word, count in failures_by_word(executed.failures).items() if count]
        if executed.missing:
            notes.append(f"{executed.missing} not run")
        if advice := advice_on(executed.cells):
            notes.append(advice)
        self._cells += of_results(executed.cells)
        self._stored_as = executed.study
        assert executed.entry is not None  # what the scheduler finishes has one
        name = self._name(executed.entry)
        self._failed += [(name, failure) for failure in executed.failures]
        tqdm.write(f"{name}: {'; '.join(notes)}", file=sys.stdout)

    def study_finished(self, result: StudyResult) -> None:
        self.close()
        if result.page:
            print(f"leaderboard  {result.page}")
        for text in by_reason(result.unavailable):
            say(f"left out {text}")
        for text in by_reason(result.refused):
            say(text)
        self._print_troubles(result)
        # Entries that differ in their measures alone share cells.
        records = {cell.key: cell.record for cell in self._cells if cell.record is not None}.values()
        for name, sentence in edges_in_words(records):
            print(f"{name}: {sentence}")
        self._print_ranking()
        finished, counts = result.stored + result.finished, failures_by_word(result.failures)
        missing = result.cells - finished - len(result.failures)
        without = sum(record.diverged for record in records)  # a diverged cell may have a result
        counted_apart = {
            "diverged": without + counts["diverged"],
            "failed": counts["failed"],
            "not run": missing,
        }
        rest = [f"{count} {word}" for word, count in counted_apart.items() if count > 0 or word == "failed"]
        took = duration(perf_counter() - self._begun)
        done = f"{counted(finished - without, 'cell')} done"
        print(f"{', '.join([done, *rest])} in {took}")
        print_next(self._study, [] if result.untracked else self._described, self._stored_as)

    def _print_ranking(self) -> None:
        """The best methods, or settings of one, of a sweep that compares several."""
        if not self._cells or len({method for method, _ in self._names.values()}) < 2:
            return
        from aucbench.reports.build import build
        from aucbench.reports.views.text import show_best

        running = self._study.running
        report = build(self._cells, "", True, planned_reference=running.reference, planned_rope=running.rope)
        show_best(report)


def print_next(study: Study, logged: Sequence[str], name: str | None) -> None:
    """Print the commands and the address that show more of the stored study, and of the logged data sets."""
    path, uri = study.store_path, study.tracking_uri
    nexts = []
    if uri and logged:
        from aucbench.tracking.chart_views import comparison

        nexts += [*filter(None, [serving(uri)]), without_secrets(comparison(uri, logged[0]))]
    if path:
        words = ["aucbench", "leaderboard"]
        words += ["--study", name] if name else []
        words += [] if path == StoreSettings.path else ["--store", path]
        words += ["--reference", study.running.reference] if study.running.reference and not name else []
        nexts.append(shlex.join(words))
    for number, command in enumerate(nexts):
        _line("next" if number == 0 else "", command)
    sys.stdout.flush()


def _line(name: str, text: str) -> None:
    print(f"{name:>10}  {text}")


def names_of(entries: Sequence[Entry]) -> dict[int, tuple[str, str]]:
    """Names of the method and the data set of each entry of a sweep, by id.

    The names include all settings that differ between entries.
    """
    from aucbench.reports.labels import sweep_names

    names = sweep_names([entry.describe() for entry in entries], [_extra(entry) for entry in entries])
    return {id(entry): name for entry, name in zip(entries, names, strict=True)}


def _extra(entry: Entry) -> dict[str, Any]:
    """Fields that distinguish entries of a sweep, but not methods on a board."""
    told = {name: getattr(entry.settings, name) for name in ("seed", "runs", "split_seed", "order_seed")}
    told["checkpoints"] = entry.budget.checkpoints
    return {name: value for name, value in told.items() if value is not None}
