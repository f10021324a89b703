"""From cells to a report: every number of the leaderboard is computed here, by the statistics."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from aucbench.boards import statistics
from aucbench.boards.collecting import DIVERGED, FINISHED, MISSING, Cell
from aucbench.boards.conditions import machines, overlap, timing_marks
from aucbench.boards.framing import Group, groups
from aucbench.boards.labelling import letters_of, setting_text
from aucbench.boards.looks import looks_of
from aucbench.boards.overall import overall_of
from aucbench.boards.report import Board, Report, Row
from aucbench.boards.rows import BoardStatistics, row_of, trials_of
from aucbench.boards.sources import data_facts, method_infos

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
TARGET = 0.99  # of the way from chance to the best mean
NOTES = (
    "AUC is the exact test AUC at the end of training, ties counted one half: mean ± standard deviation over "
    "the runs.",
    "The interval of a mean is a 95 % t interval over the runs; where splits overlap (folds, repeated "
    "hold-outs) its variance is corrected after Nadeau and Bengio (2003).",
    "w/t/l counts wins, ties and losses against the other methods by paired t-tests at 95 % over the same "
    "runs. Methods that share a letter do not differ by these tests.",
    "Mean ranks are over data sets on which every ranked method has all runs; ranks with gaps take each "
    "method where it is complete. Nothing is imputed. Intervals are bootstrapped over data sets and runs.",
    "Training seconds are wall time of init, step and finalize alone, with one BLAS thread.",
    "The area under a curve (anytime AUC) is over the logarithm of samples or seconds, from the first to the "
    "last typical checkpoint of the board's methods; before its first checkpoint a method stands at 0.5.",
    "Bands of curves are one standard deviation over the runs to either side of the mean.",
)


def build(
    cells: Sequence[Cell], title: str, one_study: bool = False, remarks: tuple[str, ...] = ()
) -> Report:
    """The report on some cells.

    Parameters
    ----------
    cells : sequence of Cell
        Finished, failed and missing ones.
    title : str
        Of the report.
    one_study : bool
        Whether they belong together, so that each data set is one board.
    remarks : tuple of str
        What else is to be said of these cells, before the notes on the numbers.
    """
    found = groups(cells, one_study)
    boards: list[Board] = []
    for group in found:
        boards += _boards(group, len(boards) + 1)
    algorithms = sorted({cell.described["algorithm"]["name"] for cell in cells})
    counts = [cell.status for cell in cells]
    return Report(
        title=title,
        version=version("aucbench"),
        machines=", ".join(machines(cells)) or "no machine yet",
        made=datetime.now().strftime("%Y-%m-%d %H:%M"),
        done=sum(status in (FINISHED, DIVERGED) for status in counts),
        failed=sum(status not in (FINISHED, DIVERGED, MISSING) for status in counts),
        missing=counts.count(MISSING),
        boards=tuple(boards),
        overall=tuple(overall_of(group, CONFIDENCE) for group in found),
        methods=method_infos(algorithms),
        looks=looks_of({row.method: row.algorithm for board in boards for row in board.rows}),
        notes=(*remarks, *NOTES),
        one_study=one_study,
    )


def _boards(group: Group, first: int) -> list[Board]:
    frame, curves = group.frame(), group.curves()
    boards = []
    for number, (dataset, cells) in enumerate(group.boards.items(), first):
        part = frame[frame["dataset"] == dataset]
        own = {key: curve for key, curve in curves.items() if key[1] == dataset}
        ratio = overlap(cells[0].described["protocol"], cells)
        summary = statistics.summarise(part, CONFIDENCE, ratio)
        comparisons = statistics.compare_runs(part, CONFIDENCE)
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
        boards.append(_board(group, number, dataset, cells, part, found))
    return boards


def _board(
    group: Group, number: int, dataset: str, cells: list[Cell], frame: "pd.DataFrame", found: BoardStatistics
) -> Board:
    by_method: dict[str, list[Cell]] = {}
    for cell in cells:
        by_method.setdefault(group.label(cell), []).append(cell)
    marks = timing_marks(by_method)
    runs = sorted({cell.run for cell in cells})
    letters = letters_of(next(iter(found.groups.values()), ()))
    rows = [
        row_of(method, own, runs, frame[frame["method"] == method], found, letters, marks)
        for method, own in by_method.items()
    ]
    ranks = _ranks(rows)
    ranked = sorted(
        (replace(row, rank=rank) for row, rank in zip(rows, ranks, strict=True)),
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


def _ranks(rows: Sequence[Row]) -> list[float]:
    """By mean AUC among the methods without gaps."""
    means = [float("nan") if row.diverged or row.failed or row.missing else row.auc.value for row in rows]
    ranks = statistics.rank_rows(np.array([means], np.float64))[0]
    return [float(rank) for rank in ranks]


def _pairwise(comparisons: "pd.DataFrame") -> dict[tuple[str, str], float]:
    found = {}
    for first, second, p in comparisons[["first", "second", "p"]].itertuples(index=False):
        found[str(first), str(second)] = found[str(second), str(first)] = float(p)
    return found
