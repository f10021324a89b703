"""Times that were measured under other conditions are marked; overlapping splits widen intervals."""

import shutil

import numpy as np
import pytest

import aucbench
from aucbench.reports import build
from aucbench.reports.build_row import overlap
from aucbench.reports.cells import from_store
from aucbench.reports.render import markdown, terminal
from aucbench.studies.store import Store
from tests.helpers.board_cells import altered, finished


@pytest.fixture
def store(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    return Store(tmp_path / "copy")


def changed(store, method, **environment):
    """The store's report after all cells of a method were given another environment."""
    for cell in list(store):
        if cell.record.algorithm.name == method:
            store.put(cell.record.key, altered(cell, environment=environment))
    return build.build(from_store(store, "small"), "small", one_study=True)


def marks(report):
    return {row.method: row.timing_mark for board in report.boards for row in board.rows if row.timing_mark}


def test_times_under_equal_conditions_have_no_mark(store):
    assert marks(changed(store, "psam")) == {}


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"concurrency": 8}, "up to 8 at a time on"),
        ({"cpu": "another chip"}, "one at a time on another chip"),
    ],
)
def test_times_under_other_conditions_are_marked_in_words(environment, words, store, capsys):
    report = changed(store, "psam", **environment)
    assert set(marks(report)) == {"psam"}
    assert words in marks(report)["psam"]
    terminal.show(report)
    for text in (capsys.readouterr().out, markdown.markdown(report)):
        assert text.count("† psam: all times were measured") == len(report.boards)
        assert len([line for line in text.splitlines() if "psam" in line and line.count("†") == 3]) == 3


def test_a_method_of_which_some_times_are_others_is_marked_too():
    cells = [finished(0.9, seed=seed, algorithm=name) for name in ("alpha", "beta") for seed in range(2)]
    cells.append(finished(0.9, seed=2, concurrency=4))
    cells.append(finished(0.9, seed=2, algorithm="beta"))
    where = "some times were measured up to 4 at a time on chip"
    usual = "usual on this board is one at a time on chip"
    assert marks(build.build(cells, "t")) == {"alpha": f"{where}; {usual}"}


def test_machines_are_named(store):
    assert "another chip" in changed(store, "psam", cpu="another chip").machines


@pytest.fixture(scope="module")
def ratio(tmp_path_factory):
    """The ratio of the runs that some settings make."""
    place = tmp_path_factory.mktemp("splits")

    def ratio(*words):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            words = ("algo=ls_svm", "dataset=wine", "tracking=none", *words)
            return overlap(cell.record for cell in aucbench.run(*words).cells)

    return ratio


def test_splits_that_overlap_are_corrected_by_the_test_rows_over_the_training_rows_that_were_used(ratio):
    assert ratio("runs=2", "protocol.test_fraction=0.25") == pytest.approx(1 / 3, abs=0.02)
    assert ratio("runs=2", "protocol=kfold", "protocol.folds=4") == pytest.approx(1 / 3, abs=1e-12)
    assert ratio("runs=2", "protocol.test_fraction=0.25", "max_train_rows=60") == pytest.approx(
        45 / 60, abs=0.02
    )
    words = ("protocol=train_valid_test", "protocol.validation_fraction=0.25", "protocol.test_fraction=0.25")
    assert ratio("runs=2", *words) == pytest.approx(0.5, abs=0.03)


def test_one_split_needs_no_correction(ratio):
    assert ratio("runs=1") is None
    assert ratio("runs=3", "split_seed=0") is None


def test_a_given_test_part_needs_no_correction():
    given = {"name": "given", "parameters": {"halved": True}}
    assert overlap(finished(0.9, seed=seed, protocol=given).record for seed in range(2)) is None


def test_methods_that_saw_fewer_rows_make_the_tests_of_their_board_more_cautious():
    cells = [finished(0.9, seed=seed) for seed in range(2)]
    few = [finished(0.9, seed=seed, max_train_rows=40, data={"train_rows": 40}) for seed in range(2)]
    assert overlap(cell.record for cell in cells) == 0.25
    assert overlap(cell.record for cell in cells + few) == 0.5


def test_the_interval_of_repeated_hold_outs_is_the_corrected_one():
    aucs = [0.8, 0.82, 0.85]
    cells = [finished(auc, seed=seed) for seed, auc in enumerate(aucs)]
    ((row,),) = (board.rows for board in build.build(cells, "t").boards)
    half = 4.302652729911275 * np.std(aucs, ddof=1) * np.sqrt(1 / 3 + 0.25)
    assert row.auc.high - row.auc.value == pytest.approx(min(half, 1 - row.auc.value))
    assert row.auc.value - row.auc.low == pytest.approx(half)
