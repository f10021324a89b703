"""A finished study in a store, and copies of an empty MLflow store; both are made once per session."""

import shutil

import pytest
from mlflow import MlflowClient

from aucbench.cli.main import main
from aucbench.studies.result import FinishedEntry
from aucbench.studies.store import Store
from aucbench.tracking.client import Connection

STUDY = "pair"
WORDS = ["-m", "algo=solam,psam,ls_svm", "runs=2", f"study={STUDY}", "tracking=none", "budget.epochs=2"]
WORDS += ["ruleset=defaults"]


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The folder of a store with a study of three methods."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(WORDS) == 0
    return folder / "aucbench-store"


@pytest.fixture
def store(finished, tmp_path):
    """A copy of the study's store, not yet sent to any address."""
    shutil.copytree(finished, tmp_path / "aucbench-store")
    return Store(tmp_path / "aucbench-store")


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory):
    """An MLflow store without runs."""
    file = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    Connection(f"sqlite:///{file}")
    return file


@pytest.fixture
def uri(empty_file, tmp_path):
    """The address of an MLflow store without runs for one test."""
    shutil.copyfile(empty_file, tmp_path / "mlflow.db")
    return f"sqlite:///{tmp_path / 'mlflow.db'}"


@pytest.fixture
def entries(store):
    """The study's entries as read from the store."""
    return entries_of(store)


def entries_of(store):
    return [
        FinishedEntry(planned.key, plan.study, tuple(map(store.get, planned.cells)), ruleset=planned.ruleset)
        for plan in store.plans()
        for planned in plan.entries
    ]


def runs_of(uri, experiment="breast_cancer"):
    client = MlflowClient(uri)
    match = client.get_experiment_by_name(experiment)
    return client.search_runs([match.experiment_id]) if match else []
