"""Real studies, each run once."""

import pytest

from aucbench.cli.main import main

WORDS = (
    "-m", "algo=solam,psam,oam_gra,uni_exp", "dataset=wine,breast_cancer,digits", "protocol=kfold",
    "protocol.folds=3", "runs=2", "study=small", "tracking=none", "budget.checkpoints=10", "budget.epochs=1",
    "scaling=maxabs", "rescale=false", "matrix.for_algo={solam: ['algo.zeta=1.5', 'algo.bounded=false']}",
)  # fmt: skip

# The best lam of ls_svm is below 100, and unbounded steps of 1e6 on rows as they are end in infinite weights.
TROUBLED = (
    "-m", "algo=ls_svm,opauc", "dataset=breast_cancer", "runs=5", "study=troubled", "tracking=none",
    "rescale=false", "tuning=grid", "tuning.folds=2", "tuning.grid={ls_svm: {lam: [100, 1000]}, opauc: {}}",
    "matrix.for_algo={opauc: ['algo.eta=1e6', 'algo.bounded=false']}",
)  # fmt: skip


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder of a store with a study of four methods on three data sets, three folds twice."""
    return _store(tmp_path_factory, WORDS)


@pytest.fixture(scope="session")
def troubled(tmp_path_factory):
    """The folder of a store with a study: the tuning of one method ends at an edge, another diverges."""
    return _store(tmp_path_factory, TROUBLED)


def _store(tmp_path_factory, words):
    place = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert main(list(words)) == 0
    return place / "aucbench-store"
