"""The certified minimum of a run with an objective: computed, stored, shared, given up, turned off."""

import numpy as np
import pytest

import aucbench
from aucbench.cli.main import main
from aucbench.contracts.validation import Family
from aucbench.studies.execution import optimum
from aucbench.studies.store import Store
from tests.helpers.studies import prepared_apart

pytestmark = pytest.mark.slow  # whole studies

SHORT = ("dataset=breast_cancer", "budget.epochs=2", "budget.checkpoints=6", "metrics=[objective]")


def own_minimum(cell):
    return cell.record.measures["objective"].minimum


def test_the_suboptimality_is_that_of_the_closed_form(tmp_path):
    overrides = ("algo=spam", "algo.beta=0.01", "regularisation=rows", *SHORT, "store.weights=checkpoints")
    result = aucbench.run(*overrides, f"store.path={tmp_path}")
    rows = prepared_apart(overrides)
    D = (rows.X[rows.y == 1][:, None] - rows.X[rows.y == -1][None]).reshape(-1, rows.X.shape[1])
    share = np.mean(rows.y == 1)
    ridge = 0.01 / (share * (1.0 - share))
    w = np.linalg.solve(D.T @ D / len(D) + ridge / 2 * np.eye(D.shape[1]), D.mean(axis=0))
    least = np.mean((1 - D @ w) ** 2) + ridge / 2 * w @ w
    assert own_minimum(result.cells[0]).value == pytest.approx(least, rel=1e-9)
    values = [np.mean((1 - D @ v) ** 2) + ridge / 2 * v @ v for v in result.cells[0].checkpoint_weights]
    np.testing.assert_allclose(result.curve["suboptimality"], np.array(values) / least - 1, rtol=1e-6)


def test_methods_of_one_objective_and_split_share_a_minimum(monkeypatch):
    first = aucbench.run("algo=ls_svm", "algo.lam=0.05", *SHORT, "budget.epochs=1")
    monkeypatch.setattr(optimum, "minimum", lambda *arguments: pytest.fail("computed again"))
    second = aucbench.run("algo=spdam", "algo.lam=0.05", *SHORT)
    assert own_minimum(second.cells[0]) == own_minimum(first.cells[0])
    solution = aucbench.optimum("algo=ls_svm", "algo.lam=0.05", "dataset=breast_cancer")
    assert own_minimum(first.cells[0]).value == solution.record.value
    monkeypatch.undo()
    third = aucbench.run("algo=spdam", "algo.lam=0.05", *SHORT, "split_seed=1")
    assert own_minimum(third.cells[0]).value != solution.record.value


@pytest.mark.parametrize("limit", [0, 1e-6])
def test_a_minimum_that_was_not_asked_for_or_took_too_long_is_added_without_training(limit, tmp_path):
    overrides = ("algo=psam", *SHORT, f"store.path={tmp_path}")
    result = aucbench.run(*overrides, f"limits.optimum={limit}")
    first = result.cells[0]
    assert "suboptimality" not in result.curve
    assert not own_minimum(first) or own_minimum(first).value is None
    assert not limit or "1e-06" in own_minimum(first).reason
    second = aucbench.run(*overrides).cells[0]
    assert own_minimum(second).value > 0.0
    assert second.curve["train_seconds"].tolist() == first.curve["train_seconds"].tolist()
    assert second.curve["objective"].tolist() == first.curve["objective"].tolist()
    (stored,) = Store(tmp_path)
    assert own_minimum(stored) == own_minimum(second)


def test_the_suboptimality_for_a_minimum_of_0_is_relative_to_a_thousandth_of_the_objective_at_the_start(
    tmp_path,
):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) % 2 == 0, 1, -1)
    X = np.column_stack([y * (1.0 + rng.random(200)), rng.normal(size=(200, 2))])
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    overrides = (f"dataset.path={tmp_path}/rows.npz", "dataset=npz", "scaling=none", "metrics=[objective]")
    result = aucbench.run("algo=fifo_ogd", "loss=hinge", "algo.radius=5", *overrides, "budget.epochs=2")
    minimum = own_minimum(result.cells[0])
    assert minimum.value == 0.0
    assert minimum.size == 1e-3  # the hinge at zero weights is 1
    expected = np.maximum(result.curve["objective"] / 1e-3, minimum.gap / minimum.size)
    np.testing.assert_allclose(result.curve["suboptimality"], expected, atol=1e-14)


@pytest.mark.filterwarnings("error")
def test_an_objective_that_overflows_is_infinite_and_the_method_linear():
    overrides = ("algo=spam", "algo.C=100", "algo.bounded=false", "dataset=diabetes", "metrics=[objective]")
    result = aucbench.run(*overrides)
    (cell,) = result.cells
    assert np.isfinite(cell.weights).all()
    assert cell.record.measures["objective"].value == np.inf
    assert cell.curve["objective"][0] < np.inf
    assert not np.isnan(cell.curve["objective"]).any()
    assert result.curve["suboptimality"].iloc[-1] == np.inf
    assert cell.record.result.weights_norm == pytest.approx(
        np.abs(cell.weights).max() * np.linalg.norm(cell.weights / np.abs(cell.weights).max())
    )


def test_a_run_says_why_there_is_no_objective_or_no_minimum(capsys):
    for overrides, reason in {
        "algo=oam_gra": "declares no objective",
        "algo=roc_sgd algo.lam=0": "neither regulariser nor ball",
        "algo=psam limits.optimum=0": "limits.optimum=0",
    }.items():
        assert main([*overrides.split(), *SHORT, "budget.epochs=1", "tracking=none", "store.path=null"]) == 0
        lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line.strip()]
        assert any(
            reason in text and name in ("objective", "minimum") for name, *texts in lines for text in texts
        )


def test_a_solver_that_fails_costs_the_minimum_and_not_the_run(tmp_path, monkeypatch):
    def breaks(self, state, batch):
        raise RuntimeError("no luck")

    algorithms = aucbench.catalog().plugins[Family.algorithms]
    monkeypatch.setattr(algorithms["ls_svm"].cls, "step", breaks)
    monkeypatch.setattr(optimum, "_found", {})  # an earlier test may have found the same minimum
    result = aucbench.run("algo=spam", *SHORT, f"store.path={tmp_path}")
    assert result.auc > 0.9
    assert own_minimum(result.cells[0]).value is None
    assert "no luck" in own_minimum(result.cells[0]).reason
