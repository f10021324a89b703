"""What is accepted as cells and curves, and where gaps are seen."""

import numpy as np
import pandas as pd

from aucbench.reports.statistics.inputs import (
    blocks,
    dataset_means,
    missing_cells,
    read_curve,
)
from aucbench.reports.statistics.summary import summarise
from tests.reports.statistics.sample_cells import arrays, make_cells


def test_a_block_holds_runs_and_methods_and_marks_what_is_missing():
    cells = make_cells({"d": {"a": [0.5, 0.6], "b": ["diverged", None]}})
    (block,) = blocks(cells)
    assert block.methods == ("a", "b")
    np.testing.assert_array_equal(block.aucs, [[0.5, np.nan], [0.6, np.nan]])
    assert block.statuses.tolist() == [["finished", "diverged"], ["finished", "missing"]]
    assert block.complete.tolist() == [True, False]


def test_only_a_finished_cell_has_an_auc():
    cells = make_cells({"d": {"a": [0.5, 0.6]}})
    cells.loc[1, "status"] = "timeout"
    assert np.isnan(blocks(cells)[0].aucs[1, 0])


def test_keys_may_be_tuples():
    cells = make_cells({("d", 1): {("m", 1): [0.5, 0.6], ("m", 2): [0.7, 0.8]}}, board=("b", 2))
    assert list(dataset_means(cells).columns) == [("m", 1), ("m", 2)]
    assert list(summarise(cells, None)["board"]) == [("b", 2)] * 2


def test_a_method_with_a_gap_has_no_mean_on_that_data_set():
    cells = make_cells({"d": {"a": [0.5, 0.7], "b": [0.5, "diverged"]}, "e": {"a": [0.9], "b": [0.8]}})
    expected = pd.DataFrame([[0.6, np.nan], [0.9, 0.8]])
    np.testing.assert_allclose(dataset_means(cells), expected)


def test_missing_cells_are_all_gaps_with_their_status():
    cells = make_cells({"d": {"a": [0.5, 0.7], "b": [0.5, "diverged"]}, "e": {"a": [0.9, float("nan")]}})
    found = missing_cells(cells)[["dataset", "method", "run", "status"]]
    assert sorted(map(tuple, found.to_numpy().tolist())) == [
        ("d", "b", 1, "diverged"),
        ("e", "a", 1, "finished"),
        ("e", "b", 0, "missing"),
        ("e", "b", 1, "missing"),
    ]


def test_no_cells_give_empty_tables():
    empty = make_cells({})
    assert len(summarise(empty, None)) == len(missing_cells(empty)) == len(dataset_means(empty)) == 0


def test_checkpoints_without_auc_are_left_out():
    assert read_curve(arrays([0.5, np.nan, 0.9]), "samples").cost.tolist() == [1, 100]
