"""Tables in CSV, Parquet and ARFF files: numbers made of their cells, and refusals of ambiguous cells."""

import contextlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from scipy import sparse
from sklearn.externals import _arff

from aucbench import DataError, ParameterError
from aucbench.data import columns_of, load
from aucbench.data.readers import doubtful_texts, table_files
from aucbench_datasets.user_files import Arff, Csv, Parquet

GOOD = "a,b,y\n1,2,0\n3,4,1\n"
PEOPLE = "age,job,sick,income\n30,cook,no,10.5\n41, nurse ,yes,-2e3\n52,cook,no,0\n63,judge,no,7\n"
NUMBERS = [f"{37 * i % 300},{i % 7},{i % 2}\n" for i in range(300)]
MISSING = ["", "?", "NA", "nan", " NaN ", "None", "none", "<NA>", "#N/A", "n/a", "Null", "-", "NAN"]
SHUFFLED = np.random.default_rng(3).permutation(60)
N = 120
Y = np.arange(N) % 2


@pytest.fixture
def saved(tmp_path):
    """Writes a frame as pandas does, its index only if `index`; returns the data set of the file."""

    def saved(frame, name="own.csv", index=False, names=True, **fields):
        frame.to_csv(tmp_path / name, index=index, header=names)
        return Csv(str(tmp_path / name), **fields)

    return saved


@pytest.fixture
def save_column(saved):
    """Writes a file with this column, numbers and labels beside it."""

    def written(column, **fields):
        numbers = np.random.default_rng(0).normal(size=len(column))
        return saved(pd.DataFrame({"x": column, "a": numbers, "y": np.arange(len(column)) % 2}), **fields)

    return written


@pytest.fixture
def columns(tmp_path):
    """Writes columns as Parquet, the labels last."""

    def written(**arrays):
        parquet.write_table(pa.table(arrays), tmp_path / "own.parquet")
        return str(tmp_path / "own.parquet")

    return written


@pytest.fixture
def frame():
    """A frame sorted by class, like one concatenated from a frame per class."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], N // 2)
    return pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N) + y, "y": y})


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(table_files, "CSV_BYTES", 64)
    monkeypatch.setattr(table_files, "CELL_BYTES", 1)


def kinds(data):
    return {column.name: column.kind for column in columns_of(data)}


FILLED = [[2.5, 1, 0], [2, 0, 0], [3, 0, 1]]
NUMBERS_AND_TEXTS = [[30, 1, 0, 0, 10.5], [41, 0, 0, 1, -2000], [52, 1, 0, 0, 0], [63, 0, 1, 0, 7]]


@pytest.mark.parametrize(
    ("text", "fields", "rows"),
    [
        (PEOPLE, {"target": "sick"}, NUMBERS_AND_TEXTS),
        (PEOPLE, {"target": 2, "drop": ["job", 0]}, [[10.5], [-2000], [0], [7]]),
        ("1,2,0\n3,4,1\n", {}, [[1, 2], [3, 4]]),
        ("u,v,no\nu,w,yes\n", {"header": False}, [[1, 1, 0], [1, 0, 1]]),
        ("1,2,y\n1,2,0\n3,4,1\n", {"target": "y"}, [[1, 2], [3, 4]]),
        ("7,8,9\n1,2,0\n3,4,1\n", {"header": True}, [[1, 2], [3, 4]]),
        *(("\n".join(GOOD.split()).replace(",", mark), {}, [[1, 2], [3, 4]]) for mark in ",;\t| "),
        (GOOD.replace(",", "\t"), {"delimiter": "\\t"}, [[1, 2], [3, 4]]),  # as on a command line
        ('name,x,y\r\n"Smith, J.",1,0\r\n"O""Neil",2,1\r\n\r\n', {}, [[0, 1, 1], [1, 0, 2]]),
        *((f"a,b,y\n{text},2,0\n\u0669,3,1\n", {}, [[1, 0, 2], [0, 1, 3]]) for text in ("1_000", "\u0663")),
        ("zip,y\n7,0\n8,1\n7,0\n", {"types": {"zip": "categories"}}, [[1, 0], [0, 1], [1, 0]]),
        *((f"a,b,y\n{text},u,0\n2,{text},1\n3,v,1\n", {"missing": "median"}, FILLED) for text in MISSING),
    ],
)  # fmt: skip
def test_cells_become_numbers_and_each_text_a_column_of_zeros_and_ones(write, text, fields, rows):
    assert load(Csv(write(text), **fields)).X.tolist() == rows
    if fields.get("missing"):
        with pytest.raises(
            DataError, match=r"2 values are missing, in column 'a' \(1(, as '.*')?\), 'b' \(1\)"
        ):
            load(Csv(write(text)))


def test_categories_and_medians_are_those_of_the_training_part(write):
    train = write("a,b,y\n1,u,0\n3,v,1\n9,u,0\n?,w,1\n")
    test = write("b,a,y\nnew,,1\nv,5,0\n,2,0\n", "test.csv")
    data = Csv(train, test_path=test, missing="median")
    assert load(data).X[:, 0].tolist() == [1, 3, 9, 3]
    assert load(data, "test").X.tolist() == [[3, 0, 0, 0], [5, 0, 1, 0], [2, 0, 0, 0]]
    assert load(data, "all").X.shape == (7, 4)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from(["a b", "x;y", "p,q", 'say "no"', "u|v", "é"]),
        ),
        min_size=4,
        max_size=15,
    ),
    st.sampled_from([";", ",", "\t", "|", " ", "parquet", "arff"]),
    st.booleans(),
)
def test_frames_are_read_as_pandas_reads_them_from_every_kind_of_file(tmp_path_factory, rows, kind, header):
    frame = pd.DataFrame([*rows, (0.5, "a b"), (-0.25, "p,q")], columns=["n", "text"])
    frame["m"], frame["y"] = range(len(frame), 0, -1), np.arange(len(frame)) % 2 == 1
    path = str(tmp_path_factory.mktemp("frames") / "own")
    types = {"n": "number", "text": "categories", "m": "number"}
    if kind == "parquet":
        frame.to_parquet(path)
        data = Parquet(path, types=types)
    elif kind == "arff":
        attributes = [
            ("n", "REAL"),
            ("text", sorted(set(frame.text))),
            ("m", "REAL"),
            ("y", ["True", "False"]),
        ]
        data = [[repr(n), text, str(m), str(y)] for n, text, m, y in frame.itertuples(index=False)]
        text = _arff.dumps({"description": "", "relation": "own", "attributes": attributes, "data": data})
        Path(path).write_text(text, encoding="utf-8")
        data = Arff(path)
    else:  # the delimiter is found for any content of the cells
        frame.to_csv(path, sep=kind, index=False, header=header)
        data = Csv(path, types=dict(enumerate(types.values())), header=header)
    loaded = load(data)
    expected = np.column_stack([frame.n, pd.get_dummies(frame.text, dtype=float), frame.m])
    np.testing.assert_array_equal(loaded.X, expected)
    assert (loaded.y == 1).tolist() == frame.y.tolist()


REFUSED = [
    (GOOD.replace("3", "1,2\n3", 1), {}, r"line 3: 2 cells, expected 3"),
    (GOOD.replace("3", "1,2,3,4\n3", 1), {}, r"line 3: 4 cells, expected 3"),
    ("a,b,y\n\n1,2,0\n\n1,2\n", {}, r"row 2: 2 cells, expected 3"),
    ('a,b,y\n"one\ntwo",2,0\n\n1,2\n3,4,1\n', {}, r"line 5: 2 cells, expected 3"),
    (GOOD, {"target": "label"}, r"'label' .* a, b, y"),
    (GOOD, {"target": 7}, r"no column 7 \(dataset\.target\)"),
    (GOOD, {"drop": ["c"]}, r"'c' \(dataset\.drop\)"),
    (GOOD, {"drop": ["y"]}, r"'y' is the label"),
    (GOOD, {"types": {"zap": "number"}}, r"'zap' \(dataset\.types\)"),
    *((GOOD, {"delimiter": mark}, r"the delimiter") for mark in ("é", "\n", '"', "::")),
    ("a,b,y\n1,2,0\n3,4,0\n", {}, r"two classes, got 2 times label 0"),
    ("a,b,y\n1,2,0\n3,4,\n", {}, r"1 labels .*'y' \(row 2\)"),
    ("a,b,y\n1,inf,0\n3,4,1\n", {}, r"'b' has an infinite value in row 1.*dataset\.drop=\[b\]"),
    ("a,a,y\n1,2,0\n3,4,1\n", {}, r"several .*'a'.*dataset\.header=false"),
    ("a;b;y\n1,5;2;0\n2.5;3;1\n", {}, r"'a' .*'1,5' .*in row 1"),
    ('a,b,y\n1,2,0\n2,"1,234",1\n', {}, r"'b' .*'1,234' in row 2"),
    ("a,b,y\nu,1,0\nv,2,1\n", {"types": {"a": "number"}}, r"'a' .*'u' in row 1"),
    ("abc\ndef\n", {}, r"one column.*dataset\.delimiter"),
    *((text, {}, r"is empty") for text in ("", "a,b,y\n")),
    ("a,y\n1,0\n2,1\n", {"drop": ["a"]}, r"no columns but the label"),
    ("a,b,y\n1,2,u\n3,4,v\n3,4,w\n", {}, r"got 3 .*dataset\.positive=u or .*=\[u,v\]"),
    ("a,b,y\ncaf\xe9,1,0\nx,2,1\n".encode("latin-1"), {}, r"not UTF-8 text"),
    ("@relation r\n@attribute a real\n", {}, r"dataset=arff"),
]


@pytest.mark.parametrize(("text", "fields", "message"), REFUSED)
def test_bad_tables_are_one_clear_sentence(write, text, fields, message):
    with pytest.raises(DataError, match=rf"(own\.|^)csv.*{message}") as caught:
        load(Csv(write(text), **fields))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,c,y\n1,2,0\n", r"lacks b"),
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


def test_settings_and_files_that_are_none_are_refused(tmp_path, write):
    for make, message in (
        (Csv, r"csv: path is missing; name your file with dataset\.path=FILE"),
        (lambda: Csv("x", target=[1]), r"csv: target .*\[1\]"),
        (lambda: Csv("x", types={"zip": "texts"}), "number, categories"),
    ):
        with pytest.raises(ParameterError, match=message):
            load(make())
    for data, message in (
        (Parquet(str(tmp_path / "none.parquet")), r"does not exist"),
        (Parquet(write("a,b\n1,2\n")), r"own\.csv cannot be read"),
    ):
        with pytest.raises(DataError, match=message):
            load(data)


def test_wide_tables_become_sparse_and_blocks_are_joined(write, small_blocks):
    rows = "".join(f"id{i:04d},{i ^ 1},{i % 2}\n" for i in range(1500))
    X = load(Csv(write("id,n,y\n" + rows), types={"id": "categories"})).X
    assert isinstance(X, sparse.csr_matrix)
    assert X.shape == (1500, 1501)
    assert X[1499].toarray().ravel().nonzero()[0].tolist() == [1499, 1500]


def test_parquet_keeps_types_and_categories(columns):
    number, kind = pa.array([1, 2, None], pa.int32()), pa.array(["u", "v", "u"]).dictionary_encode()
    path = columns(number=number, flag=[True, False, True], kind=kind, label=[False, True, False])
    with pytest.raises(DataError, match=r"1 values are missing, in column 'number' \(1\)"):
        load(Parquet(path))
    loaded = load(Parquet(path, missing="median"))
    assert loaded.X.tolist() == [[1, 1, 1, 0], [2, 0, 0, 1], [1.5, 1, 1, 0]]
    assert loaded.y.tolist() == [-1, 1, -1]
    assert load(Parquet(path, missing="median", positive=False)).y.tolist() == [1, -1, 1]
    assert load(Parquet(columns(a=[2**53 + 1, 7], y=[0, 1]))).X.tolist() == [[2.0**53], [7]]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([b"\xff", b"\xfe"]),
        pa.array([{"u": 1}, {"u": 2}]),
        pa.array([0, 1], pa.time32("s")),
        pa.array([0, 1], pa.duration("s")),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_of_other_types_are_refused_with_the_name_of_the_file(columns, column):
    path = columns(a=column, b=[3, 4], y=[0, 1])
    with pytest.raises(DataError, match=r"own\.parquet: column 'a' is of type .*dataset\.drop=\[a\]"):
        load(Parquet(path))
    assert load(Parquet(path, drop=["a"])).X.tolist() == [[3], [4]]


def test_damaged_parquet_labels_of_another_type_and_twins_are_one_sentence(tmp_path, columns):
    with pytest.raises(DataError, match=r"own\.parquet cannot be read"):
        load(Parquet(columns(b=[3, 4], y=[[1], [2]])))
    path = columns(a=list(range(3000)), y=[i % 2 for i in range(3000)])
    content = (tmp_path / "own.parquet").read_bytes()
    for offset in (10, len(content) // 2, len(content) - 60, len(content) - 30):
        (tmp_path / "own.parquet").write_bytes(content[:offset] + b"\xff" * 20 + content[offset + 20 :])
        with contextlib.suppress(DataError):  # anything else would be a traceback
            load(Parquet(path))
    (tmp_path / "own.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"own\.parquet cannot be read"):
        load(Parquet(path))
    parquet.write_table(pa.table([[1, 2], [3, 4], [0, 1]], ["a", "a", "y"]), path)
    with pytest.raises(DataError, match=r"own\.parquet: several columns are named 'a'"):
        load(Parquet(path))


def test_declared_categories_and_labels_may_be_called_none_and_twins_are_refused(write):
    text = "@attribute a {none,some}\n@attribute y {none,ill}\n@data\nnone,none\n  \nsome,ill\nsome,none\n"
    assert load(Arff(write(text, "own.arff"))).X.tolist() == [[1, 0], [0, 1], [0, 1]]
    with pytest.raises(DataError, match=r"own\.arff: several columns are named 'y'"):
        load(Arff(write(text.replace(" a ", " y "), "own.arff")))


def test_a_stray_text_among_numbers_is_named_with_its_count_and_row(write, monkeypatch):
    path = write("a,b,y\n" + "".join(NUMBERS[:200]) + "1.2.3,5,1\n" + "".join(NUMBERS[200:]))
    message = r"own\.csv: column 'a' has '1\.2\.3' \(1\) among 300 numbers, first in row 201"
    with pytest.raises(DataError, match=message):
        load(Csv(path))
    monkeypatch.setattr(doubtful_texts, "MAX_CATEGORIES", 100)
    with pytest.raises(DataError, match=message):
        load(Csv(path))
    assert load(Csv(path, drop=["a"])).X.shape == (301, 1)
    with pytest.raises(DataError, match=r"own\.csv: column 'a' has 'u' \(50\) among"):
        load(Csv(write("a,b,y\n" + "".join(NUMBERS) + "u,1,0\n" * 50)))


def test_the_index_that_pandas_writes_is_no_feature_unless_declared(frame, saved, tmp_path):
    data = saved(frame, index=True)
    assert kinds(data) == {"": "dropped", "a": "number", "b": "number", "y": "label"}
    np.testing.assert_array_equal(load(Csv(data.path, types={0: "number"})).X[:, 0], np.arange(N))
    shuffled, joined = frame.sample(frac=1, random_state=1), pd.concat([frame[:60], frame[:70]])
    for variant in (frame, shuffled, joined, frame[frame.a > 0], pd.read_csv(data.path)):
        X = load(saved(variant, "other.csv", index=True)).X
        np.testing.assert_array_equal(X, variant[["a", "b"]].to_numpy())
    shuffled.to_parquet(tmp_path / "own.parquet")  # pandas puts the index last
    np.testing.assert_array_equal(load(Parquet(str(tmp_path / "own.parquet"))).X, shuffled[["a", "b"]])
    texts = pd.DataFrame({"job": ["cook", "judge"] * 6, "y": ["no", "no", "yes"] * 4})
    texts.index = [f"row {i}" for i in range(12)]
    assert load(saved(texts, index=True)).X.shape == (12, 2)


@pytest.mark.parametrize("start", [0, 1, 1000])
@pytest.mark.parametrize("header", [True, False])
def test_a_column_that_counts_the_rows_is_no_feature_whatever_its_name(frame, saved, start, header):
    frame.insert(1, "number", np.arange(start, start + N))
    data = saved(frame, names=header)
    np.testing.assert_array_equal(load(data).X, frame[["a", "b"]])
    key = "number" if header else 1
    assert f"types={{{key}: number}}" in columns_of(data)[1].note
    np.testing.assert_array_equal(load(Csv(data.path, types={key: "number"})).X, frame.drop(columns="y"))


@pytest.mark.parametrize("way", [1, -1])
def test_a_column_that_is_sorted_is_refused_unless_declared_or_of_few_values_or_rows(frame, saved, way):
    frame["time"] = way * np.cumsum(np.random.default_rng(1).integers(0, 9, N))  # some rows are tied
    with pytest.raises(DataError, match=r"'time'.*drop=\[time\].*types=\{time: number\}"):
        load(saved(frame, target="y"))
    assert load(saved(frame, target="y", drop=["time"])).X.shape == (N, 2)
    assert load(saved(frame, target="y", types={"time": "number"})).X.shape == (N, 3)
    frame["time"] = np.sort(np.random.default_rng(1).integers(0, 9, N))
    assert load(saved(frame, target="y")).X.shape == (N, 3)
    assert load(saved(pd.DataFrame({"a": range(9), "b": [0, 1, 0] * 3}))).X.shape == (9, 1)


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("names", [range(3), range(9), [3, 7, 12, 20, 31]])
def test_a_first_line_of_numbers_that_may_be_names_is_refused_until_declared(saved, index, names):
    values = np.random.default_rng(0).normal(size=(40, len(names)))
    values[:, -1] = np.arange(40) % 2
    frame = pd.DataFrame(values, columns=names)
    with pytest.raises(DataError, match=r"first line .*dataset\.header=true"):
        load(saved(frame, index=index))
    np.testing.assert_array_equal(load(saved(frame, index=index, header=True)).X, values[:, :-1])


def test_a_number_that_is_the_name_of_another_column_is_refused(saved):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 5)))
    frame[3] = frame[4] = np.arange(40) % 2
    with pytest.raises(DataError, match=r"dataset\.target='4'"):
        load(saved(frame, index=True, header=True, target=4))
    for target in ("4", -2):
        assert load(saved(frame, index=True, header=True, target=target)).X.shape == (40, 4)


DAYS = pd.to_timedelta(SHUFFLED, "D")


@pytest.mark.parametrize(
    ("kind", "texts", "numbers"),
    [
        ("percent", [f"{i / 4}%" for i in SHUFFLED], SHUFFLED / 400),
        ("percent", [f"{i} %" for i in SHUFFLED], SHUFFLED / 100),
        ("thousands", [f"{i * 54321:,}" for i in SHUFFLED], SHUFFLED * 54321.0),
        ("thousands", [f"{-i * 54321.25:,.2f}" for i in SHUFFLED], SHUFFLED * -54321.25),
        ("date", pd.Timestamp("2024-02-29") + DAYS, 19782.0 + SHUFFLED),
        ("date", pd.Timestamp("2024-02-29 06:00") + DAYS, 19782.25 + SHUFFLED),
        ("date", pd.Timestamp("2024-02-29 06:00", tz="Asia/Tokyo") + DAYS, 19781.875 + SHUFFLED),
    ],
)
def test_numbers_in_one_notation_are_numbers(save_column, kind, texts, numbers):
    data = save_column(texts)
    np.testing.assert_allclose(load(data).X[:, 0], numbers, rtol=1e-15)
    assert kinds(data)["x"] == kind
    assert kinds(save_column(texts, types={"x": kind}))["x"] == kind


def test_commas_before_decimals_are_read_and_those_that_may_be_either_as_declared(save_column, tmp_path):
    frame = pd.DataFrame({"a": SHUFFLED / 8, "b": SHUFFLED * 1e-7, "y": SHUFFLED % 2})
    frame.to_csv(tmp_path / "own.csv", index=False, sep=";", decimal=",")
    np.testing.assert_array_equal(load(Csv(str(tmp_path / "own.csv"))).X, frame[["a", "b"]])
    texts = [f"{i},{i + 100}" for i in SHUFFLED]
    with pytest.raises(DataError, match=r"'x'.*types=\{x: thousands\}.*types=\{x: decimal_comma\}"):
        load(save_column(texts))
    for kind, factor in (("thousands", 1), ("decimal_comma", 1000)):
        X = load(save_column(texts, types={"x": kind})).X
        np.testing.assert_allclose(X[:, 0], (SHUFFLED * 1001.0 + 100) / factor, rtol=1e-15)


def test_missing_cells_among_dates_are_counted_and_filled(save_column):
    dates = pd.Series(pd.Timestamp("2024-02-29") + DAYS)
    dates[[5, 7]] = pd.NaT
    with pytest.raises(DataError, match=r"2 values are missing, in column 'x' \(2\)"):
        load(save_column(dates))
    data = save_column(dates, missing="median")
    present = np.delete(SHUFFLED, [5, 7])
    np.testing.assert_array_equal(load(data).X[[5, 7], 0], 19782 + np.median(present))
    assert columns_of(data)[0].missing == 2


def test_dates_in_parquet_are_days_and_sorted_ones_are_refused(tmp_path):
    when = pd.Timestamp("2024-02-29 12:00") + DAYS
    frame, path = pd.DataFrame({"when": when, "day": when.date, "y": SHUFFLED % 2}), str(tmp_path / "own.pq")
    frame.to_parquet(path)
    expected = np.stack([19782.5 + SHUFFLED, 19782.0 + SHUFFLED], axis=1)
    np.testing.assert_array_equal(load(Parquet(path)).X, expected)
    frame.sort_values("when").to_parquet(path)
    with pytest.raises(DataError, match=r"'when' ascends.*types=\{when: date\}"):
        load(Parquet(path))
    data = Parquet(path, types={"when": "date", "day": "date"})
    np.testing.assert_array_equal(load(data).X[:, 1], 19782.0 + np.arange(60))


def test_names_and_dates_in_no_certain_order_are_refused_with_their_count(save_column, monkeypatch):
    names = [f"customer {i}" for i in SHUFFLED]
    with pytest.raises(DataError, match=r"'x' .*60 different.*drop=\[x\].*types=\{x: categories\}"):
        load(save_column(names))
    assert load(save_column(names, types={"x": "categories"})).X.shape == (60, 61)
    data = save_column([f"town {i % 60}" for i in range(600)])  # texts that occur again and again
    assert load(data).X.shape == (600, 61)
    assert columns_of(data)[0].levels == 60
    monkeypatch.setattr(doubtful_texts, "MAX_CATEGORIES", 40)
    with pytest.raises(DataError, match=r"'x' has more than 40 different texts"):
        load(save_column(names))


def test_a_cell_that_is_not_as_declared_is_refused_with_its_row(save_column, write, small_blocks):
    texts = [f"{i}%" for i in SHUFFLED[:-1]] + ["5"]
    with pytest.raises(DataError, match=r"'x' has '5' in row 60, expected percent"):
        load(save_column(texts, types={"x": "percent"}))
    pd.DataFrame({"x": SHUFFLED / 4, "y": SHUFFLED % 2}).to_parquet(path := write("", "own.parquet"))
    with pytest.raises(DataError, match=r"'x' has '.*' in row 1, expected percent"):
        load(Parquet(path, types={"x": "percent"}))
    test = write("x,a,y\n1%,1,0\nhalf,1,1\n", "test.csv")
    with pytest.raises(DataError, match=r"test\.csv: column 'x' has 'half'"):
        load(Csv(save_column([*texts[:-1], "5%"]).path, test_path=test), "test")


@pytest.mark.parametrize("positive", [1, "1", "'1'", None])
def test_labels_between_apostrophes_are_those_inside(saved, positive):
    frame = pd.DataFrame({"a": [1.5, 2, 1], "y": ["'-1'", "'1'", "'-1'"]})
    assert load(saved(frame, positive=positive)).y.tolist() == [-1, 1, -1]


def test_a_column_that_cannot_be_the_label_is_named(frame, saved):
    with pytest.raises(DataError, match=r"column 'b' has 120 .*dataset\.target"):
        load(saved(frame[["y", "a", "b"]]))
    with pytest.raises(DataError, match=r"label 1 does not occur in column 'b'"):
        load(saved(frame[["y", "a", "b"]], positive=1))
    frame["b"] = np.arange(N) % 3
    with pytest.raises(DataError, match=r"got 3 in column 'b'"):
        load(saved(frame[["y", "a", "b"]]))
