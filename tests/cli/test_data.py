"""``aucbench data describe``, and the note of a run on the columns of a table."""

import numpy as np
import pandas as pd
import pytest

import aucbench


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file of pandas with its index, categories, dates and missing cells."""
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["a", "b", "c"], 60)})
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(60), "D")
    frame["age"] = rng.integers(20, 60, 60).astype(float)
    frame["ill"] = np.where(rng.random(60) < 0.4, "yes", "no")
    frame.loc[[3, 5], "age"] = np.nan
    frame.to_csv(tmp_path / "my (1).csv")
    return tmp_path / "my (1).csv"


def rows_of(text):
    return {line.split()[1]: line.split()[2:] for line in text.splitlines() if line[:1].isdigit()}


def test_describe_shows_the_columns_as_they_are_read_and_takes_the_overrides_of_a_run(table, output, refused):
    all_columns = "town categories 3, when date, age number 2, ill label"
    for args, expected in (
        ((), all_columns),
        (("dataset.target=town", "dataset.drop=[age]"), "age dropped, town label, ill categories 2"),
    ):
        text = output("data", "describe", table, *args)
        rows = rows_of(text)
        for name, *cells in map(str.split, expected.split(", ")):
            assert rows[name][: len(cells)] == cells
        if not args:
            notes = "60 rows, 5 features", "types={0: number}", "dataset.missing=median"
            assert [part for part in notes if part not in text] == []
    assert "'nothing'" in refused("data", "describe", table, "dataset.target=nothing")


@pytest.mark.slow
def test_a_run_says_how_the_columns_were_read_every_time(table, run):
    args = ["algo=ls_svm", "dataset=csv", f"dataset.path={table}", "dataset.missing=median"]
    status, _, err = run(*args, "tracking=none", "reference=null")
    assert status == 0
    assert "categories: town (3); date: when; dropped: ''; label: ill; number: age" in err
    assert "types={0: number}" in err
    with pytest.warns(UserWarning, match=r"types=\{0: number\}"):
        assert aucbench.run(*args).record["data"]["features"] == 5
