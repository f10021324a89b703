"""Tables of a report as files: their columns are those of every other view."""

from dataclasses import fields

import pandas as pd
import pytest

from aucbench.reports.build import build
from aucbench.reports.cells import from_store
from aucbench.reports.render.columns import METHOD_COLUMNS, ROW_COLUMNS, board_table, overall_table
from aucbench.reports.render.export import write
from aucbench.reports.report import Row
from aucbench.studies.store import Store


@pytest.fixture(scope="module")
def report(folder):
    return build(from_store(Store(folder), "small"), "small", one_study=True, baseline="psam")


@pytest.fixture(scope="module")
def written(report, tmp_path_factory):
    place = tmp_path_factory.mktemp("written")
    write(report, [], place, pictures=False)
    return place


def test_every_number_and_text_of_a_row_is_exported_once(written):
    found = list(pd.read_csv(written / "leaderboard.csv").columns)
    assert len(found) == len(set(found))
    parts = {
        "auc",
        "std",
        "gain",
        "curve",
        "aucs",
        "others",
        "suboptimality",
        "to_targets",
    }  # exported as auc_mean and so on, or not as one number
    assert {field.name for field in fields(Row)} - parts <= set(found)
    assert {"auc_mean", "auc_std", "auc_low", "auc_high", "gain_mean", "gain_low", "gain_high"} <= set(found)


def test_the_positive_labels_are_exported(written, report):
    found = pd.read_csv(written / "leaderboard.csv", dtype=str).set_index("board")["positive"]
    for board in report.boards:
        assert set(found[str(board.number)]) == {", ".join(board.facts.positive)}
    assert "5, 6, 7, 8, 9" in set(found)


def test_the_tables_in_text_have_the_values_of_the_exported_ones(report, written):
    exported = pd.read_parquet(written / "leaderboard.parquet")
    for board in report.boards:
        table = board_table(report, board)
        place = table.head.index("Test AUC")
        means = exported[exported["board"] == board.number]["auc_mean"]
        assert [line[place].partition(" ")[0] for line in table.lines] == [f"{mean:.4f}" for mean in means]
    overall = pd.read_csv(written / "overall.csv")
    table = overall_table(report, report.overall[0])
    place = table.head.index("Mean rank")
    assert [line[place] for line in table.lines] == [f"{rank:.2f}" for rank in overall["rank"]]


@pytest.mark.parametrize("columns", [ROW_COLUMNS, METHOD_COLUMNS])
def test_a_column_has_a_key_and_a_heading_of_its_own(columns):
    assert (
        len({column.key for column in columns}) == len({column.header for column in columns}) == len(columns)
    )
