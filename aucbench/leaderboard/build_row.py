"""One row of a board: what a method reached, at what cost, and under which conditions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.leaderboard.cells import BoardCell
from aucbench.leaderboard.method_info import command_of
from aucbench.leaderboard.method_labels import parameters_text, short
from aucbench.leaderboard.report import Curve, Estimate, Row, TriedSetting
from aucbench.studies.record import CellRecord, CellStatus, ReportedTrial, Seeds, TunedRecord, canonical
from aucbench.studies.result import mean_curve

if TYPE_CHECKING:
    import pandas as pd


def overlap(records: Iterable[CellRecord]) -> float | None:
    """Test rows over training rows, where several splits of the same rows make runs dependent.

    None where all runs share one split, or the data set's own. The rows are counted as they were used: for k
    folds the ratio is 1/(k - 1), and a limit of the training rows counts. Where the methods of a board differ
    in it, the largest ratio is taken, which makes the tests more cautious.

    Parameters
    ----------
    records : iterable of CellRecord
        Those of finished cells of one board.
    """
    rows: dict[str, list[int]] = {}
    splits = set()
    for record in records:
        splits.add((record.split_seed, record.fold))
        if {"folds", "test_fraction"} & set(record.protocol.parameters):
            used = rows.setdefault(canonical([record.protocol, record.max_train_rows]), [0, 0])
            used[0] += record.data.test_rows
            used[1] += record.data.train_rows
    if len(splits) < 2 or not rows:
        return None
    return max(test / train for test, train in rows.values())


def timing_marks(by_method: Mapping[str, Sequence[BoardCell]]) -> dict[str, str]:
    """Why the times of a method are not comparable with those of the board's largest class of conditions."""
    conditions: dict[str, set[tuple[str, int]]] = {}
    for method, cells in by_method.items():
        environments = [cell.record.environment for cell in cells if cell.record]
        conditions[method] = {(each.cpu, each.concurrency) for each in environments}
    every = [one for found in conditions.values() for one in found]
    if len(set(every)) < 2:
        return {}
    usual = max(sorted(set(every)), key=every.count)
    marks = {}
    for method, found in conditions.items():
        other = sorted(found - {usual})
        if other:
            how = " and ".join(_condition(one) for one in other)
            amount = "some" if usual in found else "all"
            marks[method] = f"{amount} times were measured {how}; usual on this board is {_condition(usual)}"
    return marks


def _condition(condition: tuple[str, int]) -> str:
    cpu, concurrency = condition
    rivals = "one at a time" if concurrency < 2 else f"up to {concurrency} at a time"
    return f"{rivals} on {cpu}"


def machines(cells: Sequence[BoardCell]) -> list[str]:
    """Processors that the cells ran on."""
    return sorted({cell.record.environment.cpu for cell in cells if cell.record})


@dataclass(frozen=True)
class BoardStatistics:
    """Frames of one board, from which its rows are read."""

    summary: "pd.DataFrame"
    comparisons: "pd.DataFrame"
    groups: Mapping[Any, Sequence[Sequence[Any]]]
    targets: Mapping[Any, float]
    reached: dict[str, "pd.DataFrame"]
    anytime: dict[str, "pd.DataFrame"]


def row_of(
    method: str,
    cells: list[BoardCell],
    runs: list[Seeds],
    frame: "pd.DataFrame",
    found: BoardStatistics,
    letters: Mapping[Any, str],
    marks: Mapping[str, str],
) -> Row:
    """The row of a method, not ranked yet.

    Parameters
    ----------
    method : str
        Its label.
    cells : list of BoardCell
        Its own.
    runs : list of Seeds
        Those of the board.
    frame : DataFrame
        Its cells as the statistics take them.
    found : BoardStatistics
        Of the board.
    letters, marks : mapping
        Of the methods: groups, and remarks on their times.
    """

    def summary(column: str) -> float:
        return _at(found.summary, method, column)

    means = frame[frame["status"] == CellStatus.finished].mean(numeric_only=True)
    statuses = [cell.status for cell in cells]
    wins, ties, losses = _verdicts(method, found.comparisons)
    aucs = dict(zip(frame["run"], frame["auc"], strict=True))
    finished = [cell for cell in cells if cell.status is CellStatus.finished]
    described = (finished or cells)[0].described
    exempt = described.algorithm.exempt
    return Row(
        method=method,
        algorithm=described.algorithm.name,
        rank=float("nan"),
        auc=Estimate(
            summary("mean"),
            float(np.clip(summary("low"), 0.0, 1.0)),
            float(np.clip(summary("high"), 0.0, 1.0)),
        ),
        std=summary("std"),
        runs=statuses.count(CellStatus.finished),
        diverged=statuses.count(CellStatus.diverged),
        failed=sum(status.is_failure for status in statuses),
        missing=statuses.count(CellStatus.missing),
        groups=letters.get(method, ""),
        wins=wins,
        ties=ties,
        losses=losses,
        gain=Estimate(summary("gain"), summary("gain_low"), summary("gain_high")),
        train_seconds=_of(means, "train_seconds"),
        ns_per_iteration=_of(means, "ns_per_iteration"),
        state_bytes=_of(means, "state_bytes"),
        tuning_seconds=_of(means, "tuning_seconds"),
        tuning_passes=_of(means, "tuning_passes"),
        timing_mark=marks.get(method, ""),
        target_seconds=_at(found.reached["train_seconds"], method, "median"),
        target_samples=_at(found.reached["samples"], method, "median"),
        target_share=_at(found.reached["samples"], method, "share"),
        anytime_samples=_area(found.anytime["samples"], method),
        anytime_seconds=_area(found.anytime["train_seconds"], method),
        parameters=parameters_text(described),
        command=command_of(cells),
        curve=_curve(finished),
        aucs=tuple(float(aucs.get(run, float("nan"))) for run in runs),
        exempt="; ".join(f"{name}: {why}" for name, why in exempt.items()),
        chosen=_chosen(cells),
        edges=_edges(cells),
        unconverged=sum(cell.record.result.converged is False for cell in finished if cell.record),
        advice=_advice(cells),
        unplanned=len(runs) - len(cells),
    )


def _at(frame: "pd.DataFrame", method: str, column: str) -> float:
    value: Any = frame.at[method, column]
    return float(value)


def _of(means: Any, name: str) -> float:
    return float(means.get(name, float("nan")))


def _area(areas: "pd.DataFrame", method: str) -> float:
    own = areas[areas["method"] == method]["auc"].dropna()
    return float(own.mean()) if len(own) else float("nan")


def _curve(cells: list[BoardCell]) -> Curve | None:
    if not cells:
        return None
    mean = mean_curve([cell.curve for cell in cells])
    low, high = mean["auc"] - mean["auc_std"], mean["auc"] + mean["auc_std"]
    samples = np.asarray(mean["samples"], np.float64)
    return Curve(samples, mean["train_seconds"], mean["auc"], np.maximum(low, 0.0), np.minimum(high, 1.0))


def _verdicts(method: str, comparisons: "pd.DataFrame") -> tuple[int, int, int]:
    first = list(comparisons[comparisons["first"] == method]["outcome"])
    opposite = {"win": "loss", "loss": "win"}
    second = [opposite.get(each, each) for each in comparisons[comparisons["second"] == method]["outcome"]]
    outcomes = first + second
    return outcomes.count("win"), outcomes.count("tie"), outcomes.count("loss")


def _tunings(cells: Sequence[BoardCell]) -> list[TunedRecord]:
    return [cell.record.tuned for cell in cells if cell.record and cell.record.tuned]


def _chosen(cells: Sequence[BoardCell]) -> str:
    """How often the tunings chose which value: ``gamma=1e-05 in 3 of 5 runs, 0.0001 in 2``."""
    tunings = _tunings(cells)
    found = []
    for field in dict.fromkeys(name for tuned in tunings for name in tuned.parameters):
        values = Counter(short(tuned.parameters.get(field)) for tuned in tunings).most_common()
        (first, count), *others = values
        rest = "".join(f", {value} in {more}" for value, more in others)
        found.append(f"{field}={first} in {count} of {len(tunings)} runs{rest}")
    return "; ".join(found)


def _edges(cells: Sequence[BoardCell]) -> str:
    """How often a chosen value lay at which edge: ``lam at the lower edge in 28 of 30 runs``."""
    tunings = _tunings(cells)
    sides = Counter((field, side) for tuned in tunings for field, side in (tuned.edges or {}).items())
    return "; ".join(
        f"{field} at the {side} edge in {count} of {len(tunings)} runs"
        for (field, side), count in sides.items()
    )


def _advice(cells: Sequence[BoardCell]) -> str:
    """What to change, as most of the diverged runs say."""
    diverged = [cell.record.result for cell in cells if cell.record and cell.status is CellStatus.diverged]
    said = Counter(result.advice for result in diverged if result.advice)
    return said.most_common(1)[0][0] if said else ""


def trials_of(cells: Sequence[BoardCell]) -> list[TriedSetting]:
    """Settings of the first cell's tuning with their mean validation AUC; None for those that dropped out."""
    by_number: dict[int, list[ReportedTrial]] = {}
    for tuned in _tunings(cells)[:1]:
        for trial in tuned.trials or ():
            by_number.setdefault(trial.number, []).append(trial)
    found = []
    for own in by_number.values():
        aucs = [trial.auc for trial in own if trial.auc is not None]
        mean = float(np.mean(aucs)) if len(aucs) == len(own) else None
        found.append(TriedSetting(own[0].parameters, mean))
    return found
