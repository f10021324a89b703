"""``aucbench data describe``, and what a run says of the columns of a table."""

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


def test_describe_shows_the_columns_as_they_are_read_and_takes_the_overrides_of_a_run(table, done, refused):
    whole = "town categories 3, when date, age number 2, ill label"
    for words, expected in (
        ((), whole),
        (("dataset.target=town", "dataset.drop=[age]"), "age dropped, town label, ill categories 2"),
    ):
        shown = done("data", "describe", table, *words)
        found = rows_of(shown)
        for name, *read in map(str.split, expected.split(", ")):
            assert found[name][: len(read)] == read
        if not words:
            told = "60 rows, 5 features", "types={0: number}", "dataset.missing=median"
            assert [part for part in told if part not in shown] == []
    assert "'nothing'" in refused("data", "describe", table, "dataset.target=nothing")


@pytest.mark.slow
def test_a_run_says_how_the_columns_were_read_every_time(table, run):
    words = ["algo=ls_svm", "dataset=csv", f"dataset.path={table}", "dataset.missing=median"]
    status, _, err = run(*words, "tracking=none", "reference=null")
    assert status == 0
    assert "categories: town (3); date: when; dropped: ''; label: ill; number: age" in err
    assert "types={0: number}" in err
    with pytest.warns(UserWarning, match=r"types=\{0: number\}"):
        assert aucbench.run(*words).record["data"]["features"] == 5
