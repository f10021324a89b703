"""The files of a store: who may read them, what they are called, and what is said if they cannot be read."""

import os
import stat
from pathlib import Path

import pytest

from aucbench.errors import DataError
from aucbench.studies import npz
from aucbench.studies.default_settings import LONGEST_NAME, Settings
from aucbench.studies.record import StudyPlan
from aucbench.studies.store import Store
from tests.studies.conftest import run_in

LONG = "学" * LONGEST_NAME
NAMES = ("a", "..", "a/b", "../a", "x" * LONGEST_NAME, LONG, LONG[1:] + "习", "%é" * 75)


@pytest.mark.parametrize("mask", [0o002, 0o022, 0o077])
def test_files_and_folders_follow_the_umask(mask, tmp_path):
    before = os.umask(mask)
    try:
        run_in(tmp_path / "store", ["algo=ls_svm", "dataset=gaussian", "study=s", "tracking=none"])
    finally:
        os.umask(before)
    found = list((tmp_path / "store").rglob("*"))
    assert {stat.S_IMODE(each.stat().st_mode) for each in found if each.is_file()} == {0o666 & ~mask}
    assert {stat.S_IMODE(each.stat().st_mode) for each in found if each.is_dir()} == {0o777 & ~mask}


def test_names_of_studies_in_any_script_are_kept_apart(tmp_path):
    store = Store(tmp_path / "store")
    for name in NAMES:
        assert Settings(study=name).study == name
        store.put_plan(StudyPlan(study=name, planned="", command="", entries=()))
        store.board_folder(name).mkdir(parents=True)
    assert sorted(plan.study for plan in store.plans()) == sorted(NAMES)


@pytest.mark.parametrize("read", [Store.plans, list, lambda store: store.record(*store.keys())])
def test_a_file_that_may_not_be_read_is_not_called_damaged(read, tmp_path, monkeypatch):
    store = run_in(tmp_path, ["algo=ls_svm", "dataset=gaussian", "study=s", "tracking=none"])

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    monkeypatch.setattr(npz, "ZipFile", refused)
    with pytest.raises(DataError) as caught:
        read(store)
    assert "damaged" not in str(caught.value)
    assert "Permission denied" in str(caught.value)
