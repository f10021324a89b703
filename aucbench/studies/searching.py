"""The course of one tuning: which units it still needs, and what it chose."""

from collections.abc import Sequence
from typing import Any

from aucbench.entry import Search
from aucbench.studies.units import Failure, FailureReason, ProposalUnit, TrialsUnit
from aucbench.tuning import Optuna, Random
from aucbench.tuning.spaces import frozen, grid_points, random_points
from aucbench.tuning.trials import Trial, choose, cost, failures, missing, undisturbed

TOGETHER = 32  # settings that train together: what is lost when a worker is
WORK = 1 << 21  # iterations of a unit below which it has more settings: each unit costs a message


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
    trials : sequence of mapping
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
        tuning, seed = search.entry.tuning, search.seeds.split_seed
        self._choice = tuning.choice
        if isinstance(self._choice, Optuna):
            self._trials = undisturbed(self._trials, folds)
        self._points = []
        if isinstance(self._choice, Random) and not isinstance(self._choice, Optuna):
            self._points = random_points(tuning.space, self._choice.trials, seed)
        elif not isinstance(self._choice, Optuna):
            self._points = grid_points(tuning.space)

    def units(self) -> list[TrialsUnit | ProposalUnit]:
        """The units that can start now, given all trials so far; call it when none is running."""
        if isinstance(self._choice, Optuna):
            number = 1 + max((trial["number"] for trial in self._trials), default=-1)
            if number >= self._choice.trials:
                return []
            history = tuple(self._trials)
            return [ProposalUnit(self.key, self._digests, self.search, self._folds, number, history)]
        return [
            TrialsUnit(
                self.key,
                self._digests,
                self.search,
                fold,
                tuple((number, self._points[number]) for number in numbers[start : start + self._together]),
            )
            for fold, numbers in missing(self._points, self._folds, self._trials)
            for start in range(0, len(numbers), self._together)
        ]

    def add(self, trials: Sequence[Trial]) -> None:
        """Take the trials of a finished unit."""
        self._trials.extend(trials)

    def outcome(self) -> dict[str, Any] | Failure:
        """What was chosen, its validation AUC and the cost, for the record; or why nothing was."""
        chosen = choose(self._trials, self._folds)
        if chosen is None:
            reasons = {trial["stop_reason"] for trial in self._trials if trial["auc"] is None}
            one = next(iter(reasons)) if len(reasons) == 1 else "failed"
            reason = FailureReason(one) if one in list(FailureReason) else FailureReason.failed
            return Failure(reason, f"no setting of its tuning gave an AUC: {failures(self._trials)}")
        outcome: dict[str, Any] = {
            "parameters": chosen.parameters,
            "validation_auc": chosen.auc,
            "folds": self._folds,
            "cost": cost(self._trials),
        }
        if self._choice.report:
            outcome["trials"] = [
                {name: trial[name] for name in ("number", "fold", "parameters", "auc", "stop_reason")}
                for trial in sorted(self._trials, key=lambda trial: (trial["number"], trial["fold"]))
            ]
        return outcome


def _as_run(trial: Trial) -> Trial:
    """A trial from the store as it was before it went there."""
    return trial | {"parameters": {field: frozen(value) for field, value in trial["parameters"].items()}}
