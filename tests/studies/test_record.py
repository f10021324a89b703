"""Records on disk: earlier versions, missing fields, damage, and the fields that plugins add.

`recorded` is a store with plain, tuned, diverged and failed cells of version 0.1.
"""

import json
import shutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from msgspec import UNSET, structs

from aucbench import DataError, catalog, run
from aucbench.studies.archives import archive_file
from aucbench.studies.codec import decode, encode, subset, to_dict
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.plugin_metadata import completed, model_of
from aucbench.studies.record import (
    DESCRIPTION,
    BudgetRecord,
    CellRecord,
    EntryDescription,
    FailureRecord,
    StudyPlan,
    Trial,
)  # fmt: skip
from aucbench.studies.rerun_command import words
from aucbench.studies.store import Store
from aucbench.studies.tuners import frozen
from tests.helpers.archives import with_record

FOLDER = Path(__file__).parent / "recorded"
TEXTS = {
    CellRecord: [np.load(file)["record"].tobytes() for file in FOLDER.glob("cells/*/*.npz")],
    FailureRecord: [file.read_bytes() for file in FOLDER.glob("failures/*/*.json")],
    StudyPlan: [file.read_bytes() for file in FOLDER.glob("plans/*.json")],
    Trial: [line for file in FOLDER.glob("trials/*/*") for line in file.read_bytes().splitlines()],
}


@pytest.fixture
def store(tmp_path):
    return Store(shutil.copytree(FOLDER, tmp_path / "store"))


@pytest.mark.parametrize("kind", TEXTS)
def test_earlier_records_come_back_and_are_written_as_they_were(kind):
    assert TEXTS[kind]
    for text in TEXTS[kind]:
        record = decode(text, kind)
        assert msgspec.convert(to_dict(record), kind) == record
        encoded = encode(record)
        assert json.dumps(json.loads(encoded), sort_keys=True) == json.dumps(json.loads(text), sort_keys=True)


def key_of(record):
    """The key of a cell, computed from its record."""
    described = EntryDescription(**subset(record, DESCRIPTION))
    described = structs.replace(described, dataset=structs.replace(described.dataset, family=UNSET))
    entry = SimpleNamespace(
        describe=lambda: described, source_digest=record.source, cells=lambda: [record.seeds]
    )
    return Entry.cell_keys(entry, record.data.sha256)[record.seeds]


def test_keys_are_digests_of_what_the_record_has_as_in_earlier_versions(store):
    archives = [archive_file.read(file)[1] for file in (FOLDER.parent / "kept").glob("*.zip")]
    records = [cell.record for source in (store, *archives) for cell in source]
    assert len(records) > 10
    for record in (*records, run("algo=solam", "dataset=wine", "budget.epochs=1").cells[0].record):
        assert key_of(record) == record.key


def test_regularisation_of_a_record_without_it_referred_to_the_rescaled_rows_of_ten_epochs(store):
    (record,) = {cell.record.algorithm.name: cell.record for cell in store if cell.diverged}.values()
    earlier = structs.replace(record, rescale=True, budget=BudgetRecord())
    overrides = words(structs.replace(earlier, regularisation=UNSET), [earlier.seeds])
    assert {"regularisation=rows", "budget.epochs=10.0"} <= set(overrides)
    plain = words(structs.replace(earlier, regularisation=UNSET, rescale=False), [earlier.seeds])
    assert "regularisation=rows" not in plain


def test_parameters_that_strict_json_lacks_are_kept(store):
    cell = next(iter(store))
    for value in (float("inf"), -float("inf"), np.float64(0.5), np.int64(3), (1, (2, 3))):
        store.put(cell.record.key, with_record(cell, "algorithm", parameters={"odd": value}))
        assert frozen(store.record(cell.record.key).algorithm.parameters["odd"]) == value


@pytest.mark.parametrize(
    ("changes", "field"), [({"result": {}}, "result"), ({"seed": "one"}, "seed"), ({"format": 3}, "format")]
)
def test_a_damaged_record_is_named_with_what_is_wrong(changes, field, store):
    file = next(iter(store.path.glob("cells/*/*.npz")))
    arrays = dict(np.load(file))
    content = json.loads(arrays["record"].tobytes()) | changes
    np.savez(file, **arrays | {"record": np.frombuffer(json.dumps(content).encode(), np.uint8)})
    for reader in (store.get, store.record):
        with pytest.raises(DataError, match=f"{file.stem}.*{field}"):
            reader(file.stem)


@pytest.mark.parametrize("content", ["{", "[]", '{"study": "x"}'])
def test_a_damaged_plan_or_failure_is_named_and_not_replaced(content, store):
    (plan,) = store.plans()
    (file,) = store.path.glob("plans/*.json")
    (failed,) = store.path.glob("failures/*/*.json")
    put, failure = partial(store.put_plan, plan), partial(store.failure, failed.stem)
    for path, use in ((file, store.plans), (file, put), (failed, failure)):
        path.write_text(content)
        with pytest.raises(DataError, match=path.name):
            use()
    assert file.read_text() == content


def test_a_record_keeps_the_family_of_its_data_set_which_is_no_part_of_its_key(tmp_path, monkeypatch):
    run_words = ("algo=ls_svm", "dataset=breast_cancer", f"store.path={tmp_path}")
    record = run(*run_words).cells[0].record
    assert record.dataset.family == "wdbc"
    monkeypatch.setattr(catalog().dataset("breast_cancer"), "family", "other")
    assert run(*run_words).cells[0].record == record  # from the store, by the same key
    earlier = structs.replace(record, dataset=structs.replace(record.dataset, family=UNSET))
    assert completed(earlier).dataset.family == "other"
    dataset = structs.replace(earlier.dataset, name="csv", title="my.csv")
    assert completed(structs.replace(earlier, dataset=dataset)).dataset.family == "my.csv"


def test_the_class_of_model_is_that_of_method_and_feature_map_in_records_of_any_version():
    common = ("dataset=breast_cancer", "tracking=none", "budget.epochs=1")
    kernel = run("algo=psam", "features=fourier", "features.dimension=9", *common).cells[0].record
    bayes = run("algo=sklearn", "algo.estimator=gaussian_nb", *common).cells[0].record
    assert [kernel.class_of_model, bayes.class_of_model] == ["kernel", "other"]
    stranger = structs.replace(kernel, algorithm=structs.replace(kernel.algorithm, name="not_installed"))
    weightless = structs.replace(stranger, result=structs.replace(stranger.result, weights_norm=None))
    for model, records in {"kernel": [kernel, stranger], "other": [weightless], "trees": [bayes]}.items():
        for record in records:  # a record without this field has the class of its method's defaults
            assert model_of(structs.replace(record, class_of_model=UNSET)) == model
    assert model_of(structs.replace(weightless, class_of_model="network")) == "network"
