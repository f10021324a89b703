"""Data sets declared in TOML tables: keys, defaults, mistakes; KEEL's files with and without their header."""

import hashlib
import io
import pickle
import sys
import zipfile

import pytest

from aucbench import DataError, FetchError, File, PluginError, Table
from aucbench.data import describe, fetch, load
from aucbench_datasets import datasets_from_toml
from tests.helpers.http_server import content

TOML = """
title = "Mine"

[defaults]
summary = "{file} of mine: {rows:,} rows, {rarest} rare."
path = "mine/{file}.csv"
urls = ["https://example.org/{file}.zip#{file}.csv"]
kind = "csv"
licence = "CC0"

[valves]
file = "v1"
rows = 1000
labels = { tight = 970, leaks = 30 }
positive = "leaks"
family = "plumbing"

[pumps]
like = "valves"
file = "p"
header = false
drop = [0, "id"]
categories = [3]
missing = "median"

[many]
summary = "Labels from 0 on, two files."
grouping = "rarest"
features = 3
files = [
    { path = "m", rows = 6, label_counts = [1, 2, 3], first_label = 0, urls = [] },
    { path = "m.t", part = "test", kind = "arff", sha256 = "ab", urls = [] },
]
scaled = true
large = true

[topics]
summary = "One of many labels."
file = "t"
topics = true
"""


@pytest.fixture
def read_toml(tmp_path):
    def read(text):
        (tmp_path / "mine.toml").write_text(text)
        return {cls.name: cls for cls in datasets_from_toml(tmp_path / "mine.toml", __name__)}

    return read


def test_a_table_declares_a_data_set_with_defaults_whose_braces_are_its_keys(read_toml):
    classes = read_toml(TOML)
    assert list(classes) == ["valves", "pumps", "many", "topics"]
    valves = classes["valves"]()
    (file,) = valves.files
    assert file == File(
        "mine/v1.csv",
        rows=1000,
        labels={"tight": 970, "leaks": 30},
        urls=("https://example.org/v1.zip#v1.csv",),
        kind="csv",
    )
    assert valves.__doc__ == "v1 of mine: 1,000 rows, 3% rare."
    facts = valves.family, valves.licence, valves.collection, valves.positive
    assert facts == ("plumbing", "CC0", "Mine", ("leaks",))
    assert not hasattr(valves, "features")


def test_like_takes_over_what_another_table_declares(read_toml):
    pumps = read_toml(TOML)["pumps"]
    (file,) = pumps.files
    assert (file.path, file.rows, pumps.family) == ("mine/p.csv", 1000, "plumbing")
    assert file.table == Table(drop=(0, "id"), header=False, missing="median", types=((3, "categories"),))


def test_a_data_set_of_several_classes_has_several_files_and_a_grouping_to_override(read_toml):
    dataset = read_toml(TOML)["many"]
    train, test = dataset.files
    assert train == File("m", rows=6, labels={0.0: 1, 1.0: 2, 2.0: 3}, kind="csv")  # the default kind
    assert test == File("m.t", part="test", kind="arff", sha256="ab")
    assert (dataset.features, dataset.scaled, dataset.large, dataset.family) == (3, True, True, "many")
    assert dataset().grouping == "rarest"
    assert dataset(grouping="halves", positive=[1]).positive == (1.0,)


def test_rows_with_many_labels_are_grouped_by_the_topic_of_the_run(read_toml):
    topics = read_toml(TOML)["topics"]
    assert [topics().files[0].topic, topics(topic=3).files[0].topic] == ["largest", 3.0]


def test_data_sets_of_a_table_are_pickled_by_their_name_in_the_module(read_toml):
    for cls in read_toml(TOML).values():
        assert pickle.loads(pickle.dumps(cls())) == cls()
        assert getattr(sys.modules[__name__], cls.name) is cls


@pytest.mark.parametrize(
    ("mistake", "parts"),
    [
        ('[a]\nsummary = "S."\npath = "p"\nlicense = "x"', ["[a]", "`license`"]),
        ('[a]\nsummary = "S."\nfiles = [{ path = "p", row = 3 }]', ["[a]", "`row`"]),
        ('[a]\nsummary = "S."\nrows = 3\nfiles = [{ path = "p" }]', ["[a]", "rows", "files"]),
        ('[a]\nsummary = "S."\nfiles = ["p"]', ["[a]", "files"]),
        ('[a]\nsummary = "S."\npath = "p"\nwhatever = 1', ["`whatever`"]),
        ('[a]\nsummary = "S."\npath = "p"\nrows = "three"', ["[a]", "int", "rows"]),
        ('[a]\nsummary = "S."\npath = "p"\ngrouping = "thirds"', ["thirds"]),
        ('[a]\npath = "p"', ["[a]", "summary"]),
        ('[a]\nsummary = "S."', ["[a]", "path"]),
        ('["a b"]\nsummary = "S."\npath = "p"', ["a b", "word"]),
        ('[a]\nlike = "b"', ["[a]", "[b]"]),
        ('defaults = { path = "{folder}" }\n[a]\nsummary = "S."', ["[a]", "folder"]),
        ('titel = "T"', ["titel", "title"]),
        ('[a]\nsummary = "S."\npath = "p"\nlabels = 3', ["[a]", "labels"]),
        ('[defaults]\nlicense = "CC0"', ["[defaults]", "`license`"]),
        ("[a\n", ["line 1"]),
    ],
)
def test_a_mistake_in_a_table_is_one_sentence_that_names_it(read_toml, mistake, parts):
    with pytest.raises(PluginError) as caught:
        read_toml(mistake)
    text = str(caught.value)
    assert "mine.toml" in text
    assert all(part in text for part in parts), text


ROWS = "1.5, M, negative\n<null>, F, positive\n?, M, negative\n2.5, F, negative\n"
HEADER = "@relation r\n@attribute a real [0, 3]\n@attribute b {M, F}\n@inputs a, b\n@data\n"


class Keel:
    name = "keel_mine"
    features = 3
    positive = ("positive",)

    def __init__(self, *files):
        self.files = files


@pytest.mark.parametrize("header", ["", HEADER, HEADER.replace("\n", "\r\n"), f"{HEADER}\n"])
def test_rows_of_keel_are_read_with_and_without_the_lines_before_them(tmp_path, header):
    (tmp_path / "mine.dat").write_text(header + ROWS)
    table = Table(missing="median", types=((1, "categories"),))
    data = Keel(File(str(tmp_path / "mine.dat"), kind="keel", table=table))
    loaded = load(data)
    assert loaded.X.tolist() == [[1.5, 0, 1], [2.0, 1, 0], [2.0, 0, 1], [2.5, 1, 0]]
    assert loaded.y.tolist() == [-1, 1, -1, -1]
    assert [column.missing for column in describe(data).columns] == [2, 0, 0]


def test_a_keel_file_without_rows_or_with_gaps_that_are_not_declared_is_refused(tmp_path):
    (tmp_path / "empty.dat").write_text(HEADER)
    (tmp_path / "gaps.dat").write_text(HEADER + ROWS)
    for name, message in {"empty": "row", "gaps": "2 values are missing"}.items():
        with pytest.raises(DataError, match=message):
            load(Keel(File(str(tmp_path / f"{name}.dat"), kind="keel")))


def test_the_published_hash_of_a_keel_file_is_that_of_its_rows(web, cache, monkeypatch):
    monkeypatch.delenv("AUCBENCH_MIRROR")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("mine.dat", (HEADER + ROWS).replace("\n", "\r\n"))
    web.serve("/mine.zip", content(archive.getvalue()))
    urls = (f"{web.address}/mine.zip#mine.dat",)
    right = hashlib.sha256(ROWS.encode()).hexdigest()
    (path,) = fetch(Keel(File("keel/mine.dat", kind="keel", sha256=right, urls=urls)))
    assert path.read_bytes().startswith(b"@relation")
    with pytest.raises(FetchError, match=f"expected sha256 {'0' * 64}, got {right}"):
        fetch(Keel(File("keel/other.dat", kind="keel", sha256="0" * 64, urls=urls)))
