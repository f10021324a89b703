"""Columns that are no features, or not what they look like, in files as pandas writes them."""

import numpy as np
import pandas as pd
import pytest

from aucbench import DataError, ParameterError
from aucbench.data import columns_of, load
from aucbench_datasets.user_files import Csv, Parquet

N = 120


@pytest.fixture
def frame():
    """Sorted by class, as frames are that were put together from one of each."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], N // 2)
    return pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N) + y, "y": y})


@pytest.fixture
def saved(tmp_path):
    """Writes a frame as pandas does, without its index unless asked; gives the data set of the file."""

    def saved(frame, name="own.csv", index=False, names=True, **fields):
        frame.to_csv(tmp_path / name, index=index, header=names)
        return Csv(str(tmp_path / name), **fields)

    return saved


def kinds(data):
    return {column.name: column.kind for column in columns_of(data)}


def features(frame):
    return frame.drop(columns="y").to_numpy()


def test_the_index_that_pandas_writes_is_no_feature_unless_declared(frame, saved):
    data = saved(frame, index=True)
    assert kinds(data) == {"": "dropped", "a": "number", "b": "number", "y": "label"}
    kept = load(Csv(data.path, types={0: "number"})).X
    np.testing.assert_array_equal(kept[:, 0], np.arange(N))
    joined = pd.concat([frame[:60], frame[:70]])
    again = pd.read_csv(data.path)
    for other in (frame, frame.sample(frac=1, random_state=1), joined, frame[frame.a > 0], again):
        X = load(saved(other, "other.csv", index=True)).X
        np.testing.assert_array_equal(X, other[["a", "b"]].to_numpy())


def test_an_index_of_texts_beside_texts_is_no_feature(saved):
    frame = pd.DataFrame({"job": ["cook", "judge"] * 6, "y": ["no", "no", "yes"] * 4})
    frame.index = [f"row {i}" for i in range(12)]
    assert load(saved(frame, index=True)).X.shape == (12, 2)


def test_the_index_in_a_parquet_file_of_pandas_is_no_feature(frame, tmp_path):
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "own.parquet")
    loaded = load(Parquet(str(tmp_path / "own.parquet")))  # pandas puts the index last
    assert loaded.X.shape == (N, 2)
    assert set(loaded.y) == {-1, 1}


@pytest.mark.parametrize("start", [0, 1, 1000])
@pytest.mark.parametrize("header", [True, False])
def test_a_column_that_counts_the_rows_is_no_feature_whatever_its_name(frame, saved, start, header):
    frame.insert(1, "number", np.arange(start, start + N))
    data = saved(frame, names=header)
    np.testing.assert_array_equal(load(data).X, features(frame.drop(columns="number")))
    note = columns_of(data)[1].note
    assert ("types={number: number}" if header else "types={1: number}") in note
    key = "number" if header else 1
    np.testing.assert_array_equal(load(Csv(data.path, types={key: "number"})).X, features(frame))


@pytest.mark.parametrize("way", [1, -1])
def test_a_column_that_is_sorted_is_refused_unless_it_is_declared(frame, saved, way):
    frame["time"] = way * np.cumsum(np.random.default_rng(1).integers(0, 9, N))  # some rows are tied
    with pytest.raises(DataError, match=r"'time'.*drop=\[time\].*types=\{time: number\}"):
        load(saved(frame, target="y"))
    assert load(saved(frame, target="y", drop=["time"])).X.shape == (N, 2)
    assert load(saved(frame, target="y", types={"time": "number"})).X.shape == (N, 3)


def test_a_file_sorted_by_a_column_of_few_values_and_one_of_few_rows_are_read(frame, saved):
    frame["grade"] = np.sort(np.random.default_rng(1).integers(0, 9, N))
    assert load(saved(frame, target="y")).X.shape == (N, 3)
    assert load(saved(pd.DataFrame({"a": range(9), "b": [0, 1, 0] * 3}))).X.shape == (9, 1)


def test_whether_a_column_is_sorted_does_not_depend_on_where_blocks_end(frame, saved, monkeypatch):
    from aucbench.data.readers import table_files

    monkeypatch.setattr(table_files, "CSV_BYTES", 64)
    monkeypatch.setattr(table_files, "CELL_BYTES", 1)
    frame["up"], frame["broken"] = range(N), [*range(N - 1), 7]
    data = saved(frame, target="y")
    assert load(data).X.shape == (N, 3)
    assert kinds(data)["up"] == "dropped"


def test_numbers_may_be_declared_to_be_categories(saved):
    data = saved(pd.DataFrame({"zip": [7, 8, 7, 9], "y": [0, 1, 0, 1]}), types={"zip": "categories"})
    assert load(data).X.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert columns_of(data)[0].levels == 3
    with pytest.raises(ParameterError, match="number, categories"):
        Csv(data.path, types={"zip": "texts"})
    with pytest.raises(DataError, match=r"'zap' \(dataset\.types\)"):
        load(Csv(data.path, types={"zap": "number"}))


def test_texts_in_a_column_that_is_declared_to_have_numbers_are_refused(saved):
    frame = pd.DataFrame({"a": ["u", "v", "1"], "b": [1, 2, 3], "y": [0, 1, 0]})
    with pytest.raises(DataError, match=r"'a' .*'u' in row 1"):
        load(saved(frame, types={"a": "number"}))


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("columns", [3, 4, 9])
def test_names_that_pandas_numbers_are_names(saved, index, columns):
    values = np.random.default_rng(0).normal(size=(40, columns))
    values[:, -1] = np.arange(40) % 2
    data = saved(pd.DataFrame(values), index=index)
    np.testing.assert_array_equal(load(data).X, values[:, :-1])
    assert any("dataset.header=false" in column.note for column in columns_of(data))


@pytest.mark.parametrize(("names", "high", "columns"), [(True, 9, 8), (False, 99, 6)])
def test_whole_numbers_are_rows_and_numbers_in_sequence_above_them_are_names(saved, names, high, columns):
    values = np.random.default_rng(0).integers(0, high, (40, columns))
    values[:, -1] %= 2
    np.testing.assert_array_equal(load(saved(pd.DataFrame(values), names=names)).X, values[:, :-1])


def test_a_first_line_of_numbers_that_may_be_names_is_refused_until_the_header_is_declared(saved):
    values = np.random.default_rng(0).normal(size=(40, 5))
    frame = pd.DataFrame(values, columns=[3, 7, 12, 20, 31])
    frame[31] = np.arange(40) % 2
    with pytest.raises(DataError, match=r"3, 7, 12, 20, 31.*dataset\.header=true"):
        load(saved(frame))
    assert load(saved(frame, header=True)).X.shape == (40, 4)


def test_a_number_that_is_also_the_name_of_another_column_is_refused(saved):
    values = np.random.default_rng(0).normal(size=(40, 5))
    values[:, 3] = values[:, 4] = np.arange(40) % 2
    frame = pd.DataFrame(values)
    with pytest.raises(DataError, match=r"dataset\.target='4'"):
        load(saved(frame, index=True, target=4))
    assert load(saved(frame, index=True, target="4")).X.shape == (40, 4)
    assert load(saved(frame, index=True, target=-2)).X.shape == (40, 4)


@pytest.fixture
def written(saved):
    """Writes a file with this column, numbers and labels beside it."""

    def written(column, **fields):
        numbers = np.random.default_rng(0).normal(size=len(column))
        return saved(pd.DataFrame({"x": column, "a": numbers, "y": np.arange(len(column)) % 2}), **fields)

    return written


SHUFFLED = np.random.default_rng(3).permutation(60)


@pytest.mark.parametrize(
    ("kind", "texts", "numbers"),
    [
        ("percent", [f"{i / 4}%" for i in SHUFFLED], SHUFFLED / 400),
        ("percent", [f"{i} %" for i in SHUFFLED], SHUFFLED / 100),
        ("thousands", [f"{i * 54321:,}" for i in SHUFFLED], SHUFFLED * 54321.0),
        ("thousands", [f"{-i * 54321.25:,.2f}" for i in SHUFFLED], SHUFFLED * -54321.25),
        ("date", pd.Timestamp("2024-02-29") + pd.to_timedelta(SHUFFLED, "D"), 19782.0 + SHUFFLED),
        ("date", pd.Timestamp("2024-02-29 06:00") + pd.to_timedelta(SHUFFLED, "D"), 19782.25 + SHUFFLED),
        (
            "date",
            pd.Timestamp("2024-02-29 06:00", tz="Asia/Tokyo") + pd.to_timedelta(SHUFFLED, "D"),
            19781.875 + SHUFFLED,
        ),
    ],
)
def test_numbers_in_one_notation_are_numbers(written, kind, texts, numbers):
    data = written(texts)
    np.testing.assert_allclose(load(data).X[:, 0], numbers, rtol=1e-15)
    assert kinds(data)["x"] == kind
    assert kinds(written(texts, types={"x": kind}))["x"] == kind


def test_the_comma_before_decimals_that_pandas_writes_is_read(tmp_path):
    frame = pd.DataFrame({"a": SHUFFLED / 8, "b": SHUFFLED * 1e-7, "y": SHUFFLED % 2})
    frame.to_csv(tmp_path / "own.csv", index=False, sep=";", decimal=",")
    np.testing.assert_array_equal(load(Csv(str(tmp_path / "own.csv"))).X, frame[["a", "b"]].to_numpy())


def test_commas_that_may_be_either_are_read_as_declared(written):
    texts = [f"{i},{i + 100}" for i in SHUFFLED]
    with pytest.raises(DataError, match=r"'x'.*types=\{x: thousands\}.*types=\{x: decimal_comma\}"):
        load(written(texts))
    for kind, factor in (("thousands", 1), ("decimal_comma", 1000)):
        X = load(written(texts, types={"x": kind})).X
        np.testing.assert_allclose(X[:, 0], (SHUFFLED * 1001.0 + 100) / factor, rtol=1e-15)


def test_missing_cells_among_dates_are_counted_and_filled(written):
    dates = pd.Series(pd.Timestamp("2024-02-29") + pd.to_timedelta(SHUFFLED, "D"))
    dates[[5, 7]] = pd.NaT
    with pytest.raises(DataError, match=r"2 values are missing, in column 'x' \(2\)"):
        load(written(dates))
    data = written(dates, missing="median")
    known = np.delete(SHUFFLED, [5, 7])
    np.testing.assert_array_equal(load(data).X[[5, 7], 0], 19782 + np.median(known))
    assert columns_of(data)[0].missing == 2


def test_dates_in_parquet_are_days_and_sorted_ones_are_refused(tmp_path):
    when = pd.Timestamp("2024-02-29 12:00") + pd.to_timedelta(SHUFFLED, "D")
    frame = pd.DataFrame({"when": when, "day": when.date, "y": SHUFFLED % 2})
    frame.to_parquet(tmp_path / "own.parquet")
    X = load(Parquet(str(tmp_path / "own.parquet"))).X
    np.testing.assert_array_equal(X, np.stack([19782.5 + SHUFFLED, 19782.0 + SHUFFLED], axis=1))
    frame.sort_values("when").to_parquet(tmp_path / "sorted.parquet")
    with pytest.raises(DataError, match=r"'when' ascends.*types=\{when: date\}"):
        load(Parquet(str(tmp_path / "sorted.parquet")))
    data = Parquet(str(tmp_path / "sorted.parquet"), types={"when": "date", "day": "date"})
    np.testing.assert_array_equal(load(data).X[:, 1], 19782.0 + np.arange(60))


def test_names_and_dates_in_no_certain_order_are_refused_with_their_count(written):
    names = [f"customer {i}" for i in SHUFFLED]
    with pytest.raises(DataError, match=r"'x' .*60 different.*drop=\[x\].*types=\{x: categories\}"):
        load(written(names))
    assert load(written(names, types={"x": "categories"})).X.shape == (60, 61)
    with pytest.raises(DataError, match=r"'x' has dates .*drop=\[x\]"):
        load(written([f"{i % 28 + 1:02d}/03/2024" for i in SHUFFLED]))


def test_texts_that_occur_again_and_again_are_categories_however_many(written):
    data = written([f"town {i % 60}" for i in range(600)])
    assert load(data).X.shape == (600, 61)
    assert columns_of(data)[0].levels == 60


def test_a_cell_that_is_not_as_declared_is_refused_with_its_row(written, tmp_path, monkeypatch):
    from aucbench.data.readers import table_files

    monkeypatch.setattr(table_files, "CSV_BYTES", 64)
    texts = [f"{i}%" for i in SHUFFLED[:-1]] + ["5"]
    with pytest.raises(DataError, match=r"'x' has '5' in row 60, expected percent"):
        load(written(texts, types={"x": "percent"}))
    train, test = written([*texts[:-1], "5%"]).path, tmp_path / "test.csv"
    pd.DataFrame({"x": ["1%", "half"], "a": 1.0, "y": [0, 1]}).to_csv(test, index=False)
    with pytest.raises(DataError, match=r"test\.csv: column 'x' has 'half'"):
        load(Csv(train, test_path=str(test)), "test")


def test_many_numbers_in_one_notation_are_no_categories(written, monkeypatch):
    from aucbench.data.readers import feature_columns, table_files

    monkeypatch.setattr(feature_columns, "MAX_CATEGORIES", 20)
    monkeypatch.setattr(table_files, "CSV_BYTES", 64)
    texts = [f"{i}%" for i in SHUFFLED]
    np.testing.assert_allclose(load(written(texts)).X[:, 0], SHUFFLED / 100, rtol=1e-15)
    with pytest.raises(DataError, match="more than 20 different texts"):
        load(written([*texts[:-1], "1 2"]))


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
