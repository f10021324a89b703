"""A run whose weights stop being finite is shown and counted as diverged everywhere."""

import math

import numpy as np
import pytest
from mlflow import MlflowClient

import aucbench
from aucbench.studies.store import Store

pytestmark = pytest.mark.slow

WILD = ["algo=opauc", "algo.eta=1e6", "algo.bounded=false", "budget.epochs=3"]
UNTRACKED = "tracking=none"


def test_the_summary_counts_diverged_runs_and_says_what_to_change(output, tmp_path):
    out = output(*WILD, "runs=5", UNTRACKED)
    assert "nan" not in out
    records = [cell.record for cell in Store(tmp_path / "aucbench-store")]
    assert [record.result.auc for record in records] == [None] * 5
    first = min(record.result.iterations for record in records)
    summary = dict(line.strip().split(maxsplit=1) for line in out.splitlines() if len(line.split()) > 1)
    assert summary["test"] == f"AUC  diverged in 5 of 5 runs (within {first} iterations)"
    assert summary["advice"] in {record.result.advice for record in records}
    assert output("status", "--all").splitlines()[-3].split() == ["all", "0", "5", "0", "0"]
    for record in records:
        assert f"{record.data.max_norm:.3g}" in record.result.advice
        assert "lower algo." in record.result.advice


def test_rows_as_they_are_are_advised_to_be_rescaled():
    result = aucbench.run("algo=opauc", "algo.bounded=false", "algo.eta=10", "scaling=none", "rescale=false")
    assert "rescale=true" in result.record["result"]["advice"]
    assert "diverged within" in repr(result)


def test_a_method_that_stops_before_it_has_converged_says_so(output):
    for epochs, converged in (("1", False), ("null", True)):
        out = output("algo=log_reg", f"budget.epochs={epochs}", "runs=2", UNTRACKED)
        assert ("not converged in 2 of 2 runs" in out) is not converged
    assert aucbench.run("budget.iterations=10").record["result"]["converged"] is None


def test_the_last_line_of_a_sweep_and_the_status_count_diverged_cells_apart(run, output):
    grid = "tuning.grid={opauc: {eta: [1e6, 1e7], bounded: [false]}, psam: {gamma: [1e-6]}}"
    out = output("-m", "algo=opauc,psam", "tuning=grid", "tuning.folds=2", grid, "runs=2", UNTRACKED)
    assert "2 cells done, 2 diverged, 0 failed" in out
    out = output("status", "--all")
    totals = [line.split()[1:] for line in out.splitlines() if line.startswith("all")]
    assert totals == [["2", "2", "0", "0"]]


def test_mlflow_has_a_failed_run_without_a_final_auc_where_all_runs_diverged(run, tmp_path):
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    for path in ("one", "other"):  # the other store does not know that the run is there
        run(*WILD, "runs=2", "metrics=[ap]", f"store.path={path}")
        client = MlflowClient(uri)
        (experiment,) = (item for item in client.search_experiments() if item.name == "breast_cancer")
        (entry,) = client.search_runs([experiment.experiment_id])
    assert entry.info.status == "FAILED"
    assert entry.data.tags["diverged"] == "2 of 2"
    points = client.get_metric_history(entry.info.run_id, "test/auc")
    assert np.isfinite([point.value for point in points[:-1]]).all()
    for name in ("test/auc", "test/ap", "test/one_minus_auc", "test/auc_std"):
        assert math.isnan(entry.data.metrics[name])
