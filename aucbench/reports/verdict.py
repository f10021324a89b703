"""Summary of a report for one method in words: AUC and rank on each board, speed, and advice."""

import math
from collections.abc import Iterable

import numpy as np

from aucbench.reports.render import display
from aucbench.reports.render.braille_plot import is_batch, seen
from aucbench.reports.report import Board, Report, Row

FAR = 0.02  # that an AUC is below the best
SLOW = 20.0  # times the time of the others
RISING = 0.003  # that a curve gains in its last half of log samples
BETTER = 0.005  # that a tuning gains
REVERSED = 0.4  # an AUC below it is no accident of a method that learns nothing


def verdict(report: Report, method: str) -> list[str]:
    """Sentences on a method: its AUC and rank on every board, and how fast it is.

    Which methods differ significantly is what the tests of the report say (`Board.pairwise`).
    """
    every = _own(report, method)
    lines = [_standing(report, board, row) for board, row in every]
    if any("significant" in line for line in lines):
        lines.append("Significance is by the tests named below the boards.")
    lines += [
        f"The scores look reversed: AUC {display.mean(row.auc.value)} on {board.dataset}, "
        f"with the sign changed {display.mean(1.0 - row.auc.value)}."
        for board, row in every
        if row.auc.value < REVERSED
    ]
    ratios, own = _speed(report, method)
    if ratios:
        told = ", ".join(
            f"{ratio:.3g} times {name}'s" if ratio >= 1 else f"1/{1 / ratio:.3g} of {name}'s"
            for name, ratio in ratios.items()
        )
        lines.append(f"Speed: {own:,.0f} ns per row seen, {told} (medians over the data sets).")
    return lines


def next_steps(report: Report, method: str, epochs: float | None, failed: bool = False) -> list[str]:
    """What to look at next, the gravest first; three at most.

    `epochs` are the passes that the method was given, None where there was no time for all of them; `failed`
    says whether a run of it failed.
    """
    steps = []
    every = _own(report, method)
    if failed:
        steps.append(f"aucbench check {method} shows on small inputs what goes wrong.")
    if any(row.auc.value < REVERSED for _, row in every):
        steps.append("change the sign of what score returns: higher must mean more likely positive.")
    advice = next((row.advice for _, row in every if row.advice), "")
    if any(row.diverged for _, row in every):
        steps.append(f"it diverges: {advice or 'a smaller default step keeps its weights finite'}.")
    edges = dict.fromkeys(f"{row.edges} ({board.dataset})" for board, row in every if row.edges)
    if edges:
        steps.append(f"widen its grid: {'; '.join(edges)}.")
    gains = _gains(every)
    if gains and max(gains) > BETTER:
        steps.append(f"tuning gains up to {max(gains):.3f}: other defaults may suit more data.")
    ratios, _ = _speed(report, method)
    if ratios and min(ratios.values()) > SLOW:
        steps.append(
            f"a row takes over {SLOW:g} times what the others take: a loop of plain Python over the rows is "
            f"far faster when it is compiled by aucbench.kernels.kernel."
        )
    untuned = [(board, row) for board, row in every if not board.tuned and not math.isnan(row.auc.value)]
    rising = [board.dataset for board, row in untuned if _rises(row)]
    if rising and epochs is not None:
        steps.append(
            f"it still rises on {display.listed(rising)}: aucbench try {method} --epochs {4 * epochs:g}."
        )
    far = []
    for board, row in untuned:
        best = max((other.auc.value for other in board.rows if other.auc.value > 0), default=0.0)
        if REVERSED <= row.auc.value < best - FAR and board.dataset not in rising:
            far.append(board.dataset)
    if far and not edges:
        steps.append(f"it stays far below the best on {display.listed(far)}: does its objective fit the AUC?")
    if not steps:
        algos = ",".join(dict.fromkeys([method, "psam", "opauc", "log_reg"]))
        steps.append(f"larger data: aucbench -m algo={algos} dataset=a9a,ijcnn1 runs=5 tuning=grid")
    return steps[:3]


def _own(report: Report, method: str) -> list[tuple[Board, Row]]:
    return [(board, row) for board in report.boards for row in board.rows if row.method == method]


def _standing(report: Report, board: Board, row: Row) -> str:
    where = board.dataset + (", tuned" if board.tuned else "")
    if trouble := display.trouble(row):
        rest = "" if math.isnan(row.auc.value) else f"; the others have AUC {display.mean(row.auc.value)}"
        return f"{where}: {trouble}{rest}, so it has no rank."
    words = f"{where}: test AUC {display.mean(row.auc.value)}" + (" of one run" if row.runs == 1 else "")
    ranked = [each for each in board.rows if not math.isnan(each.rank)]
    if len(ranked) < 2:
        return f"{words}."
    words += f", ranked {display.rank(row.rank)} of {len(ranked)}"
    outcomes: dict[str, list[str]] = {}
    for other in ranked:
        p = board.pairwise.get((row.method, other.method), float("nan"))
        if other is not row and not math.isnan(p):
            side = "above" if row.auc.value > other.auc.value else "below"
            said = f"significantly {side}" if p < report.level else "not significantly different from"
            outcomes.setdefault(said, []).append(other.method)
    words += "".join(f"; {said} {display.listed(names)}" for said, names in sorted(outcomes.items()))
    best = ranked[0]
    if best is not row and best.auc.value > row.auc.value:
        words += f"; the best, {best.method}, has {display.mean(best.auc.value)}"
    return f"{words}."


def _speed(report: Report, method: str) -> tuple[dict[str, float], float]:
    """Its time per row seen as a multiple of that of each stochastic method, and in ns; medians of boards."""
    ratios: dict[str, list[float]] = {}
    known = []
    for board, row in _own(report, method):
        own = _nanoseconds(row)
        if board.tuned or math.isnan(own):
            continue
        known.append(own)
        for other in board.rows:
            if other is not row and not is_batch(other, board) and not math.isnan(_nanoseconds(other)):
                ratios.setdefault(other.method, []).append(own / max(1.0, _nanoseconds(other)))
    medians = {name: float(np.median(values)) for name, values in ratios.items()}
    return medians, float(np.median(known)) if known else float("nan")


def _nanoseconds(row: Row) -> float:
    """Training time per row seen."""
    x, _ = seen(row)
    return 1e9 * row.train_seconds / x[-1] if len(x) else float("nan")


def _gains(every: Iterable[tuple[Board, Row]]) -> list[float]:
    """AUC of the tuned method less that with its defaults, for each data set that has both."""
    aucs: dict[str, dict[bool, float]] = {}
    for board, row in every:
        if not math.isnan(row.auc.value):
            aucs.setdefault(board.dataset, {})[board.tuned] = row.auc.value
    return [both[True] - both[False] for both in aucs.values() if len(both) == 2]


def _rises(row: Row) -> bool:
    x, auc = seen(row)
    if len(auc) < 4:
        return False
    middle = np.interp(np.log(x[-1]) - math.log(2.0), np.log(x), auc)
    return bool(auc[-1] - middle > RISING)
