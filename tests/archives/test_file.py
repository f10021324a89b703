"""Archives are read as they were written, and anything else is refused by name with the reason."""

import hashlib
import json
import shutil
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aucbench import api
from aucbench.archives import file as archive_file
from aucbench.archives.archive import from_store, into_store
from aucbench.archives.file import read, write
from aucbench.errors import DataError, ParameterError
from aucbench.leaderboard.build import build
from aucbench.leaderboard.cells import from_store as board_cells
from aucbench.studies.record import encode
from aucbench.studies.store import Store

KEPT = Path(__file__).parent / "kept"


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
            manifest["entries"][name] = {
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
    return zipped(target, contents | {"manifest.json": signed(manifest)})


def signed(manifest):
    manifest["digest"] = ""
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    return json.dumps(manifest | {"digest": digest}).encode()


def cells_with(file, change):
    """The cells entry of an archive whose first record is changed."""
    first, *others = entries(file)["cells.json"].decode().splitlines()
    record = json.loads(first)
    change(record)
    return "".join(f"{line}\n" for line in (json.dumps(record), *others)).encode()


def test_what_is_read_is_what_was_written(store, file):
    manifest, archive = read(file)
    assert manifest.cells == len(archive.cells) == 4
    assert manifest.studies == ("pair",)
    for key, cell in archive.cells.items():
        own = store.get(key)
        assert cell.record.result == own.record.result
        assert cell.record.environment.command == ""
        assert cell.curve.keys() == own.curve.keys()
        for name, values in own.curve.items():
            assert cell.curve[name].dtype == values.dtype
            np.testing.assert_array_equal(cell.curve[name], values)
        np.testing.assert_array_equal(cell.weights, own.weights)


def test_a_store_filled_from_an_archive_has_the_same_board(store, file, tmp_path):
    copy = Store(tmp_path / "copy")
    done = into_store(read(file)[1], copy)
    assert (done.cells, done.replications, done.failures) == (4, 0, 0)
    boards = [build(board_cells(each, "pair"), "pair", True).boards for each in (store, copy, read(file)[1])]
    assert len({repr(each) for each in boards}) == 1


def test_equal_content_gives_equal_entries_and_a_compact_archive_is_smaller(store, file, tmp_path):
    write(from_store(store, "pair", weights=True), tmp_path / "again.zip")
    first, again = entries(file), entries(tmp_path / "again.zip")
    assert all(first[name] == again[name] for name in first if name != "manifest.json")
    write(from_store(store, "pair", compact=True), tmp_path / "compact.zip")
    manifest, archive = read(tmp_path / "compact.zip")
    assert manifest.compact
    assert manifest.entries["curves.parquet"].bytes < read(file)[0].entries["curves.parquet"].bytes
    for key, cell in archive.cells.items():
        np.testing.assert_allclose(cell.curve["auc"], store.get(key).curve["auc"], rtol=1e-6)
        assert cell.record.result.auc == store.get(key).record.result.auc


def test_a_compact_archive_keeps_every_trial_with_its_cost_in_fewer_digits(tmp_path):
    words = ["algo=psam", "dataset=label_noise", "dataset.n=300", "tuning=random", "tuning.trials=3"]
    api.run_study([*words, "tuning.folds=2", "study=t", "tracking=none", f"store.path={tmp_path / 'store'}"])
    own = Store(tmp_path / "store")
    write(from_store(own, "t", compact=True), tmp_path / "t.zip")
    for key, cell in read(tmp_path / "t.zip")[1].cells.items():
        kept, whole = cell.record.tuned.trials, own.get(key).record.tuned.trials
        assert len(kept) == len(whole) == 6
        for short, full in zip(kept, whole, strict=True):
            assert (short.number, short.fold, short.parameters) == (full.number, full.fold, full.parameters)
            assert (short.passes, short.stop_reason) == (full.passes, full.stop_reason)
            assert short.auc == pytest.approx(full.auc, rel=1e-6)
            assert 0.0 < short.train_seconds == pytest.approx(full.train_seconds, rel=0.01)
        assert len(encode(cell.record)) < len(encode(own.get(key).record))


@pytest.mark.parametrize("kept", sorted(KEPT.glob("*.zip")), ids=lambda path: path.stem)
def test_archives_of_every_format_there_was_stay_readable(kept):
    """`kept` has one of each format, as it was written then; none is ever replaced."""
    manifest, archive = read(kept)
    assert f"format{manifest.format}" == kept.stem
    (board,) = build(board_cells(archive), "kept").boards
    assert {row.algorithm for row in board.rows} == {"psam", "solam"}
    assert all(row.runs == 2 and 0.5 < row.auc.value <= 1.0 for row in board.rows)


def test_there_is_an_archive_of_the_present_format():
    assert (KEPT / f"format{archive_file.FORMAT}.zip").exists()


def test_an_edited_entry_is_refused_by_its_name(file, tmp_path):
    better = entries(file)["cells.json"].replace(b'"auc": 0.', b'"auc": 0.9', 1)
    edited = zipped(tmp_path / "edited.zip", entries(file) | {"cells.json": better})
    with pytest.raises(DataError, match=r"cells\.json is not what the manifest's digest says"):
        read(edited)


def test_an_edited_manifest_is_refused(file, tmp_path):
    manifest = entries(file)["manifest.json"].replace(b'"psam"', b'"best"')
    with pytest.raises(DataError, match=r"manifest\.json is not what its own digest says"):
        read(zipped(tmp_path / "edited.zip", entries(file) | {"manifest.json": manifest}))


def test_a_damaged_byte_is_found_wherever_it_is(file, tmp_path):
    content = file.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(content), 60):
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        (tmp_path / "damaged.zip").write_bytes(damaged)
        try:
            manifest, _ = read(tmp_path / "damaged.zip")
        except DataError:
            continue
        assert manifest == read(file)[0]  # a byte of the ZIP that no reader uses, such as one of a date
        assert entries(tmp_path / "damaged.zip") == entries(file)


@pytest.mark.parametrize("length", [0, 10, 500, -30])
def test_a_file_cut_short_is_refused(file, tmp_path, length):
    (tmp_path / "short.zip").write_bytes(file.read_bytes()[:length])
    with pytest.raises(DataError, match=r"short\.zip"):
        read(tmp_path / "short.zip")


@pytest.mark.parametrize("name", ["../../evil.py", "/etc/passwd", "cells.pickle"])
def test_an_entry_that_no_archive_has_is_refused_and_nothing_is_written(file, tmp_path, name):
    strange = zipped(tmp_path / "strange.zip", entries(file) | {name: b"import os"})
    with pytest.raises(DataError, match="is no entry of an archive"):
        read(strange)
    assert [path.name for path in tmp_path.iterdir()] == ["strange.zip"]


@pytest.mark.parametrize("name", ["cells.json", "manifest.json"])
def test_missing_and_repeated_entries_are_named(file, tmp_path, name):
    contents = entries(file)
    del contents["plans.json"]
    with pytest.raises(DataError, match=r"plans\.json is missing"):
        read(zipped(tmp_path / "less.zip", contents))
    shutil.copy(file, tmp_path / "twice.zip")
    with (
        zipfile.ZipFile(tmp_path / "twice.zip", "a") as archive,
        pytest.warns(UserWarning, match="Duplicate"),
    ):
        archive.writestr(name, b"")
    with pytest.raises(DataError, match=f"{name} is there twice"):
        read(tmp_path / "twice.zip")


def test_a_bomb_is_refused_before_it_is_unpacked(file, tmp_path):
    bomb = zipped(tmp_path / "bomb.zip", entries(file) | {"failures.json": b" " * 30_000_000})
    with pytest.raises(DataError, match=r"failures\.json unpacks to more than 200 times its size"):
        read(bomb)


def test_a_table_with_more_numbers_than_the_cells_can_have_is_refused(file, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_file, "LARGEST_ARRAYS", 1000)
    sink = BytesIO()
    column = pa.array([[0.0] * 2000], pa.list_(pa.float64()))
    pq.write_table(pa.table({"key": ["k"], "auc": column}), sink)
    with pytest.raises(DataError, match=r"curves\.parquet has more rows or numbers"):
        read(forged(file, tmp_path / "large.zip", curves__parquet=sink.getvalue()))


@pytest.mark.parametrize(("keys", "reason"), [(["k" * 100_000] * 2, "too long"), (["k"] * 2, "one key")])
def test_long_and_repeated_keys_are_refused(keys, reason, file, tmp_path):
    sink = BytesIO()
    pq.write_table(pa.table({"key": keys, "auc": [[0.5], [0.5]]}), sink)
    with pytest.raises(DataError, match=reason):
        read(forged(file, tmp_path / "keys.zip", curves__parquet=sink.getvalue()))


def test_columns_that_are_no_numbers_are_refused(file, tmp_path):
    sink = BytesIO()
    pq.write_table(pa.table({"key": ["k"], "auc": [["text"]]}), sink)
    with pytest.raises(DataError, match=r"curves\.parquet has other columns"):
        read(forged(file, tmp_path / "text.zip", curves__parquet=sink.getvalue()))


def test_a_format_of_the_future_is_refused_with_its_number(file, tmp_path):
    manifest = json.loads(entries(file)["manifest.json"]) | {"format": 99}
    with pytest.raises(DataError, match="format 99, and this aucbench reads formats up to 1"):
        read(zipped(tmp_path / "new.zip", entries(file) | {"manifest.json": signed(manifest)}))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda record: record["result"].update(auc=1.5), "has AUC 1.5, expected a number from 0 to 1"),
        (lambda record: record["result"].update(auc=0.12345), "its curve ends at"),
        (lambda record: record["result"].update(auc=None), "although it did not"),
        (lambda record: record["result"].update(train_seconds=-1.0), "no finite positive numbers"),
        (lambda record: record.update(seed=77), "is not the one that its study planned"),
        (lambda record: record["dataset"].update(name="other"), "is not the one that its study planned"),
        (
            lambda record: record["protocol"]["parameters"].update({"dataset.path": "/x"}),
            "name 'dataset.path'",
        ),
        (lambda record: record.update(order="${oc.env:HOME}"), "has the name"),
        (lambda record: record["data"].update(train_rows=0), "that cannot be"),
        (lambda record: record["dataset"]["parameters"].update(path="${oc.env:HOME}"), "would be resolved"),
        (lambda record: record["tuning"]["parameters"].update({"store.path": "x"}), "name 'store.path'"),
        (
            lambda record: record["algorithm"]["parameters"].update(lam=7.0),
            "is not the one that its study planned",
        ),
        (lambda record: record["algorithm"].update(name="other"), "the manifest does not state"),
        (lambda record: record.update(key="../../../evil"), "the key '../../../evil' is none"),
        (lambda record: record.update(key=5), r"cells.json cannot be read in line 1"),
        (
            lambda record: record["environment"]["calibration"].update(dense_cached=0.0),
            "cannot be read in line 1",
        ),
        (lambda record: record["environment"].update(concurrency=10**30), "cannot be read in line 1"),
        (lambda record: record["result"].update(iterations=-1), "cannot be read in line 1"),
        (lambda record: record["budget"].update(checkpoints=-1), "is not the one that its study planned"),
        (lambda record: record["budget"].update(seconds=60.0), "is not the one that its study planned"),
        (lambda record: record.update(order="nosuch"), "is not the one that its study planned"),
        (lambda record: record.update(scaling="minmax"), "is not the one that its study planned"),
        (lambda record: record.update(max_train_rows=7), "is not the one that its study planned"),
        (lambda record: record["data"].update(train_positives=10**6), "that cannot be"),
        (lambda record: record["result"].update(train_seconds=0.0), "no finite positive numbers"),
        (lambda record: record["protocol"].update(name="mine"), "protocol or tuning 'mine'"),
        (lambda record: record["environment"].update(cpu="\u001b[2J"), "cells.json has control characters"),
    ],
)
def test_a_forged_record_with_right_digests_is_refused_with_the_reason(file, tmp_path, change, reason):
    with pytest.raises(DataError) as refused:
        read(forged(file, tmp_path / "forged.zip", cells__json=cells_with(file, change)))
    assert reason in str(refused.value)


@pytest.mark.parametrize("name", ["..", " ", "x" * 200])
def test_a_study_whose_name_would_be_another_folder_is_refused(file, tmp_path, name):
    contents = entries(file)
    manifest = json.loads(contents["manifest.json"]) | {"studies": [name]}
    plan = json.loads(contents["plans.json"]) | {"study": name}
    first = zipped(tmp_path / "first.zip", contents | {"manifest.json": json.dumps(manifest).encode()})
    with pytest.raises(DataError, match=r"plans\.json names a study"):
        read(forged(first, tmp_path / "named.zip", plans__json=json.dumps(plan).encode() + b"\n"))


def test_deeply_nested_json_is_refused(file, tmp_path):
    with pytest.raises(DataError, match=r"cells\.json cannot be read in line 1"):
        read(forged(file, tmp_path / "deep.zip", cells__json=b"[" * 100_000 + b"\n"))


def test_a_file_that_is_not_there_or_cannot_be_written_is_said(store, tmp_path):
    with pytest.raises(ParameterError, match=r"There is no archive .*none\.zip"):
        read(tmp_path / "none.zip")
    with pytest.raises(ParameterError, match="cannot be written"):
        write(from_store(store, "pair"), tmp_path / "no" / "folder.zip")
    with pytest.raises(ParameterError, match="no study 'other'"):
        from_store(store, "other")


def test_confirmations_stand_in_manifest_and_plan_and_must_agree(store, tmp_path):
    confirmed = {"psam": "its first author, letter"}
    write(from_store(store, "pair", confirmed=confirmed), tmp_path / "c.zip")
    manifest, archive = read(tmp_path / "c.zip")
    assert manifest.confirmed == confirmed == archive.confirmed
    claimed = json.loads(entries(tmp_path / "c.zip")["manifest.json"]) | {"confirmed": {"solam": "me"}}
    contents = entries(tmp_path / "c.zip") | {"manifest.json": signed(claimed)}
    with pytest.raises(DataError, match="other confirmations"):
        read(zipped(tmp_path / "f.zip", contents))
    with pytest.raises(ParameterError, match="no method 'opauc'"):
        from_store(store, "pair", confirmed={"opauc": "me"})


def test_commands_and_tracebacks_do_not_leave_the_machine(store, file):
    texts = b"".join(content for name, content in entries(file).items() if name.endswith(".json"))
    assert str(store.path).encode() not in texts
    assert str(store.path).encode() in b"".join(encode(plan) for plan in store.plans())
