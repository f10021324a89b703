"""A matrix of p-values as a picture."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aucbench.boards.pictures.styling import begin, short
from aucbench.boards.texts import line


def matrix(methods: Sequence[str], pairwise: Mapping[tuple[str, str], float], title: str) -> Any:
    """The figure; None with fewer than two methods or no test at all."""
    import seaborn as sns

    size = len(methods)
    values = np.full((size, size), np.nan)
    for i, first in enumerate(methods):
        for j, second in enumerate(methods):
            values[i, j] = pairwise.get((first, second), np.nan)
    if size < 2 or np.isnan(values).all():
        return None
    written = np.array([["<.01" if p < 0.01 else f"{p:.2f}" for p in row] for row in values])
    side = 2.6 + 0.46 * size
    figure, axes = begin(side + 1.6, side)
    names = short(methods, 24)
    sns.heatmap(
        values, vmin=0.0, vmax=0.2, cmap="viridis", annot=written if size <= 14 else None, fmt="",
        annot_kws={"fontsize": "x-small"}, xticklabels=names, yticklabels=names, ax=axes, square=True,
        cbar_kws={"label": "p-value", "shrink": 0.7, "extend": "max"}, linewidths=0.5, linecolor="white",
    )  # fmt: skip
    axes.set_title(line(title))
    axes.tick_params(axis="x", rotation=90, labelsize="small")
    axes.tick_params(axis="y", rotation=0, labelsize="small")
    axes.grid(visible=False)
    return figure
