"""A small study in a store, and the archive that is exported from it."""

import pytest

from aucbench import api
from aucbench.studies.archives.archive import from_store
from aucbench.studies.archives.archive_file import write
from aucbench.studies.store import Store

WORDS = (
    "-m", "algo=psam,solam", "dataset=label_noise", "dataset.n=300", "runs=2", "budget.checkpoints=4",
    "study=pair", "ruleset=defaults", "tracking=none",
)  # fmt: skip


TUNED = (
    "-m", "algo=psam,solam,log_reg", "dataset=wine,breast_cancer,label_noise,gaussian", "runs=2",
    "budget.checkpoints=2", "tuning=random", "tuning.trials=3", "tuning.folds=2", "tuning.draw_seed=0",
    "tuning.given_first=true", "study=tuned", "tracking=none", "max_train_rows=200",
)  # fmt: skip


def run_in(folder, overrides):
    api.run_study([*overrides, f"store.path={folder}"])
    return Store(folder)


def exported(folder, store, study, **options):
    path = folder / f"{study}.zip"
    write(from_store(store, study, **options), path)
    return path


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return run_in(tmp_path_factory.mktemp("archives") / "store", WORDS)


@pytest.fixture(scope="session")
def file(store, tmp_path_factory):
    return exported(tmp_path_factory.mktemp("archive"), store, "pair", weights=True)


@pytest.fixture(scope="session")
def tuned_store(tmp_path_factory):
    """A study that tries the same settings on all splits and data sets, the configured method first."""
    return run_in(tmp_path_factory.mktemp("tuned") / "store", TUNED)


@pytest.fixture(scope="session")
def tuned_file(tuned_store, tmp_path_factory):
    return exported(tmp_path_factory.mktemp("tuned_archive"), tuned_store, "tuned")
