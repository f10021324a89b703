"""Files of a report: they hold its frames, and the verdicts follow from the cells by other code."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from msgspec import structs

from aucbench.reports.build import build
from aucbench.reports.views.export import FRAMES, TABLES, write
from aucbench.reports.views.text import markdown
from benchmarks.reference import half_widths
from tests.helpers.small_report import failed_cells, small_cells

ROPE = 0.002


@pytest.fixture(scope="module")
def report():
    cells = small_cells(runs=3) + small_cells(
        data_sets=11, tuning={"name": "grid", "parameters": {}, "space": {}}
    )
    return build(cells + failed_cells("lost", 3), "a study", True, reference="beta", rope=ROPE)


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


def test_documents_are_those_of_the_views(report, files):
    assert (files / "leaderboard.md").read_text("utf-8") == markdown(report)
    assert (files / "leaderboard.html").stat().st_size > 10_000
    assert "\\begin{tabularx}" in (files / "leaderboard.tex").read_text("utf-8")


def by_hand(cells, reference):
    """Setting and method to the gains of its families, from the cells alone."""
    runs = ["seed", "split_seed", "order_seed", "fold"]
    found = {}
    for (setting, family, _), own in cells.groupby(["setting", "family", "data_set"]):
        table = {name: part.set_index(runs) for name, part in own.groupby("method")}
        if reference not in table or (table[reference]["status"] != "finished").any():
            continue
        for method, part in table.items():
            if method != reference and (part["status"] == "finished").all():
                gain = (part["auc"] - table[reference]["auc"]).mean()
                found.setdefault((setting, method), {}).setdefault(family, []).append(gain)
    return {key: pd.Series({name: np.mean(each) for name, each in own.items()}) for key, own in found.items()}


def check(folder, reference, rope):
    """Assert that verdicts follow from cells.parquet; returns how many do."""
    verdicts = pd.read_parquet(folder / "verdicts.parquet")
    verdicts = verdicts[verdicts["group"] == "all"].set_index(["setting", "method"])
    expected = by_hand(pd.read_parquet(folder / "cells.parquet"), reference)
    half = {}
    for setting in {setting for setting, _ in expected}:
        table = pd.DataFrame({key: own for key, own in expected.items() if key[0] == setting}).sort_index()
        half |= dict(zip(table, half_widths(table.to_numpy(float)), strict=True))
    for key, own in expected.items():
        row, gains = verdicts.loc[key], own.to_numpy()
        pairs = [(one + other) / 2 for k, one in enumerate(gains) for other in gains[k:]]
        assert [row["gain"], row["median"]] == pytest.approx([gains.mean(), np.median(pairs)], abs=1e-14)
        shares = [np.mean(gains < -rope), np.mean(np.abs(gains) <= rope), np.mean(gains > rope)]
        assert [row["worse"], row["same"], row["better"]] == pytest.approx(shares)
        assert row["families"] == len(gains)
        low, high = row["gain"] - half[key], row["gain"] + half[key]
        assert [row["low"], row["high"]] == pytest.approx([low, high], abs=1e-12)
        conditions = {
            "better": low > rope,
            "worse": high < -rope,
            "equivalent": low >= -rope and high <= rope,
            "slightly better": low > 0,
            "slightly worse": high < 0,
            "not worse": low > -rope,
            "undecided": True,
        }
        word = next(word for word, holds in conditions.items() if holds)
        assert row["verdict"] == (word if len(gains) >= 10 else "")
    judged = verdicts.index[verdicts["gain"].notna()]
    assert set(judged) == set(expected)
    return len(expected)


def test_verdicts_follow_from_the_cells(files):
    assert check(files, "beta", ROPE) == 4


@pytest.mark.parametrize("name", ['=HYPERLINK("x").csv', "@SUM(1).csv", "+1.csv", "-1.csv"])
def test_no_text_of_a_csv_file_is_a_formula(name, tmp_path):
    cells = small_cells(data_sets=1, runs=3)
    made = build([renamed(cell, name) for cell in cells], "t", True, reference="alpha")
    write(made, tmp_path)
    read = pd.read_csv(tmp_path / "results.csv")
    assert set(read["data_set"]) == {f"'{name}"}
    assert np.allclose(read["mean"], made.results["mean"])


def renamed(cell, name):
    """The cell with a data set of that name."""
    dataset = structs.replace(cell.described.dataset, name=name, title=name)
    return replace(cell, described=structs.replace(cell.described, dataset=dataset))
