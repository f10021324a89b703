"""Output of a run: stages and bars on standard error, summaries of its entries on standard output."""

import shlex
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from aucbench.cli.progress import BarView, bar, say
from aucbench.data.readers.blocks import ColumnRecord, columns_in_words
from aucbench.evaluation.delong import chance_half_width
from aucbench.evaluation.measures import TrainingObjective
from aucbench.humanize import counted, duration, without_secrets
from aucbench.studies.codec import canonical
from aucbench.studies.default_settings import StoreSettings
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import DataRecord, FailureRecord
from aucbench.studies.result import (
    CellResult,
    FinishedEntry,
    StudyResult,
    by_reason,
    chosen_in_words,
    common,
    diverged_in_words,
    edges_in_words,
    failures_by_word,
    mean_in_words,
    objective_in_words,
    takes_all_rows,
    values_of,
)
from aucbench.studies.study import Study
from aucbench.tracking.client import serving

if TYPE_CHECKING:
    from aucbench.reports.cells import BoardCell

LABELS = 5  # largest number of listed labels per class


class Console:
    """An observer that shows one entry at length and a sweep in one line per entry."""

    view = BarView()

    def __getattr__(self, name: str) -> Any:
        """Forward the events of a study to its view, which is looked up for each event."""
        return lambda *report: getattr(self.view, name)(*report)

    def study_begun(self, study: Study) -> None:
        """Choose the view for the study."""
        self.view = _SweepView(study) if study.swept else _EntryView(study)


class _View(BarView):
    """Base of both views: names of entries, and the final messages."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._names = names_of(study.entries)
        self._failed: list[tuple[str, FailureRecord]] = []  # names of entries, and failures

    def data_read(self, title: str, columns: Sequence[ColumnRecord]) -> None:
        for line in columns_in_words(columns):
            say(f"{title}: {line}")

    def _name(self, entry: Any) -> str:
        return " on ".join(self._names[identity_of(entry)])

    def entry_finished(self, executed: FinishedEntry) -> None:
        self._failed += [(self._name(executed.entry), failure) for failure in executed.failures]

    def _print_troubles(self, result: StudyResult) -> None:
        """Print failed cells, and entries left incomplete by `stop_after`."""
        for name, failure in self._failed:
            fold = f", fold {failure.fold}" if failure.fold else ""
            say(f"{failure.reason}: {name} (seed {failure.seed}{fold}): {failure.message}")
        if self._failed:
            say("aucbench status --failures shows tracebacks; --only-failed runs these cells again")
        if result.left:
            cells = counted(sum(count for _, count in result.left), "cell")
            say(f"stopped by stop_after; not run: {cells}; the same command continues with them")


class _EntryView(_View):
    """Shows one entry at length; bars only in a terminal."""

    _is_logged = False
    executed: FinishedEntry | None = None

    def stage(self, text: str) -> None:
        self.close()
        sys.stdout.flush()
        say(f"{text} ...")

    def progress(self, share: float) -> None:
        if self._bar is None:
            (entry,) = self.study.entries
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
        super().entry_finished(executed)
        self.executed = executed
        for name, text in summary(executed).items() if executed.cells else ():
            show_line(name, text)
        if executed.cells and executed.from_store and self.study.store_path:
            show_line("from", f"the store {self.study.store_path} (nothing was run again)")

    def entry_logged(self, executed: FinishedEntry, run_id: str) -> None:
        self._is_logged = True
        show_line("MLflow", f"run {run_id}")

    def study_finished(self, result: StudyResult) -> None:
        self.close()
        if result.stored + result.finished:
            logged = [self.executed.title] if self._is_logged and self.executed else []
            print_next(self.study, logged, self.study.name)
        self._print_troubles(result)


class _SweepView(_View):
    """Shows a sweep: a bar of its cells, one line per entry, and how many cells are done or failed."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        self._described: list[str] = []  # data sets whose classes were printed
        self._cells: list[BoardCell] = []  # finished cells, without weights
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
        auc = auc_of(executed.cells) if executed.cells else "no result"
        chosen = chosen_in_words(cell.record for cell in executed.cells)
        failed = failures_by_word(executed.failures).items()
        notes = [
            f"test AUC {auc}" if auc[0].isdigit() else auc,
            f"tuned: {chosen}" if chosen else "",
            "from the store" if executed.from_store else "",
            *(f"{count} {kind}" for kind, count in failed if count),
            f"{executed.missing} not run" if executed.missing else "",
            advice_on(executed.cells),
        ]
        super().entry_finished(executed)
        self._cells += of_results(executed.cells)
        self._stored_as = executed.study
        tqdm.write(f"{self._name(executed.entry)}: {'; '.join(filter(None, notes))}", file=sys.stdout)

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
        not_run = result.cells - finished - len(result.failures)
        diverged = sum(record.diverged for record in records)  # a diverged cell may have a result
        tallies = {
            "diverged": diverged + counts["diverged"],
            "failed": counts["failed"],
            "not run": not_run,
        }
        texts = [f"{count} {kind}" for kind, count in tallies.items() if count > 0 or kind == "failed"]
        elapsed = duration(perf_counter() - self._begun)
        head = f"{counted(finished - diverged, 'cell')} done"
        print(f"{', '.join([head, *texts])} in {elapsed}")
        print_next(self.study, [] if result.untracked else self._described, self._stored_as)

    def _print_ranking(self) -> None:
        """Print the best methods, or settings of one method, of a sweep that compares several."""
        if not self._cells or len({method for method, _ in self._names.values()}) < 2:
            return
        from aucbench.reports.build import build
        from aucbench.reports.views.text import show_best

        running = self.study.running
        report = build(self._cells, "", True, planned_reference=running.reference, planned_rope=running.rope)
        show_best(report)


def print_next(study: Study, logged: Sequence[str], name: str | None) -> None:
    """Print the commands and the address for further views of the stored study and the logged data sets."""
    path, uri = study.store_path, study.tracking_uri
    nexts = []
    if uri and logged:
        from aucbench.tracking.chart_views import comparison

        nexts += [*filter(None, [serving(uri)]), without_secrets(comparison(uri, logged[0]))]
    if path:
        arguments = ["aucbench", "leaderboard"]
        arguments += ["--study", name] if name else []
        arguments += [] if path == StoreSettings.path else ["--store", path]
        arguments += ["--reference", study.running.reference] if study.running.reference and not name else []
        nexts.append(shlex.join(arguments))
    for number, command in enumerate(nexts):
        show_line("next" if number == 0 else "", command)
    sys.stdout.flush()


def show_line(name: str, text: str) -> None:
    """Print a line of a summary."""
    print(f"{name:>10}  {text}")


def identity_of(entry: Entry) -> str:
    """The settings of an entry without its measures, as entries with other measures are planned as one."""
    return canonical([entry.describe(), _extra(entry)])


def names_of(entries: Sequence[Entry]) -> dict[str, tuple[str, str]]:
    """Names of the method and the data set of each entry of a sweep, by identity.

    The names include all settings that differ between entries.
    """
    from aucbench.reports.labels import sweep_names

    names = sweep_names([entry.describe() for entry in entries], [_extra(entry) for entry in entries])
    return {identity_of(entry): name for entry, name in zip(entries, names, strict=True)}


def _extra(entry: Entry) -> dict[str, Any]:
    """Fields that distinguish entries of a sweep, but not methods on a board."""
    fields = {name: getattr(entry.settings, name) for name in ("seed", "runs", "split_seed", "order_seed")}
    fields["checkpoints"] = entry.budget.checkpoints
    return {name: value for name, value in fields.items() if value is not None}


def summary(executed: FinishedEntry) -> dict[str, str]:
    """The lines of the summary of a run, by name."""
    record, cells = executed.record, executed.cells
    data = record.data
    results = [cell.record.result for cell in cells]

    def mean(name: str) -> float:
        return float(np.mean([getattr(result, name) for result in results]))

    failed = next((result.warm_up for result in results if result.warm_up), "")
    features = record.features.name
    lines = {
        "run": f"{record.algorithm.name} on {record.dataset.title} "
        f"({data.train_rows:,} training and {data.test_rows:,} test rows, {data.features:,} features)",
        "classes": classes(data),
        "test AUC": auc_of(cells),
        **_measures_of(cells),
        **objective_in_words(cells),
        "training": f"{mean('train_seconds'):.4g} s ({mean('train_cpu_seconds'):.4g} s of CPU)",
        "cost": f"{duration(1e-9 * mean('ns_per_iteration'))} per iteration"
        + " over all training rows" * takes_all_rows(record, cells[0].curve),
        "iterations": f"{mean('iterations'):,.0f}",
        "state": f"{mean('state_bytes'):,.0f} bytes",
        "stopped": ", ".join(sorted({result.stop_reason for result in results})),
        "warm-up": failed and f"failed, so times may include compilation: {failed}",
        "advice": advice_on(cells),
        **_tuning_of(cells),
        "features": "" if features == "identity" else f"{features}, fitted in {data.features_seconds:.3g} s",
        "exempt": "from checks: " * bool(record.algorithm.exempt) + ", ".join(record.algorithm.exempt),
    }
    return {name: text for name, text in lines.items() if text}


def _tuning_of(cells: Sequence[CellResult]) -> dict[str, str]:
    """The settings chosen by tunings, their cost, and fields chosen on an edge of their grid."""
    tuned = [cell.record.tuned for cell in cells if cell.record.tuned]
    if not tuned:
        return {}
    passes = sum({tuning.cost: tuning.cost.passes for tuning in tuned}.values())
    unit = "pass" if round(passes) == 1 else "passes"
    nothing = "nothing: the method ignores every field of its grid"
    edges = [sentence for _, sentence in edges_in_words(cell.record for cell in cells)]
    return {
        "tuned": chosen_in_words(cell.record for cell in cells) or nothing,
        "tuning": f"{counted(tuned[0].cost.settings, 'setting')} per split, {passes:,.0f} {unit} in all",
    } | {"edge" if number == 0 else " " * number: text for number, text in enumerate(edges)}


def classes(data: DataRecord) -> str:
    """The positive and negative labels, with the number of rows per class."""
    train, test = data.train_positives, data.test_positives or 0
    positive = _class("positive", data.positive, train, test)
    negative = _class("negative", data.negative, data.train_rows - train, data.test_rows - test)
    text = f"{positive}; {negative}"
    if data.duplicates:
        repeated = round(data.duplicates * data.test_rows)
        text += f"; {repeated:,} of {data.test_rows:,} test rows are also training rows"
    return text


def _class(name: str, labels: Sequence[str], train: int, test: int) -> str:
    more = f" and {len(labels) - LABELS} more" if len(labels) > LABELS else ""
    noun = "label" if len(labels) == 1 else "labels"
    return f"{name} {noun} {', '.join(labels[:LABELS])}{more} ({train:,} training and {test:,} test rows)"


def auc_of(cells: Sequence[CellResult]) -> str:
    """The mean AUC, or the number of diverged runs."""
    return diverged_in_words(cells) or mean_in_words([cell.auc for cell in cells])


def _measures_of(cells: Sequence[CellResult]) -> dict[str, str]:
    """The means of all measures except the AUC, with standard deviations over several runs."""
    records = [cell.record for cell in cells]
    measures = [metric for metric in common(records) if not isinstance(metric, TrainingObjective)]
    values = {metric.symbol: [v for v in values_of(records, metric) if np.isfinite(v)] for metric in measures}
    return {symbol: mean_in_words(numbers) for symbol, numbers in values.items() if numbers}


def advice_on(cells: Sequence[CellResult]) -> str:
    """Advice if runs did not converge, diverged, or rank in reverse order; else empty."""
    short = sum(cell.record.result.converged is False and not cell.diverged for cell in cells)
    if short:
        runs = "" if len(cells) == 1 else f" in {short} of {len(cells)} runs"
        return f"not converged{runs}; set budget.epochs=null, or allow more passes"
    if any(cell.diverged for cell in cells):
        return next(cell.record.result.advice or "" for cell in cells if cell.diverged)
    auc = float(np.mean([cell.auc for cell in cells])) if cells else 1.0
    if auc < 0.5:  # the runs may share test rows, and count as one
        tested = [cell.record.data for cell in cells]
        positives, rows = min((data.test_positives or 0, data.test_rows) for data in tested)
        if auc < 0.5 - chance_half_width(positives, rows - positives):
            return f"the scores look reversed: with the sign changed, the AUC is {1.0 - auc:.4f}"
        return f"not above chance; {positives:,} positive test rows"
    return ""
