"""Checks that training, or fitting, can be repeated, cut into chunks, saved and continued."""

import pickle
from contextlib import suppress
from dataclasses import fields, replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from aucbench.contracts import Access, Batch
from aucbench.errors import ParameterError
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken
from aucbench.testing.problems import Toy
from aucbench.testing.trainee import Trainee, require_close, snapshot

# Relative to the largest score, in double and in single precision.
RESUMED = 1e-6, 1e-3  # rounding may depend on the position of rows
TOGETHER = 1e-9, 1e-3  # sums over settings are computed in another order


def same_seed(subject: Subject, toy: Toy) -> None:
    """Two runs with the same seed give the same bytes."""
    message = "Two runs of seed 0 differ (draw only from the generator that is given)"
    require_close(subject.outcome(toy), subject.outcome(toy), message)


def inputs_untouched(subject: Subject, toy: Toy) -> None:
    """X, y and the row numbers are not changed; X may be read-only."""
    rows, parts = subject.rows(toy), toy.parts()
    inputs = {**parts, "y": toy.y, "rows": rows}
    before = {name: array.tobytes() for name, array in inputs.items()}
    for method in subject.uses(toy, rows):
        for name, array in inputs.items():
            if array.tobytes() != before[name]:
                raise subject.broken(method, f"changes {name}, which is not its own; work on a copy.")
    for array in parts.values():
        array.flags.writeable = False  # as in a memory map
    subject.outcome(toy)


def companions(subject: Subject, toy: Toy) -> None:
    """The score or the features of a row do not depend on other rows (to 1e-12, 1e-9 for features).

    The tolerance is 1e-5 if all scores have single precision.
    """
    state = subject.final(subject.train(toy))
    joint = subject.score(state, toy.X)
    singles = np.concatenate([subject.score(state, toy.X[i : i + 1]) for i in range(min(20, len(toy.y)))])
    message = "Rows one by one give another result than all together"
    require_close(singles, joint[: len(singles)], message, *subject.companions)
    message = "Rows in the opposite order give another result"
    opposite = subject.score(state, toy.X[::-1].copy())
    require_close(opposite, joint[::-1], message, *subject.companions)


def reading(subject: Subject, toy: Toy) -> None:
    """Finalizing, scoring, reading weights and transforming do not change the state."""
    state = subject.train(toy)
    before = snapshot(state)
    final = subject.final(state)
    if snapshot(state) != before:
        raise Broken("`finalize` changes the state it is given.")
    before = snapshot(final)
    subject.read(final, toy.X[::-1].copy())
    if snapshot(final) != before:
        raise Broken("Reading the state, to score or to transform, changes it.")


def chunks(trainee: Trainee, toy: Toy) -> None:
    """Cutting a run into chunks changes no bit of the result."""
    rows = trainee.rows(toy)
    expected = trainee.outcome(toy, rows)
    for title, lengths in (
        ("chunks of 1", [1] * len(rows)),
        ("chunks of 7", [7] * (len(rows) // 7)),
        ("chunks of 0, 1, 3 and 16 in turn", list(islice(cycle((0, 1, 3, 16)), len(rows) // 5))),
    ):
        parts = trainee.outcome(toy, rows, lengths)
        require_close(parts, expected, f"{title} give another result than all rows at once")


def pickling(trainee: Trainee, toy: Toy) -> None:
    """Pickling the state halfway through a run does not change the result."""
    rows = trainee.rows(toy)
    half = len(rows) // 2
    state = trainee.call("step", trainee.start(toy, len(rows)), trainee.batch(toy, rows[:half]))
    try:
        state = pickle.loads(pickle.dumps(state))
    except Exception as error:  # pickle passes on any exception of a class
        raise Broken(
            f"A state cannot be pickled ({type(error).__name__}: {error}): keep generators, lambdas, "
            f"open files and locks out of it."
        ) from None
    actual = trainee.scores(trainee.call("step", state, trainee.batch(toy, rows[half:])), toy.X)
    message = f"Pickled after {half} iterations it ends elsewhere"
    require_close(actual, trainee.outcome(toy, rows, [half]), message)


def resumable(trainee: Trainee, toy: Toy) -> str | None:
    """A `resumable` method can continue with the rows of another array, at any position."""
    if not trainee.facts.resumable:
        return "does not declare it"
    if trainee.access is not Access.stream:
        raise Broken(f"`resumable` is for methods of access 'stream'; this one has '{trainee.access}'.")
    rows = trainee.rows(toy)
    half, order = len(rows) // 2, np.random.default_rng(1).permutation(len(toy.y))
    elsewhere = Batch(toy.X[order], toy.y[order], np.argsort(order)[rows[half:]], trainee.access)
    state = trainee.call("step", trainee.start(toy, len(rows)), trainee.batch(toy, rows[:half]))
    actual = trainee.scores(trainee.call("step", state, elsewhere), toy.X)
    message = (
        f"It declares `resumable`, but after {half} iterations the same rows, lying elsewhere in memory, "
        "lead to other scores: its state knows numbers of rows, or the data"
    )
    require_close(actual, trainee.outcome(toy, rows, [half]), message, *RESUMED)
    return None


def together(trainee: Trainee) -> str | None:
    """Settings trained together give the same results as alone, even after one of them is dropped."""
    if trainee.facts.together is None:
        return "has no `together`"
    if trainee.access is Access.full:
        raise Broken("`together` is for methods that take some rows at a time; this one has access 'full'.")
    remark = "trains settings one by one"
    for toy in trainee.problems():
        rows = trainee.rows(toy)
        settings = [variant for variant in _neighbours(trainee) if variant.rows(toy).shape == rows.shape]
        half = len(rows) // 2
        states = [setting.start(toy, len(rows)) for setting in settings]
        lockstep = trainee.call("together", [setting.plugin for setting in settings], states)
        if lockstep is None:
            continue
        remark = ""
        trainee.require_time()
        lockstep.step(trainee.batch(toy, rows[:half]))
        lockstep.drop(0)
        lockstep.step(trainee.batch(toy, rows[half:]))
        for number, setting in list(enumerate(settings))[1:]:
            actual = setting.scores(lockstep.state(number), toy.X)
            message = f"{setting.plugin!r}, trained together with others, scores differently"
            require_close(actual, setting.outcome(toy, rows, [half]), message, *TOGETHER)
    return remark


def _neighbours(trainee: Trainee) -> list[Trainee]:
    """The method unchanged, twice, and with each of its numbers halved."""
    plugin: Any = trainee.plugin
    settings = [plugin, plugin]
    for field in fields(plugin):
        value = getattr(plugin, field.name)
        if isinstance(value, float) and value:
            with suppress(ParameterError):
                settings.append(replace(plugin, **{field.name: value / 2.0}))
    return [trainee.changed(plugin=setting) for setting in settings]
