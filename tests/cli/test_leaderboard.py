"""``aucbench leaderboard``, ``aucbench compare``, and the leaderboard that ends a study."""

import re
import shutil

import pandas as pd
import pytest

from aucbench.cli.main import main
from aucbench.reports.cells import from_store
from aucbench.reports.views.export import FRAMES
from aucbench.studies.record import DESCRIPTION, SEEDS, CellStatus, FailureRecord
from aucbench.studies.store import Store
from aucbench.tracking.client import Connection

pytestmark = pytest.mark.slow  # whole studies

ARGS = (
    "-m", "protocol=kfold", "protocol.folds=3", "budget.checkpoints=5", "budget.epochs=0.1",
    "algo=solam,psam", "dataset=wine,label_noise", "study=pair",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a store of a study, and its MLflow file; commands run in it."""
    folder = tmp_path_factory.mktemp("boards")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        address = f"tracking.uri=sqlite:///{folder}/mlflow.db"
        assert main([*ARGS, address, "tracking=mlflow"]) == 0
    return folder


def test_a_study_ends_by_writing_its_leaderboard_and_sending_it(folder):
    board = folder / "aucbench-store" / "boards" / "pair"
    files = {file.name for file in board.iterdir()}
    documents = {f"leaderboard.{kind}" for kind in ("html", "md", "tex", "bib")}
    documents |= {"results.csv", "verdicts.csv"}
    assert files == documents | {f"{name}.parquet" for name in FRAMES}
    assert len(pd.read_parquet(board / "results.parquet")) == 4
    client = Connection(f"sqlite:///{folder}/mlflow.db").client
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    (sent,) = (record for record in client.search_runs(experiments) if record.info.run_name == "pair")
    assert {file.path for file in client.list_artifacts(sent.info.run_id)} == files


def test_papers_quote_a_part_of_the_methods(output, tmp_path):
    args = ("leaderboard", "--study", "pair", "--no-pictures", "--out", tmp_path)
    for more, expected in (
        (("--reference", "psam", "--methods", "psam"), set()),
        (("--reference", "psam"), {"psam", "solam"}),
    ):
        assert "Gain over psam" in output(*args, *more)
        assert set(pd.read_csv(tmp_path / "verdicts.csv")["reference"]) == {"psam"}
        tex = (tmp_path / "leaderboard.tex").read_text().lower()
        assert {name for name in ("psam", "solam") if re.search(rf"\b{name}\b(?!}})", tex)} == expected
        methods = pd.read_parquet(tmp_path / "results.parquet")["method"]
        assert set(methods) == {"psam", "solam"}  # the frames have all of them


REFUSED = {
    "leaderboard --study pear": "has no study 'pear'. Known: ",
    "leaderboard --out {file}/in": "--out: ",
    "leaderboard --study pair --dataset wnie": "called 'wnie'. Did you mean wine",
    "leaderboard --study pair --by pauc": "no pauc",
    "leaderboard --study pair --rope 0": "--rope",
    "leaderboard --study pair --out {file}x --no-pictures --methods psma": "Did you mean psam",
    "compare fsauc_table2": "has no study 'fsauc_table2': run aucbench +experiment=fsauc_table2 first.",
    "compare psam_table2 --study pair --out {file}": "--out: ",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_be_shown_is_named(command, refused, tmp_path):
    (tmp_path / "file").write_text("a file")
    assert REFUSED[command] in refused(*command.format(file=tmp_path / "file").split())


def test_a_missing_and_a_failed_cell_are_counted_from_the_plan(output, folder, tmp_path):
    shutil.copytree(folder / "aucbench-store", tmp_path / "copy")
    store = Store(tmp_path / "copy")
    first, second = (
        cell
        for cell in from_store(store, "pair")
        if (cell.described.dataset.name, cell.described.algorithm.name) == ("wine", "psam")
        if cell.run.fold < 2
    )
    for cell in (first, second):
        next((tmp_path / "copy" / "cells").rglob(f"{cell.key}.npz")).unlink()
    of_cell = {name: getattr(second.record, name) for name in ("key", *SEEDS, *DESCRIPTION)}
    store.put_failure(FailureRecord(**of_cell, reason=CellStatus.timeout, message="too long"))
    args = ("leaderboard", "--store", tmp_path / "copy", "--study", "pair", "--reference", "solam")
    assert "10 cells done, 0 diverged, 1 failed, 1 missing" in output(*args)
    assert "failed in 1 of 3 runs, missing in 1" in output(*args, "--dataset", "wine")
    output(*args, "--out", tmp_path / "out", "--no-pictures")
    verdicts = pd.read_parquet(tmp_path / "out" / "verdicts.parquet").set_index(["group", "method"])
    assert verdicts.loc[("all", "psam"), ["data_sets", "gaps"]].tolist() == [1, 1]


def test_a_store_that_cannot_be_written_to_is_read(run, monkeypatch):
    monkeypatch.setattr("aucbench.studies.store.os.access", lambda path, mode: False)
    status, out, err = run("leaderboard", "--study", "pair")
    assert (status, err) == (0, "")
    assert "12 cells done" in out


def test_data_that_could_not_be_downloaded_stand_on_the_board(run, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in {"OFFLINE": "1", "MIRROR": str(tmp_path), "CACHE": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(f"AUCBENCH_{name}", value)
    args = ("-m", "algo=ls_svm", "dataset=wine,w8a", "study=part", "matrix.skip_missing_data=true")
    output(*args, "tracking=none")
    out = run("leaderboard", "--study", "part")[1]
    assert re.search(r"study 'part'[^.]*: ls_svm on w8a\.", " ".join(out.split()))


def test_comparing_prints_and_writes_the_table(run, tmp_path):
    status, out, err = run("compare", "psam_table2", "--study", "pair", "--out", str(tmp_path / "out"))
    assert status == 0
    assert "0 cells compared" in out
    assert str(tmp_path / "out") in err
    assert {file.suffix for file in (tmp_path / "out").iterdir()} == {".md", ".csv", ".parquet"}
    command = "Made by `aucbench compare psam_table2 --study pair`."
    assert command in (tmp_path / "out" / "psam_table2.md").read_text()
    written = pd.read_parquet(tmp_path / "out" / "psam_table2.parquet")
    assert set(written["verdict"]) == {"not run"}
