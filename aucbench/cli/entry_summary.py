"""A finished entry in words: its rows, its AUC and other measures, costs, and advice."""

from collections.abc import Sequence

import numpy as np

from aucbench.evaluation.delong import chance_half_width
from aucbench.evaluation.measures import TrainingObjective
from aucbench.humanize import counted, duration
from aucbench.studies.record import DataRecord
from aucbench.studies.result import (
    CellResult,
    FinishedEntry,
    chosen_in_words,
    common,
    diverged_in_words,
    edges_in_words,
    mean_in_words,
    objective_in_words,
    takes_all_rows,
    values_of,
)

LABELS = 5  # largest number of listed labels per class
NOTHING_TUNED = "nothing: the method ignores every field of its grid"


def summary(executed: FinishedEntry) -> dict[str, str]:
    """The lines that a run shows, by their names."""
    record, cells = executed.record, executed.cells
    data = record.data
    results = [cell.record.result for cell in cells]

    def mean(name: str) -> float:
        return float(np.mean([getattr(result, name) for result in results]))

    lines = {
        "run": f"{record.algorithm.name} on {record.dataset.title} "
        f"({data.train_rows:,} training and {data.test_rows:,} test rows, {data.features:,} features)",
        "classes": classes(data),
        "test AUC": auc_of(executed),
        **_measures_of(executed),
        **objective_in_words(cells),
        "training": f"{mean('train_seconds'):.4g} s ({mean('train_cpu_seconds'):.4g} s of CPU)",
        "cost": f"{duration(1e-9 * mean('ns_per_iteration'))} per iteration"
        + " over all training rows" * takes_all_rows(record, cells[0].curve),
        "iterations": f"{mean('iterations'):,.0f}",
        "state": f"{mean('state_bytes'):,.0f} bytes",
        "stopped": ", ".join(sorted({result.stop_reason for result in results})),
    }
    if failed := next((result.warm_up for result in results if result.warm_up), None):
        lines["warm-up"] = f"failed, so that times may include compilation: {failed}"
    if advice := advice_on(cells):
        lines["advice"] = advice
    tuned = [cell.record.tuned for cell in cells if cell.record.tuned]
    if tuned:
        lines["tuned"] = chosen_in_words(cell.record for cell in cells) or NOTHING_TUNED
        passes = sum({each.cost: each.cost.passes for each in tuned}.values())
        lines["tuning"] = (
            f"{counted(tuned[0].cost.settings, 'setting')} per split, "
            f"{passes:,.0f} {'pass' if round(passes) == 1 else 'passes'} in all"
        )
        edges = [sentence for _, sentence in edges_in_words(cell.record for cell in cells)]
        lines |= {"edge" if number == 0 else " " * number: text for number, text in enumerate(edges)}
    if record.features.name != "identity":
        lines["features"] = f"{record.features.name}, fitted in {data.features_seconds:.3g} s"
    if record.algorithm.exempt:
        lines["exempt"] = "from checks: " + ", ".join(record.algorithm.exempt)
    return lines


def classes(data: DataRecord) -> str:
    """The positive and negative labels, with the number of rows per class."""
    train, test = data.train_positives, data.test_positives or 0
    positive = _class("positive", data.positive, train, test)
    negative = _class("negative", data.negative, data.train_rows - train, data.test_rows - test)
    found = f"{positive}; {negative}"
    if data.duplicates:
        repeated = round(data.duplicates * data.test_rows)
        found += f"; {repeated:,} of {data.test_rows:,} test rows are also training rows"
    return found


def _class(name: str, labels: Sequence[str], train: int, test: int) -> str:
    more = f" and {len(labels) - LABELS} more" if len(labels) > LABELS else ""
    noun = "label" if len(labels) == 1 else "labels"
    return f"{name} {noun} {', '.join(labels[:LABELS])}{more} ({train:,} training and {test:,} test rows)"


def auc_of(executed: FinishedEntry) -> str:
    """The mean AUC, or how many runs diverged."""
    cells = executed.cells
    if diverged := diverged_in_words(cells):
        return diverged
    return mean_in_words([cell.auc for cell in cells])


def _measures_of(executed: FinishedEntry) -> dict[str, str]:
    """The means of all measures except the AUC, with standard deviations over several runs."""
    found = {}
    records = [cell.record for cell in executed.cells]
    for measure in common(records):
        values = [value for value in values_of(records, measure) if np.isfinite(value)]
        if values and not isinstance(measure, TrainingObjective):
            found[measure.symbol] = mean_in_words(values)
    return found


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
        positives, rows = min((each.test_positives or 0, each.test_rows) for each in tested)
        if auc < 0.5 - chance_half_width(positives, rows - positives):
            return f"the scores look reversed: with the sign changed, the AUC is {1.0 - auc:.4f}"
        return f"not above chance; {positives:,} positive test rows"
    return ""
