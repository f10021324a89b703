"""All statistics over the tables that break statistics."""

import numpy as np
import pandas as pd
import pytest

from aucbench.reports.statistics.anytime_auc import anytime_auc
from aucbench.reports.statistics.friedman import friedman
from aucbench.reports.statistics.inputs import RefusedError, dataset_means
from aucbench.reports.statistics.multiple_comparisons import groups_by_wilcoxon, groups_of_runs
from aucbench.reports.statistics.paired_t_test import compare_runs
from aucbench.reports.statistics.ranks import average_ranks
from aucbench.reports.statistics.summary import gains_over_datasets, summarise
from aucbench.reports.statistics.time_to_target import costs_to_reach, summarise_reaching, target_aucs
from aucbench.reports.statistics.wilcoxon import compare_datasets
from tests.reports.statistics.sample_cells import make_cells, random_cells

EDGES = {
    "no cells": {},
    "one data set": {"d": {"a": [0.7, 0.8, 0.9], "b": [0.6, 0.8, 0.7], "c": [0.5, 0.6, 0.6]}},
    "two methods": {d: {"a": [0.7, 0.8], "b": [0.6, 0.9]} for d in range(12)},
    "one method": {d: {"a": [0.7, 0.8]} for d in range(3)},
    "one run": {d: {"a": [0.7], "b": [0.6], "c": [0.9]} for d in range(12)},
    "all ties": {d: {"a": [0.7, 0.7], "b": [0.7, 0.7], "c": [0.7, 0.7]} for d in range(12)},
    "a constant difference": {d: {"a": [0.7, 0.8], "b": [0.6, 0.7]} for d in range(3)},
    "a missing cell": {d: {"a": [0.7, 0.8], "b": [0.6, None if d else 0.7]} for d in range(3)},
    "missing methods": {d: {f"m{d}": [0.7, 0.8]} for d in range(3)},
    "all runs diverged": {d: {"a": ["diverged"] * 2, "b": ["diverged"] * 2} for d in range(3)},
    "one method diverged": {d: {"a": ["diverged"] * 2, "b": [0.7, 0.8], "c": [0.7, 0.9]} for d in range(11)},
    "AUCs that are no numbers": {d: {"a": [float("nan"), 0.8], "b": [0.6, 0.7]} for d in range(3)},
    "perfect and below chance": {
        "d": {"a": [1.0, 1.0], "b": [0.0, 0.0]},
        "e": {"a": [0.2, 0.1], "b": [0.0, 0.1]},
    },
}


def curves_of(cells):
    keys = cells[cells["auc"].notna()][["board", "dataset", "method", "run", "auc"]].to_numpy().tolist()
    return {
        tuple(key): {
            "samples": np.array([1, 10, 100]),
            "train_seconds": np.array([0.0, 1e-3, 1e-2]),
            "auc": np.array([0.5, (0.5 + auc) / 2, auc]),
        }
        for *key, auc in keys
    }


def everything(cells):
    """All tables of statistics by name; None where one is refused."""
    summary, pairs = summarise(cells, 0.25, baseline="a"), compare_runs(cells, 0.25)
    ranking, datasets = average_ranks(cells, resamples=50), compare_datasets(cells)
    reached = costs_to_reach(cells, curves_of(cells), target_aucs(cells), "train_seconds")
    found = {
        "summary": summary,
        "pairs": pairs,
        "gains": gains_over_datasets(cells, "a"),
        "datasets": datasets,
        "complete": ranking.complete,
        "with gaps": ranking.with_gaps,
        "missing": ranking.missing,
        "reaching": summarise_reaching(reached),
        "anytime": anytime_auc(cells, curves_of(cells)),
    }
    for dataset in cells["dataset"].unique():
        groups_of_runs(summary[summary["dataset"] == dataset], pairs[pairs["dataset"] == dataset])
    groups_by_wilcoxon(ranking.with_gaps.set_index("method")["rank"], datasets)
    for name, compute in (("friedman", lambda: pd.DataFrame([friedman(dataset_means(cells))])),):
        try:
            found[name] = compute()
        except RefusedError:
            found[name] = None
    return found


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("edge", EDGES)
def test_every_statistic_has_an_answer_or_a_refusal(edge):
    cells = make_cells(EDGES[edge])
    found = everything(cells)
    assert found["summary"]["mean"].dropna().between(0, 1).all()
    assert found["anytime"]["auc"].dropna().between(0, 1).all()
    for name in ("pairs", "datasets"):
        assert found[name][["p", "p_holm"]].dropna(how="all").stack().between(0, 1).all()
    for name in ("complete", "with gaps"):
        table = found[name].dropna()
        assert (table["low"] <= table["high"]).all()
        assert table["rank"].between(1, max(1, cells["method"].nunique())).all()
    finished = int((cells["status"].eq("finished") & cells["auc"].notna()).sum())
    expected = (
        sum(
            len({run for d, run in zip(cells["dataset"], cells["run"], strict=True) if d == dataset})
            for dataset in cells["dataset"].unique()
        )
        * cells["method"].nunique()
    )
    assert len(found["missing"]) == expected - finished


@pytest.mark.parametrize("edge", ["a missing cell", "one method diverged", "one data set"])
def test_nothing_depends_on_the_order_of_the_rows(edge):
    cells = make_cells(EDGES[edge])
    one, other = everything(cells), everything(cells.sample(frac=1, random_state=1))
    for name, table in one.items():
        if table is not None:
            pd.testing.assert_frame_equal(table, other[name])


def test_the_cells_that_were_given_are_left_as_they_are():
    cells = random_cells()
    before = cells.copy(deep=True)
    everything(cells)
    pd.testing.assert_frame_equal(cells, before)


def test_reading_the_table_upside_down_turns_wins_into_losses():
    cells = random_cells(seed=4, runs=8)
    upside_down = cells.assign(auc=1 - cells["auc"])
    one, other = compare_runs(cells, None, 0.3), compare_runs(upside_down, None, 0.3)
    mirrored = other["outcome"].replace({"win": "loss", "loss": "win"})
    assert set(one["outcome"]) == {"win", "tie", "loss"}
    assert one["outcome"].tolist() == mirrored.tolist()
    np.testing.assert_allclose(one["p"], other["p"])
