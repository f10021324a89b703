import csv

import numpy as np
import pytest

import aucbench
from aucbench import leaderboard
from aucbench.cli import main
from aucbench.result import CellResult
from aucbench.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two methods on one data set with three runs, one of them on a second, one with a second setting."""
    path = tmp_path_factory.mktemp("boards") / "store"
    kept = f"store.path={path}"
    small = "dataset=breast_cancer"
    aucbench.run("algo=solam", small, "runs=3", kept)
    aucbench.run("algo=ls_svm", small, "runs=3", kept)
    aucbench.run("algo=solam", small, "runs=1", "scaling=unit", kept)
    aucbench.run("algo=solam", "dataset=digits", kept)
    return Store(path)


def test_methods_are_ranked_within_their_board_by_mean_auc(store):
    table = leaderboard.build(store)
    assert len(table) == 4
    first = table[(table["dataset"] == "breast_cancer") & (table["runs"] == 3)]
    assert sorted(first["rank"]) == [1.0, 2.0]
    by_method = {name: [] for name in ("solam", "ls_svm")}
    for cell in store:
        if cell.record["dataset"]["name"] == "breast_cancer" and cell.record["scaling"] == "maxabs":
            by_method[cell.record["algorithm"]["name"]].append(cell.auc)
    for row in first.to_dict("records"):
        aucs = by_method[row["method"]]
        assert len(aucs) == 3
        assert row["auc_mean"] == pytest.approx(np.mean(aucs), abs=1e-15)
        assert row["auc_std"] == pytest.approx(np.std(aucs, ddof=1), abs=1e-15)
    best = max(by_method, key=lambda name: np.mean(by_method[name]))
    assert first.loc[first["rank"] == 1, "method"].item() == best


def test_other_settings_are_other_boards(store):
    table = leaderboard.build(store)
    assert table["board"].nunique() == 3
    assert table.groupby("board")["setting"].nunique().eq(1).all()


def test_a_diverged_run_has_no_score_and_its_method_no_rank(store, tmp_path, capsys):
    cell = next(iter(store))
    algorithm = cell.record["algorithm"] | {"exempt": {"auc": "made to fail"}}
    outcome = cell.outcome | {"auc": None, "stop_reason": "diverged"}
    record = cell.record | {"result": outcome, "algorithm": algorithm}
    other = Store(tmp_path)
    other.put("00" * 32, CellResult(record, cell.curve, None))
    row = leaderboard.build(other).iloc[0]
    assert row["diverged"] == 1
    assert np.isnan(row["auc_mean"])
    assert np.isnan(row["rank"])
    assert row["exempt"] == "auc: made to fail"
    leaderboard.show(leaderboard.build(other))
    assert "exempt from checks: auc: made to fail" in capsys.readouterr().out


def test_the_command_prints_the_table_and_writes_it_as_csv(store, tmp_path, capsys):
    assert main(["leaderboard", "--store", str(store.path), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "breast_cancer" in shown
    assert "ls_svm" in shown
    with open(tmp_path / "out" / "leaderboard.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert {row["method"] for row in rows} == {"solam", "ls_svm"}
