"""A cache that is damaged, by whatever, is made anew and never believed."""

import json
import shutil
from functools import partial

import numpy as np
import pytest

from aucbench import File
from aucbench.cli.main import main
from aucbench.data import load
from aucbench.data.files import checksums
from tests.data.conftest import TINY, Declared

TEXTS = {"dense": TINY, "sparse": "".join(f"{i % 2} {i + 1}:1 1500:{i + 1}\n" for i in range(20))}


@pytest.fixture(params=TEXTS)
def data(request, tmp_path):
    """A data set in a file, of the kind that the test names."""
    (tmp_path / "own").write_text(TEXTS[request.param])
    return Declared((File(str(tmp_path / "own")),))


def part_of(cache):
    (meta,) = (cache / "data" / "tiny").glob("*/meta.json")
    return meta.parent


def same_again(data, first):
    again = load(data)
    assert again.sha256 == first.sha256
    np.testing.assert_array_equal(again.y, first.y)
    assert (again.X != first.X).sum() == 0


def described(folder, change, keeps_check=False):
    """Change the description, and delete its checksum where the change states none; None deletes a key."""
    meta = json.loads((folder / "meta.json").read_text()) | ({} if keeps_check else {"check": None}) | change
    (folder / "meta.json").write_text(json.dumps({k: v for k, v in meta.items() if v is not None}))


def rewritten(folder, name, content):
    """Write these bytes in place of a file, or what a function makes of the old ones."""
    found = (folder / name).read_bytes()
    (folder / name).unlink()  # what is mapped already keeps the old file
    (folder / name).write_bytes(content(found) if callable(content) else content)


def resaved(folder, name, change):
    """Save a changed array, or one of another type."""
    array = np.load(folder / f"{name}.npy")
    (folder / f"{name}.npy").unlink()
    np.save(folder / f"{name}.npy", change(array) if not isinstance(change, type) else array.astype(change))


DAMAGE = [
    *(
        ("dense", described, change)
        for change in [
            *({key: None} for key in ("labels", "files", "sha256", "dense", "features", "rows", "nonzeros")),
            *({"labels": labels} for labels in ([], ["a", "b"], [-1.0], [[1], [2]])),
            *({"files": files} for files in ([], {}, [{"part": "train"}], [3])),
            *({"sha256": 5}, {"dense": 1}, {"rows": "5"}, {"features": 3.0}, {"format": 0}),
            *({"check": "0"}, {"check": [1]}),
        ]
    ),
    ("sparse", described, {"features": 1}, True),
    ("sparse", described, {"nonzeros": 3}),
    *(("dense", rewritten, "meta.json", text) for text in (b"[]", b"3", b"null", b"{", b"\x00", b'"x"')),
    ("dense", rewritten, "X.npy", lambda content: content[:-8]),
    ("dense", lambda folder: (folder / "meta.json").unlink()),
    *(("dense", resaved, name, kind) for name in ("X", "codes") for kind in (np.int16, np.float32, np.int64)),
    ("dense", resaved, "codes", lambda array: np.full_like(array, 7)),
    ("dense", resaved, "codes", lambda array: array[:-1]),
    *(("sparse", resaved, name, lambda array: array[:-1]) for name in ("data", "indices", "indptr")),
    *(("sparse", resaved, name, np.float64) for name in ("indices", "indptr")),
    ("sparse", resaved, "data", np.int64),
    ("sparse", resaved, "indptr", lambda array: array + 1),
]


@pytest.mark.parametrize(("data", "damage"), [(kind, how) for kind, *how in DAMAGE], indirect=["data"])
def test_what_is_damaged_is_made_anew(data, damage, cache):
    first, folder = load(data), part_of(cache)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    function, *arguments = damage
    function(folder, *arguments)
    same_again(data, first)
    assert {path.name: path.read_bytes() for path in part_of(cache).iterdir()} == whole


def test_a_file_in_place_of_a_folder_is_replaced(data, cache):
    first, folder = load(data), part_of(cache)
    shutil.rmtree(folder)
    folder.write_text("not a folder")
    same_again(data, first)
    assert folder.is_dir()


def flip(path, bit):
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    rewritten(path.parent, path.name, bytes(content))


def arrays_of(cache):
    return sorted(part_of(cache).glob("*.npy"))


def test_any_flipped_bit_is_noticed_by_the_next_version_and_only_then(data, cache, monkeypatch):
    first, rng = load(data), np.random.default_rng(0)
    versions = iter(range(1, 1000))
    for path in arrays_of(cache):
        size = 8 * path.stat().st_size
        for bit in {size - 1, *rng.integers(128 * 8, size, 3).tolist()}:  # the last, and some of rows
            flip(path, bit)
            monkeypatch.setattr(checksums, "_version", partial(str, next(versions)))
            same_again(data, first)
    monkeypatch.setattr(checksums, "crc32", None)  # a part that this version knows is not read again
    same_again(data, first)


def test_checksums_that_are_damaged_or_missing_are_made_anew(data, cache):
    first = load(data)
    note = part_of(cache) / checksums.NOTE
    known = note.read_bytes()
    flip(note, 3)
    flip(arrays_of(cache)[0], -1)  # which the damaged note would not tell
    same_again(data, first)
    note.unlink()
    same_again(data, first)
    assert note.read_bytes() == known


def test_verify_names_and_removes_what_is_damaged(data, cache, capsys):
    first = load(data)
    assert main(["data", "verify", "tiny"]) == 0
    assert "1 parts are undamaged" in capsys.readouterr().out
    damaged = arrays_of(cache)[-1]
    flip(damaged, 8 * damaged.stat().st_size - 2)
    assert main(["data", "verify"]) == 2
    assert damaged.name in capsys.readouterr().out
    assert not damaged.exists()
    same_again(data, first)
    assert main(["data", "verify"]) == 0
    assert main(["data", "verify", "nothing"]) == 2
    assert "'nothing'" in capsys.readouterr().err
