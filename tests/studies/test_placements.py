"""Placements in records: those of the final weights, in blocks shared by the methods of a split."""

import numpy as np
import pytest
from msgspec import UNSET

from aucbench.data.equal_rows import blocks_of
from aucbench.evaluation.placements import block_deviations
from aucbench.runner.scorer import linear_scores
from aucbench.studies.archives.archive import from_store, into_store
from aucbench.studies.archives.archive_file import read, write
from aucbench.studies.execution.prepared_data import PreparedData, prepare_split
from aucbench.studies.store import Store
from tests.helpers.studies import entry, plan_of, run_entries
from tests.helpers.study_methods import Diverging, Gentle, Other
from tests.studies.test_duplicates import Repeated


def test_placements_are_those_of_the_final_weights_and_survive_archives(tmp_path):
    store, data = Store(tmp_path / "store"), PreparedData()
    entries = [entry(method(), Repeated()) for method in (Gentle, Other, Diverging)]
    assert run_entries(entries, store).failures == []
    store.put_plan(plan_of(entries, store).describe("placements"))
    write(from_store(store, "placements"), tmp_path / "a.zip")
    there = Store(tmp_path / "there")
    into_store(read(tmp_path / "a.zip")[1], there)
    assert len(list(store)) == 3
    for cell in store:
        record = cell.record
        assert there.get(record.key).record.result.placements == record.result.placements
        assert (record.result.placements is UNSET) == cell.diverged
        if cell.diverged:
            continue
        (own,) = [each for each in entries if record.key in each.cell_keys(data.digests(each)).values()]
        split = data.split(own, record.split_seed, record.fold)
        blocks, rows = blocks_of(split.test), split.test.X[split.test.rows]
        for row in np.unique(rows, axis=0):
            assert len(set(blocks[(rows == row).all(axis=1)])) == 1
        prepared = prepare_split(own, split, record.split_seed)
        (scores,) = linear_scores(cell.weights[None], prepared.X_test)
        expected = block_deviations(scores, prepared.y_test, blocks)
        assert record.result.placements == pytest.approx(expected, rel=1e-4)
