"""Data sets of OpenML by number and name, and ARFF as it is served there."""

import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from aucbench import DataError, ParameterError
from aucbench.data import load
from aucbench_datasets.openml import Openml
from tests.helpers.http_server import content

ARFF = """@RELATION r
@ATTRIBUTE 'body weight' REAL
@attribute id string
@attribute colour {red,'light blue', "it's"}
@attribute grade {1,2}
@attribute class {yes,no}
@DATA
% a comment
1.5,a,red,1,no
2, b, 'light blue', 2, yes
?,c,"it's",1,no
"""


def describe(web, number, **facts):
    entry = {"url": f"{web.address}/file{number}.arff", "format": "ARFF", "default_target_attribute": "class"}
    body = {"data_set_description": {**entry, **facts}}
    web.serve(f"/openml/{number}.json", content(json.dumps(body).encode()))


def test_openml_by_number_reads_arff_as_its_description_says(web):
    describe(web, 7, row_id_attribute="id")
    web.serve("/file7.arff", content(ARFF.encode()))
    loaded = load(Openml(7, missing="median"))
    assert loaded.X.tolist() == [[1.5, 0, 0, 1, 1, 0], [2, 0, 1, 0, 0, 1], [1.75, 1, 0, 0, 1, 0]]
    assert loaded.y.tolist() == [-1, 1, -1]
    assert load(Openml("7", missing="median", target="grade", drop="class")).y.tolist() == [-1, 1, -1]
    gaps = load(Openml("7", missing="median", missing_words=[2])).X[:, 0]
    assert gaps.tolist() == [1.5, 1.5, 1.5]
    assert loaded.source.endswith("/file7.arff")
    with pytest.raises(DataError, match=r"1 values are missing, in column 'body weight' \(1\)"):
        load(Openml(7))
    with pytest.raises(ParameterError, match=r"openml: path"):
        load(Openml())


def test_openml_by_name_takes_the_first_active_version(web):
    listed = {"data": {"dataset": [{"did": 9, "version": 3}, {"did": 8, "version": 1}]}}
    web.serve("/openml/named-some%20name.json", content(json.dumps(listed).encode()))
    describe(web, 8)
    web.serve("/file8.arff", content(ARFF.replace("?", "3").encode()))
    assert load(Openml("some name", drop=["id"])).X.shape == (3, 6)


def test_openml_reads_parquet_where_there_is_no_arff(web, tmp_path):
    describe(web, 5, parquet_url=f"{web.address}/file5.pq", format="Parquet")
    parquet.write_table(pa.table({"a": [1.0, 2.0], "class": ["u", "v"]}), tmp_path / "file")
    web.serve("/file5.pq", content((tmp_path / "file").read_bytes()))
    assert load(Openml(5)).X.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"no json", r"no JSON"),
        (b"[]", r"data set 3 .*not understood"),
        (b'{"data_set_description": {"url": "x"}}', r"dataset\.target"),
        (b'{"data_set_description": {"default_target_attribute": "y"}}', r"neither ARFF nor Parquet"),
    ],
)
def test_descriptions_that_cannot_be_used_are_refused(web, body, message):
    web.serve("/openml/3.json", content(body))
    with pytest.raises(DataError, match=message):
        load(Openml(3))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1.5,a,red,1,no", "1.5,a,red,1", r"row 1: 4 cells, expected 5"),
        ("1.5,a,red,1,no", "{0 1.5}", r"sparse ARFF rows are not read"),
        ("@DATA", "", r"expected ARFF, with @attribute lines and @data"),
        ("REAL", "date", r"line 2: attributes of type date are not read"),
    ],
)
def test_bad_arff_is_one_clear_sentence(web, old, new, message):
    describe(web, 4)
    web.serve("/file4.arff", content(ARFF.replace(old, new).encode()))
    with pytest.raises(DataError, match=message):
        load(Openml(4, missing="median"))
