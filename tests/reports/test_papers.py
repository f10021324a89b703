"""Our results beside published ones: verdicts, variants, names, times."""

import numpy as np
import pandas as pd
import pytest

from aucbench.reports import papers
from aucbench.reports.papers import TABLES, PublishedTable, is_comparable, is_method, judge_table
from aucbench.studies.record import CellStatus
from tests.helpers.board_cells import altered, budget, finished, unfinished
from tests.helpers.studies import EXPERIMENTS, study_of


def table(*numbers, other_data=()):
    """Numbers: data set, method, mean, deviation, seconds."""

    class Table(PublishedTable):
        def numbers(self):
            names = ["dataset", "method", "published", "published_std", "published_seconds"]
            return pd.DataFrame(numbers, columns=names).assign(note="")

    return Table("a paper", "1", "A. Author: A paper", other_data=dict(other_data))


ONE = table(("data", "alpha", 0.9, 0.01, 2.0))


def test_a_data_set_that_is_not_the_papers_is_shown_and_not_counted():
    numbers = ("data", "alpha", 0.95, 0.001, np.nan), ("other", "alpha", 0.9, 0.001, np.nan)
    paper = table(*numbers, other_data={"data": "its classes are others"})
    frame = papers.compare(paper, [finished(0.9)])
    assert list(frame["verdict"]) == ["not comparable", "not run"]
    assert frame["difference"][0] == pytest.approx(-0.05)
    assert frame["note"][0] == "its classes are others"
    assert "0 worse" in papers.verdicts(frame)[-1]


@pytest.mark.parametrize("second", [finished(None, seed=1), unfinished(seed=1), unfinished("failed", seed=1)])
def test_our_number_is_the_mean_over_all_runs_and_with_gaps_there_is_none(second):
    (row,) = papers.compare(ONE, [finished(0.8), finished(0.9, seed=1)]).to_dict("records")
    assert row["ours"] == pytest.approx(0.85)
    assert row["ours_std"] == pytest.approx(np.std([0.8, 0.9], ddof=1))
    assert row["time_ratio"] == pytest.approx(2.0 / 1e-3)
    assert (row["runs"], row["verdict"]) == (2, "worse")
    (row,) = papers.compare(ONE, [finished(0.9), second]).to_dict("records")
    assert (row["verdict"], row["runs"]) == ("not run", 1)
    assert np.isnan(row["ours"])
    reason = "are missing" if second.status is CellStatus.missing else "gave no AUC"
    assert row["note"] == f"1 of 2 runs {reason}"


def test_classes_that_were_halved_at_random_are_not_comparable():
    cell = altered(finished(0.9), dataset={"parameters": {"grouping": "halves", "positive": None}})
    (row,) = papers.compare(ONE, [cell]).to_dict("records")
    assert row["verdict"] == "not comparable"
    assert "halves" in row["note"]
    cell = altered(cell, dataset={"parameters": {"grouping": "halves", "positive": 1}})
    assert is_comparable(cell.described)


OTHER = finished(0.9, budget=budget(epochs=9.0))


@pytest.mark.parametrize("second", [OTHER, altered(OTHER, dataset={"parameters": {"n": 2}})])
def test_a_method_with_several_settings_in_the_study_is_not_averaged_over_them(second):
    (row,) = papers.compare(ONE, [finished(0.9), second]).to_dict("records")
    assert row["verdict"] == "not comparable"
    assert "2 settings" in row["note"]
    assert np.isnan(row["ours"])


def planned(name):
    """The entries of all commands of an experiment, described, not run."""
    return [
        entry.describe()
        for command in EXPERIMENTS
        if command[0] == name
        for entry in study_of(f"+experiment={name}", *command[1:], "tracking=none").entries
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_every_published_number_has_one_entry_of_the_experiment_and_every_entry_a_number(name):
    entries = planned(name)
    indices = []
    for number in TABLES[name].numbers().itertuples():
        mask = [entry.dataset.name == number.dataset for entry in entries]
        matches = [at for at, entry in enumerate(entries) if mask[at] and is_method(entry, number.method)]
        assert len(matches) == 1, number
        indices += matches
    assert sorted(indices) == list(range(len(entries)))


NAN = float("nan")


@pytest.mark.parametrize(
    ("published", "std", "ours", "verdict"),
    [
        (0.9, NAN, 0.903, "equal"),
        (0.9, NAN, 0.9030001, "better"),
        (0.9, NAN, 0.8969999, "worse"),
        (0.9, 0.001, 0.903, "equal"),
        (0.9, 0.01, 0.92, "equal"),
        (0.9, 0.01, 0.9201, "better"),
        (0.9, 0.0, 0.88, "worse"),
        (0.9, 0.01, NAN, "not run"),
        (NAN, NAN, 0.9, "not comparable"),
        (NAN, NAN, NAN, "not comparable"),
    ],
)
def test_numbers_are_equal_within_the_margin_or_two_deviations(published, std, ours, verdict):
    numbers = pd.DataFrame(
        {"published": published, "published_std": std, "ours": ours, "comparable": [True, False]}
    )
    assert list(judge_table(numbers)["verdict"]) == [verdict, "not comparable"]
