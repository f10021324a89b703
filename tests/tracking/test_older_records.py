"""Records of versions that neither rescaled rows nor stratified hold-outs; `older` was written by one."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from msgspec import UNSET, structs

import aucbench
from aucbench.data import load
from aucbench.data.loader import Part
from aucbench.data.splits.protocols import Holdout
from aucbench.reports.build import build
from aucbench.reports.cells import from_store
from aucbench.reports.views import text
from aucbench.reports.views.export import write
from aucbench.studies.record import BudgetRecord
from aucbench.studies.rerun_command import words
from aucbench.studies.result import FinishedEntry
from aucbench.studies.store import Store
from aucbench.tracking.linear_model import _load_pyfunc
from aucbench.tracking.model_export import export_model
from aucbench.tracking.run_data import note, params

METHODS = ("ls_svm", "psam", "solam", "uni_log")


@pytest.fixture
def older(tmp_path):
    """A store of four methods on wine, one of them tuned."""
    return Store(shutil.copytree(Path(__file__).parent / "older", tmp_path / "older"))


def entry_of(store, algo):
    (cell,) = (each for each in store if each.record.algorithm.name == algo)
    assert cell.record.rescale is None
    return FinishedEntry("key", "older", (cell,))


def command_of(entry):
    return words(entry.record, [cell.record.seeds for cell in entry.cells])


@pytest.mark.parametrize("algo", METHODS)
def test_an_older_record_is_described_exported_and_repeated(algo, older, tmp_path):
    entry = entry_of(older, algo)
    weights, command = entry.cells[0].weights, command_of(entry)
    assert {"rescale=false", "protocol.stratified=false", "scaling=maxabs"} <= set(command)
    again = aucbench.run(*command)
    assert again.record["data"]["row_factor"] == 1.0
    if algo == "uni_log":  # it is solved by other means since, to the same optimum
        np.testing.assert_allclose(again.weights, weights, rtol=1e-3, atol=1e-4)
    else:
        assert again.record["result"]["iterations"] == entry.record.result.iterations
        np.testing.assert_allclose(again.weights, weights, rtol=1e-9, atol=1e-12)
    assert params(entry)["rescale"] is False
    assert f"**{algo}** on **wine**" in note(entry)
    folder = export_model(entry.cells[0], tmp_path / algo)
    data = load(aucbench.catalog().dataset("wine")())
    train, _ = Holdout(stratified=False).split(lambda part: data, Part.train, 0)[:2]
    expected = data.X / np.abs(data.X[train.rows]).max(axis=0) @ weights
    np.testing.assert_allclose(_load_pyfunc(str(folder / "data" / "model.npz")).predict(data.X), expected)


def test_regularisation_of_a_record_without_it_referred_to_the_rescaled_rows_of_ten_epochs(older):
    described = structs.replace(entry_of(older, "psam").record, rescale=True, budget=BudgetRecord())
    found = words(structs.replace(described, regularisation=UNSET), [described.seeds])
    assert {"regularisation=rows", "budget.epochs=10.0"} <= set(found)
    assert not {each for each in found if "rescale" in each}
    assert "regularisation=rows" not in words(structs.replace(described, rescale=False), [described.seeds])


def test_a_board_tells_older_cells_from_rescaled_ones_and_from_those_of_more_epochs(older, tmp_path, capsys):
    setting = ("algo=solam", "protocol.stratified=false", "scaling=maxabs", "tuning=grid")
    own = ("dataset=wine", "tuning.grid={solam: {}}", f"store.path={older.path}")
    commands = [command_of(entry_of(older, algo)) for algo in METHODS]
    aucbench.run(*setting, *own)
    aucbench.run(*setting, *own, "rescale=false")
    for command in commands:
        aucbench.run(*command, f"store.path={older.path}")
    cells = from_store(older)
    assert len(cells) == 2 * len(METHODS) + 2
    report = build(cells, "all")
    settings = report.data_sets.set_index("setting")["setting_text"]
    found = {
        settings[name]: list(rows["algorithm"])
        for name, rows in report.results.groupby("setting", sort=False)
    }
    names = {
        part: sorted(own)
        for part in ("maxabs; default budget", "maxabs; epochs=1", "rescaled; default budget")
        for setting, own in found.items()
        if part in setting
    }
    assert names == {
        "maxabs; default budget": ["ls_svm", "solam", "uni_log"],  # two of them run until converged
        "maxabs; epochs=1": ["psam", "solam"],
        "rescaled; default budget": ["solam"],
    }
    text.show(report)
    assert "rescaled" in capsys.readouterr().out
    assert all(file.stat().st_size for file in write(report, tmp_path / "out"))
