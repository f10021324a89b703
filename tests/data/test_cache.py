"""A cache that is damaged, by whatever, is made anew and never believed."""

import json
import shutil

import numpy as np
import pytest

from aucbench import File
from aucbench.data import load
from tests.data.conftest import TINY, Declared

SPARSE = "".join(f"{i % 2} {i + 1}:1 1500:{i + 1}\n" for i in range(20))


@pytest.fixture
def dense(tmp_path):
    (tmp_path / "own").write_text(TINY)
    return Declared((File(str(tmp_path / "own")),))


@pytest.fixture
def sparse_rows(tmp_path):
    (tmp_path / "wide").write_text(SPARSE)
    return Declared((File(str(tmp_path / "wide")),))


def part_of(cache):
    (meta,) = (cache / "data" / "tiny").glob("*/meta.json")
    return meta.parent


def replace(path, change):
    array = np.load(path)
    path.unlink()  # what is mapped already keeps the old file
    np.save(path, change(array))


def same_again(data, first):
    again = load(data)
    assert again.sha256 == first.sha256
    np.testing.assert_array_equal(again.y, first.y)
    assert (again.X != first.X).sum() == 0


@pytest.mark.parametrize(
    "change",
    [
        *({key: None} for key in ("labels", "files", "sha256", "dense", "features", "rows", "nonzeros")),
        {"labels": []},
        {"labels": ["a", "b"]},
        {"labels": [-1.0]},
        {"labels": [[1], [2]]},
        {"files": []},
        {"files": {}},
        {"files": [{"part": "train"}]},
        {"files": [3]},
        {"sha256": 5},
        {"dense": 1},
        {"rows": "5"},
        {"features": 3.0},
    ],
)
def test_descriptions_with_other_keys_or_types_are_not_believed(dense, cache, change):
    first = load(dense)
    path = part_of(cache) / "meta.json"
    meta = json.loads(path.read_text()) | change | {"check": None}
    path.write_text(json.dumps({key: value for key, value in meta.items() if value is not None}))
    same_again(dense, first)


@pytest.mark.parametrize("change", [{"features": 1}, {"check": "0"}, {"check": [1]}])
def test_descriptions_that_were_changed_are_not_believed(sparse_rows, cache, change):
    first = load(sparse_rows)
    path = part_of(cache) / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    same_again(sparse_rows, first)


@pytest.mark.parametrize("text", ["[]", "3", "null", "{", "\x00", '"x"'])
def test_descriptions_that_are_something_else_are_not_believed(dense, cache, text):
    first = load(dense)
    (part_of(cache) / "meta.json").write_text(text)
    same_again(dense, first)


@pytest.mark.parametrize("kind", [np.int16, np.float32, np.int64])
@pytest.mark.parametrize("name", ["X", "codes"])
def test_arrays_of_another_type_are_not_believed(dense, cache, name, kind):
    first = load(dense)
    replace(part_of(cache) / f"{name}.npy", lambda array: array.astype(kind))
    same_again(dense, first)


def test_codes_out_of_range_are_not_believed(dense, cache):
    first = load(dense)
    replace(part_of(cache) / "codes.npy", lambda array: np.full_like(array, 7))
    same_again(dense, first)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("data", lambda array: array.astype(np.int64)),
        ("data", lambda array: array[:-1]),
        ("indices", lambda array: array.astype(np.float64)),
        ("indices", lambda array: array[:-1]),
        ("indptr", lambda array: array[:-1]),
        ("indptr", lambda array: array + 1),
        ("indptr", lambda array: array.astype(np.float64)),
    ],
)
def test_sparse_arrays_that_do_not_fit_are_not_believed(sparse_rows, cache, name, change):
    first = load(sparse_rows)
    replace(part_of(cache) / f"{name}.npy", change)
    same_again(sparse_rows, first)


def test_a_file_in_place_of_a_folder_is_replaced(dense, cache):
    first = load(dense)
    folder = part_of(cache)
    shutil.rmtree(folder)
    folder.write_text("not a folder")
    same_again(dense, first)
    assert folder.is_dir()
