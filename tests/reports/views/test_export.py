"""Files of a report hold its frames."""

import numpy as np
import pandas as pd
import pytest

from aucbench.reports.build import build
from aucbench.reports.views.export import FRAMES, TABLES, write
from tests.helpers.board_cells import tuning
from tests.helpers.small_report import failed_cells, small_cells


@pytest.fixture(scope="module")
def report():
    cells = small_cells() + small_cells(data_sets=2, tuning=tuning())
    return build(cells + failed_cells("lost", 3), "a study", True, reference="beta", rope=0.002)


@pytest.fixture(scope="module")
def files(report, tmp_path_factory):
    """The folder with the files of the report."""
    folder = tmp_path_factory.mktemp("files")
    assert sorted(write(report, folder)) == sorted(folder.iterdir())
    return folder


def plain(value):
    """A value as JSON has it: arrays, tuples and lists alike, and nothing for what is missing."""
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(each) for each in value]
    return None if value is None or value != value else value


@pytest.mark.parametrize("name", FRAMES)
def test_frames_read_back_are_those_of_the_report(name, report, files):
    own, read = getattr(report, name), pd.read_parquet(files / f"{name}.parquet")
    assert list(read.columns) == list(own.columns)
    assert len(read) == len(own) > 0
    for column in own:
        assert list(map(plain, read[column])) == list(map(plain, own[column])), column


@pytest.mark.parametrize("name", TABLES)
def test_csv_says_what_parquet_says(name, files):
    whole, read = pd.read_parquet(files / f"{name}.parquet"), pd.read_csv(files / f"{name}.csv")
    assert list(read.columns) == list(whole.columns)
    for column in whole:
        if pd.api.types.is_numeric_dtype(whole[column]):
            assert np.allclose(read[column], whole[column].astype(float), rtol=1e-12, atol=0, equal_nan=True)
        else:
            assert list(map(plain, read[column].astype(object))) == [
                plain(each) or None for each in whole[column]
            ]


def test_no_text_of_a_csv_file_is_a_formula(tmp_path):
    names = ['=HYPERLINK("x").csv', "@SUM(1).csv", "+1.csv", "-1.csv"]
    made = build(small_cells(data_sets=names), "t", True, reference="alpha")
    write(made, tmp_path)
    read = pd.read_csv(tmp_path / "results.csv")
    assert set(read["data_set"]) == {f"'{name}" for name in names}
    assert np.allclose(read["mean"], made.results["mean"])
