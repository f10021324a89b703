"""Records on disk: those of the version before they were typed, missing and unknown fields, damage.

`recorded` is a store which that version wrote: plain, tuned, diverged and failed cells.
"""

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import UNSET, structs

from aucbench import DataError, catalog, run
from aucbench.data.loader import Part
from aucbench.data.scaler import Scaling
from aucbench.data.splits.protocols import recorded
from aucbench.studies import plugin_metadata
from aucbench.studies.default_settings import Budget, Settings
from aucbench.studies.entry_and_keys import BoundPlugin, Entry
from aucbench.studies.plugin_metadata import completed, model_of, settings_of
from aucbench.studies.record import (
    CellRecord,
    CellStatus,
    FailureRecord,
    StudyPlan,
    Trial,
    decode,
    encode,
    from_dict,
    to_dict,
)
from aucbench.studies.store import Store
from aucbench.studies.tuners import TUNINGS, Tuning, frozen

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


def test_a_store_of_the_version_before_is_read_whole(store):
    cells = list(store)
    assert sorted(cell.record.key for cell in cells) == sorted(file.stem for file in CELLS)
    assert {cell.record.tuning.name for cell in cells} == {"none", "grid", "optuna"}
    assert sum(cell.diverged for cell in cells) == 1
    assert all(cell.record.tuned.cost.trainings == 4 for cell in cells if cell.record.tuned)
    assert [failure.reason for failure in store.failures()] == [CellStatus.timeout]
    (plan,) = store.plans()
    known = {key for entry in plan.entries for key in entry.cells}
    assert known == {cell.record.key for cell in cells} | {each.key for each in store.failures()}


@dataclass(frozen=True)
class EarlierPlugin(BoundPlugin):
    """A plugin of this version that describes the fields it had in an earlier one."""

    names: tuple[str, ...] = ()

    @property
    def description(self):
        found = super().description
        return structs.replace(found, parameters={name: found.parameters[name] for name in self.names})


class EarlierEntry(Entry):
    """An entry as it was described when regularisation had one meaning."""

    def describe(self):
        return structs.replace(super().describe(), regularisation=UNSET)


def entry_of(record):
    """The entry of a record, made from objects of this version."""

    def bound(cls, plugin):
        parameters = {name: frozen(value) for name, value in plugin.parameters.items()}
        return EarlierPlugin(cls(**parameters), plugin.distribution, plugin.version, tuple(parameters))

    plugins, tuning = catalog(), record.tuning
    chosen = next(cls for cls in TUNINGS if cls.name == tuning.name)(**tuning.parameters)
    settings = Settings(
        rescale=record.rescale,
        seed=record.seed,
        split_seed=record.split_seed,
        order_seed=record.order_seed,
    )
    return EarlierEntry(
        algorithm=bound(plugins.algorithm(record.algorithm.name), record.algorithm),
        dataset=bound(plugins.dataset(record.dataset.name), record.dataset),
        loss=bound(plugins.loss(record.loss.name), record.loss),
        features=bound(plugins.features(record.features.name), record.features),
        part=Part(record.dataset.part),
        scaling=Scaling(record.scaling),
        protocol=recorded(record.protocol.name, record.protocol.parameters),
        tuning=Tuning(chosen, {name: frozen(values) for name, values in tuning.space.items()}),
        budget=Budget(**to_dict(record.budget)),
        settings=settings,
    )


@pytest.mark.parametrize("file", CELLS, ids=lambda file: file.stem[:6])
def test_the_keys_of_cells_are_those_of_the_version_before(file, store):
    record = store.record(file.stem)
    entry = entry_of(record)
    vars(entry)["source_digest"] = record.source  # code changes from version to version
    keys = entry.cell_keys(record.data.sha256)
    assert keys[record.seeds] == file.stem


def test_fields_that_are_missing_have_defaults_and_those_not_known_are_ignored(store):
    content = to_dict(next(iter(store)).record)
    for name in ("positive", "negative", "test_positives", "max_norm", "row_factor"):
        del content["data"][name]
    for name in ("score_at_zero", "advice", "converged"):
        del content["result"][name]
    del content["rescale"]
    found = from_dict(content | {"later": {"field": 1}}, CellRecord)
    assert (found.data.positive, found.data.test_positives, found.data.row_factor) == ((), None, 1.0)
    assert (found.result.score_at_zero, found.result.converged, found.rescale) == (0.0, None, None)


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
    assert list(store.failures()) == []


def test_a_record_keeps_the_family_of_its_data_set_which_is_no_part_of_its_key(tmp_path, monkeypatch):
    words = ("algo=ls_svm", "dataset=breast_cancer", f"store.path={tmp_path}")
    record = run(*words).cells[0].record
    assert record.dataset.family == "wdbc"
    monkeypatch.setattr(catalog().dataset("breast_cancer"), "family", "other")
    assert run(*words).cells[0].record == record  # from the store, by the same key
    earlier = structs.replace(record, dataset=structs.replace(record.dataset, family=UNSET))
    assert completed(earlier).dataset.family == "other"
    assert settings_of(record) == settings_of(earlier)
    own = structs.replace(earlier.dataset, name="csv", title="my.csv")
    assert completed(structs.replace(earlier, dataset=own)).dataset.family == "my.csv"


def test_the_class_of_model_is_that_of_method_and_feature_map_in_records_of_any_version(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = ("dataset=breast_cancer", "tracking=none", "budget.epochs=1")
    kernel = run("algo=psam", "features=fourier", "features.dimension=9", *words).cells[0].record
    bayes = run("algo=sklearn", "algo.estimator=gaussian_nb", *words).cells[0].record
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
