"""Tables with errors that would silently give other columns than meant."""

import contextlib
import os

import pyarrow as pa
import pytest
from pyarrow import parquet

from aucbench import DataError, File, Table
from aucbench.data import load
from aucbench.data.readers import table_schema
from aucbench_datasets.own import Csv, Npz, Parquet
from tests.data.conftest import Declared

NUMBERS = [f"{i},{i % 7},{i % 2}\n" for i in range(300)]


@pytest.fixture
def write(tmp_path):
    def written(text, name="own.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(tmp_path / name)

    return written


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


@pytest.mark.parametrize("word", ["None", "none", "<NA>", "#N/A", "n/a", "Null", "-", "NAN"])
def test_words_for_missing_are_no_categories(write, word):
    text = f"a,b,y\n{word},u,0\n2,{word},1\n3,v,1\n"
    with pytest.raises(DataError, match=r"2 values are missing, in column 'a' \(1\), 'b' \(1\)"):
        load(Csv(write(text)))
    assert load(Csv(write(text), missing="median")).X.tolist() == [[2.5, 1, 0], [2, 0, 0], [3, 0, 1]]


def test_declared_categories_and_labels_may_be_called_none(write):
    text = "@attribute a {none,some}\n@attribute y {none,ill}\n@data\nnone,none\nsome,ill\nsome,none\n"
    assert load(arff(write, text)).X.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_a_stray_text_among_numbers_is_named_with_its_row(write, monkeypatch):
    path = write("a,b,y\n" + "".join(NUMBERS[:200]) + "1.2.3,5,1\n" + "".join(NUMBERS[200:]))
    message = (
        r"own\.csv: column 'a' has numbers but for 1 of 301 values, the first being '1\.2\.3' in row 201"
    )
    with pytest.raises(DataError, match=message):
        load(Csv(path))
    monkeypatch.setattr(table_schema, "MAX_CATEGORIES", 100)
    with pytest.raises(DataError, match=message):
        load(Csv(path))
    assert load(Csv(path, drop=["a"])).X.shape == (301, 1)


def test_many_numbers_with_many_texts_are_refused_with_the_name_of_the_file(write, monkeypatch):
    monkeypatch.setattr(table_schema, "MAX_CATEGORIES", 100)
    path = write("a,b,y\n" + "".join(NUMBERS) + "u,1,0\n" * 50)
    with pytest.raises(DataError, match=r"own\.csv: column 'a' has more than 100 different texts"):
        load(Csv(path))


def test_commas_in_numbers_are_refused(write):
    with pytest.raises(
        DataError, match=r"column 'a' has numbers with commas \('1,5' in row 1\), .* decimal point"
    ):
        load(Csv(write("a;b;y\n1,5;2;0\n2;3;1\n")))
    with pytest.raises(DataError, match=r"column 'b' has numbers with commas \('1,234' in row 2\)"):
        load(Csv(write('a,b,y\n1,2,0\n2,"1,234",1\n')))


@pytest.mark.parametrize("text", ["1_000", "\u0663"])
def test_what_only_python_takes_for_a_number_is_a_text(write, text):
    assert load(Csv(write(f"a,b,y\n{text},2,0\n2,3,1\n"))).X.shape == (2, 3)
    train, test = write("a,b,y\n1,2,0\n2,3,1\n"), write(f"a,b,y\n{text},2,0\n", "test.csv")
    with pytest.raises(DataError, match=rf"test\.csv: column 'a' has '{text}', expected numbers"):
        load(Csv(train, test_path=test), "test")


def test_large_whole_numbers_are_numbers(write_parquet):
    path = write_parquet([[2**53 + 1, 7], [0, 1]], ["a", "y"])
    assert load(Parquet(path)).X.tolist() == [[2.0**53], [7]]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([b"\xff", b"\xfe"]),
        pa.array([{"u": 1}, {"u": 2}]),
        pa.array([0, 1], pa.date32()),
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


@pytest.mark.parametrize("delimiter", ["é", "\n", '"', "::"])
def test_bad_delimiters_are_refused(write, delimiter):
    with pytest.raises(DataError, match=r"own\.csv: the delimiter must be one ASCII character"):
        load(Csv(write("a,b,y\n1,2,0\n3,4,1\n"), delimiter=delimiter))


def test_a_tab_may_be_written_as_on_a_command_line(write):
    assert load(Csv(write("a\tb\ty\n1\t2\t0\n3\t4\t1\n"), delimiter="\\t")).X.tolist() == [[1, 2], [3, 4]]


def test_utf_16_is_refused_by_its_name(write):
    with pytest.raises(DataError, match=r"own\.csv is not UTF-8 text but UTF-16"):
        load(Csv(write("a,b,y\n1,2,0\n".encode("utf-16"))))


def test_the_line_of_a_ragged_row_is_right_behind_quoted_ends_of_lines(write):
    with pytest.raises(DataError, match=r"own\.csv, line 5: 2 cells, expected 3"):
        load(Csv(write('a,b,y\n"one\ntwo",2,0\n\n1,2\n3,4,1\n')))


def test_the_label_cannot_be_dropped(write):
    with pytest.raises(DataError, match=r"column 'y' is the label, it cannot be in dataset\.drop too"):
        load(Csv(write("a,b,y\n1,2,0\n3,4,1\n"), drop=["y"]))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("kind", [Csv, Parquet, Npz])
def test_a_file_that_must_not_be_read_is_named_and_not_the_cache(tmp_path, write, kind):
    path = write("a,b,y\n1,2,0\n")
    (tmp_path / "own.csv").chmod(0)
    with pytest.raises(DataError, match=r"own\.csv cannot be read: Permission denied"):
        load(kind(path))
