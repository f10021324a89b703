"""A damaged cache is rebuilt and never used."""

import json

import numpy as np
import pytest

from aucbench import File
from aucbench.cli.main import main
from aucbench.data import load
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
    loaded = load(data)
    assert loaded.sha256 == first.sha256
    np.testing.assert_array_equal(loaded.y, first.y)
    assert (loaded.X != first.X).sum() == 0


def described(folder, change):
    """Change the description; None deletes a key."""
    meta = json.loads((folder / "meta.json").read_text()) | change
    (folder / "meta.json").write_text(json.dumps({k: v for k, v in meta.items() if v is not None}))


def rewritten(folder, name, change):
    """Replace a file by one with the changed bytes."""
    content = (folder / name).read_bytes()
    (folder / name).unlink()  # memory maps keep the old file
    (folder / name).write_bytes(change(content))


DAMAGE = [
    *(("dense", described, {key: None}) for key in ("check", "labels", "files", "rows", "features")),
    *(("dense", described, {key: 7}) for key in ("check", "labels", "rows", "format")),
    ("sparse", described, {"features": 1}),
    *(("dense", rewritten, "meta.json", lambda _, text=text: text) for text in (b"[]", b"null", b"{", b"")),
    *(("dense", rewritten, name, lambda content: content[:-8]) for name in ("X.npy", "codes.npy")),
    ("dense", rewritten, "X.npy", lambda _: b""),
    *(("sparse", rewritten, f"{name}.npy", lambda content: content[:-8]) for name in ("data", "indices")),
    ("sparse", rewritten, "indptr.npy", lambda _: b"\x93NUMPY\x01\x00"),
]


@pytest.mark.parametrize(("data", "damage"), [(kind, how) for kind, *how in DAMAGE], indirect=["data"])
def test_what_is_damaged_is_made_anew(data, damage, cache):
    first, folder = load(data), part_of(cache)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    function, *arguments = damage
    function(folder, *arguments)
    same_again(data, first)
    assert {path.name: path.read_bytes() for path in part_of(cache).iterdir()} == before


def flipped(content):
    """The bytes with one bit of the last but seventh changed."""
    return content[:-8] + bytes([content[-8] ^ 4]) + content[-7:]


def test_verify_names_and_removes_what_is_damaged(data, cache, capsys):
    first = load(data)
    for name in [path.name for path in part_of(cache).glob("[!.]*")]:
        assert main(["data", "verify", "tiny"]) == 0
        assert "1 parts are undamaged" in capsys.readouterr().out
        rewritten(part_of(cache), name, flipped)
        assert main(["data", "verify"]) == 2
        assert name in capsys.readouterr().out
        assert not list((cache / "data" / "tiny").glob("[!.]*"))
        same_again(data, first)
    assert main(["data", "verify", "nothing"]) == 2
    assert "'nothing'" in capsys.readouterr().err
