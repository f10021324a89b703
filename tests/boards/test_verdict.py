"""The verdict on a trial: ranks, ties, speed, and what to look at next."""

import numpy as np
import pandas as pd

from aucbench.boards.statistics import compare_runs
from aucbench.result import CellResult
from aucbench.trying import Contest, Standing, verdict
from tests.trying.support import printed


def standing(label, aucs, ns=100.0, stop="budget", tuned=None):
    samples = np.arange(1.0, 101.0)
    cells = tuple(
        CellResult(
            {
                "result": {
                    "auc": auc, "ns_per_iteration": ns, "iterations": 50, "stop_reason": stop,
                },
                "tuned": {"parameters": tuned} if tuned else None,
                "split_seed": seed,
                "fold": 0,
                "protocol": {"name": "holdout", "parameters": {"test_fraction": 0.2}},
                "max_train_rows": None,
                "data": {"train_rows": 80, "test_rows": 20},
            },
            {"samples": samples, "auc": np.full(100, 0.5 if auc is None else auc), "iteration": samples},
            None,
        )
        for seed, auc in enumerate(aucs)
    )  # fmt: skip
    return Standing(label, "data", cells)


def judged(*standings, access="stream", grid=None):
    known = {(each.label, each.dataset): each for each in standings}
    return " ".join(verdict(Contest("mine", access, 5.0, known, grid or {})))


def test_the_rank_is_that_of_the_mean_and_significance_that_of_the_leaderboard():
    text = judged(standing("mine", [0.90, 0.80, 0.85]), standing("psam", [0.80, 0.90, 0.86]))
    assert "second of 2, not significantly different from psam (0.8533)" in text
    assert "Nadeau and Bengio" in text
    far = judged(standing("mine", [0.95, 0.40, 0.70]), standing("psam", [0.90, 0.91, 0.92]))
    assert "not significantly different from psam (0.9100)" in far
    below = judged(standing("mine", [0.800, 0.811]), standing("psam", [0.9000, 0.9109]))
    assert "second of 2, significantly below psam's 0.9055" in below


def test_the_outcomes_are_those_of_the_test_of_the_boards():
    methods = {"mine": [0.80, 0.81, 0.82], "psam": [0.90, 0.91, 0.921], "solam": [0.79, 0.82, 0.83]}
    text = judged(*(standing(name, aucs) for name, aucs in methods.items()))
    runs = [
        ("b", "d", name, run, auc, "finished")
        for name, aucs in methods.items()
        for run, auc in enumerate(aucs)
    ]
    frame = pd.DataFrame(runs, columns=["board", "dataset", "method", "run", "auc", "status"])
    outcomes = compare_runs(frame, 0.25).set_index(["first", "second"])["outcome"]
    assert dict(outcomes) == {("mine", "psam"): "loss", ("mine", "solam"): "tie", ("psam", "solam"): "win"}
    assert (
        "third of 3, not significantly different from solam (0.8133) and significantly below psam's" in text
    )


def test_a_single_run_is_compared_with_the_others_of_its_seed():
    text = judged(standing("mine", [0.8]), standing("psam", [0.7]), standing("ls_svm", [0.85, 0.99]))
    assert (
        "AUC 0.8000 of one run, first of 2; psam has 0.7000; 0.0500 below the batch optimum of ls_svm" in text
    )
    assert "significant" not in text


def test_a_rival_that_is_tried_is_not_its_own_rival():
    found = Contest("psam", "stream", 5.0, {("psam", "data"): standing("psam", [0.9])}, {})
    assert "first of" not in verdict(found)[0]


def test_long_names_stay_apart_in_picture_and_table():
    name = "my_long_method_name"
    both = [standing(name, [0.8, 0.9]), standing(f"{name} tuned", [0.9, 0.9], tuned={"eta": 1.0})]
    found = Contest(name, "stream", 5.0, {(each.label, "data"): each for each in both}, {})
    lines = printed(found).splitlines()
    assert any("my_l~d_name" in line for line in lines)
    assert any("my_l~ tuned" in line for line in lines)
    assert len({line[:20] for line in lines if line.startswith("my_long")}) == 2


def test_the_optimum_is_the_better_batch_method_and_the_gap_is_a_number():
    text = judged(standing("mine", [0.9]), standing("ls_svm", [0.95]), standing("svm_or", [0.97]))
    assert "0.0700 below the batch optimum of svm_or" in text
    assert "does its objective fit the AUC?" in text


def test_speed_is_told_as_a_multiple_and_a_slow_loop_is_to_be_compiled():
    text = judged(standing("mine", [0.9], ns=5000.0), standing("psam", [0.9], ns=100.0))
    assert "5,000 ns per iteration, 50 times psam's" in text
    assert "aucbench.kernels.kernel" in text
    text = judged(standing("mine", [0.9], ns=50.0), standing("psam", [0.9], ns=100.0))
    assert "1/2 of psam's" in text
    assert "aucbench.kernels.kernel" not in text


def test_a_tuning_that_ends_at_the_edge_of_its_grid_is_said():
    tuned = standing("mine tuned", [0.9, 0.9], tuned={"eta": 9.0})
    text = judged(standing("mine", [0.8, 0.8]), tuned, grid={"eta": (0.1, 1.0, 10.0)})
    assert "the edge of the grid of eta (high end)" in text
    assert "this is tuned, with its defaults 0.8000" in text


def test_a_run_that_diverged_is_said_with_its_iteration():
    text = judged(standing("mine", [None], stop="diverged"), standing("psam", [0.9]))
    assert "data: it diverged, at iteration 50; a diverged run has no AUC." in text
