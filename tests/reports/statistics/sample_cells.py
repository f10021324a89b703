"""Cells, curves and tables for the tests of statistics."""

import numpy as np
import pandas as pd

from aucbench.reports.statistics.inputs import Curve

COSTS = ("train_seconds", "ns_per_iteration", "state_bytes", "tuning_seconds", "tuning_passes")

# Table 6 of J. Demsar, JMLR 7 (2006): AUC of C4.5 and variants. On `voting` the paper ranks C4.5+cf before
# C4.5+m+cf although both are printed as 0.975; a digit was added to say so.
DEMSAR = pd.DataFrame(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.9749],
        [0.957, 0.978, 0.946, 0.970],
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)


def make_cells(aucs, board="board"):
    """Cells of {dataset: {method: [auc of run 0, ...]}}; a status in place of an AUC; None is no row."""
    rows = []
    for dataset, methods in aucs.items():
        for method, values in methods.items():
            for run, value in enumerate(values):
                if value is None:
                    continue
                finished = not isinstance(value, str)
                rows.append(
                    {
                        "board": board,
                        "dataset": dataset,
                        "method": method,
                        "run": run,
                        "auc": value if finished else np.nan,
                        "status": "finished" if finished else value,
                    }
                    | dict.fromkeys(COSTS, 1.0 + run)
                )
    return pd.DataFrame(rows, columns=["board", "dataset", "method", "run", "auc", "status", *COSTS])


def random_cells(seed=0, datasets=4, methods=3, runs=5):
    """Cells with AUCs to two digits, so that some tie."""
    rng = np.random.default_rng(seed)
    return make_cells(
        {
            f"d{d}": {f"m{m}": list(np.round(rng.uniform(0.5, 1, runs), 2)) for m in range(methods)}
            for d in range(datasets)
        }
    )


def demsar_cells():
    """The table of Demsar as cells of a single run."""
    return make_cells(
        {row: {method: [DEMSAR.loc[row, method]] for method in DEMSAR.columns} for row in DEMSAR.index}
    )


def curve(cost, auc):
    """A curve as `read_curve` gives it."""
    return Curve(np.array(cost, dtype=float), np.array(auc, dtype=float))


RISING = curve([1, 10, 100], [0.5, 0.6, 0.9])


def arrays(auc, samples=(1, 10, 100)):
    """The arrays of a curve as they are given with cells."""
    return {"samples": np.array(samples), "train_seconds": np.array(samples) / 1000, "auc": np.array(auc)}
