"""Checks of what an algorithm learns: from other kinds of rows, from one class, and at all."""

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access
from aucbench.evaluation import exact_auc
from aucbench.runner.cell import MAX_PASSES
from aucbench.testing import problems
from aucbench.testing.findings import Broken, Exempted
from aucbench.testing.training import Trainee, first_difference, scale_of

SPARSE = 1e-9  # relative to the largest score
SINGLE = 1e-3  # likewise
AUC_GAP = 0.02
EPOCHS = 20


def sparse_rows(trainee: Trainee) -> None:
    """CSR rows give what the same dense rows give (to 1e-9 of the largest score)."""
    reason = trainee.requirement("dense")
    if reason:
        raise Exempted(reason)
    for thin, csr in (("thin", "csr"), ("wide thin", "wide")):
        dense = trainee.problem(thin)
        expected = trainee.scores(trainee.train(dense), dense.X)
        toy = trainee.problem(csr)
        found = trainee.scores(trainee.train(toy), toy.X)
        difference = first_difference(found, expected, SPARSE * scale_of(expected))
        if difference:
            raise Broken(f"Scores after training on CSR rows differ from those on dense rows: {difference}.")


def float32_rows(trainee: Trainee) -> None:
    """Rows of float32 give what their values as float64 give (to 1e-3 of the largest score)."""
    reason = trainee.requirement("float64")
    if reason:
        raise Exempted(reason)
    for layout in trainee.layouts:
        single = trainee.problem(layout, np.float32)
        found = trainee.scores(trainee.train(single), single.X)
        double = single._replace(X=single.X.astype(np.float64))
        expected = trainee.scores(trainee.train(double), double.X)
        difference = first_difference(found, expected, SINGLE * scale_of(expected))
        if difference:
            raise Broken(f"Scores of float32 rows differ from those of float64 rows: {difference}.")


def one_class_first(trainee: Trainee) -> str | None:
    """A first chunk that holds one class only leaves finite scores."""
    if trainee.access in (Access.pairs, Access.full):
        return f"every iteration of access {trainee.access} meets both classes"
    for layout in trainee.layouts:
        toy = trainee.problem(layout)
        rest = trainee.rows(toy)
        for label in (1, -1):
            only: NDArray[np.int64] = np.flatnonzero(toy.y == label)
            if trainee.access is Access.minibatch:
                size = rest.shape[1]
                if size > len(only):
                    return f"its minibatches of {size} rows exceed a class"
                only = only[: len(only) // size * size].reshape(-1, size)
            rows = np.concatenate([only, rest])
            state = trainee.start(toy, len(rows))
            trainee.where = f"{toy.words}, the first {only.size} rows of label {label}"
            for when, chunk in (("that chunk", only), ("the rows after it", rest)):
                state = trainee.plugin.step(state, trainee.batch(toy, chunk))
                found = trainee.scores(state, toy.X)
                if not np.isfinite(found).all():
                    raise Broken(f"Begun with label {label} only, scores after {when} are not finite.")
    return None


def converges(trainee: Trainee) -> str | None:
    """A `full` method with `done` is done within 1,000 iterations."""
    if not hasattr(trainee.plugin, "done"):
        return "has no `done`"
    if trainee.access is not Access.full:
        raise Broken(f"`done` belongs to methods of access full, not {trainee.access}.")
    toy = trainee.use(problems.noisy())
    rows = trainee.rows(toy, iterations=MAX_PASSES)
    _, iterations = _until_done(trainee, toy, rows)
    if iterations > MAX_PASSES:
        raise Broken(f"It is not done after {MAX_PASSES:,} iterations.")
    return f"done after {iterations:,} iterations"


def auc(trainee: Trainee) -> str:
    """On a small noisy problem the test AUC comes within 0.02 of the least-squares optimum."""
    train, test = trainee.use(problems.noisy()), problems.noisy(4000, seed=1)
    if hasattr(trainee.plugin, "done"):
        state, _ = _until_done(trainee, train, trainee.rows(train, iterations=MAX_PASSES))
    else:
        rows = trainee.rows(train, epochs=EPOCHS)
        state = trainee.train(train, rows)
    found = exact_auc(trainee.scores(state, test.X), test.y)
    best = exact_auc(test.X @ problems.least_squares(train.X, train.y), test.y)
    words = f"test AUC {found:.4f} with default parameters, the optimum's is {best:.4f}"
    if found < best - AUC_GAP:
        raise Broken(f"It does not learn: {words}.")
    return words


def _until_done(trainee: Trainee, toy: problems.Toy, rows: NDArray[np.int64]) -> tuple[object, int]:
    """The state when it was done, and the number of iterations; one more than the rows when it never was."""
    state, batch = trainee.start(toy, len(rows)), trainee.batch(toy, rows)
    for k in range(len(rows)):
        state = trainee.plugin.step(state, batch.take(rows[k : k + 1]))
        if trainee.plugin.done(state):
            return state, k + 1
    return state, len(rows) + 1
