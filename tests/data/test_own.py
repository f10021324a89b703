"""Files of one's own: CSV, Parquet and NumPy archives."""

import bz2

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from aucbench import DataError, ParameterError
from aucbench.data import load
from aucbench.data.readers import table_encoder
from aucbench_datasets.own import Csv, Npz, Parquet

PEOPLE = "age,job,sick,income\n30,cook,no,10.5\n41, nurse ,yes,-2e3\n52,cook,no,0\n63,judge,no,7\n"


@pytest.fixture
def write(tmp_path):
    def written(text, name="own.csv"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return written


def test_columns_of_texts_become_zeros_and_ones_in_alphabetic_order(write):
    loaded = load(Csv(write(PEOPLE), target="sick"))
    assert loaded.X.tolist() == [
        [30, 1, 0, 0, 10.5],
        [41, 0, 0, 1, -2000],
        [52, 1, 0, 0, 0],
        [63, 0, 1, 0, 7],
    ]
    assert loaded.y.tolist() == [-1, 1, -1, -1]  # the rarer


@pytest.mark.parametrize("positive", ["no", ["no"], "NO"])
def test_the_positive_class_of_texts_is_declared_by_its_text(write, positive):
    data = Csv(write(PEOPLE), target=2, positive=positive, drop=["job", 0])
    assert load(data).y.tolist() == [1, -1, 1, 1]
    assert load(data).X.shape == (4, 1)


def test_categories_and_medians_are_those_of_the_training_part(write):
    train = write("a,b,y\n1,u,0\n3,v,1\n9,u,0\n?,w,1\n")
    test = write("b,a,y\nnew,,1\nv,5,0\n,2,0\n", "test.csv")
    data = Csv(train, test_path=test, missing="median")
    assert load(data).X[:, 0].tolist() == [1, 3, 9, 3]
    assert load(data, "test").X.tolist() == [[3, 0, 0, 0], [5, 0, 1, 0], [2, 0, 0, 0]]
    assert load(data, "all").X.shape == (7, 4)
    with pytest.raises(DataError, match=r"own\.csv: 1 values are missing, in column 'a' \(1\); .*=median"):
        load(Csv(train, test_path=test))


def test_a_gap_that_only_the_test_part_has_is_refused_or_filled_with_the_training_median(write):
    train, test = write("a,b,y\n1,5,0\n3,6,1\n7,7,0\n"), write("a,b,y\n,8,1\n1,1,0\n", "test.csv")
    with pytest.raises(DataError, match=r"test\.csv: 1 values of column 'a' are missing \(row 1\)"):
        load(Csv(train, test_path=test), "test")
    assert load(Csv(train, test_path=test, missing="median"), "test").X[0].tolist() == [3, 8]


@pytest.mark.parametrize("word", ["", "?", "NA", "nan", " NaN "])
def test_all_spellings_of_missing_are_counted(write, word):
    with pytest.raises(DataError, match=r"2 values are missing, in column 'a' \(1\), 'b' \(1\)"):
        load(Csv(write(f"a,b,y\n{word},1,0\n2,{word},1\n3,x,0\n4,4,1\n")))


def test_a_column_that_turns_out_to_be_text_late_in_the_file_is_text_from_the_beginning(write, monkeypatch):
    from aucbench.data.readers import table_files

    monkeypatch.setattr(table_files, "BATCH_BYTES", 64)
    lines = [f"{i % 3},{i},{i % 2}\n" for i in range(60)] + ["seven,60,1\n", "seven,61,0\n"]
    X = load(Csv(write("a,b,y\n" + "".join(lines)))).X
    assert X.shape == (62, 5)
    assert X[:4].tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 2], [1, 0, 0, 0, 3]]
    assert X[60].tolist() == [0, 0, 0, 1, 60]


def test_a_header_is_told_from_data_and_can_be_declared(write):
    numbers = write("1,2,0\n3,4,1\n")
    assert load(Csv(numbers)).X.shape == (2, 2)
    texts = write("u,v,no\nu,w,yes\n", "texts.csv")
    assert load(Csv(texts, header=False)).X.tolist() == [[1, 1, 0], [1, 0, 1]]
    named = write("1,2,y\n1,2,0\n3,4,1\n", "named.csv")
    assert load(Csv(named, target="y")).X.shape == (2, 2)
    assert load(Csv(write("7,8,9\n1,2,0\n3,4,1\n", "odd.csv"), header=True)).X.shape == (2, 2)


@pytest.mark.parametrize("between", [",", ";", "\t", "|", " "])
def test_what_stands_between_columns_is_found_out(write, between):
    text = "\n".join(between.join(row) for row in (["a", "b", "y"], ["1.5", "2", "0"], ["3", "4", "1"]))
    assert load(Csv(write(text))).X.tolist() == [[1.5, 2], [3, 4]]


def test_values_are_those_of_pandas_to_the_last_bit(write):
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((500, 7)) * 10.0 ** rng.integers(-300, 300, (500, 7)))
    frame["y"] = rng.integers(0, 2, 500)
    path = write(frame.to_csv(index=False))
    expected = pd.read_csv(path).to_numpy()[:, :-1]
    np.testing.assert_array_equal(load(Csv(path)).X, expected)


def test_quoted_cells_compressed_files_and_windows_lines_are_read(tmp_path):
    text = 'name,x,y\r\n"Smith, J.",1,0\r\n"O""Neil",2,1\r\n\r\n'
    (tmp_path / "own.csv.bz2").write_bytes(bz2.compress(text.encode()))
    assert load(Csv(str(tmp_path / "own.csv.bz2"))).X.tolist() == [[0, 1, 1], [1, 0, 2]]


@pytest.mark.parametrize(
    ("text", "fields", "message"),
    [
        ("a,b,y\n1,2,0\n1,2\n3,4,1\n", {}, r"own\.csv, line 3: 2 cells, expected 3\."),
        ("a,b,y\n1,2,0\n1,2,3,4\n3,4,1\n", {}, r"own\.csv, line 3: 4 cells, expected 3\."),
        ("a,b,y\n\n1,2,0\n\n1,2\n", {}, r"own\.csv, line 5: 2 cells, expected 3\."),
        ("a,b,y\n1,2,0\n3,4,1\n", {"target": "label"}, r"has no column 'label' .*its columns are a, b, y\."),
        ("a,b,y\n1,2,0\n3,4,1\n", {"target": 7}, r"has no column 7 \(dataset\.target\)"),
        ("a,b,y\n1,2,0\n3,4,1\n", {"drop": ["c"]}, r"has no column 'c' \(dataset\.drop\)"),
        ("a,b,y\n1,2,0\n3,4,0\n", {}, r"expected two classes, got 2 times label 0 only"),
        ("a,b,y\n1,2,0\n3,4,\n", {}, r"1 labels are missing in column 'y' \(row 2\)"),
        ("a,b,y\n1,inf,0\n3,4,1\n", {}, r"1 values are infinite, in column 'b' \(1\)\."),
        ("a,a,y\n1,2,0\n3,4,1\n", {}, r"several columns are named 'a'.*dataset\.header=false"),
        ("abc\ndef\n", {}, r"one column only.*dataset\.delimiter"),
        ("", {}, r"is empty"),
        ("a,b,y\n", {}, r"is empty"),
        ("a,y\n1,0\n2,1\n", {"drop": ["a"]}, r"no columns but the label"),
        ("a,b,y\n1,2,u\n3,4,v\n3,4,w\n", {}, r"got 3 .*dataset\.positive=u or dataset\.positive=\[u,v\]"),
    ],
)
def test_bad_tables_are_one_clear_sentence(write, text, fields, message):
    with pytest.raises(DataError, match=message) as caught:
        load(Csv(write(text), **fields))
    assert "\n" not in str(caught.value)


def test_a_folder_or_nothing_in_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"is a folder, expected a file"):
        load(Csv(str(tmp_path)))
    with pytest.raises(DataError, match=r"does not exist"):
        load(Parquet(str(tmp_path / "none.parquet")))
    with pytest.raises(ParameterError, match=r"csv: path is missing; name your file with dataset\.path=FILE"):
        load(Csv())


def test_text_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "own.csv").write_bytes("a,b,y\ncaf\xe9,1,0\nx,2,1\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"own\.csv is not UTF-8 text"):
        load(Csv(str(tmp_path / "own.csv")))


def test_a_test_part_with_other_columns_or_texts_for_numbers_is_refused(write):
    train = write("a,b,y\n1,2,0\n3,4,1\n")
    with pytest.raises(DataError, match=r"other\.csv has 3 columns, expected the 3 .*different: b, c"):
        load(Csv(train, test_path=write("a,c,y\n1,2,0\n", "other.csv")), "test")
    with pytest.raises(DataError, match=r"column 'b' has 'two', expected numbers as in the training part"):
        load(Csv(train, test_path=write("a,b,y\n1,two,0\n", "text.csv")), "test")


def test_wide_tables_become_sparse_and_blocks_are_joined(write, monkeypatch):
    monkeypatch.setattr(table_encoder, "VALUES", 5000)
    rows = "".join(f"id{i:04d},{i},{i % 2}\n" for i in range(1500))
    X = load(Csv(write("id,n,y\n" + rows))).X
    assert isinstance(X, sparse.csr_matrix)
    assert X.shape == (1500, 1501)
    assert X[1499].toarray().ravel().nonzero()[0].tolist() == [1499, 1500]


def test_parquet_keeps_types_and_categories(tmp_path):
    table = pa.table(
        {
            "number": pa.array([1, 2, None], pa.int32()),
            "flag": pa.array([True, False, True]),
            "kind": pa.array(["u", "v", "u"]).dictionary_encode(),
            "label": pa.array([False, True, False]),
        }
    )
    path = str(tmp_path / "own.parquet")
    parquet.write_table(table, path)
    with pytest.raises(DataError, match=r"1 values are missing, in column 'number' \(1\)"):
        load(Parquet(path))
    loaded = load(Parquet(path, missing="median"))
    assert loaded.X.tolist() == [[1, 1, 1, 0], [2, 0, 0, 1], [1.5, 1, 1, 0]]
    assert loaded.y.tolist() == [-1, 1, -1]
    assert load(Parquet(path, missing="median", positive=False)).y.tolist() == [1, -1, 1]


def test_a_file_that_is_no_parquet_and_a_column_of_times_are_refused(tmp_path, write):
    with pytest.raises(DataError, match=r"own\.csv cannot be read"):
        load(Parquet(write("a,b\n1,2\n")))
    times = pa.table({"when": pa.array([0, 1], pa.timestamp("s")), "y": [0, 1]})
    parquet.write_table(times, tmp_path / "times.parquet")
    with pytest.raises(DataError, match=r"'when' is of type timestamp.*dataset\.drop=\[when\]"):
        load(Parquet(str(tmp_path / "times.parquet")))


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_a_numpy_archive_are_read(tmp_path, compressed, order, monkeypatch):
    monkeypatch.setattr("aucbench.data.readers.npz.VALUES", 64)
    X = np.asarray(np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32), order=order)
    y = np.arange(30) % 3
    save = np.savez_compressed if compressed else np.savez
    save(tmp_path / "own.npz", X=X, y=y)
    loaded = load(Npz(str(tmp_path / "own.npz"), positive=2))
    np.testing.assert_array_equal(loaded.X, X)
    np.testing.assert_array_equal(loaded.y == 1, y == 2)


def test_a_sparse_archive_with_labels_is_read(tmp_path):
    X = sparse.random(40, 3000, 0.01, "csr", rng=np.random.default_rng(1))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(tmp_path / "own.npz", **parts, labels=["u", "v"] * 20)
    loaded = load(Npz(str(tmp_path / "own.npz"), positive="u"))
    assert (loaded.X != X).nnz == 0
    assert loaded.y.tolist() == [1, -1] * 20


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.eye(2)}, r"has no array of labels \(y or target or .*\), only X"),
        ({"y": [0, 1]}, r"has no array of rows"),
        ({"X": np.eye(2), "y": [0, 1, 1]}, r"2 rows and 3 labels"),
        ({"X": np.full((2, 2), np.nan), "y": [0, 1]}, r"4 values of rows 1 and on are missing or infinite"),
        ({"X": np.eye(2), "y": [0, np.nan]}, r"1 labels are missing"),
        ({"X": np.zeros((2, 2), "U3"), "y": [0, 1]}, r"X must be \(n, d\) numbers"),
        ({"X": np.array([{}, 1], object), "y": [0, 1]}, r"X must be \(n, d\) numbers"),
    ],
)
def test_bad_archives_are_one_clear_sentence(tmp_path, arrays, message):
    np.savez(tmp_path / "own.npz", **arrays)
    with pytest.raises(DataError, match=message):
        load(Npz(str(tmp_path / "own.npz")))


def test_what_is_no_archive_is_refused(write):
    with pytest.raises(DataError, match=r"own\.npz is no \.npz archive"):
        load(Npz(write("hello", "own.npz")))
