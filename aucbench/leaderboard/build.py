"""From cells to a report: every number of the leaderboard is computed here, by the statistics."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from aucbench.leaderboard import statistics
from aucbench.leaderboard.baseline import BASELINE, baseline_of, check_baseline
from aucbench.leaderboard.build_overall import overall_of
from aucbench.leaderboard.build_row import BoardStatistics, machines, overlap, row_of, timing_marks, trials_of
from aucbench.leaderboard.cells import BoardCell, Group, groups
from aucbench.leaderboard.method_info import data_facts, looks_of, method_infos
from aucbench.leaderboard.method_labels import letters_of, setting_text
from aucbench.leaderboard.render.display import trouble
from aucbench.leaderboard.report import Board, Report, Row
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
    """The report on some cells.

    Parameters
    ----------
    cells : sequence of BoardCell
        Finished, failed and missing ones.
    title : str
        Of the report.
    one_study : bool
        Whether they belong together, so that each data set is one board.
    remarks : tuple of str
        What else is to be said of these cells, before the notes on the numbers.
    baseline : str
        Name of the method that gains are relative to, or the label of one of its variants.

    Raises
    ------
    ParameterError
        `baseline` is neither the name of an installed method nor of one among the cells.
    """
    found = groups(cells, one_study)
    check_baseline(baseline, found)
    boards: list[Board] = []
    overall = []
    for group in found:
        own = _boards(group, len(boards) + 1, baseline)
        boards += own
        overall.append(overall_of(group, own, baseline, CONFIDENCE))
    algorithms = sorted({cell.described.algorithm.name for cell in cells})
    statuses = [cell.status for cell in cells]
    return Report(
        title=title,
        version=version("aucbench"),
        machines=", ".join(machines(cells)) or "no machine yet",
        made=datetime.now().strftime("%Y-%m-%d %H:%M"),
        done=statuses.count(CellStatus.finished),
        diverged=statuses.count(CellStatus.diverged),
        failed=sum(status.is_failure for status in statuses),
        missing=statuses.count(CellStatus.missing),
        baseline=baseline,
        level=statistics.level_of(CONFIDENCE),
        boards=tuple(boards),
        overall=tuple(overall),
        methods=method_infos(algorithms),
        looks=looks_of({row.method: row.algorithm for board in boards for row in board.rows}),
        notes=(*remarks, *NOTES),
        one_study=one_study,
    )


def _boards(group: Group, first: int, baseline: str) -> list[Board]:
    frame, curves = group.frame(), group.curves()
    yardstick = baseline_of(group, baseline)
    boards = []
    for number, (dataset, cells) in enumerate(group.boards.items(), first):
        part = frame[frame["dataset"] == dataset]
        own = {key: curve for key, curve in curves.items() if key[1] == dataset}
        ratio = overlap(cell.record for cell in cells if cell.record)
        summary = statistics.summarise(part, ratio, CONFIDENCE, yardstick)
        comparisons = statistics.compare_runs(part, ratio, CONFIDENCE)
        targets = statistics.target_aucs(part, TARGET)
        found = BoardStatistics(
            summary.set_index("method"),
            comparisons,
            statistics.groups_of_runs(summary, comparisons),
            targets,
            {
                cost: statistics.summarise_reaching(
                    statistics.costs_to_reach(part, own, targets, cost)
                ).set_index("method")
                for cost in ("samples", "train_seconds")
            },
            {cost: statistics.anytime_auc(part, own, cost) for cost in ("samples", "train_seconds")},
        )
        board = _board(group, number, dataset, cells, part, found)
        procedure = _procedure(comparisons, ratio, statistics.level_of(CONFIDENCE))
        boards.append(_with_baseline(replace(board, procedure=procedure), yardstick, baseline))
    return boards


def _procedure(comparisons: "pd.DataFrame", ratio: float | None, level: float) -> str:
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
    runs = tested["runs"].max()
    return f"paired t-test over {runs} runs {correction}, Holm over {pairs}, {100 * level:g} %"


def _with_baseline(board: Board, label: str | None, name: str) -> Board:
    row = next((row for row in board.rows if row.method == label), None)
    if row is None:
        return replace(board, baseline_reason=f"{label or name} was not run")
    reason = f"{row.method} has no AUC: {trouble(row)}" if np.isnan(row.auc.value) else ""
    return replace(board, baseline=row.method, baseline_reason=reason)


def _board(
    group: Group,
    number: int,
    dataset: str,
    cells: list[BoardCell],
    frame: "pd.DataFrame",
    found: BoardStatistics,
) -> Board:
    by_method: dict[str, list[BoardCell]] = {}
    for cell in cells:
        by_method.setdefault(group.label(cell), []).append(cell)
    marks = timing_marks(by_method)
    runs = sorted({cell.run for cell in cells})
    letters = letters_of(next(iter(found.groups.values()), ()))
    rows = [
        row_of(method, own, runs, frame[frame["method"] == method], found, letters, marks)
        for method, own in by_method.items()
    ]
    ranks, fronts = _ranks(rows), _fronts(rows)
    ranked = sorted(
        (
            replace(row, rank=rank, on_front=front)
            for row, rank, front in zip(rows, ranks, fronts, strict=True)
        ),
        key=lambda row: (np.isnan(row.rank), -np.nan_to_num(row.auc.value, nan=-1.0), row.method),
    )
    target = next(iter(found.targets.values()), float("nan"))
    return Board(
        number=number,
        dataset=dataset,
        setting=setting_text(cells[0].described),
        facts=data_facts(cells),
        tuned=group.tuned,
        target=float(target),
        target_text=f"{TARGET:.0%} of the way from 0.5 to the best mean AUC of the board",
        rows=tuple(ranked),
        pairwise=_pairwise(found.comparisons),
        trials={method: trials for method, own in by_method.items() if (trials := trials_of(own))},
    )


def _fronts(rows: Sequence[Row]) -> list[bool]:
    """Who is on the Pareto front: neither rows with gaps nor rows with marked times take part."""
    nan = float("nan")
    costs = [nan if trouble(row) or row.timing_mark else row.train_seconds for row in rows]
    return [bool(each) for each in statistics.pareto_front([row.auc.value for row in rows], costs)]


def _ranks(rows: Sequence[Row]) -> list[float]:
    """By mean AUC among the methods without gaps."""
    means = [float("nan") if trouble(row) else row.auc.value for row in rows]
    ranks = statistics.rank_rows(np.array([means], np.float64))[0]
    return [float(rank) for rank in ranks]


def _pairwise(comparisons: "pd.DataFrame") -> dict[tuple[str, str], float]:
    found = {}
    for first, second, p in comparisons[["first", "second", "p_holm"]].itertuples(index=False):
        found[str(first), str(second)] = found[str(second), str(first)] = float(p)
    return found
