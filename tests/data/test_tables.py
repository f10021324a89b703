"""Tables in CSV, Parquet and ARFF files: schemas learned from them, numbers made of them, and refusals."""

import bz2
import contextlib
import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from aucbench import DataError, File, ParameterError, Table
from aucbench.data import load
from aucbench.data.readers import feature_columns, table_files
from aucbench_datasets.user_files import Csv, Npz, Parquet
from tests.data.conftest import Declared

NUMBERS = [f"{37 * i % 300},{i % 7},{i % 2}\n" for i in range(300)]
GOOD = "a,b,y\n1,2,0\n3,4,1\n"
PEOPLE = "age,job,sick,income\n30,cook,no,10.5\n41, nurse ,yes,-2e3\n52,cook,no,0\n63,judge,no,7\n"


@pytest.fixture
def write(tmp_path):
    def written(text, name="own.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
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
    with pytest.raises(DataError, match=r"own\.csv: 1 values .*'a' \(1\).*=median"):
        load(Csv(train, test_path=test))


def test_a_column_that_turns_out_to_be_text_late_in_the_file_is_text_from_the_beginning(write, monkeypatch):
    monkeypatch.setattr(table_files, "CSV_BYTES", 64)
    lines = [f"{i % 3},{7 * i % 60},{i % 2}\n" for i in range(60)] + ["seven,60,1\n", "seven,61,0\n"]
    X = load(Csv(write("a,b,y\n" + "".join(lines)))).X
    assert X.shape == (62, 5)
    assert X[:4].tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 7], [0, 0, 1, 0, 14], [1, 0, 0, 0, 21]]
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
        (GOOD.replace("3", "1,2\n3", 1), {}, r"line 3: 2 cells, expected 3"),
        (GOOD.replace("3", "1,2,3,4\n3", 1), {}, r"line 3: 4 cells, expected 3"),
        ("a,b,y\n\n1,2,0\n\n1,2\n", {}, r"line 5: 2 cells, expected 3"),
        ('a,b,y\n"one\ntwo",2,0\n\n1,2\n3,4,1\n', {}, r"line 5: 2 cells, expected 3"),
        (GOOD, {"target": "label"}, r"'label' .* a, b, y"),
        (GOOD, {"target": 7}, r"no column 7 \(dataset\.target\)"),
        (GOOD, {"drop": ["c"]}, r"'c' \(dataset\.drop\)"),
        (GOOD, {"drop": ["y"]}, r"'y' .*dataset\.drop"),
        *((GOOD, {"delimiter": mark}, r"the delimiter") for mark in ("é", "\n", '"', "::")),
        ("a,b,y\n1,2,0\n3,4,0\n", {}, r"two classes, got 2 times label 0"),
        ("a,b,y\n1,2,0\n3,4,\n", {}, r"1 labels .*'y' \(row 2\)"),
        ("a,b,y\n1,inf,0\n3,4,1\n", {}, r"'b' has 1 infinite.*dataset\.drop=\[b\]"),
        ("a,a,y\n1,2,0\n3,4,1\n", {}, r"several .*'a'.*dataset\.header=false"),
        ("a;b;y\n1,5;2;0\n2.5;3;1\n", {}, r"'a' .*'1,5' in row 1"),
        ('a,b,y\n1,2,0\n2,"1,234",1\n', {}, r"'b' .*'1,234' in row 2"),
        ("abc\ndef\n", {}, r"one column.*dataset\.delimiter"),
        ("", {}, r"is empty"),
        ("a,b,y\n", {}, r"is empty"),
        ("a,y\n1,0\n2,1\n", {"drop": ["a"]}, r"no columns but the label"),
        ("a,b,y\n1,2,u\n3,4,v\n3,4,w\n", {}, r"got 3 .*dataset\.positive=u or .*=\[u,v\]"),
        ("a,b,y\ncaf\xe9,1,0\nx,2,1\n".encode("latin-1"), {}, r"not UTF-8 text"),
        ("a,b,y\n1,2,0\n".encode("utf-16"), {}, r"not UTF-8 text but UTF-16"),
    ],
)
def test_bad_tables_are_one_clear_sentence(write, text, fields, message):
    with pytest.raises(DataError, match=rf"(own\.|^)csv.*{message}") as caught:
        load(Csv(write(text), **fields))
    assert "\n" not in str(caught.value)


def test_a_folder_or_nothing_in_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"is a folder, expected a file"):
        load(Csv(str(tmp_path)))
    with pytest.raises(DataError, match=r"does not exist"):
        load(Parquet(str(tmp_path / "none.parquet")))
    with pytest.raises(ParameterError, match=r"csv: path is missing; name your file with dataset\.path=FILE"):
        load(Csv())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,c,y\n1,2,0\n", r"b, c"),
        ("a,b,y\n1,two,0\n", r"'b' .*'two'"),
        *((f"a,b,y\n{text},2,0\n", rf"'a' has '{text}', expected numbers") for text in ("1_000", "\u0663")),
        ("a,b,y\n,8,1\n1,1,0\n", r"1 values of column 'a' are missing \(row 1\)"),
    ],
)
def test_a_test_part_that_does_not_fit_the_training_part_is_refused(write, text, message):
    train, test = write("a,b,y\n1,5,0\n3,6,1\n7,7,0\n"), write(text, "test.csv")
    with pytest.raises(DataError, match=rf"test\.csv.*{message}"):
        load(Csv(train, test_path=test), "test")
    if "missing" in message:
        assert load(Csv(train, test_path=test, missing="median"), "test").X[0].tolist() == [3, 8]


def test_wide_tables_become_sparse_and_blocks_are_joined(write, monkeypatch):
    monkeypatch.setattr(table_files, "CELL_BYTES", 1000)
    monkeypatch.setattr(table_files, "CSV_BYTES", 1000)
    rows = "".join(f"id{i:04d},{i ^ 1},{i % 2}\n" for i in range(1500))
    X = load(Csv(write("id,n,y\n" + rows), types={"id": "categories"})).X
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


def test_a_file_that_is_no_parquet_and_a_column_of_durations_are_refused(tmp_path, write):
    with pytest.raises(DataError, match=r"own\.csv cannot be read"):
        load(Parquet(write("a,b\n1,2\n")))
    times = pa.table({"when": pa.array([0, 1], pa.duration("s")), "y": [0, 1]})
    parquet.write_table(times, tmp_path / "times.parquet")
    with pytest.raises(DataError, match=r"'when' is of type duration.*dataset\.drop=\[when\]"):
        load(Parquet(str(tmp_path / "times.parquet")))


@pytest.fixture
def write_parquet(tmp_path):
    def written(arrays, names):
        parquet.write_table(pa.table(arrays, names), tmp_path / "own.parquet")
        return str(tmp_path / "own.parquet")

    return written


def arff(write, text, **table):
    return Declared((File(write(text, "own.arff"), kind="arff", table=Table(**table)),))


def test_columns_of_the_same_name_are_refused_in_every_kind_of_file(write, write_parquet):
    with pytest.raises(DataError, match=r"own\.parquet: several columns are named 'a'"):
        load(Parquet(write_parquet([[1, 2], [3, 4], [0, 1]], ["a", "a", "y"])))
    text = "@attribute a real\n@attribute y real\n@attribute y real\n@data\n1,2,0\n2,3,1\n"
    with pytest.raises(DataError, match=r"own\.arff: several columns are named 'y'"):
        load(arff(write, text))


MISSING = ["", "?", "NA", "nan", " NaN ", "None", "none", "<NA>", "#N/A", "n/a", "Null", "-", "NAN"]


@pytest.mark.parametrize("word", MISSING)
def test_all_spellings_of_missing_are_counted_and_no_categories(write, word):
    text = f"a,b,y\n{word},u,0\n2,{word},1\n3,v,1\n"
    with pytest.raises(DataError, match=r"2 values are missing, in column 'a' \(1\), 'b' \(1\)"):
        load(Csv(write(text)))
    assert load(Csv(write(text), missing="median")).X.tolist() == [[2.5, 1, 0], [2, 0, 0], [3, 0, 1]]


def test_declared_categories_and_labels_may_be_called_none(write):
    text = "@attribute a {none,some}\n@attribute y {none,ill}\n@data\nnone,none\nsome,ill\nsome,none\n"
    assert load(arff(write, text)).X.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_a_stray_text_among_numbers_is_named_with_its_row(write, monkeypatch):
    path = write("a,b,y\n" + "".join(NUMBERS[:200]) + "1.2.3,5,1\n" + "".join(NUMBERS[200:]))
    message = r"own\.csv: column 'a' .* 1 of 301 .*'1\.2\.3' in row 201"
    with pytest.raises(DataError, match=message):
        load(Csv(path))
    monkeypatch.setattr(feature_columns, "MAX_CATEGORIES", 100)
    with pytest.raises(DataError, match=message):
        load(Csv(path))
    assert load(Csv(path, drop=["a"])).X.shape == (301, 1)


def test_many_numbers_with_many_texts_are_refused_with_the_name_of_the_file(write, monkeypatch):
    monkeypatch.setattr(feature_columns, "MAX_CATEGORIES", 100)
    path = write("a,b,y\n" + "".join(NUMBERS) + "u,1,0\n" * 50)
    with pytest.raises(DataError, match=r"own\.csv: column 'a' .*100"):
        load(Csv(path))


@pytest.mark.parametrize("text", ["1_000", "\u0663"])
def test_what_only_python_takes_for_a_number_is_a_text(write, text):
    assert load(Csv(write(f"a,b,y\n{text},2,0\n2,3,1\n"))).X.shape == (2, 3)


def test_large_whole_numbers_are_numbers(write_parquet):
    path = write_parquet([[2**53 + 1, 7], [0, 1]], ["a", "y"])
    assert load(Parquet(path)).X.tolist() == [[2.0**53], [7]]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([b"\xff", b"\xfe"]),
        pa.array([{"u": 1}, {"u": 2}]),
        pa.array([0, 1], pa.time32("s")),
    ],
)
def test_columns_of_other_types_are_refused_with_the_name_of_the_file(write_parquet, column):
    path = write_parquet([column, [3, 4], [0, 1]], ["a", "b", "y"])
    with pytest.raises(DataError, match=r"own\.parquet: column 'a' is of type .*dataset\.drop=\[a\]"):
        load(Parquet(path))
    assert load(Parquet(path, drop=["a"])).X.tolist() == [[3], [4]]


def test_labels_of_another_type_are_refused(write_parquet):
    with pytest.raises(DataError, match=r"own\.parquet cannot be read"):
        load(Parquet(write_parquet([[3, 4], [[1], [2]]], ["b", "y"])))


def test_damaged_parquet_is_one_sentence(tmp_path, write_parquet):
    path = write_parquet([list(range(3000)), [i % 2 for i in range(3000)]], ["a", "y"])
    whole = (tmp_path / "own.parquet").read_bytes()
    for place in (10, len(whole) // 2, len(whole) - 60, len(whole) - 30):
        (tmp_path / "own.parquet").write_bytes(whole[:place] + b"\xff" * 20 + whole[place + 20 :])
        with contextlib.suppress(DataError):  # anything else would be a traceback
            load(Parquet(path))
    (tmp_path / "own.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"own\.parquet cannot be read"):
        load(Parquet(path))


def test_a_tab_may_be_written_as_on_a_command_line(write):
    assert load(Csv(write("a\tb\ty\n1\t2\t0\n3\t4\t1\n"), delimiter="\\t")).X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("kind", [Csv, Parquet, Npz])
def test_a_file_that_must_not_be_read_is_named_and_not_the_cache(tmp_path, write, kind):
    path = write("a,b,y\n1,2,0\n")
    (tmp_path / "own.csv").chmod(0)
    with pytest.raises(DataError, match=r"own\.csv cannot be read: Permission denied"):
        load(kind(path))
