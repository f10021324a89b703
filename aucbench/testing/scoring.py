"""Checks of what an algorithm's scores and weights are, and that reading them changes nothing."""

from typing import Any

import numpy as np

from aucbench.runner.state import arrays
from aucbench.testing.findings import Broken
from aucbench.testing.firstuse import ITEMS
from aucbench.testing.training import Trainee, first_difference, scale_of, snapshot

COMPANIONS = 1e-12  # relative to the largest score
WEIGHTS = 1e-9  # likewise


def scores(trainee: Trainee) -> None:
    """Scores are finite numbers, one for each row."""
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        state = trainee.calls.final(trainee.train(toy))
        for n in (len(toy.y), 1):
            found = trainee.calls.score(state, toy.X[:n])
            for wrong, name in ((np.isnan(found), "NaN"), (np.isinf(found), "infinite")):
                if wrong.any():
                    raise Broken(
                        f"{np.count_nonzero(wrong)} of {n} scores are {name}; {_origin(trainee, state)}."
                    )


def _origin(trainee: Trainee, state: Any) -> str:
    """Where scores that are no numbers come from."""
    if all(np.isfinite(array).all() for array in arrays(state) if array.dtype.kind == "f"):
        return "the state is finite, so that it is `score` that makes them"
    access = trainee.access
    return (
        f"the state is not finite either: training diverges (is a step too long?), or `step` does not unpack "
        f"what access {access.value!r} gives, {ITEMS[access]}"
    )


def companions(trainee: Trainee) -> None:
    """The score of a row does not depend on the rows scored with it (to 1e-12 of the largest score)."""
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        state = trainee.train(toy)
        together = trainee.scores(state, toy.X)
        few = range(min(20, len(toy.y)))
        alone = np.concatenate([trainee.scores(state, toy.X[i : i + 1]) for i in few])
        allowed = COMPANIONS * scale_of(together)
        difference = first_difference(alone, together[: len(alone)], allowed)
        if difference:
            raise Broken(f"Rows scored one by one differ from all scored together: {difference}.")
        order = np.arange(len(toy.y))[::-1]
        difference = first_difference(trainee.scores(state, toy.X[order]), together[order], allowed)
        if difference:
            raise Broken(f"Rows scored in the opposite order score differently: {difference}.")


def reading(trainee: Trainee) -> None:
    """`score` and `weights` do not train: they leave the state as it is."""
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        state = trainee.calls.final(trainee.train(toy))
        before = snapshot(state)
        trainee.calls.score(state, toy.X)
        if snapshot(state) != before:
            raise Broken("`score` changes the state.")
        if hasattr(trainee.plugin, "weights"):
            trainee.calls.weights(state)
            if snapshot(state) != before:
                raise Broken("`weights` changes the state.")


def weights(trainee: Trainee) -> str | None:
    """`weights` and `score` agree, up to a constant that does not change the order."""
    if not hasattr(trainee.plugin, "weights"):
        return "has no `weights`"
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        rows = trainee.rows(toy)
        for state in (trainee.start(toy, len(rows)), trainee.train(toy, rows)):
            final = trainee.calls.final(state)
            w: Any = trainee.calls.weights(final)
            if not isinstance(w, np.ndarray) or w.shape != (toy.X.shape[1],):
                raise Broken(f"`weights` must be an ndarray of shape ({toy.X.shape[1]},), got {w!r:.60}.")
            by_weights, by_score = toy.X @ w, trainee.calls.score(final, toy.X)
            shift = by_score[0] - by_weights[0]
            allowed = WEIGHTS * max(scale_of(by_weights), scale_of(by_score))
            difference = first_difference(by_weights + shift, by_score, allowed)
            if difference:
                raise Broken(f"X @ weights plus {shift:.3g} is not the score: {difference}.")
    return None


def finalize(trainee: Trainee) -> str | None:
    """`finalize` leaves its argument as it is, so that training can go on."""
    if not hasattr(trainee.plugin, "finalize"):
        return "has no `finalize`"
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        rows = trainee.rows(toy)
        for when, state in (("first", trainee.start(toy, len(rows))), ("last", trainee.train(toy, rows))):
            before = snapshot(state)
            trainee.calls.final(state)
            if snapshot(state) != before:
                raise Broken(f"`finalize` changes the {when} state it is given.")
    return None
