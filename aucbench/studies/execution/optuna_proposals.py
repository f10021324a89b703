"""Optuna proposes the next setting from earlier trials."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from aucbench.contracts.random_streams import RandomStream
from aucbench.studies.record import Trial
from aucbench.studies.tuners import Point, Range, effective, ranges

optuna.logging.set_verbosity(optuna.logging.ERROR)


def propose(
    space: Mapping[str, Sequence[Any]], history: Mapping[int, Sequence[Trial]], seed: int, algorithm: Any
) -> Point:
    """Propose the setting after those of the `history`, by number, without ignored fields.

    The sampler is seeded by (seed, number): an interrupted search proposes the same setting.
    """
    state = np.random.SeedSequence([seed, RandomStream.settings, len(history)]).generate_state(1)[0]
    sampler = optuna.samplers.TPESampler(seed=int(state))
    study = optuna.create_study(direction="maximize", sampler=sampler)
    drawn = ranges(space)
    distributions = {field: _distribution(drawn[field]) for field in space}
    for _, trials in sorted(history.items()):
        study.add_trial(_past(trials, drawn, distributions))
    asked = study.ask(distributions).params
    return effective(algorithm, {field: _value(drawn[field], asked[field]) for field in space})


def _past(
    trials: Sequence[Trial], drawn: Mapping[str, Range], distributions: Mapping[str, BaseDistribution]
) -> optuna.trial.FrozenTrial:
    values = [trial.judged for trial in trials if trial.judged is not None]
    tried = trials[0].parameters  # without fields that had no effect
    complete = len(values) == len(trials)
    return create_trial(
        state=TrialState.COMPLETE if complete else TrialState.FAIL,
        value=float(np.mean(values)) if complete else None,
        params={field: _parameter(drawn[field], value) for field, value in tried.items()},
        distributions={field: distributions[field] for field in tried},
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
