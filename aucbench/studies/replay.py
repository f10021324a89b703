"""Running a method over explicitly given rows, without clock or test data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, Batch, MethodFacts, Problem
from aucbench.contracts.validation import Family
from aucbench.data.preprocess import check_magnitude
from aucbench.errors import DataError, ParameterError
from aucbench.runner.task import validation_share
from aucbench.runner.trainer import finalize
from aucbench.studies.adapted_plugins import accepted, built_loss


def replay(
    algorithm: Any,
    X: Any,
    y: Any,
    rows: Any,
    *,
    loss: Any = None,
    seed: int = 0,
    checkpoints: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Run a method over explicitly given rows, untimed, and return its weights.

    Parameters
    ----------
    algorithm : Algorithm
        An instance, such as ``catalog().algorithm("solam")(zeta=0.5)``.
    X : (n, d) ndarray or scipy CSR
        All rows; float32 is kept, other types become float64.
    y : (n,) array
        Labels in {-1, 1}.
    rows : array of int
        Rows in the shape of the method's access: (k,) stream, (k, 2) pairs, (k, m) minibatch, (k, 0) full.
        The planned number of iterations is k.
    loss : Loss or str, optional
        An instance or a name; by default the method's first loss.
    seed : int
        Seed of the method's generator.
    checkpoints : sequence of int, optional
        Iterations, ascending, from 0 to k.

    Returns
    -------
    ndarray
        (d,) weights at the end, or (len(checkpoints), d).

    Raises
    ------
    TypeError
        The method has no `weights`.
    DataError
        X, y and rows do not fit together.
    ParameterError
        The class of the method or of the loss is no plugin, or a field is out of range.
    """
    accepted(Family.algorithms, algorithm)
    loss = built_loss(algorithm, loss, None)
    if MethodFacts(algorithm).weights is None:
        raise TypeError(f"{algorithm.name} has no `weights`: only linear methods can be replayed.")
    if validation_share(algorithm):
        raise ParameterError(f"{algorithm.name}: replay has no validation rows; set its validation to 0.")
    access = Access(algorithm.access)
    X, y = _matrix(X), np.ascontiguousarray(y, np.int8)
    if y.shape != X.shape[:1] or not np.all(np.abs(y) == 1):
        raise DataError(f"y must be {X.shape[0]} labels in -1, 1, got shape {y.shape} and {np.unique(y)}.")
    rows = _rows(access, np.asarray(rows), y)
    marks = [len(rows)] if checkpoints is None else list(checkpoints)
    if marks != sorted(marks) or (marks and not 0 <= marks[0] <= marks[-1] <= len(rows)):
        raise ParameterError(f"checkpoints must ascend from 0 to {len(rows)}, got {checkpoints}.")
    batch = Batch(X, y, rows, access)
    state = algorithm.init(Problem(batch.X, y, len(rows), loss), np.random.default_rng(seed))
    weights, start = [], 0
    for mark in marks:
        state = algorithm.step(state, batch.take(rows[start:mark]))
        start = mark
        weights.append(np.array(algorithm.weights(finalize(algorithm, state)), np.float64))
    return weights[0] if checkpoints is None else np.array(weights).reshape(len(marks), X.shape[1])


def _matrix(X: Any) -> Any:
    from sklearn.utils import check_array  # takes a second

    try:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", input_name="X")
    except ValueError as error:
        raise DataError(str(error).partition("\n")[0]) from None
    check_magnitude(X)
    return X


def _rows(access: Access, rows: NDArray[Any], y: NDArray[np.int8]) -> NDArray[np.int64]:
    """The rows of a method, one line an iteration, in the shape of its access."""
    width = rows.shape[1] if rows.ndim == 2 else -1
    shape, fits = {
        Access.stream: ("(k,)", rows.ndim == 1),
        Access.pairs: ("(k, 2)", width == 2),
        Access.minibatch: ("(k, m)", width > 0),
        Access.balanced: ("(k, m) with m even", width > 0 == width % 2),
        Access.full: ("(k, 0)", width == 0),
    }[access]
    if not fits:
        raise DataError(f"rows of access {access} have the shape {shape}, got {rows.shape}.")
    if rows.size and (rows.dtype.kind not in "iu" or not 0 <= rows.min() <= rows.max() < len(y)):
        ends = f"{rows.min()} to {rows.max()}"
        raise DataError(f"rows must be whole numbers from 0 to {len(y) - 1}, got {rows.dtype}, {ends}.")
    rows = np.ascontiguousarray(rows, np.int64)
    if access is Access.pairs and not (np.all(y[rows[:, 0]] == 1) and np.all(y[rows[:, 1]] == -1)):
        raise DataError("rows of access pairs are a positive and a negative row each, in that order.")
    return rows
