"""Reports of any size, built from cells with random AUCs, for tests of the views."""

import numpy as np

from aucbench.reports.build import build
from tests.helpers.board_cells import finished, unfinished


def small_report(methods=("alpha", "beta", "gamma"), data_sets=12, runs=2, seed=0, far=(), **changes):
    """A report whose reference is the first method; each next one is .002 worse, and those in `far` .2 worse.

    `changes` go to the cells; data sets are `data0`, `data1` ... unless their names are given.
    """
    cells = small_cells(methods, data_sets, runs, seed, far, **changes)
    return build(cells, "a study", True, reference=methods[0])


def small_cells(methods=("alpha", "beta", "gamma"), data_sets=12, runs=2, seed=0, far=(), **changes):
    """The cells of a small report."""
    rng = np.random.default_rng(seed)
    names = [f"data{k}" for k in range(data_sets)] if isinstance(data_sets, int) else data_sets
    cells = []
    for data_set in names:
        rare = int(rng.integers(4, 40))
        for rank, method in enumerate(methods):
            for run in range(runs):
                auc = 0.9 - 0.002 * rank - 0.2 * (method in far) + rng.normal(0.0, 0.002)
                spec = {"seconds": float(rng.uniform(1e-3, 1.0)), "data": {"train_positives": rare}} | changes
                cells.append(finished(float(auc), seed=run, algorithm=method, dataset=data_set, **spec))
    return cells


def failed_cells(method, data_sets, runs=2):
    """Cells of a method that failed in every run."""
    return [
        unfinished("failed", seed=run, algorithm=method, dataset=f"data{k}")
        for k in range(data_sets)
        for run in range(runs)
    ]
