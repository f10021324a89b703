"""The formula-made data set on which the golden values were computed, and the orders of its rows."""

import json
from pathlib import Path

import numpy as np

GOLDEN = json.loads((Path(__file__).parents[1] / "golden.json").read_text())


def formula_data():
    """X (200, 4) with unit rows and y (200,) in {-1, 1}."""
    i, j = np.arange(200), np.arange(4)
    y = np.where((i * i + i) % 7 < 2, 1, -1).astype(np.int8)
    X = np.sin(0.7 * np.outer(i + 1, j + 1)) + 0.5 * np.outer(y, np.cos(j + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def formula_order(repeats=1):
    """Row numbers of `stream` methods."""
    return np.tile((67 * np.arange(200) + 5) % 200, repeats)


def formula_pairs(count=400):
    """(count, 2) row numbers of `pairs` methods."""
    _, y = formula_data()
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    t = np.arange(1, count + 1)
    return np.column_stack([positives[13 * t % len(positives)], negatives[29 * t % len(negatives)]])
