"""One row of a board: what a method reached, and at what cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards.collecting import DIVERGED, FINISHED, MISSING, Cell
from aucbench.boards.labelling import parameters_text
from aucbench.boards.report import Curve, Interval, Row
from aucbench.boards.sources import command_of
from aucbench.result import mean_curve

if TYPE_CHECKING:
    import pandas as pd


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
    cells: list[Cell],
    runs: list[tuple[int, ...]],
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
    cells : list of Cell
        Its own.
    runs : list of tuple
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

    means = frame[frame["status"] == FINISHED].mean(numeric_only=True)
    statuses = [cell.status for cell in cells]
    wins, ties, losses = _verdicts(method, found.comparisons)
    aucs = dict(zip(frame["run"], frame["auc"], strict=True))
    corrected = not np.isnan(summary("corrected_low"))
    finished = [cell for cell in cells if cell.status == FINISHED]
    described = (finished or cells)[0].described
    exempt = described["algorithm"]["exempt"]
    return Row(
        method=method,
        algorithm=described["algorithm"]["name"],
        rank=float("nan"),
        auc=Interval(
            summary("mean"),
            float(np.clip(summary("corrected_low" if corrected else "low"), 0.0, 1.0)),
            float(np.clip(summary("corrected_high" if corrected else "high"), 0.0, 1.0)),
        ),
        std=summary("std"),
        runs=statuses.count(FINISHED),
        diverged=statuses.count(DIVERGED),
        failed=sum(status not in (FINISHED, DIVERGED, MISSING) for status in statuses),
        missing=len(runs) - len(cells) + statuses.count(MISSING),
        groups=letters.get(method, ""),
        wins=wins,
        ties=ties,
        losses=losses,
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
    )


def _at(frame: "pd.DataFrame", method: str, column: str) -> float:
    value: Any = frame.at[method, column]
    return float(value)


def _of(means: Any, name: str) -> float:
    return float(means.get(name, float("nan")))


def _area(areas: "pd.DataFrame", method: str) -> float:
    own = areas[areas["method"] == method]["auc"].dropna()
    return float(own.mean()) if len(own) else float("nan")


def _curve(cells: list[Cell]) -> Curve | None:
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


def trials_of(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Settings of the first cell's tuning with their mean validation AUC; None for those that dropped out."""
    tuned = next((cell.record["tuned"] for cell in cells if cell.record and cell.record["tuned"]), None)
    by_number: dict[int, list[Mapping[str, Any]]] = {}
    for trial in (tuned or {}).get("trials", ()):
        by_number.setdefault(trial["number"], []).append(trial)
    found = []
    for own in by_number.values():
        aucs = [trial["auc"] for trial in own]
        mean = None if None in aucs else float(np.mean(aucs))
        found.append({"parameters": own[0]["parameters"], "auc": mean})
    return found
