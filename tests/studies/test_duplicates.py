"""Equal rows in studies: counted, kept together on request, and in one block of the placements."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from msgspec import UNSET

import aucbench
from aucbench.data.equal_rows import blocks_of
from aucbench.data.splits.protocols import PROTOCOLS, Holdout, KFold
from aucbench.evaluation.delong import block_deviations
from aucbench.runner.scorer import linear_scores
from aucbench.studies.archives.archive import from_store, into_store
from aucbench.studies.archives.archive_file import read, write
from aucbench.studies.execution.prepared_data import PreparedData, prepare_split
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid
from tests.helpers.studies import entry, plan_of, run_entries
from tests.helpers.study_methods import Diverging, Gentle, Other


@dataclass(frozen=True)
class Repeated:
    """Sixty different rows, each repeated three times; ten rows have both labels."""

    name: ClassVar[str] = "fake_repeated"

    def load(self):
        rng = np.random.default_rng(0)
        X = np.repeat(rng.standard_normal((60, 3)), 3, axis=0)
        y = np.where(X[:, 0] > 0, 1, -1)
        y[:30:3] *= -1
        order = rng.permutation(180)
        return aucbench.Samples(X[order], y[order])


def origin(record, entries, data):
    """The entry of a record, and the split of the record."""
    (planned,) = [item for item in entries if record.key in item.cell_keys(data.digests(item)).values()]
    return planned, data.split(planned, record.seeds)


@pytest.mark.slow
def test_records_count_repeated_rows_of_the_split_that_a_method_was_given(tmp_path):
    store = Store(tmp_path)
    protocols = Holdout(), Holdout(duplicates="together"), KFold(3, duplicates="together")
    entries = [entry(Gentle(), Repeated(), protocol=protocol, tuning=Grid(folds=2)) for protocol in protocols]
    entries.append(replace(entries[0], settings=replace(entries[0].settings, max_train_rows=40)))
    assert run_entries(entries, store).failures == []
    data = PreparedData()
    assert len(list(store)) == 6
    for cell in store:
        record = cell.record
        planned, split = origin(record, entries, data)
        train, test = (list(map(tuple, side.X[side.rows])) for side in split[:2])
        assert record.data.duplicates == np.mean([row in set(train) for row in test])
        labels = {}
        for row, label in zip(train + test, [*split.train.y, *split.test.y], strict=True):
            labels.setdefault(row, set()).add(label)
        assert record.data.mixed_labels == np.mean([len(labels[row]) == 2 for row in train + test])
        assert (record.data.duplicates == 0) == (planned.protocol.duplicates == "together")


@pytest.mark.parametrize("cls", PROTOCOLS, ids=lambda cls: cls.name)
def test_the_default_is_in_no_key_and_the_choice_is(cls):
    default, together = (entry(Gentle(), protocol=cls(duplicates=mode)) for mode in ("anywhere", "together"))
    assert "duplicates" not in default.describe().protocol.parameters
    assert together.describe().protocol.parameters["duplicates"] == "together"
    assert default.key(("data",)) == entry(Gentle(), protocol=cls()).key(("data",)) != together.key(("data",))


def test_placements_are_those_of_the_final_weights_and_survive_archives(tmp_path):
    store, data = Store(tmp_path / "store"), PreparedData()
    entries = [entry(method(), Repeated()) for method in (Gentle, Other, Diverging)]
    assert run_entries(entries, store).failures == []
    store.put_plan(plan_of(entries, store, name="placements").describe(""))
    write(from_store(store, "placements"), tmp_path / "a.zip")
    target = Store(tmp_path / "there")
    into_store(read(tmp_path / "a.zip")[1], target)
    assert len(list(store)) == 3
    for cell in store:
        record = cell.record
        assert target.get(record.key).record.result.placements == record.result.placements
        assert (record.result.placements is UNSET) == cell.diverged
        if cell.diverged:
            continue
        planned, split = origin(record, entries, data)
        blocks, rows = blocks_of(split.test), split.test.X[split.test.rows]
        for row in np.unique(rows, axis=0):
            assert len(set(blocks[(rows == row).all(axis=1)])) == 1
        prepared = prepare_split(planned, split, record.split_seed)
        (scores,) = linear_scores(cell.weights[None], prepared.X_test)
        expected = block_deviations(scores, prepared.y_test, blocks)
        assert record.result.placements == pytest.approx(expected, rel=1e-4)
