"""Curves as lines of blocks: their heights and ends are those of the frame."""

import pytest

from aucbench.reports.build import build
from aucbench.reports.views.sparklines import BLOCKS, COLUMNS, LETTERS, curves_table
from tests.helpers.board_cells import finished
from tests.helpers.small_report import failed_cells, small_report


@pytest.mark.parametrize("blocks", [BLOCKS, LETTERS])
def test_each_method_has_a_line_that_rises_as_its_curve_and_ends_with_its_value(blocks):
    report = small_report(("alpha", "beta", "gamma"), data_sets=1, far=("beta",))
    title, table = curves_table(report, "defaults", "data0", "gamma", blocks)
    assert [line[0] for line in table.lines] == ["gamma", "alpha", "beta"]
    shown = report.curves[report.curves["samples"] > 0]
    assert f"to {shown['mean'].max():.3f}" in title
    for name, drawn, end in table.lines:
        own = shown[shown["method"] == name]
        assert end == f"{own['mean'].iloc[-1]:.4f}"
        heights = [blocks.index(block) for block in drawn.strip()]
        assert heights == sorted(heights)
        assert len(drawn) == COLUMNS
    assert blocks[-1] in table.lines[1][1]
    ends = [blocks.index(drawn.rstrip()[-1]) for _, drawn, _ in table.lines]
    assert ends[2] < min(ends[:2])


def test_a_line_begins_at_the_first_checkpoint():
    facts = {"train_rows": 100, "test_rows": 10}
    cells = [finished(0.9, algorithm="mine", data=facts), finished(0.9, algorithm="exact", data=facts)]
    report = build(cells, "a study", one_study=True)
    late = report.curves["method"] == "exact"
    report.curves.loc[late, "samples"] *= 10
    _, table = curves_table(report, "defaults", "data", "mine")
    (_, mine, _), (_, exact, _) = table.lines
    assert (mine[0] == " ", exact[0] == " ") == (False, True)
    assert (mine[-1] == " ", exact[-1] == " ") == (True, False)


def test_without_any_curve_there_are_no_lines():
    report = build(failed_cells("alpha", 1), "a study", one_study=True)
    assert curves_table(report, "defaults", "data0", "alpha")[1].lines == []
