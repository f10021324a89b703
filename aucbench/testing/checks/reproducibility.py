"""Checks that training can be repeated, cut into chunks, saved and continued."""

import pickle
from contextlib import suppress
from dataclasses import fields, replace
from itertools import cycle, islice
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.contracts import Access, Batch, MethodFacts
from aucbench.errors import ParameterError
from aucbench.testing.findings import Broken
from aucbench.testing.problems import Toy
from aucbench.testing.trainee import Trainee, require_equal, tolerance

# Relative to the largest score, in double and in single precision.
RESUMED = 1e-6, 1e-3  # rounding may depend on the position of rows
TOGETHER = 1e-9, 1e-3  # sums over settings are computed in another order


def _same_model(trainee: Trainee, X: Any, left: Any, right: Any, what: str) -> None:
    """Raise unless two states have the same scores and weights, bit by bit."""
    require_equal(trainee.scores(left, X), trainee.scores(right, X), f"{what}, in the scores")
    if MethodFacts(trainee.plugin).weights is not None:
        require_equal(trainee.weights(left), trainee.weights(right), f"{what}, in the weights")


def same_seed(trainee: Trainee, toy: Toy) -> None:
    """Two runs of one seed give the same bytes."""
    words = "Two runs of seed 0 differ (draw only from the generator `init` gets)"
    _same_model(trainee, toy.X, trainee.train(toy), trainee.train(toy), words)


def chunks(trainee: Trainee, toy: Toy) -> None:
    """The chunks into which a run is cut change no bit of the result."""
    rows = trainee.rows(toy)
    whole = trainee.train(toy, rows)
    for words, lengths in (
        ("chunks of 1", [1] * len(rows)),
        ("chunks of 7", [7] * (len(rows) // 7)),
        ("chunks of 0, 1, 3 and 16 in turn", list(islice(cycle((0, 1, 3, 16)), len(rows) // 5))),
    ):
        parts = trainee.train(toy, rows, lengths)
        _same_model(trainee, toy.X, parts, whole, f"{words} give another result than all rows at once")


def pickling(trainee: Trainee, toy: Toy) -> None:
    """A state that is pickled half way trains on to the same result."""
    rows = trainee.rows(toy)
    half = len(rows) // 2
    whole = trainee.train(toy, rows, [half])
    state = trainee.step(trainee.start(toy, len(rows)), trainee.batch(toy, rows[:half]))
    try:
        state = pickle.loads(pickle.dumps(state))
    except Exception as error:  # pickle passes on any exception of a class
        raise Broken(
            f"A state cannot be pickled ({type(error).__name__}: {error}): keep generators, lambdas, "
            f"open files and locks out of it."
        ) from None
    state = trainee.step(state, trainee.batch(toy, rows[half:]))
    _same_model(trainee, toy.X, state, whole, f"Pickled after {half} iterations it ends elsewhere")


def resumable(trainee: Trainee, toy: Toy) -> str | None:
    """A `resumable` method can continue with the rows of another array, at any position."""
    if not MethodFacts(trainee.plugin).resumable:
        return "does not declare it"
    if trainee.access is not Access.stream:
        raise Broken(f"`resumable` is for methods of access 'stream'; this one has '{trainee.access}'.")
    rows = trainee.rows(toy)
    half, order = len(rows) // 2, np.random.default_rng(1).permutation(len(toy.y))
    elsewhere = Batch(toy.X[order], toy.y[order], np.argsort(order)[rows[half:]], trainee.access)
    scores = []
    for rest in (trainee.batch(toy, rows[half:]), elsewhere):
        state = trainee.step(trainee.start(toy, len(rows)), trainee.batch(toy, rows[:half]))
        scores.append(trainee.scores(trainee.step(state, rest), toy.X))
    here, there = scores
    gap = float(np.abs(there - here).max())
    if gap > tolerance(here, *RESUMED):
        raise Broken(
            f"It declares `resumable`, but after {half} iterations the same rows, lying elsewhere in "
            f"memory, lead to other scores (by {gap:.3g}): its state knows numbers of rows, or the data."
        )
    return None


def together(trainee: Trainee) -> str | None:
    """Settings that train together end where each ends alone, also after one of them is dropped."""
    if MethodFacts(trainee.plugin).together is None:
        return "has no `together`"
    if trainee.access is Access.full:
        raise Broken("`together` is for methods that take some rows at a time; this one has access 'full'.")
    is_used = False
    for toy in trainee.problems():
        rows = trainee.rows(toy)
        settings = [each for each in _neighbours(trainee) if each.rows(toy).shape == rows.shape]
        half = len(rows) // 2
        dropped, *kept = range(len(settings))
        states = [setting.start(toy, len(rows)) for setting in settings]
        lockstep = trainee.call("together", [setting.plugin for setting in settings], states)
        if lockstep is None:
            continue
        is_used = True
        trainee.limit.require()
        lockstep.step(trainee.batch(toy, rows[:half]))
        lockstep.drop(dropped)
        lockstep.step(trainee.batch(toy, rows[half:]))
        for number in kept:
            alone = settings[number].scores(settings[number].train(toy, rows, [half]), toy.X)
            found = settings[number].scores(lockstep.state(number), toy.X)
            words = f"{settings[number].plugin!r}, trained together with others, scores differently"
            require_equal(found, alone, words, tolerance(alone, *TOGETHER))
    return None if is_used else "trains settings one by one"


def _neighbours(trainee: Trainee) -> list[Trainee]:
    """The method unchanged, twice, and with each of its numbers halved."""
    plugin = trainee.plugin
    settings = [plugin, plugin]
    for each in fields(plugin):
        value = getattr(plugin, each.name)
        if isinstance(value, float) and value:
            with suppress(ParameterError):
                settings.append(replace(plugin, **{each.name: value / 2.0}))
    return [trainee.again(plugin=setting) for setting in settings]


def inputs_untouched(trainee: Trainee, toy: Toy) -> None:
    """Training and scoring leave X, y and the row numbers as they are; X may be read-only."""
    rows = trainee.rows(toy)
    names = ("X.data", "X.indices", "X.indptr") if sparse.issparse(toy.X) else ("X",)
    inputs = {name: getattr(toy.X, name[2:]) if name[2:] else toy.X for name in names}
    inputs |= {"y": toy.y, "rows": rows}
    before = {name: array.tobytes() for name, array in inputs.items()}

    def compare(method: str) -> None:
        for name, array in inputs.items():
            if array.tobytes() != before[name]:
                raise trainee.broken(method, f"changes {name}, which is not its own; work on a copy.")

    state = trainee.start(toy, len(rows))
    compare("init")
    state = trainee.step(state, trainee.batch(toy, rows))
    compare("step")
    trainee.scores(state, toy.X)
    if MethodFacts(trainee.plugin).weights is not None:
        trainee.weights(state)
    compare("score")
    for name in names:
        inputs[name].flags.writeable = False  # as in a memory map
    trainee.scores(trainee.train(toy, rows), toy.X)
