"""Checks of a method's functions: they run, compile once, and return valid scores and weights."""

from typing import Any

import numpy as np

from aucbench.contracts import Problem
from aucbench.errors import ParameterError
from aucbench.evaluation.pair_objective import declared_objective
from aucbench.humanize import duration
from aucbench.runner.trainer import arrays, arrays_of_any_library
from aucbench.testing.findings import Broken
from aucbench.testing.problems import STANDARD, Toy
from aucbench.testing.trainee import SIZES, Trainee, require_close

WEIGHTS = 1e-9  # relative to the largest score


def runs(trainee: Trainee) -> str | None:
    """`init`, `step`, `score` and the optional functions can be called; the first two return a state."""
    size, (seconds, *_) = trainee.size, trainee.first_use
    if size in SIZES[1:]:
        return (
            f"one iteration takes {duration(seconds)}, so that the checks use {size.n} rows and one "
            f"pass, not {STANDARD.n} and {STANDARD.epochs}"
        )
    return None


def compiled_once(trainee: Trainee) -> None:
    """The second call of `step` or `score` compiles nothing, and loads no compiled code from disk.

    The check is conclusive only in a process that has not used the method before.
    """
    runs(trainee)
    _, method, where = trainee.first_use
    if method:
        trainee.where = where
        raise Broken(
            f"The second call of `{method}` compiles again: the types of what its kernels receive differ "
            f"from those of the first call (a number that was whole, another dtype or order of an array)."
        )


def scores(trainee: Trainee, toy: Toy) -> None:
    """Scores are finite numbers, one per row."""
    state = trainee.final(trainee.train(toy))
    for n in (len(toy.y), 1):
        values = trainee.score(state, toy.X[:n])
        for wrong, name in ((np.isnan(values), "NaN"), (np.isinf(values), "infinite")):
            if count := np.count_nonzero(wrong):
                cause = "the state is not finite either: training diverges (is a step too long?)"
                if all(np.isfinite(array).all() for array in arrays(state) if array.dtype.kind == "f"):
                    cause = "the state is finite, so that it is `score` that makes them"
                raise Broken(f"{count} of {n} scores are {name}; {cause}.")


def waits(trainee: Trainee, toy: Toy) -> str | None:
    """A state with JAX arrays, or with arrays on a device, needs `wait`, so that all work is timed."""
    if trainee.facts.wait is not None:
        return "has `wait`"
    for array in arrays_of_any_library(trainee.first_and_last(toy)):
        if hasattr(array, "block_until_ready") or getattr(array, "is_cuda", False):
            raise Broken(
                f"The state has an array of another library ({type(array).__name__}), on which work may "
                "go on when the clock has stopped: declare wait(state), such as jax.block_until_ready."
            )
    return None


def weights(trainee: Trainee, toy: Toy) -> str | None:
    """`weights` and `score` agree, up to a constant that does not change the order."""
    if trainee.facts.weights is None:
        return "has no `weights`"
    for state in trainee.first_and_last(toy):
        final = trainee.final(state)
        w: Any = trainee.call("weights", final)
        if not isinstance(w, np.ndarray) or w.shape != (toy.X.shape[1],):
            raise Broken(f"`weights` must be an ndarray of shape ({toy.X.shape[1]},), got {w!r:.60}.")
        by_weights, by_score = toy.X @ w, trainee.score(final, toy.X)
        shift = by_score[0] - by_weights[0]
        require_close(by_weights + shift, by_score, f"X @ weights plus {shift:.3g} is not the score", WEIGHTS)
    return None


def objective(trainee: Trainee) -> str | None:
    """`objective` returns an `Objective` with a loss, or None, or raises an error with the reason."""
    if trainee.facts.objective is None:
        return "declares no objective"
    if trainee.facts.weights is None:
        raise Broken("An `objective` is a function of the weights: the method needs `weights(state)`.")
    toy = trainee.problem()
    try:
        return str(declared_objective(trainee.plugin, Problem(toy.X, toy.y, len(toy.y), trainee.loss)))
    except ParameterError as error:
        return str(error)
