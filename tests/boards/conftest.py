"""A real study, run once."""

import pytest

from aucbench.cli import main

WORDS = (
    "-m", "algo=solam,psam,oam_gra,uni_exp", "dataset=wine,breast_cancer,digits", "protocol=kfold",
    "protocol.folds=3", "runs=2", "study=small", "tracking=none", "budget.checkpoints=10",
)  # fmt: skip


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder of a store with a study of four methods on three data sets, three folds twice."""
    place = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert main(list(WORDS)) == 0
    return place / "aucbench-store"
