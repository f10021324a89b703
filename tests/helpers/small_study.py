"""Reports of any size, built from cells with random AUCs, for tests of the views."""

import numpy as np

from aucbench.reports import build
from aucbench.reports.baseline import BASELINE
from tests.helpers.board_cells import finished, tuning, unfinished


def report(methods=5, boards=3, runs=5, seed=0, checkpoints=30, gaps=True, tuned=True, **changes):
    """A report on method0, method1, ... on data1, data2, ...; method0 is best, method1 is the baseline.

    With gaps, a run of the last method failed on the first data set.
    """
    baseline = "method1" if methods > 1 else BASELINE
    return build.build(
        cells(methods, boards, runs, seed, checkpoints, gaps, tuned, **changes),
        "a study",
        one_study=True,
        baseline=baseline,
    )


def cells(methods=5, boards=3, runs=5, seed=0, checkpoints=30, gaps=True, tuned=True, **changes):
    """The cells of such a report."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(1, boards + 1):
        for place in range(methods):
            what = {"algorithm": f"method{place}", "dataset": f"data{number}"}
            what |= changes | ({"tuning": tuning()} if tuned else {})
            for run in range(runs):
                auc = 0.9 - 0.02 * place + rng.normal(0.0, 0.005)
                if gaps and number == 1 and place == methods - 1 and run == 0:
                    found.append(unfinished("failed", seed=run, **what))
                    continue
                found.append(
                    finished(
                        float(auc),
                        seed=run,
                        seconds=float(rng.uniform(1e-3, 1.0)),
                        checkpoints=checkpoints,
                        tuned=_tuned(rng) if tuned else None,
                        **what,
                    )
                )
    return found


def _tuned(rng):
    trials = [
        {
            "number": 3 * (k + 5) + j,
            "fold": 0,
            "stop_reason": "budget",
            "parameters": {"eta": 2.0**k, "radius": 10.0**j},
            "auc": rng.uniform(0.6, 0.9),
        }
        for k in range(-5, 5)
        for j in range(3)
    ]
    chosen = max(trials, key=lambda trial: trial["auc"])["parameters"]
    return {
        "parameters": chosen,
        "trials": trials,
        "cost": {"settings": 30, "trainings": 30, "train_seconds": 3.0, "passes": 147.0},
    }
