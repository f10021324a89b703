"""Tables as people have them: words for missing values, signs beside numbers, layouts, groups and leaks."""

import bz2
import gzip
import io
import lzma
import os
import shutil
import zipfile
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction import FeatureHasher
from sklearn.metrics import roc_auc_score

from aucbench import DataError, ParameterError
from aucbench.data import columns_of, describe, load
from aucbench.data.loader import Part
from aucbench.data.readers import table_files
from aucbench.data.readers.formats import reader_of
from aucbench.data.splits.inner import inner_count, inner_split
from aucbench.data.splits.protocols import Given, Holdout, KFold, TrainValidTest
from aucbench_datasets.user_files import Arff, Csv, Libsvm, Npz, Parquet

ROWS = 200
RNG = np.random.default_rng(0)
AGES, NOISE = RNG.integers(40, 90, ROWS), RNG.normal(size=ROWS)
ROW, Y = np.arange(ROWS), np.arange(ROWS) % 2


@pytest.fixture
def saved(tmp_path):
    """Writes columns as CSV, the label last, and returns the path."""

    def saved(sep=",", header=True, name="own.csv", **columns):
        frame = pd.DataFrame({**columns, "z": NOISE[: len(next(iter(columns.values())))]})
        frame["y"] = Y[: len(frame)]
        frame.to_csv(tmp_path / name, index=False, sep=sep, header=header)
        return str(tmp_path / name)

    return saved


def replaced(step, *texts):
    return [texts[i // step % len(texts)] if i % step == 0 else str(age) for i, age in enumerate(AGES)]


MARKERS = [".", "\\N", "unknown", "#DIV/0!", "n.a.", "--", "UNKNOWN", "Missing", ".b", "#N/A", "NULL", "*"]


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("kind", ["csv", "arff"])
def test_words_for_missing_among_numbers_are_missing_and_said(saved, write, marker, kind):
    texts = replaced(25, marker)
    if kind == "csv":
        path, make = saved(age=texts), Csv
    else:
        rows = "".join(f"'{a}',{z},{label}\n" for a, z, label in zip(texts, NOISE, Y, strict=True))
        head = "@relation r\n@attribute age numeric\n@attribute z real\n@attribute y {0,1}\n@data\n"
        path, make = write(head + rows.replace("\\", "\\\\"), "own.arff"), Arff
    with pytest.raises(
        DataError, match=r"8 values are missing, in column 'age' \(8, as .*dataset\.missing=median"
    ):
        load(make(path))
    data = make(path, missing="median")
    expected = pd.to_numeric(pd.Series(texts), errors="coerce")
    np.testing.assert_array_equal(load(data).X[:, 0], expected.fillna(expected.median()))
    assert marker in columns_of(data)[0].note


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_for_missing_values_are_named_and_indicated(tmp_path, kind):
    gaps, jobless = np.arange(ROWS) % 7 == 0, np.arange(ROWS) % 9 == 0
    frame = pd.DataFrame(
        {"age": np.where(gaps, -999, AGES), "job": np.where(jobless, None, "cook"), "z": NOISE, "y": Y}
    )
    path = str(tmp_path / "own")
    frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
    make = {"csv": Csv, "parquet": Parquet}[kind]
    assert "missing_words=[-999]" in columns_of(make(path, missing="median"))[0].note
    data = make(path, missing="median", missing_words=[-999], add_indicator=True)
    median = np.where(gaps, np.median(AGES[~gaps]), AGES)
    np.testing.assert_array_equal(load(data).X, np.column_stack([median, gaps, ~jobless, jobless, NOISE]))
    assert not any("999" in column.note and "far" in column.note for column in columns_of(data))
    with pytest.raises(ParameterError, match="missing=median"):
        make(path, add_indicator=True)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (replaced(10, "90+", "<40"), r"'90\+' \(10\), '<40' .* 180 numbers, .*_words=\[90\+,'<40'\]"),
        (["12.5" if age % 2 else "1,5" for age in AGES], r"'1,5' .* among"),
        *(  # also few distinct texts
            (["7" if age % 2 else text for age in AGES], rf"'{text}' .* among")
            for text in ("1 234,5", "1\u2019234")
        ),
        ([f"${age * 1000:,}.50" for age in AGES], "look like money"),
        ([f"({age}.25)" for age in AGES], "look like money"),
        ([f"{age % 28 + 1}/3/2024" for age in AGES], "look like dates"),
        *(
            ([*([template.format(1 + age % 12) for age in AGES[4:]]), *[text] * 4], rf"'{text}' \(4\)")
            for text, template in (("noon", "{}:30 PM"), ("half", "{}%"), ("soon", "2024-03-{:02d}"))
        ),
        ([f"1_{age:03d}" for age in RNG.permutation(ROWS)], r"200 different .*signs between"),
        *(
            ([template.format(age) for age in AGES], "where numbers are expected")
            for template in (
                *("\u2212{}.5", "0x{:X}", "{}:30", "10.0.{}.1", "{} kg", "USD {}", "{} EUR", "\u20ac{}"),
                *("{}+", "<{}", "{} th", "1 {}00", "1'{}00.5", "1.{}0,50 EUR", "~{} km/h", "{}\u00b0C"),
            )
        ),
    ],
)  # fmt: skip
def test_numbers_with_signs_units_or_words_are_refused_and_not_made_categories(saved, texts, message):
    path = saved(age=texts)
    with pytest.raises(DataError, match=rf"'age' has .*{message}.*types=\{{age: categories\}}"):
        load(Csv(path, delimiter=","))
    X = load(Csv(path, delimiter=",", types={"age": "categories"})).X
    assert X.shape[1] == len(set(texts)) + 1


def test_bands_of_numbers_are_categories(saved):
    assert load(Csv(saved(age=[f"{10 * (k % 9)}-{10 * (k % 9) + 9}" for k in range(ROWS)]))).X.shape[1] == 10


def test_declared_types_of_files_are_kept_or_refused_with_their_row(tmp_path, write):
    frame = pd.DataFrame({"kind": pd.Categorical(AGES % 4), "z": NOISE, "y": Y})
    frame.to_parquet(tmp_path / "own.parquet")
    data = Parquet(str(tmp_path / "own.parquet"))
    assert columns_of(data)[0].categories == ("0", "1", "2", "3")
    np.testing.assert_array_equal(load(data).X[:, :4], pd.get_dummies(frame.kind, dtype=float))
    arff = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n2,1\ntwo,0\n"
    texts = arff.replace("numeric", "{1, 2, 'light \xe9'}")
    for text, message in (
        (arff, r"'a' has 'two' in row 3, and the file declares numbers"),
        (texts, r"'a' has 'two' in row 3, which is not among the values"),
        (texts.replace("two", "'light \xe9'").encode("latin-1"), r"not UTF-8 text \(line 2\)"),
    ):
        with pytest.raises(DataError, match=message):
            load(Arff(write(text, "own.arff")))
    assert load(Arff(write(texts.replace("two", "'light \xe9'"), "own.arff"))).X.shape == (3, 3)


def test_what_may_be_either_delimiter_is_left_to_the_user(write):
    path = write("red,big|heavy,yes\nblue,small|light,no\nred,small|heavy,no\n")
    with pytest.raises(DataError, match=r"dataset\.delimiter='.'.* or .*dataset\.delimiter='.'"):
        load(Csv(path))
    assert load(Csv(path, delimiter=",", header=False)).X.shape == (3, 5)


TABLE = "a b y\n1 2 0\n3 4 1\n5 7 0\n"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (TABLE.replace(" ", "   "), {}),
        (TABLE.replace(" ", " \t "), {"delimiter": "blanks"}),
        ("  " + TABLE.replace("\n", "\n  ").rstrip(" "), {}),
        ('"a" "b" "y"\n"1" 1 2 0\n"2" 3 4 1\n"3" 5 7 0\n', {}),  # written by R, with row names
        ("sep=;\n" + TABLE.replace(" ", ";"), {"skip": 1}),
        ("# made by hand\n" + TABLE.replace(" ", ",") + "# the end\n", {"comment": "#"}),
        ("Survey of 2024\n\n" + TABLE.replace(" ", ","), {"skip": 1}),
        ('a,"b\nof two lines",y\n1,2,0\n3,4,1\n5,7,0\n', {}),
    ],
)
def test_layouts_of_other_programs_are_read(write, text, fields):
    assert load(Csv(write(text), **fields)).X.tolist() == [[1, 2], [3, 4], [5, 7]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# made by hand\n" + TABLE.replace(" ", ","), r"dataset\.comment='#'"),
        ("Survey of 2024\n" + TABLE.replace(" ", ","), r"dataset\.skip=1"),
        ("caf\xe9,b,y\n1,2,0\n3,4,1\n".encode("latin-1"), r"not UTF-8 text \(line 1\)"),
        ("sep=;\n" + TABLE.replace(" ", ";"), r"dataset\.skip=1"),
        ("SEP=\t\n" + TABLE.replace(" ", "\t"), r"dataset\.skip=1"),
        *((TABLE.replace(" ", ",").encode(code), "not UTF-8") for code in ("utf-16", "utf-16-le")),
        ('"a", "b", "y"\n1, "2", 0\n3,  "4", 1\n', "blanks stand before quotes"),
        *(
            (text.replace("\n", ",\n"), "delimiter stands at the end")
            for text in ("a,b,y\n1,2,0\n", "1,2,0\n3,4,1\n")
        ),
        ("a,b,y\n1,2,0,\n3,4,1,\n", "delimiter stands at the end"),
    ],
)
def test_other_layouts_are_refused_with_the_way_out(write, text, message):
    with pytest.raises(DataError, match=message):
        load(Csv(write(text)))


def test_rows_of_empty_cells_are_no_comments(write):
    path = write(TABLE.replace(" ", "\t") + "# a comment\n\t\t\n")
    with pytest.raises(DataError, match="label"):
        load(Csv(path, delimiter="\\t", comment="#", missing="median"))


def zipped(text):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("__MACOSX/._inside.csv", b"\0\5")  # macOS adds one per file
        archive.writestr("inside.csv", text)
    return stream.getvalue()


def zstd(text):
    return pa.compress(text, codec="zstd", asbytes=True)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd, zipped])
@pytest.mark.parametrize("name", ["own.csv", "own", "own.gz"])
def test_compression_is_told_by_content(write, pack, name):
    path = write(pack(TABLE.replace(" ", ",").encode()), name)
    assert load(Csv(path)).X.tolist() == [[1, 2], [3, 4], [5, 7]]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PAR1", "Parquet"),
        (b"ARROW1\0\0", "Arrow"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel"),
        (b"\x93NUMPY\x01\x00", "NumPy"),
        (b"<!DOCTYPE html><p>", "web page"),
        (b'[{"a": 1}]', "JSON"),
        (b"7z\xbc\xaf\x27\x1c", "not UTF-8"),
        (b"own.csv" + b"\0" * 505, "not UTF-8"),  # the head of a tar archive
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zipped], ids=["plain", "gzip", "zip"])
def test_files_that_are_no_text_are_named_packed_or_not(write, head, kind, pack):
    for make in (Csv, Arff):
        with pytest.raises(DataError, match=rf"is .*{kind}"):
            load(make(write(pack(head + b" 1,2\n" * 9))))


def test_a_file_is_read_by_its_content_where_its_name_says_nothing(tmp_path, write):
    (tmp_path / "parts").mkdir()
    pd.DataFrame({"z": NOISE, "y": Y}).to_parquet(tmp_path / "parts" / "first")
    assert {reader_of(str(tmp_path / name)) for name in ("parts", "parts/f*", "*/first")} == {"parquet"}
    frame = pd.DataFrame({"a": NOISE, "y": Y})
    frame.to_parquet(tmp_path / "p.data")
    np.savez(tmp_path / "n.data", X=NOISE[:, None], y=Y)
    (tmp_path / "n.data.npz").rename(tmp_path / "n.data")
    assert reader_of(str(tmp_path / "p.data")) == "parquet"
    assert reader_of(str(tmp_path / "n.data")) == "npz"
    assert reader_of(write("1 1:2 3:4\n", "x")) == "libsvm"
    assert reader_of(write("a,b\n1,2\n", "x")) == "csv"
    assert reader_of(write("@relation r\n@attribute a real\n", "x")) == "arff"


def test_a_test_file_needs_only_the_columns_that_are_used(saved, tmp_path):
    path = saved(a=AGES, b=AGES[::-1])
    frame = pd.read_csv(path)
    frame.drop(columns="b").assign(more=1).to_csv(tmp_path / "test.csv", index=False)
    test = str(tmp_path / "test.csv")
    with pytest.raises(DataError, match=r"lacks b"):
        load(Csv(path, target="y", test_path=test), "test")
    loaded = load(Csv(path, target="y", test_path=test, drop=["b"]), "test")
    np.testing.assert_array_equal(loaded.X, frame[["a", "z"]])


GROUPS = np.repeat(np.arange(40), 5)


@pytest.mark.parametrize("columns", [("ward", "hours"), ("hours", "ward")])
@pytest.mark.parametrize("types", [{}, {"ward": "categories"}])
def test_groups_and_times_of_parquet_are_those_of_csv(tmp_path, types, columns):
    frame = pd.DataFrame({"ward": AGES, "hours": NOISE, "stay": AGES % 7, "y": Y})
    frame.to_csv(tmp_path / "own.csv", index=False)
    frame.to_parquet(tmp_path / "own.parquet")
    text, typed = (
        load(make(str(tmp_path / f"own.{make.name}"), types=types), kept=columns) for make in (Csv, Parquet)
    )
    assert text.kinds == typed.kinds
    for name in columns:
        np.testing.assert_array_equal(text.kept[name], typed.kept[name])
    np.testing.assert_array_equal(text.kept["hours"], frame.hours)


@pytest.fixture
def patients(saved):
    order = np.random.default_rng(5).permutation(ROWS)
    names = np.array([f"patient {k}" for k in GROUPS])
    return saved(patient=names[order], age=AGES, when=RNG.integers(0, 60, ROWS))


def of(data, columns):
    return lambda part: load(data, part, columns)


@pytest.mark.parametrize("protocol", [Holdout, TrainValidTest, KFold])
@pytest.mark.parametrize(("seed", "duplicates"), [(0, "anywhere"), (1, "together")])
def test_rows_of_a_group_are_on_one_side_of_every_split(patients, protocol, seed, duplicates):
    chosen = protocol(groups="patient", duplicates=duplicates)
    data = Csv(patients, target="y", drop=["when"])
    loaded = load(data, kept=chosen.columns)
    assert loaded.X.shape[1] == 2
    named = pd.read_csv(patients).patient.to_numpy()
    split = chosen.split(of(data, chosen.columns), Part.train, seed)
    sides = [side for side in split if side is not None]
    groups = [set(named[side.rows]) for side in sides]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 40
    inner = inner_split(split, 3, seed, 0)
    assert not set(named[inner.train.rows]) & set(named[inner.test.rows])


def test_a_group_has_one_value_in_the_training_and_the_test_file(patients, tmp_path):
    frame = pd.read_csv(patients)
    pd.concat([frame[100:], frame[:50]]).to_csv(tmp_path / "test.csv", index=False)
    data = Csv(patients, target="y", test_path=str(tmp_path / "test.csv"))
    codes = load(data, "all", ("patient",)).kept["patient"]
    names = [*frame.patient, *frame.patient[100:], *frame.patient[:50]]
    assert len(set(zip(codes, names, strict=True))) == len(set(codes)) == 40


def test_earlier_rows_train_and_later_ones_test(patients):
    data = Csv(patients, target="y", drop=["patient"])
    when = pd.read_csv(patients).when.to_numpy()
    for chosen in (Holdout(time="when"), TrainValidTest(time="when"), KFold(time="when", folds=4)):
        latest = -1
        for fold in range(chosen.splits):
            split = chosen.split(of(data, chosen.columns), Part.train, 0, fold)
            parts = [split.train, *([split.validation] if split.validation else []), split.test]
            times = [when[side.rows] for side in parts]
            assert all(a.max() < b.min() for a, b in pairwise(times))
            assert latest < len(split.train.y)
            latest = len(split.train.y)
            for number in range(inner_count(split, 3)):
                inner = inner_split(split, 3, 0, number)
                assert (
                    inner.test is split.validation
                    or when[inner.train.rows].max() < when[inner.test.rows].min()
                )


def test_columns_of_a_split_that_do_not_suit_it_are_refused(patients, saved):
    data = Csv(patients, target="y")
    for chosen, message in (
        (Holdout(time="patient"), r"'patient' has texts"),
        (Holdout(groups="clinic"), r"no column 'clinic' \(protocol\)"),
        (Holdout(groups="y"), r"'y' is the label"),
    ):
        with pytest.raises(DataError, match=message):
            chosen.split(of(data, chosen.columns), Part.train, 0)
    with pytest.raises(ParameterError, match=r"protocol\.time"):
        Holdout(time="when", groups="patient")
    gaps = Csv(saved(patient=[None, *GROUPS[1:]], name="gaps.csv"))
    with pytest.raises(DataError, match=r"1 values of column 'patient' are missing \(row 1\)"):
        load(gaps, kept=("patient",))
    with pytest.raises(ParameterError, match=r"columns of a CSV"):
        load(Npz("x.npz"), kept=("patient",))
    assert Given().columns == ()


def test_leaks_are_named_with_their_auc(saved):
    rng, y = np.random.default_rng(1), Y
    columns = {
        "copy": np.where(y == 1, "ill", "well"),
        "near": y + 0.3 * rng.normal(size=ROWS),
        "noise": rng.normal(size=ROWS).round(2),
        "code": rng.permutation(10 * ROWS)[:ROWS],
        "job": rng.choice(["cook", "nurse", "judge"], ROWS),
        "ward": rng.choice([f"ward {k}" for k in range(25)], ROWS),
        "age": rng.integers(40, 70, ROWS),
        "patient": rng.integers(0, 30, ROWS),
    }
    notes = {column.name: column.note for column in columns_of(Csv(saved(**columns)))}
    auc = roc_auc_score(y, columns["near"])
    assert "1.0000" in notes["copy"]
    assert (f"{auc:.4f}" in notes["near"]) is (auc >= 0.99)
    assert "identifier" in notes["code"]
    assert not any(notes[name] for name in ("noise", "job", "age"))
    assert all(f"protocol.groups='{name}'" in notes[name] for name in ("ward", "patient"))


def test_equal_rows_are_counted_in_a_file_and_between_files(saved, tmp_path):
    path = saved(a=AGES)
    frame = pd.read_csv(path)
    pd.concat([frame, frame[:30]]).to_csv(tmp_path / "train.csv", index=False)
    pd.concat([frame[:12], frame[50:90] + 1000]).assign(y=lambda f: f.y % 2).to_csv(
        tmp_path / "test.csv", index=False
    )
    summary = describe(Csv(str(tmp_path / "train.csv"), test_path=str(tmp_path / "test.csv")))
    assert (summary.repeated, summary.test_rows, summary.test_repeated) == (30, 52, 12)


def test_names_that_are_not_utf8_are_read_in_any_place(saved, tmp_path):
    path = saved(age=AGES)
    odd = [str(tmp_path / os.fsdecode(name)) for name in (b"caf\xe9", b"\xffd")]
    for folder in odd:
        os.makedirs(folder)
        shutil.copy(path, os.path.join(folder, os.fsdecode(b"own\xfe.csv")))
    for name in (odd[0], os.path.join(odd[1], os.fsdecode(b"own\xfe.csv"))):
        data = Csv(name)
        assert data.title.encode()
        np.testing.assert_array_equal(load(data).X, load(Csv(path)).X)
    assert len(load(Csv(odd)).y) == 2 * ROWS
    with pytest.raises(ParameterError, match="not UTF-8"):
        Csv(odd[0] + "s")


@pytest.mark.parametrize("kind", ["csv", "parquet", "libsvm"])
def test_files_of_a_folder_a_pattern_or_a_list_are_one_data_set_in_the_order_of_names(tmp_path, kind):
    frames = {}
    for k, name in enumerate(["b", "a", "c"]):
        frame = pd.DataFrame({"u": RNG.normal(size=30), "v": RNG.normal(size=30), "y": np.arange(30) % 2})
        frames[name] = frame
        path = tmp_path / f"part={k % 2}" / f"{name}.{kind}"
        path.parent.mkdir(exist_ok=True)
        if kind == "csv":
            frame.to_csv(path, index=False)
        elif kind == "parquet":
            frame.to_parquet(path)
        else:
            dump_svmlight_file(frame[["u", "v"]], frame.y, str(path), zero_based=False)
    (tmp_path / "part=0" / "_SUCCESS").touch()
    make = {"csv": Csv, "parquet": Parquet, "libsvm": Libsvm}[kind]
    ordered = pd.concat([frames["b"], frames["c"], frames["a"]])[["u", "v"]].to_numpy()
    for path in (str(tmp_path), f"{tmp_path}/*/*.{kind}", f"{tmp_path}/**/?.{kind}"):
        X = load(make(path)).X
        if kind != "libsvm":
            assert X[:, 0].tolist() == [0.0] * 60 + [1.0] * 30
            X = X[:, 1:]
        np.testing.assert_allclose(X, ordered, rtol=1e-15)
    listed = make([f"{tmp_path}/part=1/a.{kind}", f"{tmp_path}/part=0/b.{kind}"])
    np.testing.assert_allclose(
        load(listed).X[:, -2:], pd.concat([frames["a"], frames["b"]])[["u", "v"]], rtol=1e-15
    )
    twice = make([f"{tmp_path}/part=1/a.{kind}"] * 2)
    np.testing.assert_allclose(load(twice).X[:, -2:], pd.concat([frames["a"]] * 2)[["u", "v"]], rtol=1e-15)
    with pytest.raises(ParameterError, match="has no files"):
        load(make(f"{tmp_path}/*.{kind}"))
    if kind != "libsvm":
        (tmp_path / "part=0").rename(tmp_path / "part=__HIVE_DEFAULT_PARTITION__")
        (tmp_path / "part=1").rename(tmp_path / "part=5%30")
        assert load(make(str(tmp_path), missing="median")).X[:, 0].tolist() == [50.0] * 90


@pytest.mark.parametrize("layout", ["dense", "fortran", "csr"])
def test_arrays_have_a_test_part_and_medians_in_the_place_of_missing_values(tmp_path, layout):
    X, test = RNG.normal(size=(50, 4)).round(1), RNG.normal(size=(20, 4))
    X[RNG.random(X.shape) < 0.2] = np.nan
    test[0, 0] = np.nan
    path = str(tmp_path / "own.npz")
    if layout == "csr":
        filled = sparse.csr_matrix(np.where(RNG.random(X.shape) < 0.5, 0.0, X))
        parts = {name: getattr(filled, name) for name in ("data", "indices", "indptr", "shape")}
        X = filled.toarray()
        np.savez(path, y=np.arange(50) % 2, **parts)
        data = Npz(path, missing="median")
    else:
        order, dtype = ("F", ">f8") if layout == "fortran" else ("C", "<f8")
        arrays = {"X": np.array(X, dtype, order=order), "X_test": np.array(test, order=order)}
        np.savez(path, y=np.arange(50) % 2, y_test=np.arange(20) % 2, **arrays)
        data = Npz(path, missing="median")
        expected = np.where(np.isnan(test), np.nanmedian(X, axis=0), test)
        np.testing.assert_array_equal(load(data, "test").X, expected)
    np.testing.assert_array_equal(load(data).X, np.where(np.isnan(X), np.nanmedian(X, axis=0), X))
    with pytest.raises(DataError, match=r"missing or infinite .*dataset\.missing=median"):
        load(Npz(path))


def test_many_texts_share_hashed_columns_unless_declared(saved):
    n = 6000
    users = RNG.integers(0, 1500, n)
    frame = {"user": [f"u{k}" for k in users], "n": RNG.normal(size=n)}
    pd.DataFrame({**frame, "y": np.arange(n) % 2}).to_csv(path := saved(a=AGES), index=False)
    data = Csv(path)
    loaded, hashed = load(data), FeatureHasher(2**18, input_type="string")
    expected = hashed.transform([[f"user=u{k}"] for k in users])
    assert abs(loaded.X[:, 1:] - expected).max() == 0
    assert "hashed into 262,144 columns" in columns_of(data)[0].note
    assert load(Csv(path, types={"user": "categories"})).X.shape[1] == len(set(users)) + 1
    assert load(Csv(path, types={"n": "hashed", "user": "hashed"})).X.shape[1] == 2**18


@pytest.mark.parametrize("missing", ["refuse", "median"])
def test_tables_read_in_one_batch_or_in_many_are_equal(saved, monkeypatch, missing):
    gaps = missing == "median"
    path = saved(
        age=np.where(np.arange(ROWS) % 9 == 4, "." if gaps else "41", AGES.astype(str)),
        job=np.array(["cook", "nurse", "" if gaps else "cook"])[np.arange(ROWS) % 3],
        grade=np.where(np.arange(ROWS) < ROWS // 2, "1", "b"),  # a text after numbers
        share=[f"{age}.5%" for age in AGES],
        broken=[*range(ROWS - 1), 7],
        row=np.arange(ROWS),
    )
    data = Csv(path, missing=missing, add_indicator=gaps)
    loaded, described = load(data), columns_of(data)
    monkeypatch.setattr(table_files, "CSV_BYTES", 100)
    monkeypatch.setattr(table_files, "CELL_BYTES", 1)
    os.utime(path, (1, 1))
    batched = load(data)
    assert batched.sha256 == loaded.sha256
    np.testing.assert_array_equal(batched.X, loaded.X)
    assert columns_of(data) == described
