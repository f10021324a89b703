"""Training of a method on a stream: warm-up, buffered steps, scores and their probabilities."""

import math
from array import array
from collections.abc import Sequence
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Batch, MethodFacts, Problem, for_rows
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.data.memory import check_width
from aucbench.data.preprocess import Rescaling
from aucbench.errors import ParameterError
from aucbench.river._rows import Columns, RowBuffer
from aucbench.runner.trainer import finalize
from aucbench.studies.adapted_plugins import check_plan, divergence

BLOCK = 1024  # rows between two updates of the probabilities
MEMORY = 1000  # rows per class after which the weight of an older row has fallen to 1 / e
WIDE = 2048  # number of columns from which only the weights of a row's own columns are computed


class Sigmoid:
    """Log-odds linear in the score, by the formula in the notes of `AUCClassifier`.

    Means and variances forget old rows, because an older model scored them; the counts include all rows. The
    log-odds equal the score until the positive rows have the larger mean.
    """

    def __init__(self) -> None:
        self._slope, self._offset = 1.0, 0.0
        self._counts, self._means, self._variances = [0, 0], [0.0, 0.0], [0.0, 0.0]  # negatives, positives

    def add(self, scores: NDArray[np.float64], y: NDArray[np.int8]) -> None:
        """Add scores (n,) and labels of rows that the scoring model has not learnt."""
        for c, members in enumerate((y < 0, y > 0)):
            deviations = scores[members] - self._means[c]
            count = len(deviations)
            if count == 0:
                continue
            self._counts[c] += count
            share = max(count / self._counts[c], 1.0 - math.exp(-count / MEMORY))
            change = float(deviations.mean())
            spread = float(np.square(deviations).mean()) - share * change * change  # around the new mean
            if math.isfinite(spread):
                self._variances[c] += share * (spread - self._variances[c])
                self._means[c] += share * change
        (n, p), (low, high) = self._counts, self._means
        variance = (n * self._variances[0] + p * self._variances[1]) / (n + p)
        self._slope, self._offset = 1.0, 0.0
        if n > 0 and p > 0 and high > low and variance > 0.0:
            self._slope = (high - low) / variance
            self._offset = math.log(p / n) - 0.5 * self._slope * (low + high)

    def one(self, score: float) -> float:
        """The probability of the positive class."""
        return 0.5 + 0.5 * math.tanh(0.5 * (self._slope * score + self._offset))

    def many(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) probabilities of the positive class."""
        return 0.5 + 0.5 * np.tanh(0.5 * (self._slope * scores + self._offset))


class StreamModel:
    """A linear method trained row by row; the parameters are those of `AUCClassifier`.

    After 1, 2, 4, ..., `warmup` rows the method begins anew, with `init` measuring all rows so far; the
    features of these rows are the columns of the model from then on. These counts also end the first blocks:
    at the end of a block the model from before the block scores the rows of the block, which updates the
    probabilities. Later blocks are as long as all rows before, up to 1024 rows.

    Rows are buffered until the block ends or, after the warm-up, a score is requested; a request steps over
    whole chunks only. The time of a request changes no result, because the batch boundaries do not matter to
    a method.
    """

    def __init__(
        self, algorithm: Any, loss: Any, columns: Columns, rescale: bool, warmup: int, chunk: int,
        planned: int | None, seed: int,
    ):  # fmt: skip
        self.algorithm, self.columns = algorithm, columns
        self._loss, self._rescale, self._seed = loss, rescale, seed
        self._warmup, self._chunk, self._planned = warmup, chunk, planned
        self.seen = 0
        self.sigmoid = Sigmoid()
        self._rows = RowBuffer(max(BLOCK, warmup))
        self._done = 0  # buffered rows that the method has taken, already multiplied by the factor
        self._block, self._end = 0, 1  # buffer positions at which the block begins and ends
        self._state: Any = None  # None before the first row
        self._d = 0  # columns of the state
        self._by_columns = False  # whether a row is scored by the weights of its own columns
        self._factor = 1.0  # factor of the rows
        self._at_block = np.zeros(0)  # the weights at the beginning of the block
        self._now: Any = None  # cached weights after the last row, for raw rows
        self._failure: Exception | None = None  # the error that ended the training, such as a divergence
        self._scored = -1  # value of `seen` when a row was last scored by its columns

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_now": None}

    def add(self, names: tuple[Any, ...], values: "array[float]", label: int) -> None:
        """Add a row with finite values of the named features."""
        self._require(1)
        columns, arrange = self.columns.layout(names)
        rows = self._rows
        rows.add(columns, values if arrange is None else array("d", arrange(values)), label)
        self.seen += 1
        if rows.count == self._end:
            self._end_block()
        if self.seen % self._chunk == 0:
            self._now = None

    def extend(self, names: tuple[Any, ...], X: NDArray[np.float64], y: NDArray[np.int8]) -> None:
        """Add dense rows of the named features."""
        self._require(len(y))
        columns, arrange = self.columns.layout(names)
        if arrange is not None:
            X = np.reshape([*arrange([*X.T])], (len(columns), len(y))).T
        begin = 0
        while begin < len(y):
            end = min(len(y), begin + self._end - self._rows.count)
            self._rows.extend(columns, X[begin:end], y[begin:end])
            self.seen += end - begin
            begin, self._now = end, None
            if self._rows.count == self._end:
                self._end_block()

    def _require(self, rows: int = 0) -> None:
        """Raise the error that ended the training, if any; refuse more rows than planned."""
        if self._failure is not None:
            raise self._failure
        if rows and self._planned is not None:
            check_plan(self.algorithm, self._planned, self.seen, rows, "of the whole stream")

    def _end_block(self) -> None:
        try:
            self._train_block()
        except Exception as error:
            self._failure = error
            raise

    def _train_block(self) -> None:
        self._now, rows = None, self._rows
        if self.seen > self._warmup:
            self._step(rows.count)
            self._add_probabilities(1.0)
        else:
            self.sigmoid = Sigmoid()  # older scores come from a discarded model
            self._add_probabilities(self._factor)
            self._begin()
        if self.seen < self._warmup:
            self._end *= 2
        else:
            rows.clear()
            self._done, self._end = 0, min(BLOCK, self.seen)
        self._block = rows.count
        self._at_block = self._weights()

    def _add_probabilities(self, factor: float) -> None:
        if self._state is not None:
            X = self._rows.matrix(self._block, max(1, self.columns.count))
            scores = X[:, : self._d] @ (factor * self._at_block)
            self.sigmoid.add(self._finite(scores), self._rows.y[self._block : self._rows.count])

    def _begin(self) -> None:
        """Begin anew on the rows of the buffer, which holds all rows so far."""
        self._d = max(1, self.columns.count)
        check_width(self._d)
        X, y = self._rows.matrix(0, self._d), self._rows.y[: self._rows.count].copy()
        if self._rescale:  # a power of two causes no rounding
            self._factor = 2.0 ** round(math.log2(Rescaling.fit(X).factor))
            X.data *= self._factor
        problem = Problem(X, y, self._planned, self._loss, row_factor=self._factor)
        self._trained = for_rows(self.algorithm, self._factor)
        state = self._trained.init(problem, generator(self._seed, RandomStream.method))
        self._state = self._trained.step(state, Batch(X, y, np.arange(len(y))))
        if self.seen == self._warmup:
            self.columns.close()
            self._by_columns = self._d >= WIDE and self._has_columns()

    def _step(self, end: int) -> None:
        """Step the method over the rows up to `end`; the last block may have ended later, in a chunk."""
        begin = self._done
        if begin < end and self.seen >= self._warmup:
            self._done = end
            batch = self._rows.batch(begin, end, self._d, self._factor)
            self._state = self._trained.step(self._state, batch)

    def _has_columns(self) -> bool:
        """Whether each weight depends only on its own column of the state."""
        columns = np.arange(0, self._d, self._d // 7)
        if MethodFacts(self.algorithm).finalize is not None:
            return False
        try:
            weights = self.algorithm.weights(_narrowed(self._state, self._d, columns))
        except Exception:  # the method mixes columns
            return False
        return np.array_equal(weights, self._weights()[columns])

    def _weights(self) -> NDArray[np.float64]:
        """The weights (d,) for preprocessed rows."""
        return np.asarray(self.algorithm.weights(finalize(self.algorithm, self._state)))

    def _finite(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if not np.all(np.isfinite(scores)):
            self.refuse_divergence()
        return scores

    def score(self, names: tuple[Any, ...], values: Sequence[float]) -> float:
        """The score of a row; zero before the first row has come."""
        self._require()
        weights = self._now
        if weights is None:
            if self._state is None:
                return 0.0
            self._step(self._rows.count - self.seen % self._chunk)
            if self._by_columns and self._scored != self.seen:
                self._scored = self.seen  # a second row before the next step computes all weights
                positions, columns = self._known(names)
                subset = self.algorithm.weights(_narrowed(self._state, self._d, np.array(columns, np.intp)))
                return sum(map(mul, (self._factor * subset).tolist(), [values[k] for k in positions]), 0.0)
            raw: Any = self._factor * self._weights()
            self._now = weights = memoryview(raw)  # faster for single numbers
        layout = self.columns.layouts.get(names)
        if layout is not None and self.seen >= self._warmup:
            ordered = values if layout.arrange is None else layout.arrange(values)
            return sum(map(mul, map(weights.__getitem__, layout.columns), ordered), 0.0)
        return sum((weights[c] * values[k] for k, c in zip(*self._known(names), strict=True)), 0.0)

    def scores(self, names: tuple[Any, ...], X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) scores of dense rows of the named features; features that no row has had are ignored."""
        weights, (positions, columns) = self.weights(), self._known(names)
        return self._finite(X[:, positions] @ weights[columns])

    def _known(self, names: tuple[Any, ...]) -> tuple[list[int], list[int]]:
        """The positions of the names that the model has, and their columns."""
        pairs = [(k, column) for k, column in enumerate(map(self.columns.known, names)) if column is not None]
        pairs = [(k, column) for k, column in pairs if column < self._d]
        return [k for k, _ in pairs], [column for _, column in pairs]

    def weights(self) -> NDArray[np.float64]:
        """(d,) weights for raw rows; empty before the first row."""
        self._require()
        if self._state is None:
            return np.zeros(0)
        self._step(self._rows.count - self.seen % self._chunk)
        return self._factor * self._weights()

    def refuse_divergence(self) -> None:
        """Raise the error for a model that is not finite."""
        raise ParameterError(f"{divergence(self.algorithm, f'within {self.seen:,} rows')}.")


def _narrowed(state: Any, d: int, columns: NDArray[np.intp]) -> Any:
    """A copy of a state with d columns, restricted to some of them."""
    if isinstance(state, np.ndarray):
        for axis in range(state.ndim):  # `take` would copy the whole of an array in Fortran order
            if state.shape[axis] == d:
                state = state[(slice(None),) * axis + (columns,)]
        return state
    if not isinstance(state, tuple):
        return state
    parts = [_narrowed(part, d, columns) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
