"""What a run shows: stages and progress on standard error, a short summary on standard output."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from aucbench.cli.naming import Names
from aucbench.studies.observing import Observer
from aucbench.studies.planning import Plan
from aucbench.studies.record import CellRecord, CellStatus, DataRecord, FailureRecord, ResultRecord
from aucbench.studies.result import (
    CellResult,
    FinishedEntry,
    StudyResult,
    by_reason,
    diverged_in_words,
    failures_by_word,
)
from aucbench.studies.units import CellUnit, Unit
from aucbench.tracking.addresses import serving, shown
from aucbench.tuning import winners
from aucbench.wording import counted

DEFAULT_STORE = "aucbench-store"
LABELS = 5  # labels of a class that are listed
LISTED = 5  # incomplete entries that are listed


class EntryConsole(Observer):
    """Shows one entry at length; bars only in a terminal."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._terminal = sys.stderr.isatty()
        self._name = ""

    def stage(self, text: str) -> None:
        """Print the stage."""
        self.close()
        print(f"aucbench: {text} ...", file=sys.stderr, flush=True)

    def progress(self, share: float) -> None:
        """Move the bar."""
        if not self._terminal:
            return
        if self._bar is None:
            layout = "{l_bar}{bar}| {elapsed}"
            self._bar = tqdm(total=100, desc=self._name, unit="%", leave=False, bar_format=layout)
        self._bar.update(100 * share - self._bar.n)

    def planned(self, cells: int, stored: int) -> None:
        """Print what the store has of several cells."""
        if stored:
            print(f"aucbench: {stored} of {cells} cells were in the store", file=sys.stderr, flush=True)

    def started(self, unit: Unit) -> None:
        """Remember whose bar it is."""
        self._name = unit.entry.algorithm.name

    def finished(self, unit: Unit, failure: FailureRecord | None) -> None:
        """Close the bar."""
        self.close()

    def logging(self, executed: FinishedEntry) -> None:
        """Say that MLflow is next; importing it takes a while."""
        self.stage("logging to MLflow")

    def entry(self, executed: FinishedEntry, path: str | None, uri: str | None, run_id: str | None) -> float:
        """Print the summary; returns the mean test AUC."""
        self.close()
        if not executed.cells:
            return float("nan")
        for name, text in _summary(executed).items():
            print(f"{name:>10}  {text}")
        if executed.from_store and path:
            print(f"{'from':>10}  the store {path} (nothing was run again)")
        if uri and run_id:
            print(f"{'MLflow':>10}  run {run_id}")
        print_next(path, uri if run_id else None)
        return _mean_auc(executed)

    def study(self, plan: Plan, conducted: StudyResult, path: str | None, uri: str | None) -> None:
        """Say what failed."""
        print_failures(conducted, Names(()))
        print_left(conducted, Names(()))

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class StudyConsole(Observer):
    """Shows a study: cells done, failed and the time that is left; one line an entry.

    Parameters
    ----------
    names : Names
        Of its entries.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._bar: Any = None
        self._failures: list[FailureRecord] = []
        self._diverged: set[str] = set()  # keys of cells that have a result which says so
        self._logging = False
        self._described: set[str] = set()  # data sets whose classes were printed
        self._records: list[CellRecord] = []  # of finished cells

    def stage(self, text: str) -> None:
        """Nothing: stages of single cells are too many."""

    def planned(self, cells: int, stored: int) -> None:
        """Open the bar."""
        print(f"aucbench: {cells} cells, {stored} of them in the store", file=sys.stderr, flush=True)
        self._bar = tqdm(
            total=cells, initial=stored, unit=" cells", leave=False, disable=not sys.stderr.isatty()
        )

    def started(self, unit: Unit) -> None:
        """Name what runs."""
        self._bar.set_description(self._names.of(unit.entry))

    def finished(self, unit: Unit, failure: FailureRecord | None) -> None:
        """Move the bar by a cell."""
        if failure is not None:
            self._failures.append(failure)
            counts = failures_by_word(self._failures).items()
            self._bar.set_postfix_str(", ".join(f"{count} {word}" for word, count in counts if count))
        if isinstance(unit, CellUnit):
            self._bar.update(1)

    def logging(self, executed: FinishedEntry) -> None:
        """Say once that entries are logged."""
        if not self._logging:
            self._logging = True
            tqdm.write("aucbench: logging finished entries to MLflow", file=sys.stderr)

    def entry(self, executed: FinishedEntry, path: str | None, uri: str | None, run_id: str | None) -> float:
        """Print the entry's line, below the classes of a data set that is new; returns its mean test AUC."""
        if executed.cells and executed.title not in self._described:
            self._described.add(executed.title)
            tqdm.write(f"aucbench: {executed.title}: {classes(executed.record.data)}", file=sys.stderr)
        notes = []
        if executed.from_store:
            notes.append("from the store")
        notes += [f"{count} {word}" for word, count in failures_by_word(executed.failures).items() if count]
        if executed.missing:
            notes.append(f"{executed.missing} not run")
        records = [cell.record for cell in executed.cells]
        self._records += records
        chosen = winners.in_words(records)
        if chosen:
            notes.insert(0, f"tuned: {chosen}")
        self._diverged |= {cell.record.key for cell in executed.cells if cell.diverged}
        if advice := _advice(executed.cells):
            notes.append(advice)
        auc = _auc_of(executed) if executed.cells else "no result"
        if auc[0].isdigit():
            auc = f"test AUC {auc}"
        name = self._names.of(executed.entry) if executed.entry else executed.title
        remark = f" ({', '.join(notes)})" if notes else ""
        tqdm.write(f"{name}: {auc}{remark}", file=sys.stdout)
        return _mean_auc(executed)

    def study(self, plan: Plan, conducted: StudyResult, path: str | None, uri: str | None) -> None:
        """Print what was left out, what failed, and the next commands."""
        self.close()
        for text in by_reason(plan.unavailable):
            print(f"aucbench: left out {text}", file=sys.stderr)
        for text in by_reason(conducted.refused):
            print(f"aucbench: {text}", file=sys.stderr)
        print_failures(conducted, self._names)
        print_left(conducted, self._names)
        for name, sentence in winners.at_edges(self._records):
            print(f"{name}: {sentence}")
        finished = plan.count(CellStatus.finished) + conducted.finished
        missing = len(plan.cells()) - finished - len(conducted.failures)
        counts = failures_by_word(conducted.failures)
        diverged = len(self._diverged) + counts["diverged"]
        print(
            f"{finished - len(self._diverged)} cells done"
            + (f", {diverged} diverged" if diverged else "")
            + f", {counts['failed']} failed"
            + (f", {missing} not run" if missing > 0 else "")
        )
        print_next(path, uri)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def print_failures(conducted: StudyResult, names: Names) -> None:
    """One line for each failed cell, and how to see more."""
    for failure in conducted.failures:
        where = names.of_failure(failure)
        fold = f", fold {failure.fold}" if failure.fold else ""
        print(
            f"aucbench: {failure.reason}: {where} (seed {failure.seed}{fold}): {failure.message}",
            file=sys.stderr,
        )
    if conducted.failures:
        print(
            "aucbench: aucbench status --failures shows tracebacks; --only-failed runs these cells again",
            file=sys.stderr,
        )


def print_left(conducted: StudyResult, names: Names) -> None:
    """Which entries `stop_after` left incomplete, and how many of their cells were not run."""
    if conducted.left:
        texts = [f"{names.of(entry)} ({counted(left, 'cell')})" for entry, left in conducted.left]
        more = f" and {len(texts) - LISTED} other entries" if len(texts) > LISTED else ""
        print(
            f"aucbench: stopped by stop_after; not run: {', '.join(texts[:LISTED])}{more}; "
            f"the same command continues with them",
            file=sys.stderr,
        )


def print_next(path: str | None, uri: str | None) -> None:
    """The commands, or the address, that show more."""
    nexts = [serving(uri) or shown(uri)] if uri else []
    if path:
        nexts.append("aucbench leaderboard" + ("" if path == DEFAULT_STORE else f" --store {path}"))
    for number, command in enumerate(nexts):
        print(f"{'next' if number == 0 else '':>10}  {command}")
    sys.stdout.flush()


def _summary(executed: FinishedEntry) -> dict[str, str]:
    record, cells = executed.record, executed.cells
    results = [cell.record.result for cell in cells]
    data = record.data
    lines = {
        "run": f"{record.algorithm.name} on {record.dataset.title} "
        f"({data.train_rows:,} training and {data.test_rows:,} test rows, {data.features:,} features)",
        "classes": classes(data),
        "test AUC": _auc_of(executed),
        "training": f"{_mean(results, 'train_seconds'):.4g} s "
        f"({_mean(results, 'train_cpu_seconds'):.4g} s of CPU)",
        "cost": f"{_mean(results, 'ns_per_iteration'):,.0f} ns per iteration",
        "iterations": f"{_mean(results, 'iterations'):,.0f}",
        "state": f"{_mean(results, 'state_bytes'):,.0f} bytes",
        "stopped": ", ".join(sorted({result.stop_reason for result in results})),
    }
    if advice := _advice(cells):
        lines["advice"] = advice
    tuned = [cell.record.tuned for cell in cells if cell.record.tuned]
    if tuned:
        lines["tuned"] = winners.in_words(cell.record for cell in cells)
        passes = sum({each.cost: each.cost.passes for each in tuned}.values())
        lines["tuning"] = f"{tuned[0].cost.settings} settings a split, {passes:,.0f} passes in all"
        edges = [sentence for _, sentence in winners.at_edges(cell.record for cell in cells)]
        lines |= {"edge" if number == 0 else " " * number: text for number, text in enumerate(edges)}
    if record.features.name != "identity":
        lines["features"] = f"{record.features.name}, fitted in {data.features_seconds:.3g} s"
    if record.algorithm.exempt:
        lines["exempt"] = "from checks: " + ", ".join(record.algorithm.exempt)
    return lines


def classes(data: DataRecord) -> str:
    """Which labels are positive, and the rows of either class."""
    parts = []
    sides = (
        (data.train_rows, data.train_positives, "training"),
        (data.test_rows, data.test_positives, "test"),
    )
    for name, found in (("positive", data.positive), ("negative", data.negative)):
        labels = found or ("not recorded",)
        shown = ", ".join(labels[:LABELS]) + (
            f" and {len(labels) - LABELS} more" if len(labels) > LABELS else ""
        )
        rows = [
            f"{positives if name == 'positive' else count - positives:,} {side}"
            for count, positives, side in sides
            if positives is not None
        ]
        noun = "label" if len(labels) == 1 else "labels"
        parts.append(f"{name} {noun} {shown} ({' and '.join(rows)} rows)")
    return "; ".join(parts)


def _auc_of(executed: FinishedEntry) -> str:
    cells = executed.cells
    if diverged := diverged_in_words(cells):
        return diverged
    if len(cells) == 1:
        return f"{cells[0].auc:.6f}"
    aucs = np.array([cell.auc for cell in cells])
    return f"{np.mean(aucs):.6f} ± {np.std(aucs, ddof=1):.6f} over {len(aucs)} runs"


def _advice(cells: Sequence[CellResult]) -> str:
    """What to change, of the first run that diverged or stopped before it had converged; else empty."""
    short = sum(cell.record.result.converged is False and not cell.diverged for cell in cells)
    if short:
        return f"not converged in {short} of {len(cells)} runs; set budget.epochs=null, or allow more passes"
    return next((cell.record.result.advice or "" for cell in cells if cell.diverged), "")


def _mean_auc(executed: FinishedEntry) -> float:
    return float(np.mean([cell.auc for cell in executed.cells])) if executed.cells else float("nan")


def _mean(results: list[ResultRecord], name: str) -> float:
    return float(np.mean([getattr(result, name) for result in results]))
