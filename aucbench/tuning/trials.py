"""Trials of a tuning: what is still to be run, which setting is chosen, what the search has cost."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from aucbench.studies.record import Trial, TuningCost
from aucbench.tuning.spaces import Point

FINAL = ("diverged", "pruned")  # stop reasons of settings without an AUC that no repetition changes


class Choice(NamedTuple):
    """The outcome of a tuning."""

    parameters: Point
    auc: float  # mean validation AUC of the setting


def missing(points: Sequence[Point], folds: int, trials: Iterable[Trial]) -> list[tuple[int, list[int]]]:
    """(fold, numbers of the points that have no trial on it) of all folds that lack any."""
    done = {(trial.fold, trial.number) for trial in trials}
    lacking = [(fold, [n for n in range(len(points)) if (fold, n) not in done]) for fold in range(folds)]
    return [(fold, numbers) for fold, numbers in lacking if numbers]


def worth_keeping(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that need not be run again when their tuning is: those that have not failed.

    A setting that diverged or was pruned would do so again.
    """
    return [trial for trial in trials if trial.auc is not None or trial.stop_reason in FINAL]


def undisturbed(trials: Iterable[Trial], folds: int) -> list[Trial]:
    """The trials up to the first setting that is missing, or that has been cut short on the way to the store.

    Where each setting is proposed from those before it, those after such a gap are not what they would be.
    """
    found = by_number(trials)
    kept: list[Trial] = []
    for number in range(len(found)):
        own = found.get(number, [])
        if not own or (len(own) < folds and own[-1].auc is not None):
            break
        kept.extend(own)
    return kept


def choose(trials: Iterable[Trial], folds: int) -> Choice | None:
    """The setting with the largest mean validation AUC over all folds; of equals the first.

    A setting that diverged, failed or was pruned on any fold is out. None when all are.
    """
    best: Choice | None = None
    for own in by_number(trials).values():
        aucs = [trial.auc for trial in own if trial.auc is not None]
        if len(own) < folds or len(aucs) < len(own):
            continue
        mean = float(np.mean(aucs))
        if best is None or mean > best.auc:
            best = Choice(own[0].parameters, mean)
    return best


def cost(trials: Sequence[Trial]) -> TuningCost:
    """Number of settings and trainings, passes over the training rows and training seconds."""
    return TuningCost(
        settings=len({trial.number for trial in trials}),
        trainings=len(trials),
        passes=float(sum(trial.passes for trial in trials)),
        train_seconds=float(sum(trial.train_seconds for trial in trials)),
    )


def failures(trials: Iterable[Trial]) -> str:
    """What became of settings that gave no AUC, as part of a sentence."""
    reasons = [trial.error or trial.stop_reason for trial in trials if trial.auc is None]
    counted = sorted({reason: reasons.count(reason) for reason in reasons}.items(), key=lambda kv: -kv[1])
    return "; ".join(f"{count} times {reason}" for reason, count in counted[:3]) or "none has run"


def by_number(trials: Iterable[Trial]) -> dict[int, list[Trial]]:
    """The trials of each setting, ascending by number and fold, each once; of equals the latest."""
    each = {(trial.number, trial.fold): trial for trial in trials}
    found: dict[int, list[Trial]] = {}
    for number, fold in sorted(each):
        found.setdefault(number, []).append(each[number, fold])
    return found
