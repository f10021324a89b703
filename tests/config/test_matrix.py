"""What a study says of one method or data set reaches its runs, unless the command line says otherwise."""

import pytest

from aucbench.config.compose import compose_jobs
from aucbench.config.overrides import Request
from aucbench.data.loader import Part
from aucbench.registry import catalog

MATRIX = (
    "matrix.for_algo={spam:['algo.penalty=ball','budget.epochs=3']}",
    "matrix.for_dataset={a9a:['dataset.part=all','protocol=kfold','protocol.folds=3']}",
)


@pytest.fixture(scope="module")
def composed():
    """The runs of two methods on two data sets, by their names."""

    def runs(*words):
        swept = ("algo=spam,solam", "dataset=a9a,wine", *MATRIX, *words)
        jobs = compose_jobs(catalog(), Request(swept, multirun=True)).jobs
        names = [(job.words[0].partition("=")[2], job.words[1].partition("=")[2]) for job in jobs]
        return dict(zip(names, [job.run for job in jobs], strict=True))

    return runs


def test_fields_of_the_swept_method_and_data_set_are_as_the_matrix_says(composed):
    runs = composed()
    assert [runs["spam", name]["algo"].penalty for name in ("a9a", "wine")] == ["ball", "ball"]
    assert "penalty" not in runs["solam", "a9a"]["algo"]
    assert [cfg["dataset"].part for cfg in runs.values()] == [Part.all, Part.train, Part.all, Part.train]
    assert [cfg["budget"].epochs for cfg in runs.values()] == [3.0, 3.0, None, None]


def test_a_field_of_the_command_line_wins_over_that_of_the_matrix(composed):
    runs = composed("dataset.part=test", "budget.epochs=2")
    assert {cfg["dataset"].part for cfg in runs.values()} == {Part.test}
    assert {cfg["budget"].epochs for cfg in runs.values()} == {2.0}


def test_a_choice_of_the_command_line_drops_the_choice_of_the_matrix_and_its_fields(composed):
    assert {"folds" in cfg["protocol"] for cfg in composed("protocol=given").values()} == {False}
