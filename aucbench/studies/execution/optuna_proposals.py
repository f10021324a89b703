"""Optuna proposes the next setting from earlier trials, and prunes trials."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from aucbench.contracts.random_streams import RandomStream
from aucbench.studies.execution.tuning_search import by_number
from aucbench.studies.record import Trial
from aucbench.studies.tuners import Optuna, Point, Pruner, Range, effective, ranges

optuna.logging.set_verbosity(optuna.logging.ERROR)

WATCHED = 1_000  # steps reserved per fold; more than a fold has checkpoints


class Proposal(NamedTuple):
    """A setting and its Optuna trial."""

    point: Point
    trial: optuna.trial.Trial


class Watch:
    """Reports a fold's validation measure to Optuna at each checkpoint.

    `before` holds the final values of earlier folds: the mean over the folds so far is reported.
    """

    def __init__(self, proposal: Proposal, fold: int, before: Sequence[float]):
        self._trial, self._start, self._before = proposal.trial, fold * WATCHED, list(before)
        self.seen: list[float] = []

    def __call__(self, checkpoint: int, values: NDArray[np.float64]) -> bool:
        """Report the last of the measures at a checkpoint; return whether to prune the trial."""
        value = float(np.mean([*self._before, values[-1]]))
        self.seen.append(value)
        self._trial.report(value, self._start + checkpoint)
        return bool(self._trial.should_prune())


def propose(
    choice: Optuna,
    space: Mapping[str, Sequence[Any]],
    history: Sequence[Trial],
    number: int,
    seed: int,
    algorithm: Any,
) -> Proposal:
    """Propose the setting of trial `number`, without ignored fields.

    The sampler is seeded by (seed, number): an interrupted search proposes the same setting.
    """
    state = np.random.SeedSequence([seed, RandomStream.settings, number]).generate_state(1)[0]
    pruner = optuna.pruners.MedianPruner() if choice.pruner is Pruner.median else optuna.pruners.NopPruner()
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=int(state)), pruner=pruner
    )
    drawn = ranges(space)
    distributions = {field: _distribution(drawn[field]) for field in space}
    for own in by_number(history).values():
        if own[0].parameters:  # empty if the worker was lost
            study.add_trial(_past(own, drawn, distributions))
    asked = study.ask(distributions)
    point = {field: _value(drawn[field], asked.params[field]) for field in space}
    return Proposal(effective(algorithm, point), asked)


def _past(
    own: Sequence[Trial], drawn: Mapping[str, Range], distributions: dict[str, BaseDistribution]
) -> optuna.trial.FrozenTrial:
    values = [trial.judged for trial in own if trial.judged is not None]
    steps = {
        trial.fold * WATCHED + step: value for trial in own for step, value in enumerate(trial.seen or ())
    }
    tried = own[0].parameters  # without fields that had no effect
    complete = len(values) == len(own)
    incomplete = TrialState.PRUNED if own[-1].stop_reason == "pruned" else TrialState.FAIL
    state = TrialState.COMPLETE if complete else incomplete
    return create_trial(
        state=state,
        value=float(np.mean(values)) if complete else None,
        params={field: _parameter(drawn[field], value) for field, value in tried.items()},
        distributions={field: distributions[field] for field in tried},
        intermediate_values=steps,
    )


def _distribution(drawn: Range) -> BaseDistribution:
    if not drawn.is_numeric:
        return CategoricalDistribution(list(range(len(drawn.values))))  # values of any type, by index
    if drawn.whole:
        return IntDistribution(int(drawn.low), int(drawn.high), log=True)
    return FloatDistribution(drawn.low, drawn.high, log=True)


def _parameter(drawn: Range, value: Any) -> Any:
    return value if drawn.is_numeric else drawn.values.index(value)


def _value(drawn: Range, parameter: Any) -> Any:
    return parameter if drawn.is_numeric else drawn.values[parameter]
