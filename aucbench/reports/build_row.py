"""One row of a board: what a method reached, at what cost, and under which conditions."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.evaluation.measures import AUC
from aucbench.reports.cells import BoardCell
from aucbench.reports.labels import parameters_text, short
from aucbench.reports.origins import has_several_machines
from aucbench.reports.report import Curve, Estimate, Row, Spread, TriedSetting
from aucbench.studies.record import CellRecord, CellStatus, ReportedTrial, Seeds, TunedRecord, canonical
from aucbench.studies.rerun_command import words
from aucbench.studies.result import SUBOPTIMALITY, common, mean_curve

if TYPE_CHECKING:
    import pandas as pd


def overlap(records: Iterable[CellRecord]) -> float | None:
    """Test rows over training rows, where several splits of the same rows make runs dependent.

    None where all runs share one split, or the data set's own. The rows are counted as they were used: for k
    folds the ratio is 1/(k - 1), and a limit of the training rows counts. Where the methods of a board differ
    in it, the largest ratio is taken, which makes the tests more cautious. `records` are those of one board.
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
    conditions: dict[str, set[tuple[str, int, str]]] = {}
    by_id = has_several_machines(by_method)
    for method, cells in by_method.items():
        environments = [cell.record.environment for cell in cells if cell.record]
        conditions[method] = {
            (each.cpu, each.concurrency, (each.machine or "")[:6] if by_id else "") for each in environments
        }
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


def _condition(condition: tuple[str, int, str]) -> str:
    cpu, concurrency, machine = condition
    rivals = "one at a time" if concurrency < 2 else f"up to {concurrency} at a time"
    return f"{rivals} on {cpu}" + (f" (machine {machine})" if machine else "")


def row_of(
    method: str,
    cells: list[BoardCell],
    runs: list[Seeds],
    frame: "pd.DataFrame",
    numbers: Mapping[Any, Any],
    outcomes: Mapping[str, int],
    by: str = AUC.name,
    others: Iterable[str] = (),
) -> Row:
    """The row of a method, without rank, letters and marks.

    `cells` and `frame` are the method's own, in two forms; `runs` are those of the board. `numbers` and
    `outcomes` are what the statistics say of the method; `by` and `others` name the measure that is ranked
    by and those that are shown beside it.
    """
    means = frame[frame["status"] == CellStatus.finished].mean(numeric_only=True)
    statuses = [cell.status for cell in cells]
    aucs = dict(zip(frame["run"], frame["auc"], strict=True))
    finished = [cell for cell in cells if cell.status is CellStatus.finished]
    described = (finished or cells)[0].described
    low, high = (float(np.clip(numbers[name], 0.0, 1.0)) for name in ("low", "high"))
    names = ("train_seconds", "ns_per_iteration", "state_bytes", "tuning_seconds", "tuning_passes")
    measured: dict[str, Any] = {name: float(means.get(name, np.nan)) for name in names}
    names = ("target_seconds", "target_samples", "target_share", "anytime_samples", "anytime_seconds")
    reached: dict[str, Any] = {name: float(numbers[name]) for name in names}
    return Row(
        method=method,
        algorithm=described.algorithm.name,
        rank=float("nan"),
        auc=Estimate(float(numbers["mean"]), low, high),
        std=float(numbers["std"]),
        runs=statuses.count(CellStatus.finished),
        diverged=statuses.count(CellStatus.diverged),
        failed=sum(status.is_failure for status in statuses),
        missing=statuses.count(CellStatus.missing),
        groups="",
        wins=outcomes["win"],
        ties=outcomes["tie"],
        losses=outcomes["loss"],
        gain=Estimate(*(float(numbers[name]) for name in ("gain", "gain_low", "gain_high"))),
        timing_mark="",
        **measured,
        **reached,
        parameters=parameters_text(described),
        command=_command(cells),
        curve=_curve(finished, by, others),
        aucs=tuple(float(aucs.get(run, np.nan)) for run in runs),
        linear=is_linear(finished),
        exempt="; ".join(f"{name}: {why}" for name, why in described.algorithm.exempt.items()),
        chosen=_chosen(cells),
        edges=_edges(cells),
        unconverged=sum(cell.record.result.converged is False for cell in finished if cell.record),
        advice=_advice(cells),
        others=_others(finished, others),
        unplanned=len(runs) - len(cells),
    )


def _command(cells: Sequence[BoardCell]) -> str:
    records = [cell.record for cell in cells if cell.record]
    measures = common(records) if records else ()
    return shlex.join(["aucbench", *words(cells[0].described, [cell.run for cell in cells], None, measures)])


def is_linear(finished: list[BoardCell]) -> bool:
    """Whether the method has weights; True where no run says."""
    norms = [cell.record.result.weights_norm for cell in finished if cell.record]
    return not norms or any(norm is not None for norm in norms)


def _curve(cells: list[BoardCell], by: str, others: Iterable[str]) -> Curve | None:
    if not cells:
        return None
    mean = mean_curve([cell.curve for cell in cells])
    value, std = mean[by], mean[f"{by}_std"]
    return Curve(
        np.asarray(mean["samples"], np.float64),
        mean["train_seconds"],
        value,
        np.maximum(value - std, 0.0),
        np.minimum(value + std, 1.0),
        {name: mean[name] for name in others if name in mean},
        mean["passes"],
        mean.get(SUBOPTIMALITY),
    )


def _others(cells: Sequence[BoardCell], names: Iterable[str]) -> dict[str, Spread]:
    """Mean and deviation of measures that all of some cells have."""
    found = {}
    for name in names:
        values = [value for cell in cells if (value := cell.value(name)) is not None]
        if values and len(values) == len(cells):
            std = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
            found[name] = Spread(float(np.mean(values)), std)
    return found


def outcomes(comparisons: "pd.DataFrame") -> dict[Any, Counter[str]]:
    """How often each method wins, ties and loses against the others."""
    found: dict[Any, Counter[str]] = defaultdict(Counter)
    reverse = {"win": "loss", "tie": "tie", "loss": "win"}
    names = ("first", "second", "outcome")
    for first, second, outcome in zip(*(comparisons[name] for name in names), strict=True):
        found[first][outcome] += 1
        found[second][reverse.get(outcome, outcome)] += 1
    return found


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
    """Settings of the first cell's tuning with their mean measure; None for those that dropped out."""
    by_number: dict[int, list[ReportedTrial]] = {}
    for tuned in _tunings(cells)[:1]:
        for trial in tuned.trials or ():
            by_number.setdefault(trial.number, []).append(trial)
    found = []
    for own in by_number.values():
        aucs = [trial.judged for trial in own if trial.judged is not None]
        mean = float(np.mean(aucs)) if len(aucs) == len(own) else None
        found.append(TriedSetting(own[0].parameters, mean))
    return found
