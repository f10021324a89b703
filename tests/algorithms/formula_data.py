"""A data set that is made by a formula."""

import numpy as np


def formula_data():
    """X (200, 4) with unit rows and y (200,) in {-1, 1}."""
    i, j = np.arange(200), np.arange(4)
    y = np.where((i * i + i) % 7 < 2, 1, -1).astype(np.int8)
    X = np.sin(0.7 * np.outer(i + 1, j + 1)) + 0.5 * np.outer(y, np.cos(j + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y
