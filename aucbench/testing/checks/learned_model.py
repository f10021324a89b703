"""Checks of the learned model: on other kinds of rows, after one class only, and its AUC."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, ModelClass, class_of_model
from aucbench.evaluation.auc import exact_auc
from aucbench.runner.task import MAX_PASSES
from aucbench.studies.tuners import with_setting
from aucbench.testing import problems
from aucbench.testing.findings import Broken, Skipped, Status
from aucbench.testing.trainee import Trainee, require_close

SPARSE = 1e-9, 1e-3  # relative to the largest score, in double and in single precision
SINGLE = 1e-3  # relative to the largest score
COPIES = 1e-3  # relative to the largest score, a row of weight k against k rows: solvers have a tolerance
AUC_GAP = 0.02  # largest gap in AUC of a linear method
OTHER_GAP, OTHER_ROWS = 0.1, 2000  # other methods need more rows to learn a linear function
EPOCHS = 20
SHARE = 0.3  # share of the remaining time for the AUC with default parameters
GRID_SETTINGS = 50  # largest number of settings tried if the default falls short


def sparse_rows(trainee: Trainee) -> None:
    """CSR rows give the same scores as dense rows (to 1e-9 of the largest score).

    The tolerance is 1e-3 if all scores have single precision.
    """
    trainee.exempt_if_it_requires("dense")
    for layout in ("csr", "wide"):
        toy = trainee.problem(layout)
        expected, actual = trainee.outcome(toy._replace(X=toy.X.toarray())), trainee.outcome(toy)
        message = "Scores after training on CSR rows differ from those on dense rows"
        require_close(actual, expected, message, *SPARSE)


def float32_rows(trainee: Trainee) -> None:
    """Rows in float32 give the same scores as in float64 (to 1e-3 of the largest score)."""
    trainee.exempt_if_it_requires("float64")
    for layout in trainee.layouts:
        single = trainee.problem(layout, np.float32)
        double = single._replace(X=single.X.astype(np.float64))
        message = "Scores of float32 rows differ from those of float64 rows"
        require_close(trainee.outcome(single), trainee.outcome(double), message, SINGLE)


def one_class_first(trainee: Trainee, toy: problems.Toy) -> str | None:
    """Scores are finite after a first chunk of only one class."""
    if trainee.access in (Access.pairs, Access.balanced, Access.full):
        return f"every iteration of access {trainee.access} meets both classes"
    n, rows = trainee.size.n, trainee.rows(toy)
    if rows.ndim > 1 and rows.shape[1] > n // 3:  # a third is positive
        return f"its minibatches hold more than a third of {n} rows"
    for label in (1, -1):
        only: NDArray[np.int64] = np.flatnonzero(toy.y == label)
        if rows.ndim > 1:
            only = only[: len(only) // rows.shape[1] * rows.shape[1]].reshape(-1, rows.shape[1])
        state = trainee.start(toy, len(only) + len(rows))
        trainee.where = f"{toy.words}, the first {only.size} rows of label {label}"
        for phase, chunk in (("that chunk", only), ("the rows after it", rows)):
            state = trainee.call("step", state, trainee.batch(toy, chunk))
            if not np.isfinite(trainee.scores(state, toy.X)).all():
                raise Broken(f"Begun with label {label} only, scores after {phase} are not finite.")
    return None


def weighted(trainee: Trainee) -> str | None:
    """With `weighted`, weights matter; for access full, a row of weight k counts as k rows (to 1e-3)."""
    if not trainee.facts.weighted:
        return "does not declare `weighted`"
    toy = trainee.use(problems.noisy())
    counts = np.random.default_rng(0).integers(1, 4, len(toy.y))
    copies = np.repeat(np.arange(len(toy.y)), counts)
    heavier = toy._replace(weights=counts.astype(np.float64))
    plain, scores = (trainee.scores(_trained(trainee, problem, EPOCHS), toy.X) for problem in (toy, heavier))
    if np.array_equal(scores, plain):
        raise Broken(
            "`weighted` is declared, and weights of 1, 2 and 3 change no score: `problem.weights` and "
            "`batch.weights` have those of all rows."
        )
    if trainee.access is Access.full:
        longer = toy._replace(X=toy.X[copies], y=toy.y[copies])
        expected = trainee.scores(_trained(trainee, longer, EPOCHS), toy.X)
        message = "Scores after training on rows of weight k differ from those of k copies of each row"
        require_close(scores, expected, message, COPIES)
    return None


def converges(trainee: Trainee) -> str | None:
    """A `full` method with `done` finishes within 1,000 iterations."""
    if trainee.facts.done is None:
        return "has no `done`"
    if trainee.access is not Access.full:
        raise Broken(f"`done` belongs to methods of access full, not {trainee.access}.")
    _, iterations = _until_done(trainee, trainee.use(problems.noisy()))
    if iterations > MAX_PASSES:
        raise Broken(f"It is not done after {MAX_PASSES:,} iterations.")
    return f"done after {iterations:,} iterations"


def auc(trainee: Trainee) -> str:
    """On a small noisy problem, the test AUC is within 0.02 of the least-squares optimum.

    A method that is not linear must be within 0.1, on 2,000 rows instead of 400. If the default parameters
    fall short, some setting of the method's grid must reach this AUC: the default may be meant for other
    data.
    """
    is_linear = class_of_model(trainee.plugin) is ModelClass.linear
    train = trainee.use(problems.noisy() if is_linear else problems.noisy(OTHER_ROWS))
    test = problems.noisy(4000, seed=1)
    # The solution over rows ranks like the solution over pairs, as both classes have equal spread.
    w = np.linalg.lstsq(np.column_stack([train.X, np.ones(len(train.y))]), train.y, rcond=None)[0][:-1]
    best = exact_auc(test.X @ w, test.y)
    enough = best - (AUC_GAP if is_linear else OTHER_GAP)
    pass_seconds = max(1e-9, trainee.seconds * len(trainee.rows(train, epochs=1)))
    epochs = max(1, min(EPOCHS, int(SHARE * (trainee.patience - trainee.spent) / pass_seconds)))
    grid = trainee.facts.grid
    settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())] if grid else []
    tried = [settings[i] for i in np.random.default_rng(0).permutation(len(settings))[:GRID_SETTINGS]]
    message, by_default = "", 0.0
    for setting in ({}, *tried):
        tuned = trainee.changed(plugin=with_setting(trainee.plugin, setting)) if setting else trainee
        scores = tuned.scores(_trained(tuned, train, epochs), test.X)
        test_auc = exact_auc(scores, test.y) if np.isfinite(scores).all() else 0.0
        if not setting:
            by_default = test_auc
            message = f"test AUC {test_auc:.4f} with default parameters, the optimum's is {best:.4f}"
        if test_auc >= enough:
            named = ", ".join(f"{name}={value}" for name, value in setting.items())
            return f"{message}; {test_auc:.4f} with {named} of its grid" if setting else message
        if epochs < EPOCHS:
            text = f"only {epochs} of {EPOCHS} passes over {len(train.y)} rows were made in time; {message}"
            raise Skipped(Status.untried, text)
    hint = " The opposite order would be right: a higher score must mean label +1."
    raise Broken(f"It does not learn: {message}.{hint if 1.0 - by_default >= enough else ''}")


def _trained(trainee: Trainee, train: problems.Toy, epochs: int) -> Any:
    """The state when the method is done, or after `epochs` passes."""
    if trainee.facts.done is not None:
        return _until_done(trainee, train)[0]
    return trainee.train(train, trainee.rows(train, epochs=epochs))


def _until_done(trainee: Trainee, toy: problems.Toy) -> tuple[Any, int]:
    """The state when the method is done, and the iterations; one more than allowed if it is never done."""
    rows = trainee.rows(toy, iterations=MAX_PASSES)
    state, batch = trainee.start(toy, len(rows)), trainee.batch(toy, rows)
    for k in range(len(rows)):
        state = trainee.call("step", state, batch.take(rows[k : k + 1]))
        if trainee.call("done", state):
            return state, k + 1
    return state, len(rows) + 1
