"""Trials of a tuning: what is still to be run, which setting is chosen, what the search has cost."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aucbench.tuning.spaces import Point

Trial = dict[str, Any]  # ready for JSON: number, fold, parameters, auc, stop_reason, error, passes, seconds


class Choice(NamedTuple):
    """The outcome of a tuning."""

    parameters: Point
    auc: float  # mean validation AUC of the setting


def missing(points: Sequence[Point], folds: int, trials: Iterable[Trial]) -> list[tuple[int, list[int]]]:
    """(fold, numbers of the points that have no trial on it) of all folds that lack any."""
    done = {(trial["fold"], trial["number"]) for trial in trials}
    lacking = [(fold, [n for n in range(len(points)) if (fold, n) not in done]) for fold in range(folds)]
    return [(fold, numbers) for fold, numbers in lacking if numbers]


def choose(trials: Iterable[Trial], folds: int) -> Choice | None:
    """The setting with the largest mean validation AUC over all folds; of equals the first.

    A setting that diverged, failed or was pruned on any fold is out. None when all are.
    """
    by_number: dict[int, list[Trial]] = {}
    for trial in trials:
        by_number.setdefault(trial["number"], []).append(trial)
    best: Choice | None = None
    for number in sorted(by_number):
        own = sorted(by_number[number], key=lambda trial: trial["fold"])
        aucs = [trial["auc"] for trial in own]
        if len(own) < folds or None in aucs:
            continue
        mean = float(np.mean(aucs))
        if best is None or mean > best.auc:
            best = Choice(own[0]["parameters"], mean)
    return best


def cost(trials: Sequence[Trial]) -> dict[str, float]:
    """Number of settings and trainings, passes over the training rows and training seconds."""
    return {
        "settings": len({trial["number"] for trial in trials}),
        "trainings": len(trials),
        "passes": float(sum(trial["passes"] for trial in trials)),
        "train_seconds": float(sum(trial["train_seconds"] for trial in trials)),
    }


def failures(trials: Iterable[Trial]) -> str:
    """What became of settings that gave no AUC, as part of a sentence."""
    reasons = [trial["error"] or trial["stop_reason"] for trial in trials if trial["auc"] is None]
    counted = sorted({reason: reasons.count(reason) for reason in reasons}.items(), key=lambda kv: -kv[1])
    return "; ".join(f"{count} times {reason}" for reason, count in counted[:3]) or "none has run"
