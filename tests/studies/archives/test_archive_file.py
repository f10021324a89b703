"""Archives are read as they were written, and all others are refused with the name and the reason."""

import hashlib
import json
import re
import zipfile
from dataclasses import replace as dataclass_replace
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from aucbench.errors import DataError
from aucbench.reports.build import build
from aucbench.reports.cells import from_store as board_cells
from aucbench.studies.archives import archive_file
from aucbench.studies.archives.archive import from_store, into_store
from aucbench.studies.archives.archive_file import read, write
from aucbench.studies.result import mean_curve
from aucbench.studies.store import Store
from tests.helpers.archives import altered, with_record


def entries(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(file, contents):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return file


def forged(source, target, **changed):
    """An archive with changed entries whose digests are right: a forgery, not an accident."""
    contents = entries(source) | {name.replace("__", "."): content for name, content in changed.items()}
    manifest = json.loads(contents["manifest.json"])
    for name, content in contents.items():
        if name in manifest["entries"]:
            manifest["entries"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return zipped(target, contents | {"manifest.json": signed(manifest)})


def signed(manifest):
    manifest["digest"] = ""
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    return json.dumps(manifest | {"digest": digest}).encode()


def cells_with(file, change):
    """The cells entry of an archive whose first record is changed."""
    first, *lines = entries(file)["cells.json"].decode().splitlines()
    record = json.loads(first)
    change(record)
    return "".join(f"{line}\n" for line in (json.dumps(record), *lines)).encode()


def test_what_is_read_is_what_was_written(store, file):
    manifest, archive = read(file)
    assert (manifest.cells, manifest.studies, len(archive.cells)) == (4, ("pair",), 4)
    for key, cell in archive.cells.items():
        original = store.get(key)
        assert cell.record.result == original.record.result
        assert cell.record.environment.command == ""
        assert cell.curve.keys() == original.curve.keys()
        for name, values in original.curve.items():
            assert cell.curve[name].dtype == values.dtype
            np.testing.assert_array_equal(cell.curve[name], values)
        np.testing.assert_array_equal(cell.weights, original.weights)
    texts = b"".join(content for name, content in entries(file).items() if name.endswith(".json"))
    assert str(store.path).encode() not in texts


def test_the_manifest_names_the_distributions_of_plugins_and_what_they_need(store):
    archive = from_store(store, "pair")
    (key, cell), *_ = archive.cells.items()
    cell = with_record(cell, "environment", packages=cell.record.environment.packages | {"jax": "0.9"})
    cell = with_record(cell, "algorithm", distribution="mlp-auc", version="0.1")
    needed = dataclass_replace(archive, cells=archive.cells | {key: cell}).summary()["distributions"]
    assert needed.keys() == {"aucbench", "jax", "mlp-auc"}
    assert (needed["jax"], needed["mlp-auc"]) == (("0.9",), ("0.1",))


def test_equal_content_gives_equal_entries_and_a_compact_archive_is_smaller(store, file, tmp_path):
    write(from_store(store, "pair", weights=True), tmp_path / "again.zip")
    first, second = entries(file), entries(tmp_path / "again.zip")
    assert all(first[name] == second[name] for name in first if name != "manifest.json")
    write(from_store(store, "pair", compact=True), tmp_path / "compact.zip")
    manifest, archive = read(tmp_path / "compact.zip")
    assert manifest.compact
    assert manifest.entries["curves.parquet"].bytes < read(file)[0].entries["curves.parquet"].bytes
    for key, cell in archive.cells.items():
        original = store.get(key)
        points = slice(None) if cell.record.seed == 0 else slice(-1, None)
        np.testing.assert_allclose(cell.curve["auc"], original.curve["auc"][points], rtol=1e-6)
        assert cell.record.result.auc == original.record.result.auc
    boards = [build(board_cells(source, "pair"), "pair", True) for source in (store, archive)]
    assert_frame_equal(*(board.gains for board in boards))
    first = mean_curve([store.get(key).curve for key in archive.cells if store.get(key).record.seed == 0])
    assert len(boards[1].curves) == 2 * len(first["auc"]) > 4


def refusal(file):
    with pytest.raises(DataError) as refused:
        read(file)
    return str(refused.value)


@given(at=st.integers(0), bit=st.integers(0, 7), cut=st.booleans())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_is_found_wherever_it_is(file, tmp_path, at, bit, cut):
    content = bytearray(file.read_bytes())
    at %= len(content)
    if cut:
        del content[at:]
    else:
        content[at] ^= 1 << bit
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(content)
    try:
        manifest, _ = read(damaged)
    except DataError:
        return
    assert manifest == read(file)[0]  # the byte is in a ZIP field that no reader uses, such as a date
    assert entries(damaged) == entries(file)


def parquet(twice=False, **columns):
    sink = BytesIO()
    names, values = list(columns) * (1 + twice), list(columns.values()) * (1 + twice)
    pq.write_table(pa.table(values, names=names), sink)
    return sink.getvalue()


def rows(cells, count=1, auc=0.5, **options):
    """A curves entry of `count` rows, all with the key of the first cell."""
    key = json.loads(cells.splitlines()[0])["key"]
    return parquet(key=[key] * count, auc=[[auc]] * count, **options)


# Entry name, its content from the cells entry, whether digests are right, and a text of the refusal.
ENTRIES = [
    ("cells.json", lambda cells: cells.replace(b'"auc": 0.', b'"auc": 0.9', 1), False, "cells.json"),
    ("manifest.json", lambda _: b"[]", False, "manifest.json"),
    ("../../evil.py", lambda _: b"import os", False, "../../evil.py"),
    ("cells.json", lambda _: b"[" * 100_000 + b"\n", True, "cells.json cannot be read in line 1"),
    ("cells.json", lambda cells: cells + cells.splitlines(True)[0], True, "two cells of one key"),
    *(
        ("curves.parquet", change, True, named)
        for change, named in (
            (lambda _: b"PAR1", "curves.parquet"),
            (lambda _: parquet(auc=[[0.5]]), "curves.parquet"),
            (lambda _: parquet(key=[1], auc=[[0.5]]), "curves.parquet"),
            (lambda cells: rows(cells, auc="text"), "curves.parquet"),
            (lambda cells: rows(cells, twice=True), "curves.parquet"),
            (lambda cells: rows(cells, 2), "two rows of one key"),
            (lambda _: parquet(key=["k" * 100_000] * 2, auc=[[0.5]] * 2), "key 'kkk"),
            (lambda _: parquet(key=["k"] * 9, auc=[[0.5]] * 9), "more rows"),
        )
    ),
]


@pytest.mark.parametrize(("name", "change", "is_forged", "named"), ENTRIES)
def test_an_entry_that_is_not_what_it_should_be_is_refused(name, change, is_forged, named, file, tmp_path):
    contents = entries(file)
    target = zipped(tmp_path / "x.zip", contents | {name: change(contents["cells.json"])})
    assert named in refusal(forged(target, target) if is_forged else target)
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


def test_edited_manifests_missing_and_repeated_entries_and_sizes_are_named(file, tmp_path, monkeypatch):
    name, files = "cells.json", entries(file)
    manifest, subset = files["manifest.json"], {key: content for key, content in files.items() if key != name}
    for contents, named in (
        (files | {"manifest.json": manifest.replace(b'"psam"', b'"best"')}, "manifest.json"),
        (files | {"manifest.json": manifest.replace(b'"format": 2', b'"format": 99')}, "format 99"),
        (subset, f"{name} is missing"),
    ):
        assert named in refusal(zipped(tmp_path / "edited.zip", contents))
    twice = zipped(tmp_path / "twice.zip", files)
    with zipfile.ZipFile(twice, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(name, files[name])
    assert f"{name} is there twice" in refusal(twice)
    for bound, named in {"LARGEST_ARRAYS": "more rows or numbers", "LARGEST": "cells.json above all"}.items():
        monkeypatch.setattr(archive_file, bound, 10)
        assert named in refusal(file)


def at(*path, **values):
    """A function that sets `values` in the part of a record at `path`."""

    def change(record):
        for name in path:
            record = record[name]
        record.update(values)

    return change


FORGED = [  # a change of a record whose digest is right, and a text of the refusal
    *((at("result", auc=auc), "auc") for auc in (1.5, -0.1, float("nan"))),
    (at("result", auc=0.12345), "0.12345"),
    (at("result", auc=None), "diverged"),
    *((at("result", train_seconds=number), "train_seconds") for number in (-1.0, float("inf"), float("nan"))),
    (at("result", train_seconds=0.0), "time"),
    (at("result", iterations=-1), "iterations"),
    (at("data", train_rows=0), "train_rows"),
    (at("data", features=1 << 50), "features"),
    (at("data", train_positives=10**6), "numbers of rows"),
    (at(key=5), "key"),
    (at("environment", concurrency=10**30), "concurrency"),
    (at("algorithm", name="other"), "sources"),
    (at("protocol", name="mine"), "mine"),
    (at("protocol", "parameters", **{"dataset.path": "/x"}), "parameters"),
    (at("tuning", "parameters", **{"store.path": "x"}), "parameters"),
    (at("dataset", "parameters", path="${oc.env:HOME}"), "would be resolved"),
    *((at(**{name: "${oc.env:HOME}"}), name) for name in ("order", "dtype", "scaling")),
    (at("dataset", part="a=b"), "part"),
    (at(format=3), "format"),
    *(
        (change, "planned")
        for change in (
            *(at(**change) for change in ({"seed": 77}, {"order": "nosuch"}, {"max_train_rows": 7})),
            *(at("budget", **change) for change in ({"checkpoints": -1}, {"seconds": 60.0})),
            at("dataset", name="other"),
            at("algorithm", "parameters", lam=7.0),
        )
    ),
]


@pytest.mark.parametrize(("change", "named"), FORGED)
def test_a_forged_record_with_right_digests_is_refused_with_the_reason(file, tmp_path, change, named):
    text = refusal(forged(file, tmp_path / "forged.zip", cells__json=cells_with(file, change)))
    assert "cells.json" in text or "cell " in text or "manifest states" in text
    assert named in text


def test_a_key_that_is_a_path_or_that_no_study_planned_is_refused(file, tmp_path):
    _, archive = read(file)
    first = next(iter(archive.cells))
    evil = altered(archive, key=lambda key: "../../evil" if key == first else key)
    for fake, problem in ((evil, "the key"), (dataclass_replace(evil, studies=archive.studies), "no study")):
        write(fake, tmp_path / "evil.zip")
        text = refusal(tmp_path / "evil.zip")
        assert problem in text
        assert "'../../evil'" in text


@pytest.fixture(scope="module")
def scored_store(store, tmp_path_factory):
    """A store with models, and with scores instead of weights, in double precision for some cells."""
    scored = Store(tmp_path_factory.mktemp("scored"))
    for number, cell in enumerate(store):
        scores = np.random.default_rng(number).normal(size=cell.record.data.test_rows)
        scores = scores.astype((np.float32, np.float64)[number % 2])
        changed = dataclass_replace(cell, weights=None, scores=scores, model=b"\x80\x04K\x01.")
        scored.put(cell.record.key, changed)
    scored.put_plan(*store.plans())
    return scored


def test_scores_come_back_bit_for_bit_unless_left_out_and_models_never_leave(scored_store, tmp_path):
    file, second, scoreless = (tmp_path / f"{name}.zip" for name in ("scores", "again", "bare"))
    write(from_store(scored_store, "pair", compact=True), file)
    write(from_store(scored_store, "pair", scores=False, compact=True), scoreless)
    into_store(read(file)[1], copy := Store(tmp_path / "copy"))
    for source in (read(file)[1], copy):
        for cell in source:
            original = scored_store.get(cell.record.key)
            assert cell.model is None
            assert original.model is not None
            assert cell.scores.dtype == original.scores.dtype
            np.testing.assert_array_equal(cell.scores, original.scores)
    write(from_store(copy, "pair", compact=True), second)
    assert entries(second).keys() - entries(scoreless).keys() == {"scores.parquet"}
    assert entries(second)["scores.parquet"] == entries(file)["scores.parquet"]
    assert all(cell.scores is None for cell in read(scoreless)[1])


def test_scores_on_files_of_ones_own_never_leave_and_others_are_one_per_test_row(scored_store, tmp_path):
    store = Store(tmp_path / "own")
    for cell in scored_store:
        store.put(cell.record.key, with_record(cell, "dataset", parameters={"path": "patients.csv"}))
    store.put_plan(*scored_store.plans())
    assert all(cell.scores is None for cell in from_store(store, "pair"))
    short = altered(from_store(scored_store, "pair"), lambda c: dataclass_replace(c, scores=c.scores[:-1]))
    write(short, tmp_path / "short.zip")
    assert re.search(rf"has {len(next(iter(short)).scores)} scores", refusal(tmp_path / "short.zip"))
