"""Checks that a run of an algorithm can be repeated, cut and continued."""

import pickle
from itertools import cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Access, Batch
from aucbench.testing.findings import Broken
from aucbench.testing.problems import Toy
from aucbench.testing.training import Trainee, first_difference, snapshot

RESUMED = 1e-6  # of the largest score: rounding may depend on where rows lie


def _same_model(trainee: Trainee, X: Any, left: Any, right: Any, what: str) -> None:
    """Raise unless two states score, and weigh, alike bit by bit."""
    difference = first_difference(trainee.scores(left, X), trainee.scores(right, X))
    if difference:
        raise Broken(f"{what}: of the scores, {difference}.")
    if hasattr(trainee.plugin, "weights"):
        one, two = (np.asarray(trainee.calls.weights(trainee.calls.final(state))) for state in (left, right))
        difference = first_difference(one, two)
        if difference:
            raise Broken(f"{what}: of the weights, {difference}.")


def same_seed(trainee: Trainee) -> None:
    """Two runs of one seed give the same bytes."""
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        one, two = trainee.train(toy), trainee.train(toy)
        _same_model(
            trainee, toy.X, one, two, "Two runs of seed 0 differ (draw only from the generator `init` gets)"
        )


def chunks(trainee: Trainee) -> None:
    """Cutting the rows of a run into other chunks changes no bit of the result."""
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        rows = trainee.rows(toy)
        whole = trainee.train(toy, rows)
        for words, lengths in (
            ("chunks of 1", [1] * len(rows)),
            ("chunks of 7", [7] * (len(rows) // 7)),
            ("chunks of 0, 1, 3 and 16 in turn", list(islice(cycle((0, 1, 3, 16)), len(rows) // 5))),
        ):
            parts = trainee.train(toy, rows, lengths)
            _same_model(trainee, toy.X, parts, whole, f"{words} give another result than all rows at once")


def pickling(trainee: Trainee) -> None:
    """A state that is pickled half way goes on as if nothing had happened."""
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        rows = trainee.rows(toy)
        half = len(rows) // 2
        batch = trainee.batch(toy, rows)
        whole = trainee.train(toy, rows, [half])
        state = trainee.calls.step(trainee.start(toy, len(rows)), batch.take(rows[:half]))
        state = _pickled(state)
        state = trainee.calls.step(state, batch.take(rows[half:]))
        _same_model(trainee, toy.X, state, whole, f"Pickled after {half} iterations it ends elsewhere")


def resumable(trainee: Trainee) -> str | None:
    """A method that declares it goes on with rows of another array, wherever these lie in it."""
    if not getattr(trainee.plugin, "resumable", False):
        return "does not declare it"
    if trainee.access is not Access.stream:
        raise Broken(f"`resumable` is for methods of access 'stream'; this one has '{trainee.access}'.")
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        rows = trainee.rows(toy)
        half, order = len(rows) // 2, np.random.default_rng(1).permutation(len(toy.y))
        elsewhere = Batch(toy.X[order], toy.y[order], np.argsort(order)[rows[half:]], trainee.access)
        scores = []
        for rest in (trainee.batch(toy, rows[half:]), elsewhere):
            state = trainee.calls.step(trainee.start(toy, len(rows)), trainee.batch(toy, rows[:half]))
            scores.append(trainee.scores(trainee.calls.step(state, rest), toy.X))
        here, there = scores
        gap = float(np.abs(there - here).max())
        if gap > RESUMED * np.abs(here).max():
            raise Broken(
                f"It declares `resumable`, but after {half} iterations the same rows, lying elsewhere in "
                f"memory, lead to other scores (by {gap:.3g}): its state knows numbers of rows, or the data."
            )
    return None


def empty_chunk(trainee: Trainee) -> None:
    """An empty chunk changes nothing."""
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        rows = trainee.rows(toy)
        batch = trainee.batch(toy, rows)
        for when, state in (("first", trainee.start(toy, len(rows))), ("last", trainee.train(toy, rows))):
            before = snapshot(state)
            after = trainee.calls.step(state, batch.take(rows[:0]))
            if (after is not state and snapshot(after) != before) or snapshot(state) != before:
                raise Broken(f"An empty chunk changes the {when} state.")


def inputs_untouched(trainee: Trainee) -> None:
    """Training and scoring leave X, y and the row numbers as they are."""
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        rows = trainee.rows(toy)
        inputs = {**_parts(toy), "rows": rows}
        before = {name: array.tobytes() for name, array in inputs.items()}
        state = trainee.start(toy, len(rows))
        _compare(trainee, inputs, before, "init")
        state = trainee.calls.step(state, trainee.batch(toy, rows))
        _compare(trainee, inputs, before, "step")
        trainee.scores(state, toy.X)
        if hasattr(trainee.plugin, "weights"):
            trainee.calls.weights(trainee.calls.final(state))
        _compare(trainee, inputs, before, "score")


def _pickled(state: Any) -> Any:
    try:
        return pickle.loads(pickle.dumps(state))
    except Exception as error:  # pickle raises whatever a class does
        raise Broken(
            f"A state cannot be pickled ({type(error).__name__}: {error}): keep generators, lambdas, open "
            f"files and locks out of it."
        ) from None


def _parts(toy: Toy) -> dict[str, NDArray[Any]]:
    if not sparse.issparse(toy.X):
        return {"X": toy.X, "y": toy.y}
    return {"X.data": toy.X.data, "X.indices": toy.X.indices, "X.indptr": toy.X.indptr, "y": toy.y}


def _compare(
    trainee: Trainee, inputs: dict[str, NDArray[Any]], before: dict[str, bytes], method: str
) -> None:
    for name, array in inputs.items():
        if array.tobytes() != before[name]:
            raise trainee.calls.broken(method, f"changes {name}, which is not its own; work on a copy.")
