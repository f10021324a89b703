"""A linear model of raw features for ``mlflow.pyfunc``; it needs only numpy, pandas and scipy.

This file is copied into every exported model, which works without an installation of aucbench.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm

TRUTH = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}  # texts of a True/False column
EPOCH = pandas.Timestamp("1970-01-01", tz="UTC")
BLOCK = 1024  # rows scored at a time


class LinearModel:
    """Weights (d,) of raw features, or of the features of normalised rows.

    With a `norm`, rows are multiplied by `factors` (d,), have their mean subtracted if `norm` is "centred",
    and are divided by their length. `constant` is added to the scores. `columns` describes the columns of a
    table by name, kind, categories and median; `missing_words` lists the texts of missing cells.
    """

    def __init__(
        self,
        weights: Any,
        factors: Any,
        norm: str = "",
        constant: float = 0.0,
        columns: Any = (),
        missing_words: Any = (),
    ):
        self.weights, self.factors, self.norm, self.constant = weights, factors, norm, constant
        self.columns, self.missing_words = columns, missing_words

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """(n,) decision values of raw rows: an (n, d) array, a DataFrame of d columns, or a SciPy matrix.

        Features are as they are in the data set, not scaled. A model of a table takes a DataFrame with its
        columns as they are in the file, with texts and dates. MLflow passes `params`, which are ignored.
        """
        X = encoded(self.columns, model_input, self.missing_words) if self.columns else model_input
        X = X.tocsr().astype(np.float64) if sparse.issparse(X) else np.ascontiguousarray(X, np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.weights):
            raise ValueError(f"Expected rows of {len(self.weights)} features, got the shape {X.shape}.")
        scores = np.empty(X.shape[0])
        for start in range(0, X.shape[0], BLOCK):  # sparse rows may become dense
            scores[start : start + BLOCK] = self._scaled(X[start : start + BLOCK]) @ self.weights
        return scores + self.constant

    def _scaled(self, X: Any) -> Any:
        if not self.norm:
            return X
        X = X @ sparse.diags(self.factors)
        if self.norm == "centred":
            X = X.toarray() if sparse.issparse(X) else X
            constant = np.ptp(X, axis=1) == 0.0
            X = X - X.mean(axis=1, keepdims=True)
            X[constant] = 0.0
        norms = sparse_norm(X, axis=1) if sparse.issparse(X) else np.linalg.norm(X, axis=1)
        return sparse.diags(1.0 / np.where(norms > 0.0, norms, 1.0)) @ X


def encoded(columns: Any, frame: Any, missing_words: Any) -> Any:
    """(n, d) numbers of a DataFrame: categories as zeros and ones, dates as days since 1970."""
    numbers = pandas.to_numeric(pandas.Series(missing_words, dtype=object), errors="coerce")
    sentinels = numbers.dropna().to_numpy(float)  # numbers that stand for missing values
    parts = []
    for column in columns:
        name = column["name"]
        if name not in frame.columns:
            raise ValueError(f"Expected a column named {name!r}, got {', '.join(map(str, frame.columns))}.")
        texts = _texts(frame[name], column["categories"], missing_words)
        if column["kind"] == "categories":
            indicators = texts.to_numpy(object)[:, None] == np.array(column["categories"], object)[None]
            parts.append(indicators.astype(np.float64))
            if column["indicates"]:
                parts.append(texts.isna().to_numpy(np.float64)[:, None])
            continue
        values = _numbers(frame[name], texts, column["kind"])
        missing = np.isnan(values) | np.isin(values, sentinels)
        if missing.any() and column["median"] is None:
            raise ValueError(f"Column {name!r} lacks {missing.sum()} values, as none did in training.")
        parts.append(np.where(missing, column["median"] or 0.0, values)[:, None])
        if column["indicates"]:
            parts.append(missing.astype(np.float64)[:, None])
    return np.hstack(parts)


def _texts(column: Any, categories: Any, missing_words: Any) -> Any:
    """The cells as texts, as in the file; None for missing cells."""
    is_whole = column.dtype.kind == "f" and (column.dropna() % 1 == 0).all()
    if is_whole and not any("." in category for category in categories):
        column = column.astype("Int64")  # pandas turns whole numbers into floats if some are missing
    texts = column.astype(object).where(column.notna(), None)
    texts = texts.map(lambda value: None if value is None else str(value).strip())
    texts = texts.where(~texts.isin(set(missing_words) - set(categories)), None)
    truths = {TRUTH.get(category.lower()): category for category in categories}
    if None in truths:
        return texts
    # true, 1 and True are one category, in any spelling of the training file.
    return texts.map(lambda text: text if text in categories else truths.get(_truth(text), text))


def _truth(text: Any) -> Any:
    return TRUTH.get(str(text).lower())


def _numbers(column: Any, texts: Any, kind: str) -> Any:
    if kind == "date":
        times = column if pandas.api.types.is_datetime64_any_dtype(column) else texts
        days = pandas.to_datetime(times, utc=True, format=None if times is column else "ISO8601")
        return ((days - EPOCH) / pandas.Timedelta(days=1)).to_numpy(np.float64)
    if column.dtype.kind not in "biuf":
        column = pandas.to_numeric(texts.map(lambda text: text if _truth(text) is None else _truth(text)))
    return column.to_numpy(np.float64)


def _load_pyfunc(path: str) -> LinearModel:
    """Load a model; MLflow calls this function."""
    with np.load(Path(path), allow_pickle=False) as content:
        facts = json.loads(content["facts"].tobytes())
        return LinearModel(content["weights"], content["factors"], **facts)
