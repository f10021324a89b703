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
    """A value as in JSON: arrays and tuples become lists, and missing values become None."""
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    return None if value is None or value != value else value


@pytest.mark.parametrize("name", FRAMES)
def test_frames_read_back_are_those_of_the_report(name, report, files):
    expected, frame = getattr(report, name), pd.read_parquet(files / f"{name}.parquet")
    assert list(frame.columns) == list(expected.columns)
    assert len(frame) == len(expected) > 0
    for column in expected:
        assert list(map(plain, frame[column])) == list(map(plain, expected[column])), column


@pytest.mark.parametrize("name", TABLES)
def test_csv_says_what_parquet_says(name, files):
    frame, csv = pd.read_parquet(files / f"{name}.parquet"), pd.read_csv(files / f"{name}.csv")
    assert list(csv.columns) == list(frame.columns)
    for column in frame:
        if pd.api.types.is_numeric_dtype(frame[column]):
            assert np.allclose(csv[column], frame[column].astype(float), rtol=1e-12, atol=0, equal_nan=True)
        else:
            assert list(map(plain, csv[column].astype(object))) == [
                plain(item) or None for item in frame[column]
            ]


def test_no_text_of_a_csv_file_is_a_formula(tmp_path):
    names = ['=HYPERLINK("x").csv', "@SUM(1).csv", "+1.csv", "-1.csv"]
    board = build(small_cells(data_sets=names), "t", True, reference="alpha")
    write(board, tmp_path)
    frame = pd.read_csv(tmp_path / "results.csv")
    assert set(frame["data_set"]) == {f"'{name}" for name in names}
    assert np.allclose(frame["mean"], board.results["mean"])
