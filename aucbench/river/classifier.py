"""A registered method as a river classifier."""

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base
from river.utils import dataframe

from aucbench.contracts import MethodFacts
from aucbench.errors import DataError, ParameterError
from aucbench.river._rows import Columns
from aucbench.river._stream_model import BLOCK, StreamModel
from aucbench.studies.adapted_plugins import built, built_loss, why_not_on

SIGNS = {False: -1, True: 1}
LARGEST = {"n_features": 2**30, "warmup": 2**20, "chunk": BLOCK}  # columns are 32-bit integers


class AUCClassifier(base.MiniBatchClassifier):
    """A binary classifier that learns to rank a stream, by any resumable method of access ``stream``.

    It can replace `river.linear_model.LogisticRegression`, for example behind a `StandardScaler` in a
    pipeline. Its probabilities rank rows like the scores of the method: evaluate them by the AUC.

    Parameters
    ----------
    algo : str or object, default="solam"
        Name of a registered linear method of access ``stream`` that declares ``resumable = True``, or an
        instance of one, registered or not.
    algo_params : dict, default=None
        Hyperparameters of the method, such as ``{"radius": 1.0}``; the others keep their defaults.
    loss : str or object, default=None
        The surrogate loss, if the method accepts several; None means the first one.
    loss_params : dict, default=None
        Parameters of the loss.
    n_features : int, default=None
        Number of columns, a power of two, into which features are hashed; values that share a column are
        added. If None, features get columns in order of first appearance, so memory grows with their number.
        The hash is the same in each process: the column of a name is ``blake2b(name, digest_size=8)``, a
        little-endian number, modulo `n_features`; a name that is not a string is hashed by its `repr`.
    rescale : bool, default=True
        Whether rows are multiplied by a power of two that brings the mean of ``|x|^2`` near 1, so step sizes,
        radii and regularisation mean the same on any stream.
    warmup : int, default=128
        Number of rows in the warm-up, a power of two; see the notes.
    chunk : int, default=1
        Number of rows learnt at once, a power of two up to 1024. The model then lags by up to `chunk` - 1
        rows, but predictions cost less in a loop that predicts and learns in turn.
    iterations : int, default=None
        Number of rows of the whole stream, for methods that plan their stages, such as ``"fsauc"``.
    seed : int, default=0
        Seed of the random numbers of the method.

    Notes
    -----
    The statistics of a method (largest row norm, number of rows, shares of the classes) and the factor of
    `rescale` are measured on the first rows. After 1, 2, 4, ..., `warmup` rows the method begins anew: it
    measures all rows so far and takes them in order. Afterwards each row is taken once, and the statistics
    stay fixed. Therefore do not sort a stream by class.

    `learn_many` takes the rows of a frame one after the other and gives the same model as `learn_one`, up to
    rounding; river's logistic regression takes one step for the whole frame. Rows are buffered until a
    prediction or until 1,024 rows have arrived, which changes no result.

    `predict_proba_one` is a sigmoid of `score_one` and never changes the order of two rows scored by the same
    model. If the scores of both classes are normal with a common variance v, the log-odds are

        (m+ - m-) / v * (s - (m+ + m-) / 2) + log(n+ / n-).

    The means and v are computed from scores of rows not yet learnt, and each class forgets its older rows;
    they are updated after 1, 2, 4, ... rows, up to 1024 or `warmup`, and then every 1,024 rows. `predict_one`
    is the more probable class. On imbalanced streams the rare class is seldom predicted: compare `score_one`
    with your own threshold instead.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from aucbench.river import AUCClassifier
    >>> model = preprocessing.StandardScaler() | AUCClassifier("solam", {"radius": 10.0})
    >>> metric = metrics.RollingROCAUC(window_size=1250)
    >>> metric = evaluate.progressive_val_score(datasets.Phishing(), model, metric)
    >>> metric.get() > 0.95
    True
    """

    def __init__(
        self,
        algo: Any = "solam",
        algo_params: dict[str, Any] | None = None,
        *,
        loss: Any = None,
        loss_params: dict[str, Any] | None = None,
        n_features: int | None = None,
        rescale: bool = True,
        warmup: int = 128,
        chunk: int = 1,
        iterations: int | None = None,
        seed: int = 0,
    ):
        self.algo = algo
        self.algo_params = algo_params
        self.loss = loss
        self.loss_params = loss_params
        self.n_features = n_features
        self.rescale = rescale
        self.warmup = warmup
        self.chunk = chunk
        self.iterations = iterations
        self.seed = seed
        if not isinstance(rescale, bool):
            raise ParameterError(f"rescale must be True or False, got {rescale!r}.")
        for name in ("n_features", "warmup", "chunk", "iterations", "seed"):
            _check_number(name, getattr(self, name))
        algorithm = built("algo", algo, algo_params)
        chosen = built_loss(algorithm, loss, loss_params)
        reason = why_not_on(algorithm, iterations, "learn_one")
        if "dense" in MethodFacts(algorithm).requires:
            reason = f"{algorithm.name} needs dense rows: {algorithm.requires['dense']}"
        if MethodFacts(algorithm).weights is None:
            reason = f"{algorithm.name} is not linear: it has no `weights`."
        if reason is not None:
            raise ParameterError(reason)
        self._y_name: Any = None
        columns = Columns(n_features)
        self._stream = StreamModel(algorithm, chosen, columns, rescale, warmup, chunk, iterations, seed)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn from a row x, a mapping of names to finite numbers, and its label y, True or False.

        Raises ValueError if a value or the label cannot be used, or the model has diverged.
        """
        label, values = _sign(y), _values(x)  # `_values` refuses an x without names
        self._stream.add(tuple(x), values, label)

    def score_one(self, x: dict[Any, Any]) -> float:
        """The weighted sum of the features of a row, 0 before the first row; higher means True.

        Features that no row has had are ignored. Errors are those of `learn_one`.
        """
        try:
            score = float(self._stream.score(tuple(x), [*x.values()]))
        except (AttributeError, OverflowError, TypeError, ValueError):  # such as Decimal times float
            values = _values(x)
            score = self._stream.score(tuple(x), values)
        if not math.isfinite(score):
            _values(x)
            self._stream.refuse_divergence()
        return score

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probabilities ``{False: 1 - p, True: p}`` of a row, where p increases with its score."""
        p = self._stream.sigmoid.one(self.score_one(x))
        return {False: 1.0 - p, True: p}

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a frame X of pandas or Polars, one after the other, with the labels y.

        The frame has one column per feature. Errors are those of `learn_one`.
        """
        names, values = _frame(X)
        signs = _signs(y)
        if len(signs) != len(values):
            raise DataError(f"There are {len(values)} rows and {len(signs)} labels.")
        self._y_name = getattr(y, "name", None)
        self._stream.extend(names, values, signs)

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities of the rows of a frame, as a frame with the columns False and True."""
        p = self._stream.sigmoid.many(self._stream.scores(*_frame(X)))
        return dataframe.to_native_frame({False: 1.0 - p, True: p}, like=dataframe.into_frame(X))

    def predict_many(self, X: Any) -> Any:
        """The more probable label of each row of a frame, as a series of the same library."""
        positive = self._stream.sigmoid.many(self._stream.scores(*_frame(X))) > 0.5
        return dataframe.to_native_series(positive, name=self._y_name, like=dataframe.into_frame(X))

    @property
    def weights(self) -> dict[Any, float]:
        """The weights by feature name; with `n_features`, by column."""
        weights = self._stream.weights().tolist()
        if self.n_features is not None:
            return dict(enumerate(weights))
        numbers = self._stream.columns.numbers
        return {name: weights[column] for name, column in numbers.items() if column < len(weights)}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"n_features": 64}
        yield {"chunk": 32}


def _check_number(name: str, value: Any) -> None:
    """Refuse a parameter that is no integer in its range."""
    largest, least = LARGEST.get(name, math.inf), 0 if name == "seed" else 1
    is_integer = isinstance(value, int) and not isinstance(value, bool) and least <= value <= largest
    if value is None and name in ("n_features", "iterations"):
        return
    if not is_integer or (name in LARGEST and value.bit_count() != 1):
        expected = f"a power of two up to {largest:,}" if name in LARGEST else f"an integer from {least} on"
        raise ParameterError(f"{name} must be {expected}, got {value!r}.")


def _sign(y: Any) -> int:
    """1 for the label True, -1 for False."""
    try:
        return SIGNS[y]
    except (KeyError, TypeError):
        raise DataError(f"The label must be True or False, got {y!r}.") from None


def _signs(y: Any) -> NDArray[np.int8]:
    """(n,) signs of a series of labels."""
    labels = y.to_numpy() if hasattr(y, "to_numpy") else np.array(y, object)
    if labels.ndim != 1:
        raise DataError(f"The labels must be a series of True and False, got the shape {labels.shape}.")
    if labels.dtype == bool:
        return 2 * labels.view(np.int8) - 1
    return np.array([_sign(label) for label in labels.tolist()], np.int8)


def _frame(X: Any) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    """The names and the finite values of a data frame of pandas or Polars."""
    try:
        names, values = tuple(X.columns), X.to_numpy()
    except AttributeError:
        raise DataError(f"The rows must be a data frame, got an object of {type(X).__name__}.") from None
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise DataError(f"The data frame must have one column for each feature, got several for {name!r}.")
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or not np.isfinite(numbers).all():
        for row in values.tolist():
            _values(dict(zip(names, row, strict=True)))
    return names, np.asarray(values, np.float64)


def _values(x: Any) -> "array[float]":
    """The values of a row, which must be a mapping to finite numbers."""
    try:
        values = array("d", [*x.values()])  # faster from a list
        if math.isfinite(sum(values)):
            return values
    except (AttributeError, TypeError, ValueError, OverflowError):
        if not isinstance(x, Mapping):
            kind = f"an object of {type(x).__name__}"
            raise DataError(f"A row must be a dict of features by name, got {kind}.") from None
    for name, value in x.items():
        try:
            is_finite = math.isfinite(value)
        except (TypeError, ValueError, OverflowError):
            is_finite = False
        if not is_finite:
            raise DataError(
                f"The value of the feature {name!r} must be a finite number, got {value!r:.40} "
                f"({type(value).__name__}); river.preprocessing.OneHotEncoder makes numbers of texts."
            )
    return values  # only their sum overflows
