"""From cells to a report: every number of the leaderboard is computed here, by the statistics."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from aucbench.evaluation.measures import AUC, MEASURES, Measure, named, restored
from aucbench.reports.baseline import baseline_of, check_baseline, default_baseline
from aucbench.reports.build_overall import overall_of, pairwise
from aucbench.reports.build_row import is_linear, outcomes, overlap, row_of, timing_marks, trials_of
from aucbench.reports.build_suboptimality import COSTS, suboptimalities
from aucbench.reports.cells import BoardCell, Group, groups, judged_by, measure_of
from aucbench.reports.method_info import data_facts, looks_of, method_info
from aucbench.reports.method_labels import letters_of, setting_text
from aucbench.reports.origins import calibrated, has_several_machines, reported, ruleset_text
from aucbench.reports.render.display import trouble
from aucbench.reports.report import Board, MeasureText, Report, Row
from aucbench.reports.statistics.anytime_auc import anytime_auc
from aucbench.reports.statistics.gap_to_best import best_reached, gap_to_best
from aucbench.reports.statistics.inputs import Curves, level_of
from aucbench.reports.statistics.multiple_comparisons import groups_of_runs
from aucbench.reports.statistics.paired_t_test import compare_runs
from aucbench.reports.statistics.pareto import pareto_front
from aucbench.reports.statistics.ranks import rank_rows
from aucbench.reports.statistics.summary import summarise
from aucbench.reports.statistics.time_to_target import (
    FRACTIONS,
    TARGET,
    costs_to_reach,
    median_costs,
    summarise_reaching,
    target_aucs,
)
from aucbench.studies.record import CellStatus

if TYPE_CHECKING:
    import pandas as pd


CONFIDENCE = 0.95
AUC_NOTE = (
    "AUC is the exact test AUC at the end of training, ties counted one half: mean ± standard deviation over "
    "the runs."
)
NOTES = (
    "The interval of a mean is a 95 % t interval over the runs; where training sets overlap (folds, repeated "
    "hold-outs) its variance is corrected after Nadeau and Bengio (2003).",
    "Methods on one data set are compared by paired t-tests over their common runs, with the same variance "
    "and with Holm's correction over all pairs of the board, at the level 5 %. Ties with the best, w/t/l "
    "(wins, ties and losses against the others), bold numbers and p-values all follow from these tests.",
    "Methods over all data sets are compared by Wilcoxon's signed-rank tests of their means, with Holm's "
    "correction over all pairs. Only the critical-difference diagram shows Nemenyi's test.",
    "The gain over the baseline is the mean difference over the same runs, with the interval of "
    "the corrected paired t-test, not corrected for the number of methods. Over all data sets it is the "
    "mean of these gains, and the interval is over the data sets.",
    "Mean ranks are over data sets on which every ranked method has all runs; the rank on available data "
    "sets takes each method where it is complete. Nothing is imputed. Intervals are bootstrapped over data "
    "sets and runs.",
    "A run has diverged when its weights stopped being finite; it has no result, whatever it reached before.",
    "Training seconds are wall time of init, step and finalize alone, with one BLAS thread.",
    "The Pareto front of {measure} and training time leaves out methods with missing runs and methods whose "
    "times are marked as not comparable (†); these beat nobody in cost.",
    "The area under a curve (anytime {measure}) is over the logarithm of samples or seconds, from the first "
    "to the last typical checkpoint of the board's methods; before its first checkpoint a method counts as "
    "chance.",
    "Bands of curves are one standard deviation over the runs to either side of the mean.",
)
SUBOPTIMALITY_NOTE = (
    "Relative suboptimality is (F(w) - F*) / max(F*, F(0) / 1000): F is the objective of that method with "
    "its own parameters over all pairs of the training rows of that run, F* its certified minimum there. "
    "Methods with different objectives have different F and F*. Curves are means over the runs; passes "
    "and seconds to a target are medians, and > stands before a budget that did not reach it. Passes are "
    "samples seen over training rows, a pair being two samples. Differences below the gap of the "
    "certificate count as it."
)


def build(
    cells: Sequence[BoardCell],
    title: str,
    one_study: bool = False,
    remarks: tuple[str, ...] = (),
    baseline: str | None = None,
    by: str = AUC.name,
) -> Report:
    """The report on some cells: finished, failed and missing ones.

    With `one_study` the cells belong together, so that each data set is one board. `remarks` come before the
    notes on the numbers. `baseline` is the name of the method that gains are relative to, or the label of one
    of its variants (None: `default_baseline`); ParameterError, when it is neither installed nor among the
    cells. `by` is the name of the measure that ranks, tests, gains and all else follow; ParameterError, when
    no cell has it, or cells have it with different parameters.
    """
    ranked_by, others = measure_of(cells, by), _others(cells, by)
    measure = text_of(ranked_by)
    done = sum(cell.status is CellStatus.finished for cell in cells)
    cells = judged_by(cells, by)
    found = groups(cells, one_study, ranked_by)
    baseline = baseline or default_baseline(found)
    check_baseline(baseline, found)
    boards: list[Board] = []
    overall = []
    for group in found:
        own = [
            replace(board, measure=measure)
            for board in _boards(group, len(boards) + 1, baseline, [other.name for other in others])
        ]
        boards += own
        overall.append(replace(overall_of(group, own, baseline, CONFIDENCE), measure=measure))
    statuses = [cell.status for cell in cells]
    notes = [AUC_NOTE, *(note.format(measure=measure.title) for note in NOTES)]
    if by != AUC.name:
        notes[:1] = _notes_on(measure, done - statuses.count(CellStatus.finished), AUC_NOTE)
    if any(row.suboptimality for board in boards for row in board.rows):
        notes.append(SUBOPTIMALITY_NOTE)
    machines = sorted({cell.record.environment.cpu for cell in cells if cell.record})
    return Report(
        title=title,
        version=version("aucbench"),
        machines=", ".join(machines) or "no machine yet",
        made=datetime.now().strftime("%Y-%m-%d %H:%M"),
        done=statuses.count(CellStatus.finished),
        diverged=statuses.count(CellStatus.diverged),
        failed=sum(status.is_failure for status in statuses),
        missing=statuses.count(CellStatus.missing),
        baseline=baseline,
        level=level_of(CONFIDENCE),
        boards=tuple(boards),
        overall=tuple(overall),
        methods={
            name: method_info(name) for name in sorted({cell.described.algorithm.name for cell in cells})
        },
        looks=looks_of({row.method: row.algorithm for board in boards for row in board.rows}),
        notes=(*remarks, *notes),
        one_study=one_study,
        measure=measure,
        others=others,
    )


def text_of(measure: Measure) -> MeasureText:
    """A measure in words."""
    return MeasureText(measure.name, measure.title, measure.symbol, tuple(measure.parameters.items()))


def _others(cells: Sequence[BoardCell], by: str) -> tuple[MeasureText, ...]:
    """The measures to be shown beside one; those that cells have with different parameters are not shown."""
    found: dict[str, set[Measure]] = {}
    for cell in cells:
        for name, known in cell.record.measures.items() if cell.record else ():
            found.setdefault(name, set()).add(restored(name, known.parameters))
    names = [name for name in MEASURES if len(found.get(name, ())) == 1 or name == AUC.name]
    return tuple(text_of(AUC() if name == AUC.name else found[name].pop()) for name in names if name != by)


def _notes_on(measure: MeasureText, lacking: int, note: str) -> list[str]:
    """How boards are to be read that rank by another measure than the AUC."""
    notes = [
        f"All is ranked and tested by the {measure.title} on the test rows at the end of training: mean ± "
        f"standard deviation over the runs.",
        note,
    ]
    if measure.name in ("ap", "precision_at"):
        notes.insert(1, "It depends on the share of positives: its means over data sets mix what differs.")
    if lacking:
        notes.insert(1, f"{lacking} finished cells have no {measure.title} and count as missing.")
    return notes


def _boards(group: Group, first: int, baseline: str, others: Sequence[str]) -> list[Board]:
    frame, curves, label = group.frame(), group.curves(), baseline_of(group, baseline)
    boards = []
    for number, dataset in enumerate(group.boards, first):
        board = _board(group, number, dataset, frame[frame["dataset"] == dataset], curves, label, others)
        row = next((row for row in board.rows if row.method == label), None)
        if row is None:
            board = replace(board, baseline_reason=f"{label or baseline} was not run")
        else:
            reason = f"{row.method} has no AUC: {trouble(row)}" if np.isnan(row.auc.value) else ""
            board = replace(board, baseline=row.method, baseline_reason=reason)
        boards.append(board)
    return boards


def _board(
    group: Group,
    number: int,
    dataset: str,
    frame: "pd.DataFrame",
    curves: Curves,
    baseline: str | None,
    others: Sequence[str],
) -> Board:
    """A board without its baseline, from the cells of its data set as the statistics take them."""
    cells = group.boards[dataset]
    by_method = group.by_method(dataset)
    ratio = overlap(cell.record for cell in cells if cell.record)
    summary = summarise(frame, ratio, CONFIDENCE, baseline)
    comparisons = compare_runs(frame, ratio, CONFIDENCE)
    letters = letters_of(groups_of_runs(summary, comparisons))
    symbol, chance = group.measure.symbol, group.measure.chance(_positives(cells))
    linear = [method for method, own in by_method.items() if is_linear(_finished(own))]
    judged = frame[frame["method"].isin(linear)] if linear else frame
    levels = [target_aucs(judged, fraction, chance) for fraction in (TARGET, *FRACTIONS)]
    targets = levels.pop(0)
    numbers = summary.set_index("method")
    for cost, name in (("samples", "samples"), ("train_seconds", "seconds")):
        reached = summarise_reaching(costs_to_reach(frame, curves, targets, cost)).set_index("method")
        numbers[f"target_{name}"], numbers["target_share"] = reached["median"], reached["share"]
        areas = anytime_auc(frame, curves, cost, chance).groupby("method")["auc"]
        numbers[f"anytime_{name}"] = areas.agg(lambda own: own.dropna().mean())
    by_name = numbers.to_dict("index")
    paid = {name: median_costs(frame, curves, levels, array) for name, array in COSTS.items()}
    marks = timing_marks(by_method)
    runs = sorted({cell.run for cell in cells})
    measured = (group.measure.name, others)
    suboptimality = suboptimalities(group, dataset, frame, curves)
    frames, compared = dict(list(frame.groupby("method"))), outcomes(comparisons)
    rows = [
        replace(
            row_of(method, own, runs, frames[method], by_name[method], compared[method], *measured),
            groups=letters.get(method, ""),
            timing_mark=marks.get(method, ""),
            reported=reported(own),
            calibrated=calibrated(own),
            suboptimality=suboptimality.get(method),
            to_targets={name: costs[method] for name, costs in paid.items()},
        )
        for method, own in by_method.items()
    ]
    best = _best([row for row in rows if row.linear] or rows)
    return Board(
        number=number,
        dataset=dataset,
        setting="; ".join(filter(None, (setting_text(cells[0].described), ruleset_text(by_method)))),
        facts=data_facts(cells),
        tuned=group.tuned,
        target=float(next(iter(targets.values()), np.nan)),
        target_text=f"{TARGET:.0%} of the way from {chance:.3g} to the best mean {symbol} of the board"
        + " that a linear method has" * (0 < len(linear) < len(by_method)),
        rows=_ranked([_with_gap(row, best) for row in rows]),
        pairwise=pairwise(comparisons),
        trials={method: trials for method, own in by_method.items() if (trials := trials_of(own))},
        procedure=_procedure(comparisons, ratio, group.measure),
        tuned_by=_tuned_by(cells),
        several_machines=has_several_machines(by_method),
        best=best,
    )


def _finished(cells: Sequence[BoardCell]) -> list[BoardCell]:
    return [cell for cell in cells if cell.status is CellStatus.finished]


def _best(rows: Sequence[Row]) -> float:
    """The best AUC that the mean curve of a row without gaps reached, or of any row where all have gaps."""
    curves = {row.method: row.curve.auc for row in rows if row.curve}
    whole = [curves[row.method] for row in rows if row.curve and not trouble(row)]
    return best_reached(whole or list(curves.values()))


def _with_gap(row: Row, best: float) -> Row:
    """The row with the gap of its curve to the best."""
    return replace(row, curve=row.curve and replace(row.curve, gap=gap_to_best(row.curve.auc, best)))


def _positives(cells: Sequence[BoardCell]) -> float:
    """The share of positives among the test rows; of the training rows where they were not counted."""
    data = [cell.record.data for cell in cells if cell.record]
    sides = [
        (own.train_positives, own.train_rows)
        if own.test_positives is None
        else (own.test_positives, own.test_rows)
        for own in data
    ]
    return float(np.mean([positives / rows for positives, rows in sides])) if sides else np.nan


def _tuned_by(cells: Sequence[BoardCell]) -> str:
    """The measure, or the measures, by which the tunings of a board judge settings."""
    found = dict.fromkeys(str(cell.described.tuning.parameters.get("metric", AUC.name)) for cell in cells)
    return " or ".join("AUC" if name == AUC.name else named(name)().title.split(" (")[0] for name in found)


def _ranked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows, best first, with their ranks and the Pareto front.

    Rows with gaps are neither ranked nor on the front, and rows with marked times are not on the front.
    """
    means = [np.nan if trouble(row) else row.auc.value for row in rows]
    ranks = rank_rows(np.array([means], np.float64))[0]
    costs = [np.nan if trouble(row) or row.timing_mark else row.train_seconds for row in rows]
    fronts = pareto_front([row.auc.value for row in rows], costs)
    placed = (
        replace(row, rank=float(rank), on_front=bool(front))
        for row, rank, front in zip(rows, ranks, fronts, strict=True)
    )
    return tuple(
        sorted(
            placed, key=lambda row: (np.isnan(row.rank), -np.nan_to_num(row.auc.value, nan=-1.0), row.method)
        )
    )


def _procedure(comparisons: "pd.DataFrame", ratio: float | None, measure: Measure) -> str:
    """The test of a board in words, empty where no pair could be tested."""
    tested = comparisons[comparisons["p_holm"].notna()]
    if not len(tested):
        return ""
    correction = (
        f"with Nadeau and Bengio's correction (test/training rows = {ratio:.3g})"
        if ratio
        else "without Nadeau and Bengio's correction, for all share one split"
    )
    pairs = "1 pair" if len(tested) == 1 else f"{len(tested)} pairs"
    runs, level = tested["runs"].max(), level_of(CONFIDENCE)
    what = "" if isinstance(measure, AUC) else f" of the {measure.title}"
    return f"paired t-test{what} over {runs} runs {correction}, Holm over {pairs}, {100 * level:g} %"
