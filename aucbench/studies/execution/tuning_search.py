"""The search of one tuning, by ask and tell: its trials, its remaining units, and its choice."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import UNSET, structs

from aucbench.contracts.random_streams import RandomStream
from aucbench.evaluation.measures import AUC
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.record import CellStatus, Failure, Seeds, Trial, TunedRecord, TuningCost
from aucbench.studies.tuners import (
    Optuna,
    Point,
    Random,
    edges,
    effective,
    frozen,
    grid_points,
    numeric_range,
    random_points,
)

TOGETHER = 32  # settings in a unit, all lost with its process
AT_ONCE = 128  # most settings in a unit of a method with `together`, where settings of large units cost less


class TuningSearch:
    """A search, and the cells that wait for its choice; `whole` is a unit without settings.

    The next units depend only on the trials: an interrupted search continues from the trials in the store
    with the same units. All settings of a grid or of random draws are returned at once; Optuna proposes one
    setting after another.
    """

    def __init__(self, whole: Unit):
        self.whole, self.cells = whole, list[Unit]()
        self.open = 0  # trainings of returned units that have no report so far
        self._entry, self._folds = whole.entry, 0
        self._choice, self._space = whole.entry.tuning.choice, whole.entry.tuning.space
        self._trials: list[Trial] = []
        self._points: list[Point] = []

    def begin(self, folds: int, trials: Iterable[Trial]) -> None:
        """Go on from the trials in the store."""
        self._folds, self._points = folds, points_of(self._entry, self.whole.seeds)
        self._trials = [
            structs.replace(trial, parameters={name: frozen(item) for name, item in trial.parameters.items()})
            for trial in trials
        ]

    def ask(self) -> list[Unit]:
        """The units to run next, when no other is open; empty once the search is complete."""
        units = self._missing()
        while not units and isinstance(self._choice, Optuna) and len(self._points) < self._choice.trials:
            algorithm, seed = self._entry.algorithm.instance, self.whole.seeds.split_seed
            self._points.append(propose(self._space, by_number(self._known()), seed, algorithm))
            units = self._missing()
        self.open = sum(unit.trainings for unit in units)
        return units

    def tell(self, unit: Unit, report: list[Trial] | Failure) -> list[Trial]:
        """Add the trials of a finished unit, or of a part of it, or its failure; return the trials."""
        if isinstance(report, Failure):
            reason, message = str(report.reason), report.message
            report = [unit.failed_trial(number, point, reason, message) for number, point in unit.points]
        self._trials.extend(report)
        self.open -= unit.trainings
        return report

    def _missing(self) -> list[Unit]:
        """Units for the settings so far that have no trial, by fold."""
        finished = {(trial.fold, trial.number) for trial in self._known()}
        size, count = TOGETHER, len(self._points)
        if hasattr(self._entry.algorithm.instance, "together"):  # limited to leave work for two workers
            size = max(size, min(AT_ONCE, count * self._folds // 2))
        units = []
        for fold in range(self._folds):
            points = [(n, self._points[n]) for n in range(count) if (fold, n) not in finished]
            units += [
                replace(self.whole, inner=fold, points=tuple(points[start : start + size]))
                for start in range(0, len(points), size)
            ]
        return units

    def outcome(self) -> TunedRecord | Failure:
        """The chosen setting, its validation AUC and the cost; or the failure of the tuning."""
        trials = self._known()
        chosen = choose(trials)
        if chosen is None:
            reasons = {trial.stop_reason for trial in trials if trial.auc is None}
            is_common = len(reasons) == 1 and reasons <= set(CellStatus)
            reason = CellStatus(reasons.pop()) if is_common else CellStatus.failed
            counts = Counter(trial.error or trial.stop_reason for trial in trials if trial.auc is None)
            message = "; ".join(f"{count} times {error}" for error, count in counts.most_common(3))
            return Failure(reason, f"no setting of its tuning gave an AUC: {message or 'none has run'}")
        is_auc = isinstance(self._entry.tuning.measure, AUC)
        ordered = sorted(trials, key=lambda trial: (trial.number, trial.fold))
        reported = tuple(structs.replace(trial, error=UNSET) for trial in ordered)
        return TunedRecord(
            parameters=chosen[0].parameters,
            validation_auc=float(np.mean([trial.auc for trial in chosen])),
            validation_value=UNSET if is_auc else float(np.mean([trial.judged for trial in chosen])),
            folds=self._folds,
            cost=TuningCost(
                settings=len({trial.number for trial in trials}),
                trainings=len(trials),
                passes=float(sum(trial.passes or 0.0 for trial in trials)),
                train_seconds=float(sum(trial.train_seconds or 0.0 for trial in trials)),
            ),
            edges=edges(self._space, chosen[0].parameters),
            space={field: list(values) for field, values in self._space.items()},
            trials=reported if self._choice.report else UNSET,
        )

    def _known(self) -> list[Trial]:
        """The trials of the settings so far; the store may have trials of later proposals."""
        settings = dict(enumerate(self._points))
        return [trial for trial in self._trials if settings.get(trial.number) == trial.parameters]


def points_of(entry: Entry, seeds: Seeds) -> list[Point]:
    """The settings of a search that are known from the start; none for Optuna, which proposes them."""
    tuning, algorithm = entry.tuning, entry.algorithm.instance
    if isinstance(tuning.choice, Optuna):
        return []
    if isinstance(tuning.choice, Random):
        choice, seed = tuning.choice, seeds.split_seed
        seed = seed if choice.draw_seed is None else choice.draw_seed
        return random_points(tuning.space, choice.trials, seed, algorithm, choice.given_first)
    return grid_points(tuning.space, algorithm)


def choose(trials: Iterable[Trial]) -> list[Trial] | None:
    """The trials of the setting with the largest mean of its measure over all folds; the first of equals.

    Settings that diverged or failed on any fold are excluded. None if no setting is left.
    """
    groups = [group for group in by_number(trials).values() if all(trial.auc is not None for trial in group)]
    return max(groups, key=lambda group: np.mean([trial.judged for trial in group]), default=None)


def by_number(trials: Iterable[Trial]) -> dict[int, list[Trial]]:
    """The trials of each setting, ascending by number and fold; the latest of equals."""
    latest = {(trial.number, trial.fold): trial for trial in trials}
    groups: dict[int, list[Trial]] = {}
    for key in sorted(latest):
        groups.setdefault(latest[key].number, []).append(latest[key])
    return groups


def propose(
    space: Mapping[str, Sequence[Any]], history: Mapping[int, Sequence[Trial]], seed: int, algorithm: Any
) -> Point:
    """The setting that Optuna proposes after the settings of `history`, without ignored fields.

    The sampler is seeded by (seed, number): an interrupted search proposes the same setting. Values that are
    no ranges of numbers are categories, named by their positions.
    """
    import optuna  # the import takes a second
    from optuna import distributions

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    bounds = {field: numeric_range(values) for field, values in space.items()}
    kinds: dict[str, distributions.BaseDistribution] = {}
    for field, values in space.items():
        if (drawn := bounds[field]) is None:
            kinds[field] = distributions.CategoricalDistribution(list(range(len(values))))
        else:
            low, high, is_whole = drawn
            kind = distributions.IntDistribution if is_whole else distributions.FloatDistribution
            kinds[field] = kind(low, high, log=True)
    state = np.random.SeedSequence([seed, RandomStream.settings, len(history)]).generate_state(1)[0]
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=int(state)))
    for _, trials in sorted(history.items()):
        values = [trial.judged for trial in trials if trial.judged is not None]
        is_complete, tried = len(values) == len(trials), trials[0].parameters  # only fields with effect
        past = optuna.trial.create_trial(
            state=optuna.trial.TrialState.COMPLETE if is_complete else optuna.trial.TrialState.FAIL,
            value=float(np.mean(values)) if is_complete else None,
            params={
                field: value if bounds[field] else tuple(space[field]).index(value)
                for field, value in tried.items()
            },
            distributions={field: kinds[field] for field in tried},
        )
        study.add_trial(past)
    params = study.ask(kinds).params
    point = {
        field: params[field] if bounds[field] else values[params[field]] for field, values in space.items()
    }
    return effective(algorithm, point)
