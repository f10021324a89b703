"""``aucbench data describe``, and what a run says of the columns of a table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import aucbench
from aucbench.cli.main import main


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


def test_describe_shows_names_types_levels_and_missing_cells(table, capsys):
    assert main(["data", "describe", str(table)]) == 0
    shown = capsys.readouterr().out
    assert "60 rows, 5 features" in shown
    rows = rows_of(shown)
    assert rows["town"] == ["categories", "3"]
    assert rows["when"] == ["date"]
    assert rows["age"] == ["number", "2"]
    assert rows["ill"] == ["label"]
    assert "types={0: number}" in shown
    assert "dataset.missing=median" in shown


def test_describe_takes_the_overrides_of_a_run_and_shows_labels_of_any_kind(table, capsys):
    assert main(["data", "describe", str(table), "dataset.target=town", "dataset.drop=[age]"]) == 0
    shown = capsys.readouterr().out
    rows = rows_of(shown)
    assert rows["age"] == ["dropped"]
    assert rows["town"] == ["label"]
    assert rows["ill"] == ["categories", "2"]
    assert main(["data", "describe", str(table), "dataset.target=nothing"]) == 2
    assert "'nothing'" in capsys.readouterr().err


def test_describe_lists_every_column_where_some_are_refused(tmp_path, capsys):
    path = tmp_path / "refused.csv"
    rows = [f'u{i},0{i % 9 + 1}/05/2020,"{i % 9 + 1},{100 + i}",{i * i % 7},{i % 2}' for i in range(60)]
    rows[3] = rows[3].replace(",2,1", ",inf,1")
    path.write_text("\n".join(["name,day,price,size,ill", *rows]) + "\n")
    assert main(["data", "describe", str(path)]) == 2
    shown = capsys.readouterr()
    found = {line.split()[1]: line.split()[2] for line in shown.out.splitlines() if line[:1].isdigit()}
    assert found["name"] == found["price"] == found["size"] == "refused"
    assert found["ill"] == "label"
    for named in ("dataset.drop=[name]", "{price: thousands}", "dataset.drop=[size]"):
        assert named in " ".join(shown.out.split())
    assert "3 columns" in shown.err
    assert main(["algo=solam", "dataset=csv", f"dataset.path={path}", "tracking=none"]) == 2
    refusal = capsys.readouterr().err
    assert "dataset.drop=[name]" in refusal
    assert "'price', 'size'" in refusal
    assert "Traceback" not in refusal


def test_describe_finds_the_reader_by_the_ending_of_the_name(tmp_path, capsys):
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    dump_svmlight_file(X, y, str(tmp_path / "rows.txt"))
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    for name in ("rows.txt", "rows.npz"):
        assert main(["data", "describe", str(tmp_path / name)]) == 0
        assert "4 rows, 4 features, 4 values" in capsys.readouterr().out


def test_a_run_says_how_the_columns_were_read_every_time(table, tmp_path, capsys):
    words = ["algo=ls_svm", "dataset=csv", f"dataset.path={table}", "dataset.missing=median"]
    for _ in range(2):
        assert main([*words, "tracking=none", f"store.path={tmp_path / 'store'}"]) == 0
        told = capsys.readouterr().err
        assert "categories: town (3); date: when; dropped: ''; label: ill; number: age" in told
        assert "types={0: number}" in told
    with pytest.warns(UserWarning, match=r"types=\{0: number\}"):
        assert aucbench.run(*words).record["data"]["features"] == 5
