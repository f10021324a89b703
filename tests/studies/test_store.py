"""Cells in a store and the files that hold them."""

import os
import shutil
import stat
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aucbench import DataError
from aucbench.studies import npz
from aucbench.studies.default_settings import Settings
from aucbench.studies.record import StudyPlan
from aucbench.studies.store import Store, replacing
from tests.helpers.board_cells import result
from tests.studies.conftest import run_in

RUN = ["algo=ls_svm", "dataset=gaussian", "study=s", "tracking=none"]
KEY = "ab" + "0" * 62
CELL = replace(
    result(0.9),
    weights=np.array([1.0, -2.0]),
    scores=np.linspace(-1.0, 1.0, 50, dtype=np.float32) / 3,
    model=bytes(range(256)),
)


def test_a_cell_comes_back_as_it_was_kept_also_after_it_was_compressed_or_moved(tmp_path):
    store = Store(tmp_path / "store")
    assert store.get(KEY) is None
    store.put(KEY, CELL)
    shutil.copytree(tmp_path / "store", tmp_path / "other name")
    file, summary = next((tmp_path / "store").rglob("*.npz")), store.measured(KEY)
    assert (summary.record, summary.weights, summary.scores, summary.model) == (CELL.record, None, None, None)
    for compressed in (False, True):
        if compressed:
            np.savez_compressed(file, **dict(np.load(file)))
        for cell in (store.get(KEY), *Store(tmp_path / "other name")):
            assert (cell.record, cell.model) == (CELL.record, CELL.model)
            assert cell.scores.dtype == np.float32
            for name, expected in {"weights": CELL.weights, "scores": CELL.scores}.items():
                np.testing.assert_array_equal(getattr(cell, name), expected)
            np.testing.assert_array_equal(cell.curve["iteration"], CELL.curve["iteration"])


def test_a_store_that_an_earlier_version_filled_is_taken_over_once(tmp_path):
    old, new = Store(tmp_path / "old"), Store(tmp_path / "new")
    old.put(KEY, CELL)
    (tmp_path / "old" / "series").unlink()  # earlier versions wrote no such file
    assert [old.take_over(), old.take_over(), new.take_over()] == [True, False, False]
    new.put(KEY, CELL)
    assert not new.take_over()
    assert old.get(KEY).auc == 0.9


def test_nothing_half_written_is_ever_visible_or_replaces_anything(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put(KEY, CELL)

    def full_disk(handle, *arguments):
        handle.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(npz, "write", full_disk)
    with pytest.raises(DataError, match=r"cannot be kept in .*: No space left on device"):
        store.put(KEY, result(0.1))
    assert store.get(KEY).auc == 0.9
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"series", f"{KEY}.npz"}


def test_a_damaged_cell_is_named(tmp_path):
    store = Store(tmp_path)
    store.put(KEY, CELL)
    file = next(tmp_path.rglob("*.npz"))
    content, weights = file.read_bytes(), CELL.weights.tobytes()
    flipped = content.replace(weights, bytes([weights[0] ^ 1]) + weights[1:])
    assert flipped != content
    for damaged in (b"", b"PK\x03\x04 not a zip", flipped):
        file.write_bytes(damaged)
        with pytest.raises(DataError, match=file.name):
            store.get(KEY)


def test_what_killed_processes_left_is_removed_after_an_hour(tmp_path):
    store = Store(tmp_path / "store")
    store.put(KEY, CELL)
    folder = tmp_path / "store" / "cells" / "ab"
    outside = tmp_path / "outside.part"
    outside.write_bytes(b"not ours")
    (folder / "link.part").symlink_to(outside)
    with replacing(folder / "half.npz") as handle:
        shutil.copy(handle.name, old := folder / "old.part")
        for file in (old, outside):
            os.utime(file, (time.time() - 3601.0,) * 2)
        store.tidy()
        assert (old.exists(), Path(handle.name).exists(), outside.exists()) == (False, True, True)
    assert store.has(KEY)


@pytest.mark.parametrize("mask", [0o002, 0o077])
def test_files_and_folders_follow_the_umask(mask, tmp_path):
    before = os.umask(mask)
    try:
        run_in(tmp_path / "store", RUN)
    finally:
        os.umask(before)
    paths = list((tmp_path / "store").rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_file()} == {0o666 & ~mask}
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_dir()} == {0o777 & ~mask}


def test_names_of_studies_in_any_script_are_kept_apart(tmp_path):
    store, long = Store(tmp_path / "store"), "学" * 150
    names = ("a", "..", "a/b", "../a", "x" * 150, long, long[1:] + "习", "%é" * 75)
    for name in names:
        assert Settings(study=name).study == name
        store.put_plan(StudyPlan(study=name, planned="", command="", entries=()))
        store.board_folder(name).mkdir(parents=True)
    assert sorted(plan.study for plan in store.plans()) == sorted(names)


@pytest.mark.parametrize("reader", [Store.plans, list, lambda store: store.record(*store.keys())])
def test_a_file_that_may_not_be_read_is_not_called_damaged(reader, tmp_path, monkeypatch):
    store = run_in(tmp_path, RUN)

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    monkeypatch.setattr(npz, "ZipFile", refused)
    with pytest.raises(DataError, match="Permission denied") as caught:
        reader(store)
    assert "damaged" not in str(caught.value)
    with pytest.raises(DataError, match=r"store\.path: .*series is a file, expected a folder"):
        Store(tmp_path / "series")
