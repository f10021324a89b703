"""Calls of a method's functions, timed, and checks of the returned values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Batch, Problem
from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import wrong_scores
from aucbench.testing.findings import Broken
from aucbench.testing.time_limit import TimeLimit

CSR_ROWS = (
    "These rows are CSR (scipy.sparse), and X @ w takes both kinds; a method that cannot take them declares "
    'requires: ClassVar = {"dense": "the reason"}.'
)


class Calls:
    """The functions of a method, called within a time limit."""

    def __init__(self, plugin: Any, limit: TimeLimit):
        self._plugin, self._limit = plugin, limit

    def init(self, problem: Problem, rng: np.random.Generator) -> Any:
        """The first state."""
        return self._state("init", "`return` and the first state", problem, rng)

    def step(self, state: Any, batch: Batch) -> Any:
        """The state after the batch."""
        return self._state("step", "`return state`", state, batch, iterations=len(batch))

    def final(self, state: Any) -> Any:
        """The state that is scored."""
        if not hasattr(self._plugin, "finalize"):
            return state
        return self._state("finalize", "`return` and the state to be scored", state)

    def weights(self, state: Any) -> Any:
        """The weights, unchecked."""
        return self._call("weights", state)

    def done(self, state: Any) -> bool:
        """Whether it has converged."""
        return bool(self._call("done", state))

    def raw_score(self, state: Any, X: Any) -> Any:
        """The scores, unchecked."""
        return self._call("score", state, X)

    def score(self, state: Any, X: Any) -> NDArray[np.float64]:
        """(n,) decision values."""
        found = self.raw_score(state, X)
        wrong = wrong_scores(found, X.shape[0])
        if not wrong and not isinstance(found, np.ndarray):
            wrong = f"returned a {type(found).__name__}: make it np.asarray(...)."
        elif not wrong and found.dtype.kind != "f":
            wrong = f"returned {found.dtype}: add .astype(float)."
        if wrong:
            hint = f" {CSR_ROWS}" if sparse.issparse(X) else ""
            raise self.broken("score", f"of {X.shape[0]} rows {wrong}{hint}")
        return np.asarray(found, np.float64)

    def _state(self, method: str, end: str, *arguments: Any, iterations: int = 0) -> Any:
        state = self._call(method, *arguments, iterations=iterations)
        if state is None:
            raise self.broken(method, f"returned None: end it with {end}.")
        return state

    def _call(self, method: str, *arguments: Any, iterations: int = 0) -> Any:
        self._limit.begin(method, iterations)
        result = getattr(self._plugin, method)(*arguments)
        self._limit.end()
        return result

    def broken(self, method: str, words: str) -> Broken:
        """The error of a function, with its place."""
        return Broken(f"`{method}` {words}", place_of(getattr(type(self._plugin), method)))
