"""Messages about what a method's functions must return."""

from typing import Any

import numpy as np
from scipy import sparse

NO_STATE = "returned None: end it with `return state`."


def wrong_scores(found: Any, n: int) -> str:
    """What is wrong with the form of scores of n rows, and what to do; empty when it is as it should be."""
    expected = f"expected an ndarray of shape ({n},), one score per row"
    if found is None:
        return f"returned None: end it with `return` and the scores; {expected}."
    if sparse.issparse(found):
        return f"returned a sparse matrix: add .toarray().ravel(); {expected}."
    shape = np.shape(found)
    if shape == ():
        return f"returned a single number: it is given many rows, not one; {expected}."
    if shape in ((n, 1), (1, n)):
        return f"returned shape {shape}: add .ravel(); {expected}."
    return "" if shape == (n,) else f"returned shape {shape}; {expected}."
