"""The course of one tuning: which units it still needs, and what it chose."""

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from aucbench.studies.entry import Search
from aucbench.studies.record import CellStatus, Failure, ReportedTrial, Trial, TunedRecord, subset
from aucbench.studies.units import ProposalUnit, TrialsUnit
from aucbench.tuning import Optuna, Random
from aucbench.tuning.spaces import Point, frozen, grid_points, random_points
from aucbench.tuning.trials import choose, cost, failures, missing, undisturbed
from aucbench.tuning.winners import beyond, edges

TOGETHER = 32  # settings that train together: what is lost when a worker is
WORK = 1 << 21  # iterations of a unit below which it has more settings: each unit costs a message
MOST_NEW = 12  # values that a field of an extended grid gets beyond those declared


class Searching:
    """A search in progress.

    Parameters
    ----------
    search : Search
        What is searched.
    key : str
        Its identity, under which its trials are kept.
    digests : tuple of str
        Of the data.
    folds : int
        Inner folds.
    iterations : float
        Of one training, roughly.
    trials : sequence of Trial
        Those that the store already has.
    """

    def __init__(
        self,
        search: Search,
        key: str,
        digests: tuple[str, ...],
        folds: int,
        iterations: float,
        trials: Sequence[Trial],
    ):
        self.search, self.key = search, key
        self._together = max(TOGETHER, int(WORK / max(1.0, iterations)))
        self._digests, self._folds, self._trials = digests, folds, [_as_run(trial) for trial in trials]
        self._choice, self._space = search.entry.tuning.choice, dict(search.entry.tuning.space)
        if isinstance(self._choice, Optuna):
            self._trials = undisturbed(self._trials, folds)
        self._points = points_of(search)

    def units(self) -> list[TrialsUnit | ProposalUnit]:
        """The units that can start now, given all trials so far; call it when none is running."""
        if isinstance(self._choice, Optuna):
            number = 1 + max((trial.number for trial in self._trials), default=-1)
            if number >= self._choice.trials:
                return []
            history = tuple(self._trials)
            return [ProposalUnit(self.key, self._digests, self.search, self._folds, number, history)]
        while not (lacking := missing(self._points, self._folds, self._known())):
            if not (self._choice.extend and self._extend()):
                return []
        return [
            TrialsUnit(
                self.key,
                self._digests,
                self.search,
                fold,
                tuple((number, self._points[number]) for number in numbers[start : start + self._together]),
            )
            for fold, numbers in lacking
            for start in range(0, len(numbers), self._together)
        ]

    def add(self, trials: Sequence[Trial]) -> None:
        """Take the trials of a finished unit."""
        self._trials.extend(trials)

    def outcome(self) -> TunedRecord | Failure:
        """What was chosen, its validation AUC and the cost; or why nothing was."""
        trials = self._known()
        chosen = choose(trials, self._folds)
        if chosen is None:
            reasons = {trial.stop_reason for trial in trials if trial.auc is None}
            one = next(iter(reasons)) if len(reasons) == 1 else "failed"
            reason = CellStatus(one) if one in list(CellStatus) else CellStatus.failed
            return Failure(reason, f"no setting of its tuning gave an AUC: {failures(trials)}")
        return TunedRecord(
            parameters=chosen.parameters,
            validation_auc=chosen.auc,
            folds=self._folds,
            cost=cost(trials),
            edges=edges(self._space, chosen.parameters),
            space={field: list(values) for field, values in self._space.items()},
            trials=_reported(trials) if self._choice.report else UNSET,
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
        """Go on beyond the edges on which the best setting so far lies; whether there are new settings.

        It depends on the trials of the settings so far only, so that a search which was interrupted, and has
        trials of later settings too, takes the same steps again.
        """
        chosen = choose(self._known(), self._folds)
        if chosen is None:
            return False
        algorithm, declared = self.search.entry.algorithm.instance, self.search.entry.tuning.space
        for field, side in edges(self._space, chosen.parameters).items():
            values = self._space[field]
            if len(values) - len(declared[field]) < MOST_NEW:
                value = beyond(algorithm, field, values, side)
                if value is not None:
                    self._space[field] = (value, *values) if side == "lower" else (*values, value)
        known = {tuple(point.items()) for point in self._points}
        new = [p for p in grid_points(self._space, algorithm) if tuple(p.items()) not in known]
        self._points += new
        return bool(new)


def points_of(search: Search) -> list[Point]:
    """The settings of a search that are known from the start; none for Optuna, which proposes them."""
    tuning, algorithm = search.entry.tuning, search.entry.algorithm.instance
    if isinstance(tuning.choice, Optuna):
        return []
    if isinstance(tuning.choice, Random):
        return random_points(tuning.space, tuning.choice.trials, search.seeds.split_seed, algorithm)
    return grid_points(tuning.space, algorithm)


def _as_run(trial: Trial) -> Trial:
    """A trial from the store as it was before it went there."""
    parameters = {field: frozen(value) for field, value in trial.parameters.items()}
    return replace(trial, parameters=parameters)


def _reported(trials: Sequence[Trial]) -> tuple[ReportedTrial, ...]:
    ordered = sorted(trials, key=lambda trial: (trial.number, trial.fold))
    return tuple(ReportedTrial(**subset(trial, ReportedTrial.__struct_fields__)) for trial in ordered)
