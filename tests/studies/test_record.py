"""Records on disk: those of the version before they were typed, missing and unknown fields, damage.

`recorded` is a store which that version wrote: plain, tuned, diverged and failed cells.
"""

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from msgspec import UNSET, structs

from aucbench import DataError, catalog, run
from aucbench.studies import plugin_metadata
from aucbench.studies.archives import archive_file
from aucbench.studies.codec import decode, encode, from_dict, subset, to_dict
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.plugin_metadata import completed, model_of, settings_of
from aucbench.studies.record import (
    DESCRIPTION,
    BudgetRecord,
    CellRecord,
    EntryDescription,
    FailureRecord,
    StudyPlan,
    Trial,
)
from aucbench.studies.rerun_command import words
from aucbench.studies.store import Store
from aucbench.studies.tuners import frozen

FOLDER = Path(__file__).parent / "recorded"
CELLS = sorted(FOLDER.glob("cells/*/*.npz"))
TEXTS = {
    CellRecord: [np.load(file)["record"].tobytes() for file in CELLS],
    FailureRecord: [file.read_bytes() for file in FOLDER.glob("failures/*/*.json")],
    StudyPlan: [file.read_bytes() for file in FOLDER.glob("plans/*.json")],
    Trial: [line for file in FOLDER.glob("trials/*/*") for line in file.read_bytes().splitlines()],
}


@pytest.fixture
def store(tmp_path):
    return Store(shutil.copytree(FOLDER, tmp_path / "store"))


def typed(content):
    """JSON as text, fields sorted, so that 1 and 1.0 differ."""
    return json.dumps(content, sort_keys=True)


@pytest.mark.parametrize("kind", TEXTS)
def test_earlier_records_come_back_and_are_written_as_they_were(kind):
    assert TEXTS[kind]
    for text in TEXTS[kind]:
        assert typed(json.loads(encode(decode(text, kind)))) == typed(json.loads(text))


def key_of(record):
    """The key of a cell, made anew from its record."""
    described = EntryDescription(**subset(record, DESCRIPTION))
    described = structs.replace(described, dataset=structs.replace(described.dataset, family=UNSET))
    entry = SimpleNamespace(
        describe=lambda: described, source_digest=record.source, cells=lambda: [record.seeds]
    )
    return Entry.cell_keys(entry, record.data.sha256)[record.seeds]


def test_keys_are_digests_of_what_the_record_has_as_in_earlier_versions(store):
    kept = [archive_file.read(file)[1] for file in (FOLDER.parent / "kept").glob("*.zip")]
    records = [cell.record for source in (store, *kept) for cell in source]
    assert len(records) > 10
    for record in (*records, run("algo=solam", "dataset=wine", "budget.epochs=1").cells[0].record):
        assert key_of(record) == record.key


def test_regularisation_of_a_record_without_it_referred_to_the_rescaled_rows_of_ten_epochs(store):
    (own,) = {cell.record.algorithm.name: cell.record for cell in store if cell.diverged}.values()
    earlier = structs.replace(own, rescale=True, budget=BudgetRecord())
    found = words(structs.replace(earlier, regularisation=UNSET), [earlier.seeds])
    assert {"regularisation=rows", "budget.epochs=10.0"} <= set(found)
    plain = words(structs.replace(earlier, regularisation=UNSET, rescale=False), [earlier.seeds])
    assert "regularisation=rows" not in plain


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), np.float64(0.5), np.int64(3), (1, (2, 3))])
def test_parameters_that_strict_json_lacks_are_kept(value, store):
    cell = next(iter(store))
    algorithm = from_dict(to_dict(cell.record.algorithm) | {"parameters": {}}, type(cell.record.algorithm))
    algorithm.parameters["odd"] = value
    content = to_dict(cell.record) | {"algorithm": to_dict(algorithm)}
    store.put(cell.record.key, replace(cell, record=from_dict(content, CellRecord)))
    again = store.record(cell.record.key)
    assert frozen(again.algorithm.parameters["odd"]) == value


def damaged(store, **changes):
    """The file of a cell whose record was changed; `...` removes a field."""
    file = next(iter(store.path.glob("cells/*/*.npz")))
    arrays = dict(np.load(file))
    content = json.loads(arrays["record"].tobytes()) | changes
    content = {name: value for name, value in content.items() if value is not ...}
    np.savez(file, **arrays | {"record": np.frombuffer(json.dumps(content).encode(), np.uint8)})
    return file


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"result": ...}, "result"),
        ({"seed": "one"}, "seed"),
        ({"budget": 3}, "budget"),
        ({"format": 3}, "format 3"),
    ],
)
def test_a_damaged_record_is_named_with_what_is_wrong(changes, said, store):
    file = damaged(store, **changes)
    for read in (store.get, store.record):
        with pytest.raises(DataError) as error:
            read(file.stem)
        assert str(file) in str(error.value)
        assert said in str(error.value)


@pytest.mark.parametrize("content", ["{", "[]", '{"study": "x"}'])
def test_a_damaged_plan_is_named_and_not_replaced(content, store):
    (plan,) = store.plans()
    (file,) = store.path.glob("plans/*.json")
    file.write_text(content)
    for use in (store.plans, lambda: store.put_plan(plan)):
        with pytest.raises(DataError, match=file.name):
            use()
    assert file.read_text() == content


def test_a_damaged_failure_counts_as_a_cell_that_was_not_run(store):
    (file,) = store.path.glob("failures/*/*.json")
    file.write_text('{"key": "x"}')
    assert store.failure(file.stem) is None


def test_a_record_keeps_the_family_of_its_data_set_which_is_no_part_of_its_key(tmp_path, monkeypatch):
    run_words = ("algo=ls_svm", "dataset=breast_cancer", f"store.path={tmp_path}")
    record = run(*run_words).cells[0].record
    assert record.dataset.family == "wdbc"
    monkeypatch.setattr(catalog().dataset("breast_cancer"), "family", "other")
    assert run(*run_words).cells[0].record == record  # from the store, by the same key
    earlier = structs.replace(record, dataset=structs.replace(record.dataset, family=UNSET))
    assert completed(earlier).dataset.family == "other"
    assert settings_of(record) == settings_of(earlier)
    own = structs.replace(earlier.dataset, name="csv", title="my.csv")
    assert completed(structs.replace(earlier, dataset=own)).dataset.family == "my.csv"


def test_the_class_of_model_is_that_of_method_and_feature_map_in_records_of_any_version(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    others = ("dataset=breast_cancer", "tracking=none", "budget.epochs=1")
    kernel = run("algo=psam", "features=fourier", "features.dimension=9", *others).cells[0].record
    bayes = run("algo=sklearn", "algo.estimator=gaussian_nb", *others).cells[0].record
    assert [kernel.class_of_model, bayes.class_of_model] == ["kernel", "other"]
    trees = structs.replace(bayes, algorithm=structs.replace(bayes.algorithm, parameters={}))
    stranger = structs.replace(kernel, algorithm=structs.replace(kernel.algorithm, name="not_installed"))
    weightless = structs.replace(stranger, result=structs.replace(stranger.result, weights_norm=None))
    expected = {"kernel": [kernel, stranger], "other": [bayes, weightless], "trees": [trees]}
    for model, records in expected.items():
        for record in records:
            assert model_of(structs.replace(record, class_of_model=UNSET)) == model
    assert model_of(structs.replace(weightless, class_of_model="network")) == "network"


def test_the_class_of_model_is_found_without_giving_texts_of_a_record_to_a_plugin(monkeypatch):
    seen = []

    @dataclass(frozen=True)
    class Importing:
        cls: str = "known.Model"
        depth: int = 0

        def __post_init__(self):
            seen.append(self.cls)

        @property
        def class_of_model(self):
            return "trees" if self.depth else "network"

    monkeypatch.setattr(plugin_metadata, "plugin", lambda group, name: Importing if group == "algo" else None)
    record = decode(TEXTS[CellRecord][0], CellRecord)
    for depth, model in ((0, "network"), (3, "trees")):
        own = structs.replace(
            record.algorithm, name="importing", parameters={"cls": "evil.Model", "depth": depth}
        )
        assert model_of(structs.replace(record, algorithm=own)) == model
    assert seen == ["known.Model"] * 2
