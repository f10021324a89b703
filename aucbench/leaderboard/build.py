"""From cells to a report: every number of the leaderboard is computed here, by the statistics."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from aucbench.leaderboard.baseline import BASELINE, baseline_of, check_baseline
from aucbench.leaderboard.build_overall import overall_of, pairwise
from aucbench.leaderboard.build_row import overlap, row_of, timing_marks, trials_of
from aucbench.leaderboard.cells import BoardCell, Group, groups
from aucbench.leaderboard.method_info import data_facts, looks_of, method_info
from aucbench.leaderboard.method_labels import letters_of, setting_text
from aucbench.leaderboard.render.display import trouble
from aucbench.leaderboard.report import Board, Report, Row
from aucbench.leaderboard.statistics.anytime_auc import anytime_auc
from aucbench.leaderboard.statistics.inputs import Curves, level_of
from aucbench.leaderboard.statistics.multiple_comparisons import groups_of_runs
from aucbench.leaderboard.statistics.paired_t_test import compare_runs
from aucbench.leaderboard.statistics.pareto import pareto_front
from aucbench.leaderboard.statistics.ranks import rank_rows
from aucbench.leaderboard.statistics.summary import summarise
from aucbench.leaderboard.statistics.time_to_target import costs_to_reach, summarise_reaching, target_aucs
from aucbench.studies.record import CellStatus

if TYPE_CHECKING:
    import pandas as pd


CONFIDENCE = 0.95
TARGET = 0.99  # of the way from chance to the best mean
NOTES = (
    "AUC is the exact test AUC at the end of training, ties counted one half: mean ± standard deviation over "
    "the runs.",
    "The interval of a mean is a 95 % t interval over the runs; where training sets overlap (folds, repeated "
    "hold-outs) its variance is corrected after Nadeau and Bengio (2003).",
    "Methods on one data set are compared by paired t-tests over their common runs, with the same variance "
    "and with Holm's correction over all pairs of the board, at the level 5 %. Letters, w/t/l (wins, ties "
    "and losses against the others), bold numbers and p-values all follow from these tests.",
    "Methods over all data sets are compared by Wilcoxon's signed-rank tests of their mean AUCs, with Holm's "
    "correction over all pairs. Only the critical-difference diagram shows Nemenyi's test.",
    "The gain over the baseline is the mean difference of the AUCs of the same runs, with the interval of "
    "the corrected paired t-test, not corrected for the number of methods. Over all data sets it is the "
    "mean of these gains, and the interval is over the data sets.",
    "Mean ranks are over data sets on which every ranked method has all runs; the rank on available data "
    "sets takes each method where it is complete. Nothing is imputed. Intervals are bootstrapped over data "
    "sets and runs.",
    "A run has diverged when its weights stopped being finite; it has no AUC, whatever it reached before.",
    "Training seconds are wall time of init, step and finalize alone, with one BLAS thread.",
    "The Pareto front of AUC and training time leaves out methods with missing runs and methods whose times "
    "are marked as not comparable (†); these beat nobody in cost.",
    "The area under a curve (anytime AUC) is over the logarithm of samples or seconds, from the first to the "
    "last typical checkpoint of the board's methods; before its first checkpoint a method counts as 0.5.",
    "Bands of curves are one standard deviation over the runs to either side of the mean.",
)


def build(
    cells: Sequence[BoardCell],
    title: str,
    one_study: bool = False,
    remarks: tuple[str, ...] = (),
    baseline: str = BASELINE,
) -> Report:
    """The report on some cells: finished, failed and missing ones.

    With `one_study` the cells belong together, so that each data set is one board. `remarks` come before the
    notes on the numbers. `baseline` is the name of the method that gains are relative to, or the label of one
    of its variants; ParameterError, when it is neither installed nor among the cells.
    """
    found = groups(cells, one_study)
    check_baseline(baseline, found)
    boards: list[Board] = []
    overall = []
    for group in found:
        own = _boards(group, len(boards) + 1, baseline)
        boards += own
        overall.append(overall_of(group, own, baseline, CONFIDENCE))
    statuses = [cell.status for cell in cells]
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
        notes=(*remarks, *NOTES),
        one_study=one_study,
    )


def _boards(group: Group, first: int, baseline: str) -> list[Board]:
    frame, curves, label = group.frame(), group.curves(), baseline_of(group, baseline)
    boards = []
    for number, dataset in enumerate(group.boards, first):
        board = _board(group, number, dataset, frame[frame["dataset"] == dataset], curves, label)
        row = next((row for row in board.rows if row.method == label), None)
        if row is None:
            board = replace(board, baseline_reason=f"{label or baseline} was not run")
        else:
            reason = f"{row.method} has no AUC: {trouble(row)}" if np.isnan(row.auc.value) else ""
            board = replace(board, baseline=row.method, baseline_reason=reason)
        boards.append(board)
    return boards


def _board(
    group: Group, number: int, dataset: str, frame: "pd.DataFrame", curves: Curves, baseline: str | None
) -> Board:
    """A board without its baseline, from the cells of its data set as the statistics take them."""
    cells = group.boards[dataset]
    by_method = group.by_method(dataset)
    ratio = overlap(cell.record for cell in cells if cell.record)
    summary = summarise(frame, ratio, CONFIDENCE, baseline)
    comparisons = compare_runs(frame, ratio, CONFIDENCE)
    letters = letters_of(groups_of_runs(summary, comparisons))
    targets = target_aucs(frame, TARGET)
    numbers = summary.set_index("method")
    for cost, name in (("samples", "samples"), ("train_seconds", "seconds")):
        reached = summarise_reaching(costs_to_reach(frame, curves, targets, cost)).set_index("method")
        numbers[f"target_{name}"], numbers["target_share"] = reached["median"], reached["share"]
        areas = anytime_auc(frame, curves, cost).groupby("method")["auc"]
        numbers[f"anytime_{name}"] = areas.agg(lambda own: own.dropna().mean())
    by_name = numbers.to_dict("index")
    marks = timing_marks(by_method)
    runs = sorted({cell.run for cell in cells})
    rows = [
        replace(
            row_of(method, own, runs, frame[frame["method"] == method], by_name[method], comparisons),
            groups=letters.get(method, ""),
            timing_mark=marks.get(method, ""),
        )
        for method, own in by_method.items()
    ]
    return Board(
        number=number,
        dataset=dataset,
        setting=setting_text(cells[0].described),
        facts=data_facts(cells),
        tuned=group.tuned,
        target=float(next(iter(targets.values()), np.nan)),
        target_text=f"{TARGET:.0%} of the way from 0.5 to the best mean AUC of the board",
        rows=_ranked(rows),
        pairwise=pairwise(comparisons),
        trials={method: trials for method, own in by_method.items() if (trials := trials_of(own))},
        procedure=_procedure(comparisons, ratio),
    )


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


def _procedure(comparisons: "pd.DataFrame", ratio: float | None) -> str:
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
    return f"paired t-test over {runs} runs {correction}, Holm over {pairs}, {100 * level:g} %"
