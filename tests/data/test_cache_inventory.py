"""Contents of the cache, their removal, remains of killed downloads; the commands fetch and data."""

import numpy as np

from aucbench.cli.main import main
from aucbench.data import load
from aucbench.data.files import cache_inventory
from aucbench.data.files.kept_files import array_words
from aucbench_datasets import catalogue
from aucbench_datasets.user_files import Libsvm, Npz
from tests.data.conftest import TINY, Declared
from tests.helpers.http_server import content

FOUR = "".join(f"{1 if i < 307 else -1} 1:{i} 2:1\n" for i in range(862))


def test_parsed_data_and_downloads_are_counted_and_removed(web, cache, capsys):
    web.serve("/binary/fourclass", content(FOUR.encode()))
    load(catalogue.fourclass())
    (entry,) = cache_inventory.held([catalogue.fourclass()])
    assert entry.name == "fourclass"
    assert entry.parsed_bytes > 862 * 2 * 8
    assert entry.file_bytes == len(FOUR)
    assert main(["data"]) == 0
    assert "fourclass" in capsys.readouterr().out
    assert main(["data", "--remove", "fourclass"]) == 0
    assert "fourclass: " in capsys.readouterr().out
    assert cache_inventory.held([catalogue.fourclass()]) == []
    assert not list(cache.rglob("*.npy"))
    assert load(catalogue.fourclass()).X.shape == (862, 2)
    assert web.requests["/binary/fourclass"] == 2


def test_files_of_a_mirror_folder_and_of_ones_own_are_never_removed(mirror, tmp_path):
    load(Declared())
    (tmp_path / "own.txt").write_text(TINY)
    data = Libsvm(str(tmp_path / "own.txt"))
    load(data)
    entries = cache_inventory.held([Declared(), data])
    assert {entry.name for entry in entries} == {data.path, "tiny"}
    assert all(cache_inventory.remove(entry) > 0 for entry in entries)
    assert (mirror / "binary" / "tiny").exists()
    assert (tmp_path / "own.txt").exists()


def test_files_of_ones_own_and_arrays_are_shown_and_removed_one_by_one(cache, tmp_path, capsys):
    files = [tmp_path / f"own_{k}.txt" for k in range(3)]
    for k, path in enumerate(files):
        path.write_text(TINY.replace("7", f"{k}"))
        load(Libsvm(str(path)))
    array_words(np.eye(40), np.arange(40) % 2)
    (archive,) = (cache / "arrays").iterdir()
    load(Npz(str(archive)))
    remaining = {str(path) for path in (*files, archive)}
    for argument, gone in (
        (files[0].name, files[0]),
        (files[1], files[1]),
        (archive.name, archive),
        ("libsvm", files[2]),
    ):
        assert {entry.name for entry in cache_inventory.held([])} == remaining
        assert main(["data"]) == 0
        output = capsys.readouterr().out
        assert all(name in output for name in remaining)
        assert main(["data", "--remove", str(argument)]) == 0
        remaining.remove(str(gone))
    assert cache_inventory.held([]) == []
    assert all(path.exists() for path in files)
    assert not archive.exists()


def test_rows_in_use_stay_readable_when_their_data_are_removed_and_nothing_is_removed_twice(mirror, capsys):
    loaded = load(Declared())  # from a plugin unknown to the command
    assert main(["data", "--remove-all"]) == 0
    assert "tiny: " in capsys.readouterr().out
    assert cache_inventory.held([]) == []
    assert loaded.X[3].tolist() == [7, 8, 9]
    assert main(["data", "--remove", "a9a"]) == 2
    assert "'a9a' in the cache, which holds no data" in capsys.readouterr().err


def test_fetch_refuses_a_large_download_without_yes(web, capsys):
    web.sizes["/binary/fourclass"] = 123_000_000
    web.serve("/binary/fourclass", content(FOUR.encode()))
    assert main(["fetch", "fourclass"]) == 2
    stderr = capsys.readouterr().err
    assert "123 MB" in stderr
    assert "aucbench fetch fourclass --yes" in stderr
    assert not web.requests
    assert main(["fetch", "fourclass", "--yes"]) == 0
    assert "fourclass: train part, 862 rows, 2 features" in capsys.readouterr().out


def test_fetch_all_small_takes_what_there_is_and_names_what_failed(mirror, capsys, monkeypatch):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    (mirror / "binary" / "fourclass").write_text(FOUR)
    assert main(["fetch", "--all-small"]) == 2
    captured = capsys.readouterr()
    assert "fourclass: train part, 862 rows" in captured.out
    last = captured.err.splitlines()[-1]
    assert "data sets failed: " in last
    assert "a9a" in last
    for name in ("higgs", "kddcup04", "libsvm", "gaussian", "fourclass"):
        assert name not in last
    assert "aucbench: a9a: no source has the file binary/a9a" in captured.err
