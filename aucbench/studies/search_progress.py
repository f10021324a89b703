"""The search of one tuning: its trials, the units it still needs, and the setting it chooses."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace

from aucbench.evaluation.measures import AUC
from aucbench.runner.task import default_passes, rows_per_iteration
from aucbench.studies.codec import subset
from aucbench.studies.entry_and_keys import Entry, Search
from aucbench.studies.plan import PlannedCell, PlannedEntry
from aucbench.studies.record import CellStatus, Failure, ReportedTrial, Trial, TunedRecord, TuningCost
from aucbench.studies.tuners import Optuna, Point, Random, beyond, edges, frozen, grid_points, random_points
from aucbench.studies.work_units import TrialsUnit

FINAL = ("diverged", "pruned")  # stop reasons of settings without an AUC that no repetition changes

TOGETHER = 32  # settings in a unit, all lost with its worker
AT_ONCE = 128  # most settings in a unit of a method with `together`: more settings cost less each
WORK = 1 << 21  # units with fewer iterations get more settings: each unit costs a message
MOST_NEW = 12  # most values added to a field of an extended grid


class SearchProgress:
    """A search in progress: its trials, and the settings still to be tried.

    Its next step depends only on its trials: an interrupted search continues from the trials in the store
    with the same steps.
    """

    def __init__(
        self,
        search: Search,
        entry: Entry,
        digests: tuple[str, ...],
        folds: int,
        iterations: float,  # of one training, roughly
        trials: Sequence[Trial],  # that the store already has
    ):
        self.key = search.key
        self.waiting: list[tuple[PlannedEntry, PlannedCell]] = []  # cells that need its choice
        self.read = len(trials)  # trials that the store had
        self.unfinished = 0  # units that wait or run
        self._search, self._entry, self._digests, self._folds = search, entry, digests, folds
        self._trials = [
            replace(trial, parameters={field: frozen(value) for field, value in trial.parameters.items()})
            for trial in trials
        ]
        self._choice, self._space = entry.tuning.choice, dict(entry.tuning.space)
        if isinstance(self._choice, Optuna):
            self._trials = undisturbed(self._trials, folds)
        self._points = points_of(entry, search)
        self._together = max(TOGETHER, int(WORK / max(1.0, iterations)))
        if hasattr(entry.algorithm.instance, "together"):  # and yet there is work for two workers
            self._together = max(self._together, min(AT_ONCE, len(self._points) * folds // 2))

    def units(self) -> list[TrialsUnit]:
        """The units that can start now, given all trials so far; call it when none is running."""
        of_search = (self.key, self._digests, self._entry, self._search.seeds)
        if isinstance(self._choice, Optuna):
            number = 1 + max((trial.number for trial in self._trials), default=-1)
            if number >= self._choice.trials:
                return []
            return [TrialsUnit(*of_search, (*range(self._folds),), ((number, {}),), tuple(self._trials))]
        while not (lacking := self._lacking()):
            if not (self._choice.extend and self._extend()):
                return []
        return [
            TrialsUnit(
                *of_search,
                (fold,),
                tuple((number, self._points[number]) for number in numbers[start : start + self._together]),
            )
            for fold, numbers in lacking.items()
            for start in range(0, len(numbers), self._together)
        ]

    def _lacking(self) -> dict[int, list[int]]:
        """Numbers of the settings that have no trial, by the inner folds that lack any."""
        done = {(trial.fold, trial.number) for trial in self._known()}
        numbers = range(len(self._points))
        every = {fold: [n for n in numbers if (fold, n) not in done] for fold in range(self._folds)}
        return {fold: lacking for fold, lacking in every.items() if lacking}

    def add(self, trials: Sequence[Trial]) -> None:
        """Take the trials of a finished unit."""
        self._trials.extend(trials)

    def outcome(self) -> TunedRecord | Failure:
        """The setting that was chosen, its validation AUC and the cost; or why there is none."""
        trials = self._known()
        chosen = choose(trials)
        if chosen is None:
            reasons = {trial.stop_reason for trial in trials if trial.auc is None}
            is_common = len(reasons) == 1 and reasons <= set(CellStatus)
            reason = CellStatus(reasons.pop()) if is_common else CellStatus.failed
            counts = Counter(trial.error or trial.stop_reason for trial in trials if trial.auc is None)
            why = "; ".join(f"{count} times {error}" for error, count in counts.most_common(3))
            return Failure(reason, f"no setting of its tuning gave an AUC: {why or 'none has run'}")
        ordered = sorted(trials, key=lambda trial: (trial.number, trial.fold))
        fields = ReportedTrial.__struct_fields__
        return TunedRecord(
            parameters=chosen[0].parameters,
            validation_auc=float(np.mean([trial.auc for trial in chosen])),
            validation_value=UNSET
            if isinstance(self._entry.tuning.measure, AUC)
            else float(np.mean([trial.judged for trial in chosen])),
            folds=self._folds,
            cost=TuningCost(
                settings=len({trial.number for trial in trials}),
                trainings=len(trials),
                passes=float(sum(trial.passes for trial in trials)),
                train_seconds=float(sum(trial.train_seconds for trial in trials)),
            ),
            edges=edges(self._space, chosen[0].parameters),
            space={field: list(values) for field, values in self._space.items()},
            trials=tuple(ReportedTrial(**subset(trial, fields)) for trial in ordered)
            if self._choice.report
            else UNSET,
        )

    def _known(self) -> list[Trial]:
        """The trials of the settings so far; the store may have others, of later settings."""
        if not self._points:
            return self._trials
        return [
            trial
            for trial in self._trials
            if trial.number < len(self._points) and trial.parameters == self._points[trial.number]
        ]

    def _extend(self) -> bool:
        """Extend the grid beyond the edges of the best setting; return whether there are new settings."""
        chosen = choose(self._known())
        if chosen is None:
            return False
        algorithm, declared = self._entry.algorithm.instance, self._entry.tuning.space
        for field, side in edges(self._space, chosen[0].parameters).items():
            values = self._space[field]
            if len(values) - len(declared[field]) < MOST_NEW:
                value = beyond(algorithm, field, values, side)
                if value is not None:
                    self._space[field] = (value, *values) if side == "lower" else (*values, value)
        known = {tuple(point.items()) for point in self._points}
        new = [p for p in grid_points(self._space, algorithm) if tuple(p.items()) not in known]
        self._points += new
        return bool(new)


def points_of(entry: Entry, search: Search) -> list[Point]:
    """The settings of a search that are known from the start; none for Optuna, which proposes them."""
    tuning, algorithm = entry.tuning, entry.algorithm.instance
    if isinstance(tuning.choice, Optuna):
        return []
    if isinstance(tuning.choice, Random):
        choice, seed = tuning.choice, search.seeds.split_seed
        seed = seed if choice.draw_seed is None else choice.draw_seed
        return random_points(tuning.space, choice.trials, seed, algorithm, choice.given_first)
    return grid_points(tuning.space, algorithm)


def iterations_of(entry: Entry, rows: float) -> float:
    """Iterations of one training on that many rows; for a budget in seconds as if it were an epoch.

    Where a tuning chooses the budget, the mean over its values.
    """
    if found := _numbers(entry, "budget.iterations"):
        return float(np.mean(found))
    if entry.budget.iterations is not None:
        return entry.budget.iterations
    return passes_of(entry, rows) * rows / rows_per_iteration(entry.algorithm.instance, int(rows))


def passes_of(entry: Entry, rows: float) -> float:
    """Passes over the training rows in one training, as `iterations_of`; one for a budget in seconds."""
    budget = entry.budget
    if found := _numbers(entry, "budget.epochs"):
        return float(np.mean(found))
    if budget.iterations is not None or _numbers(entry, "budget.iterations"):
        return iterations_of(entry, rows) * rows_per_iteration(entry.algorithm.instance, int(rows)) / rows
    return budget.epochs or (1.0 if budget.seconds else default_passes(rows))


def _numbers(entry: Entry, field: str) -> list[Any]:
    return [value for value in entry.tuning.space.get(field, ()) if value is not None]


def undisturbed(trials: Iterable[Trial], folds: int) -> list[Trial]:
    """The trials before the first setting that is missing or incomplete in the store.

    Trials after a gap are discarded: Optuna would propose others.
    """
    found = by_number(trials)
    kept: list[Trial] = []
    for number in range(len(found)):
        own = found.get(number, [])
        if not own or (len(own) < folds and own[-1].auc is not None):
            break
        kept.extend(own)
    return kept


def choose(trials: Iterable[Trial]) -> list[Trial] | None:
    """The trials of the setting with the largest mean of its measure over all folds; the first of equals.

    Settings that diverged, failed or were pruned on any fold are excluded. None if no setting is left.
    """
    complete = [own for own in by_number(trials).values() if all(trial.auc is not None for trial in own)]
    return max(complete, key=lambda own: np.mean([trial.judged for trial in own]), default=None)


def by_number(trials: Iterable[Trial]) -> dict[int, list[Trial]]:
    """The trials of each setting, ascending by number and fold; the latest of equals."""
    each = {(trial.number, trial.fold): trial for trial in trials}
    found: dict[int, list[Trial]] = {}
    for key in sorted(each):
        found.setdefault(each[key].number, []).append(each[key])
    return found
