"""Running a method over given rows, as the tests of methods do."""

import pickle

import numpy as np

import aucbench
from aucbench import Batch, Problem, kernels
from aucbench.contracts import for_rows
from aucbench.data.preprocess import prepare
from aucbench.runner.cell import run_cell
from aucbench.runner.task import Task


def is_like_other_rules(cls):
    """Whether a method trains settings in lockstep as the rules of psam and solam do."""
    return issubclass(cls, kernels.RuleMethod) and cls.name not in ("psam", "solam")


def problem_of(algorithm, X, y, iterations=None, loss=None):
    """A problem with the loss, by default the method's first one."""
    names = getattr(algorithm, "losses", ())
    return Problem(X, y, iterations, loss or (aucbench.catalog().loss(names[0])() if names else None))


def train(algorithm, X, y, rows, parts=1, loss=None):
    """The state after the rows, in `parts` chunks; the state is pickled between them."""
    rows = np.asarray(rows)
    state = algorithm.init(problem_of(algorithm, X, y, len(rows), loss), np.random.default_rng(0))
    batch = Batch(X, y, rows)
    for chunk in np.array_split(rows, parts):
        state = pickle.loads(pickle.dumps(state)) if parts > 1 else state
        state = algorithm.step(state, batch.take(chunk))
    return state


def weights(algorithm, X, y, rows, loss=None):
    """The weights after the rows."""
    return algorithm.weights(train(algorithm, X, y, rows, loss=loss))


def prepared(split, scaling, rescale=True):
    """The rows of a split as a run prepares them."""
    identity = aucbench.catalog().features("identity")()
    return prepare(split, scaling, identity, "float64", 0, rescale=rescale)


def outcome_on(method, rows, epochs=None):
    """The outcome of a run of a method with its first loss on prepared rows."""
    factor = 1.0 if rows.rescaling is None else rows.rescaling.factor
    loss = problem_of(method, rows.X, rows.y).loss
    arrays = rows.X, rows.y, rows.X_test, rows.y_test
    return run_cell(Task(for_rows(method, factor), loss, *arrays, epochs, checkpoints=1, row_factor=factor))


def difference(left, right):
    """The largest difference relative to the size of the right."""
    return np.abs(left - right).max() / np.abs(right).max()


def random_problem(seed, n, d, density=1.0, unit=True):
    """Gaussian rows whose mean depends on the label, optionally sparse or of unit norm; a third positive."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 1 / 3, 1, -1).astype(np.int8)
    X = rng.normal(size=(n, d)) + 0.5 * y[:, None] * rng.normal(size=d)
    X *= rng.random((n, d)) < density
    if unit:
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return X, y


def random_pairs(seed, y, count):
    """(count, 2) rows of a positive and a negative, drawn with replacement."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.choice(np.flatnonzero(y == label), count) for label in (1, -1)])
