"""Training of a method on a stream: warm-up, buffered steps and scores."""

import math
from array import array
from collections.abc import Sequence
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import MethodFacts, Problem, for_rows
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.data.preprocess import Rescaling
from aucbench.errors import ParameterError
from aucbench.kernels import Layout, layout
from aucbench.river._columns import Columns
from aucbench.river._growth import Growth
from aucbench.river._probabilities import Sigmoid
from aucbench.river._rows import RowBuffer
from aucbench.runner.cell import check_memory
from aucbench.runner.trainer import finalize
from aucbench.studies.adapted_plugins import check_plan, divergence

BLOCK = 1024  # rows between two updates of the probabilities
WIDE = 2048  # number of columns from which only the weights of a row's own columns are computed


class Settings(NamedTuple):
    """Settings of the training."""

    algorithm: Any
    loss: Any
    rescale: bool
    warmup: int  # a power of two
    chunk: int  # a power of two
    planned: int | None  # rows of the whole stream
    seed: int


class StreamModel:
    """A method trained row by row.

    After 1, 2, 4, ..., `warmup` rows the method begins anew, with `init` measuring all rows so far. These
    counts also end the first blocks: at the end of a block the model from before the block scores the rows of
    the block, which updates the probabilities. Later blocks are as long as all rows before, up to 1024 rows.

    Rows are buffered until the block ends or a score is requested; a request steps over whole chunks only.
    The time of a request changes no result, because the batch boundaries do not matter to a method.
    """

    def __init__(self, settings: Settings, columns: Columns):
        self.settings, self.columns = settings, columns
        self.seen = 0
        self.sigmoid = Sigmoid()
        self._rows = RowBuffer(max(BLOCK, settings.warmup))
        self._done = 0  # buffered rows that the method has taken, already multiplied by the factor
        self._block = 0  # buffer position of the first row of the block
        self._end = 1  # number of buffered rows that ends the block
        self._state: Any = None  # None before the first row
        self._d = self._checked = 0  # columns of the state; largest width that passed the memory check
        self._factor = 1.0  # factor of the rows
        self._algorithm = settings.algorithm  # with regularisation for rows of that factor
        self._growth: Growth | None = None
        self._layout = Layout.eager
        self._at_block: Any = None  # the model at the beginning of the block
        self._now: Any = None  # cached model after the last row, with weights for raw rows
        self._failure: Exception | None = None  # what ended the training, such as a divergence
        self._scored = -1  # value of `seen` when a row was last scored by its columns

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_now": None}

    def add(self, names: tuple[Any, ...], values: "array[float]", label: int) -> None:
        """Add a row with finite values of the named features."""
        if self._failure is not None:
            raise self._failure
        if self.settings.planned is not None:  # avoids a call: a whole row takes 2 us
            self._check_plan(1)
        columns, arrange, _ = self.columns.layout(names)
        rows = self._rows
        rows.add(columns, values if arrange is None else array("d", arrange(values)), label)
        self.seen += 1
        if rows.count == self._end:
            self._end_block()
        if self.seen % self.settings.chunk == 0:
            self._now = None

    def extend(self, names: tuple[Any, ...], X: NDArray[np.float64], y: NDArray[np.int8]) -> None:
        """Add dense rows of the named features."""
        self._refuse_failed()
        self._check_plan(len(y))
        found = self.columns.layout(names)
        X, begin = found.gather(X), 0
        while begin < len(y):
            end = min(len(y), begin + self._end - self._rows.count)
            self._rows.extend(found.columns, X[begin:end], y[begin:end])
            self.seen += end - begin
            begin, self._now = end, None
            if self._rows.count == self._end:
                self._end_block()

    def _check_plan(self, rows: int) -> None:
        planned = self.settings.planned
        if planned is not None:
            check_plan(self.settings.algorithm, planned, self.seen, rows, "of the whole stream")

    def _refuse_failed(self) -> None:
        """Raise what ended the training: the rows in the buffer belong to no whole block since."""
        if self._failure is not None:
            raise self._failure

    def _end_block(self) -> None:
        try:
            self._train_block()
        except Exception as error:
            self._failure = error
            raise

    def _train_block(self) -> None:
        self._now, warmup = None, self.settings.warmup
        if self._state is not None:
            self._step(self._rows.count)
            if self.seen <= warmup:
                self.sigmoid = Sigmoid()  # older scores come from a discarded model
            self._add_probabilities()
        if self.seen <= warmup:
            self._begin()
            self._step(self._rows.count)
        if self.seen < warmup:
            self._end *= 2
        else:
            self._rows.clear()
            self._done, self._end = 0, min(BLOCK, self.seen)
        self._block = self._rows.count
        self._at_block = self._model()

    def _add_probabilities(self) -> None:
        rows, begin, model = self._rows, self._block, self._at_block
        if isinstance(model, np.ndarray):
            model = np.pad(model, (0, self._d - len(model)))
        self.sigmoid.add(self._scores(model, rows.matrix(begin, self._d)), rows.y[begin : rows.count])

    def _begin(self) -> None:
        """Begin anew on the rows of the buffer, which holds all rows so far."""
        algorithm, loss, rescale, _, _, planned, seed = self.settings
        rows, self._d = self._rows, max(1, self.columns.count)
        if self._d > self._checked:
            check_memory(self._d)
            self._checked = self._d
        rows.multiply(1.0 / self._factor, 0, rows.count)
        X = rows.matrix(0, self._d)
        if rescale:  # a power of two causes no rounding
            self._factor = 2.0 ** round(math.log2(Rescaling.fit(X).factor))
            X.data *= self._factor
        problem = Problem(X, rows.y[: rows.count].copy(), planned, loss, row_factor=self._factor)
        self._algorithm = for_rows(algorithm, self._factor)
        self._state = self._algorithm.init(problem, generator(seed, RandomStream.method))
        self._layout, self._growth, self._done = layout(X), None, 0

    def _step(self, end: int | None = None) -> None:
        """Step the method over the rows up to `end`, or up to the end of the last whole chunk."""
        rows, begin, d = self._rows, self._done, self.columns.count
        if end is None:
            end = rows.count - self.seen % self.settings.chunk
        if d > self._d:
            d = max(d, self._d + self._d // 2)
            check_memory(d)
            self._state, self._d = self._grown().widened(self._state, d), d
        if begin >= end:  # the last block may have ended inside the current chunk
            return
        rows.multiply(self._factor, begin, end)
        self._done = end
        self._state = self._algorithm.step(self._state, rows.batch(begin, end, self._d))

    def _grown(self) -> Growth:
        if self._growth is None:
            self._growth = Growth(self.settings.algorithm, self.settings.loss, self._layout)
        return self._growth

    def _model(self) -> Any:
        """The weights (d,) for preprocessed rows, or the state of a method without weights."""
        algorithm = self.settings.algorithm
        final = finalize(algorithm, self._state)
        return np.asarray(algorithm.weights(final)) if MethodFacts(algorithm).weights is not None else final

    def _scores(self, model: Any, X: Any) -> NDArray[np.float64]:
        """(n,) scores of preprocessed rows."""
        is_linear = isinstance(model, np.ndarray)
        scores = np.asarray(X @ model if is_linear else self.settings.algorithm.score(model, X))
        if not np.all(np.isfinite(scores)):
            self.refuse_divergence()
        return scores

    def score(self, names: tuple[Any, ...], values: Sequence[float]) -> float:
        """The score of a row; zero before the first row has come."""
        self._refuse_failed()
        weights = self._now
        if weights is None:
            if self._state is None:
                return 0.0
            self._step()
            if self._d >= WIDE and self._scored != self.seen and self._has_columns:
                self._scored = self.seen  # a second row before the next step computes all weights
                return self._score_by_columns(names, values)
            weights = self._model()
            if isinstance(weights, np.ndarray):
                raw: Any = self._factor * weights
                weights = memoryview(raw)  # faster for single numbers
            self._now = weights
        if not isinstance(weights, memoryview):
            return float(self.scores(names, np.array([values], np.float64))[0])
        try:
            found = self.columns.remembered(names)
            if found is not None:
                ordered = values if found.arrange is None else found.arrange(values)
                return sum(map(mul, map(weights.__getitem__, found.columns), ordered), 0.0)
            columns = map(self.columns.known, names)
            return sum((weights[c] * v for c, v in zip(columns, values, strict=True) if c is not None), 0.0)
        except IndexError:  # a new feature in an incomplete chunk: add its column to the model
            self._now = None
            return self.score(names, values)

    @property
    def _has_columns(self) -> bool:
        """Whether each weight depends only on its own column of the state."""
        facts = MethodFacts(self.settings.algorithm)
        return facts.weights is not None and facts.finalize is None

    def _score_by_columns(self, names: tuple[Any, ...], values: Sequence[float]) -> float:
        """The score of a row, computed from the weights of its own features only."""
        pairs = zip(map(self.columns.known, names), values, strict=True)
        known = [(c, v) for c, v in pairs if c is not None]
        columns = np.array([c for c, _ in known], np.intp)
        weights = self.settings.algorithm.weights(self._grown().narrowed(self._state, columns))
        return sum(map(mul, (self._factor * weights).tolist(), [v for _, v in known]), 0.0)

    def scores(self, names: tuple[Any, ...], X: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) scores of dense rows of the named features; features that no row has had are ignored."""
        self._refuse_failed()
        if self._state is None:
            return np.zeros(X.shape[0])
        self._step()
        model, columns = self._model(), [self.columns.known(name) for name in names]
        places = [k for k, column in enumerate(columns) if column is not None]
        numbers = np.array([columns[k] for k in places], np.intp)
        if isinstance(model, np.ndarray):
            return self._scores(model[numbers], self._factor * X[:, places])
        Z = np.zeros((X.shape[0], self._d))
        np.add.at(Z.T, numbers, self._factor * X[:, places].T)
        return self._scores(model, sparse.csr_array(Z))

    def weights(self) -> NDArray[np.float64]:
        """(d,) weights for raw rows; empty before the first row."""
        self._refuse_failed()
        if self._state is None:
            return np.zeros(0)
        self._step()
        return self._factor * np.asarray(self._model())

    def refuse_divergence(self) -> None:
        """Raise the error for a model that is not finite."""
        raise ParameterError(f"{divergence(self.settings.algorithm, f'within {self.seen:,} rows')}.")
