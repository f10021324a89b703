"""A flipped bit in a cached array is noticed by a new version and by `aucbench data verify`."""

from functools import partial

import numpy as np
import pytest

from aucbench import File
from aucbench.cli.main import main
from aucbench.data import load
from aucbench.data.files import checksums
from tests.data.conftest import TINY, Declared
from tests.data.test_cache import SPARSE, part_of, same_again


@pytest.fixture(params=[TINY, SPARSE], ids=["dense", "sparse"])
def data(request, tmp_path):
    (tmp_path / "own").write_text(request.param)
    return Declared((File(str(tmp_path / "own")),))


def flip(path, bit):
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.unlink()  # what is mapped already keeps the old file
    path.write_bytes(content)


def bits(path, rng):
    """The last bit of the file, and some of its array."""
    size = 8 * path.stat().st_size
    return {size - 1, *rng.integers(128 * 8, size, 3).tolist()}


def arrays_of(cache):
    return sorted(part_of(cache).glob("*.npy"))


def test_any_flipped_bit_is_noticed_by_the_next_version_and_only_then(data, cache, monkeypatch):
    first, rng = load(data), np.random.default_rng(0)
    versions = iter(range(1, 1000))
    for path in arrays_of(cache):
        for bit in bits(path, rng):
            flip(path, bit)
            monkeypatch.setattr(checksums, "_version", partial(str, next(versions)))
            same_again(data, first)
    monkeypatch.setattr(checksums, "crc32", None)  # a part that this version knows is not read again
    same_again(data, first)


def test_a_note_of_checksums_that_is_damaged_is_not_believed(data, cache):
    first = load(data)
    flip(part_of(cache) / checksums.NOTE, 3)
    same_again(data, first)


def test_a_part_without_checksums_gets_them_once(data, cache):
    first = load(data)
    note = part_of(cache) / checksums.NOTE
    known = note.read_bytes()
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


def test_verify_refuses_a_name_that_is_not_cached(cache, capsys):
    assert main(["data", "verify", "nothing"]) == 2
    assert "'nothing'" in capsys.readouterr().err
