"""Stores of strangers are data: no content is run, obeyed by a terminal, or leads out of the store."""

import contextlib
import json
import os
import pickle
import shutil
import zipfile

import numpy as np
import pytest

from aucbench.cli.main import main
from aucbench.errors import DataError
from aucbench.studies.store import Store
from aucbench.tracking.client import Connection
from tests.tracking.conftest import empty_file  # noqa: F401  (a fixture)

pytestmark = pytest.mark.slow  # whole studies

MARKUP = "<script>alert(1)</script>|`\\input{x}[a](javascript:b)"
CONTROLS = "\x1b[2J\x07\x9b31m\u202e\x00\r"
NAME = f"my {MARKUP} {CONTROLS}"


class Runs:
    """An object that writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


@pytest.fixture
def stranger(store, tmp_path):
    """A copy of the store that a test may change."""
    return Store(shutil.copytree(store.path, tmp_path / "stranger"))


def rewritten(file, **arrays):
    """Rewrite a cell file with other arrays; arrays of objects are pickled."""
    members = dict(np.load(file)) | arrays
    np.savez(file, allow_pickle=True, **members)


def everywhere(value, text):
    """The JSON value with some names replaced by `text`."""
    if isinstance(value, list):
        return [everywhere(item, text) for item in value]
    if not isinstance(value, dict):
        return value
    named = {"title", "cpu", "machine", "source", "command", "study"}
    return {
        key: text if key in named and isinstance(item, str) else everywhere(item, text)
        for key, item in value.items()
    }


@pytest.mark.parametrize("member", ["record", "more"])
def test_pickled_objects_in_a_cell_are_not_run(member, stranger, tmp_path):
    planted = tmp_path / "planted"
    pickle.loads(pickle.dumps(Runs(planted))).close()
    assert planted.exists()  # outside of aucbench the pickle runs
    planted.unlink()
    for file in stranger.path.glob("cells/*/*.npz"):
        rewritten(file, **{member: np.array([Runs(planted)], object)})
        with pytest.raises(DataError, match=file.stem):
            stranger.get(file.stem)
    options = ["--store", str(stranger.path)]
    for command in ("status", "leaderboard", "rescore metrics=[ap]", "results export pair x"):
        assert main([*command.split(), *options]) in (0, 2)
    assert not planted.exists()


def test_a_pickle_in_place_of_any_file_is_not_run(stranger, tmp_path, capsys):
    planted = tmp_path / "planted"
    stranger.add_trials("ab" * 32, [])
    files = [file for file in stranger.path.rglob("*") if file.is_file()]
    assert len(files) > 5
    for file in files:
        file.write_bytes(pickle.dumps(Runs(planted)))
    for command in (["status", "--all"], ["leaderboard"], ["sync", "--uri", f"sqlite:///{tmp_path}/m.db"]):
        assert main([*command, "--store", str(stranger.path)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert not planted.exists()


def test_an_array_that_claims_to_be_huge_is_a_damaged_cell(stranger):
    file = next(stranger.path.glob("cells/*/*.npz"))
    with zipfile.ZipFile(file, "a") as archive, archive.open("huge.npy", "w") as member:
        header = {"descr": "<f8", "fortran_order": False, "shape": (1 << 62,)}
        np.lib.format.write_array_header_1_0(member, header)
    with pytest.raises(DataError, match=file.stem):
        stranger.get(file.stem)


@pytest.fixture
def named(stranger):
    """A store whose names are markup and terminal codes."""
    for file in stranger.path.glob("cells/*/*.npz"):
        record = everywhere(json.loads(np.load(file)["record"].tobytes()), NAME)
        rewritten(file, record=np.frombuffer(json.dumps(record).encode(), np.uint8))
    for file in stranger.path.glob("plans/*.json"):
        plan = everywhere(json.loads(file.read_bytes()), NAME)
        plan["entries"] = [entry | {"dataset": NAME} for entry in plan["entries"]]
        plan["unavailable"] = [NAME]
        file.write_text(json.dumps(plan))
    return stranger


def is_harmless(text):
    return not any(letter in text for letter in CONTROLS if not letter.isprintable())


def test_no_control_character_of_a_store_reaches_the_terminal(named, tmp_path, capsys):
    folder = tmp_path / "board"
    options = ["--store", str(named.path)]
    study, file = named.plans()[0].study, str(tmp_path / "x.zip")
    for command in (
        ["status", "--all", *options],
        ["leaderboard", *options],
        ["leaderboard", "--out", str(folder), *options],
        ["leaderboard", "--study", "\x1b[2J", *options],
        ["results", "export", study, file, *options],
        ["results", "check", file],
    ):
        main(command)
        output = "".join(capsys.readouterr())
        assert output
        assert is_harmless(output), command
    documents = {ending: (folder / f"leaderboard{ending}").read_text() for ending in (".html", ".md", ".tex")}
    assert all(map(is_harmless, documents.values()))
    assert "<script>alert" not in documents[".html"]


@pytest.mark.parametrize("key", ["../../../outside", "/etc/passwd", "..", "a/../../../../outside", "\0"])
def test_a_key_that_is_a_path_leads_nowhere(key, stranger, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    for action in (
        lambda: stranger.get(key),
        lambda: stranger.failure(key),
        lambda: stranger.add_trials(key, []),
        lambda: stranger.mark_tracked("uri", key, "run"),
        lambda: stranger.put_replications(key, []),
    ):
        with contextlib.suppress(DataError, ValueError):  # or nothing has the key
            assert not action()
    inside = {path for path in tmp_path.rglob("*") if stranger.path in path.parents}
    assert set(tmp_path.rglob("*")) - inside == set(before) - inside
    assert not os.path.exists("/etc/passwd.npz")


def test_links_are_not_followed_out_of_the_store(stranger, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("cells", "trials", "boards", "failures"):
        shutil.rmtree(stranger.path / name, ignore_errors=True)
        (stranger.path / name).symlink_to(outside)
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    (stranger.path / "plans" / "x.json").symlink_to(secret)
    key = "ab" * 32
    for action in (
        lambda: stranger.get(key),
        lambda: stranger.add_trials(key, []),
        lambda: stranger.board_folder("x"),
        lambda: stranger.plans(),
    ):
        with pytest.raises(DataError, match="leads out of it"):
            action()
    assert list(outside.iterdir()) == []


def test_a_name_of_a_data_set_makes_no_folder_elsewhere_in_mlflow(empty_file, tmp_path):  # noqa: F811
    (tmp_path / "deep" / "er").mkdir(parents=True)
    shutil.copyfile(empty_file, tmp_path / "deep" / "er" / "mlflow.db")
    connection = Connection(f"sqlite:///{tmp_path}/deep/er/mlflow.db")
    for name in ("../../../x", "/abs", "..", "a/../../b"):
        location = connection.client.get_experiment(connection.experiment(name)).artifact_location
        home = os.path.dirname(os.path.normpath(location.removeprefix("file://")))
        assert home == str(tmp_path / "deep" / "er" / "mlruns")
