"""A linear model of raw features, as ``mlflow.pyfunc`` loads it; it needs numpy and scipy only.

This file is copied into every exported model, which works where nothing else of its origin is installed.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

BLOCK = 1024  # rows scored at a time


class LinearModel:
    """Weights (d,) of the scaled features, and the scaling that was fitted on the training rows.

    `offset` and `divisor` (d,) are empty when the scaling fits nothing; `dtype` is the type in which scores
    are computed, and `constant` is added to the scores of scaled rows.
    """

    def __init__(
        self, weights: Any, offset: Any, divisor: Any, scaling: str, dtype: str, constant: float = 0.0
    ):
        self.weights, self.offset, self.divisor, self.constant = weights, offset, divisor, constant
        self.scaling, self.dtype = scaling, np.dtype(dtype)

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """(n,) decision values of raw rows: an (n, d) array, a DataFrame of d columns, or a SciPy matrix.

        Features are as they are in the data set, not scaled. MLflow passes `params`; there are none.
        """
        X = model_input
        if not sparse.issparse(X):
            X = np.ascontiguousarray(getattr(X, "to_numpy", lambda: X)(), np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.weights):
            raise ValueError(f"Expected rows of {len(self.weights)} features, got the shape {X.shape}.")
        if sparse.issparse(X):
            X = X.tocsr().astype(np.float64)
        scores = np.empty(X.shape[0])
        for start in range(0, X.shape[0], BLOCK):
            scores[start : start + BLOCK] = self._score(X[start : start + BLOCK])
        return scores + self.constant

    def _score(self, X: Any) -> Any:
        weights = self.weights.astype(self.dtype)
        if sparse.issparse(X) and not self._makes_dense():
            return self._scaled_sparse(X).astype(self.dtype) @ weights
        dense = X.toarray() if sparse.issparse(X) else X
        columns = np.ascontiguousarray(self._scaled(dense).astype(self.dtype).T)
        scores = np.zeros(columns.shape[1], self.dtype)
        for column, weight in zip(columns, weights, strict=True):  # in this order sums round as they did
            scores += column * weight
        return scores

    def _makes_dense(self) -> bool:
        if self.scaling == "standard":  # a scaling that was fitted to sparse rows does not centre
            return bool(self.offset.any() or not self.divisor.all())
        return self.scaling in ("minmax", "centred_unit")

    def _scaled(self, X: Any) -> Any:
        if self.scaling in ("maxabs", "maxabs_unit"):
            X = X / self.divisor
        elif self.scaling == "minmax":
            constant = self.divisor <= 0.0
            X = 2.0 * ((X - self.offset) / np.where(constant, 1.0, self.divisor)) - 1.0
            X[:, constant] = 0.0
        elif self.scaling == "standard":
            constant = self.divisor <= 0.0
            X = (X - self.offset) / np.where(constant, 1.0, self.divisor)
            X[:, constant] = 0.0
        elif self.scaling == "centred_unit":
            low, high = X.min(axis=1, keepdims=True), X.max(axis=1, keepdims=True)
            X = X - np.where(low == high, low, X.mean(axis=1, keepdims=True))
        if self.scaling in ("unit", "maxabs_unit", "centred_unit"):
            X = X / _positive(_norms(X))[:, None]
        return X

    def _scaled_sparse(self, X: Any) -> Any:
        data = X.data.copy()
        if self.scaling in ("maxabs", "maxabs_unit", "standard"):
            data /= self.divisor[X.indices]
        scaled = sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)
        if self.scaling in ("unit", "maxabs_unit"):
            largest = abs(scaled).max(axis=1).toarray().ravel()
            safe = _positive(largest)
            counts = np.diff(X.indptr)
            relative = sparse.csr_matrix((data / np.repeat(safe, counts), X.indices, X.indptr), shape=X.shape)
            norms = safe * np.sqrt(np.asarray(relative.multiply(relative).sum(axis=1)).ravel())
            scaled.data = data / np.repeat(_positive(norms), counts)
        return scaled


def _norms(X: Any) -> Any:
    """l2 norms of rows whose squares may be too large or too small for numbers."""
    largest = _positive(np.abs(X).max(axis=1, initial=0.0))
    return largest * np.linalg.norm(X / largest[:, None], axis=1)


def _positive(values: Any) -> Any:
    return np.where(values > 0.0, values, 1.0)


def _load_pyfunc(path: str) -> LinearModel:
    """What MLflow calls."""
    with np.load(Path(path), allow_pickle=False) as content:
        facts = json.loads(content["facts"].tobytes())
        weights, offset, divisor = (content[name] for name in ("weights", "offset", "divisor"))
    return LinearModel(weights, offset, divisor, facts["scaling"], facts["dtype"], facts["constant"])
