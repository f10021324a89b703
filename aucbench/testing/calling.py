"""Calling a method's functions, and what they must at least return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Batch, Problem
from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import NO_STATE, wrong_scores
from aucbench.testing.findings import Broken
from aucbench.testing.patience import Patience

CSR_ROWS = (
    "These rows are CSR (scipy.sparse), and X @ w takes both kinds; a method that cannot take them declares "
    'requires: ClassVar = {"dense": "the reason"}.'
)


class Calls:
    """The functions of a method, each call within its patience.

    Parameters
    ----------
    plugin : Algorithm
        The method.
    patience : Patience
        Told what is called.
    """

    def __init__(self, plugin: Any, patience: Patience):
        self._plugin, self._patience = plugin, patience

    def init(self, problem: Problem, rng: np.random.Generator) -> Any:
        """The first state."""
        state = self._call("init", problem, rng)
        if state is None:
            raise self.broken("init", "returned None: end it with `return` and the first state.")
        return state

    def step(self, state: Any, batch: Batch) -> Any:
        """The state after the batch."""
        state = self._call("step", state, batch, iterations=len(batch))
        if state is None:
            raise self.broken("step", NO_STATE)
        return state

    def final(self, state: Any) -> Any:
        """The state that is scored."""
        if not hasattr(self._plugin, "finalize"):
            return state
        state = self._call("finalize", state)
        if state is None:
            raise self.broken("finalize", "returned None: end it with `return` and the state to be scored.")
        return state

    def weights(self, state: Any) -> Any:
        """The weights, whatever they are."""
        return self._call("weights", state)

    def done(self, state: Any) -> bool:
        """Whether it has converged."""
        return bool(self._call("done", state))

    def raw_score(self, state: Any, X: Any) -> Any:
        """The scores, whatever they are."""
        return self._call("score", state, X)

    def score(self, state: Any, X: Any) -> NDArray[np.float64]:
        """(n,) decision values."""
        found = self.raw_score(state, X)
        wrong = _wrong_scores(found, X.shape[0])
        if wrong:
            hint = f" {CSR_ROWS}" if sparse.issparse(X) else ""
            raise self.broken("score", f"of {X.shape[0]} rows {wrong}{hint}")
        return np.asarray(found, np.float64)

    def _call(self, method: str, *arguments: Any, iterations: int = 0) -> Any:
        self._patience.begin(method, iterations)
        result = getattr(self._plugin, method)(*arguments)
        self._patience.end()
        return result

    def broken(self, method: str, words: str) -> Broken:
        """What is wrong with a function, at its place."""
        return Broken(f"`{method}` {words}", place_of(getattr(type(self._plugin), method)))


def _wrong_scores(found: Any, n: int) -> str:
    """What is wrong with scores of n rows, and what to do; empty when they are as they should be."""
    wrong = wrong_scores(found, n)
    if wrong:
        return wrong
    if not isinstance(found, np.ndarray):
        return f"returned a {type(found).__name__}: make it np.asarray(...)."
    return "" if found.dtype.kind == "f" else f"returned {found.dtype}: add .astype(float)."
