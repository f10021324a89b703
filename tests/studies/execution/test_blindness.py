"""Tuning never sees test rows: whatever stands there, all trials and the choice stay the same."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from aucbench.data.scaler import Scaling
from aucbench.data.splits.inner import inner_split
from aucbench.data.splits.protocols import Holdout, KFold, TrainValidTest
from aucbench.studies.execution.prepared_data import PreparedData
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.record import Seeds
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid, Optuna, Random
from aucbench_features import Nystroem
from tests.helpers.studies import entry, plan_of, results, run_entries
from tests.helpers.study_methods import Clouds, Gentle

PROTOCOLS = {
    "holdout": Holdout(test_fraction=0.3, stratified=False),
    "stratified": Holdout(test_fraction=0.3),
    "kfold": KFold(folds=3, stratified=False),
    "train_valid_test": TrainValidTest(stratified=False),
}
FIRST = Seeds(0, 0, 0, 0)
GRID = Grid(folds=2)
TUNINGS = {
    "holdout": Optuna(folds=2, trials=6), "stratified": GRID,
    "kfold": GRID, "train_valid_test": Random(folds=2, trials=4),
}  # fmt: skip


def tuned(one, folder):
    store = Store(folder)
    assert run_entries([one], store).failures == []
    return store


def found_of_first_fold(one, store):
    """The trials of the search of the first fold, and what was chosen."""
    (planned,) = plan_of([one], store).entries
    trials = store.trials(planned.cells[0].search.key)
    (tuned,) = [cell.record.tuned for cell in store if cell.record.fold == 0]
    trials = [structs.replace(trial, train_seconds=0.0, passes=0.0) for trial in trials]
    return trials, tuned.parameters, tuned.validation_auc


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS)
def test_noise_in_the_test_rows_changes_neither_trials_nor_choice(name, tmp_path):
    protocol, tuning = PROTOCOLS[name], TUNINGS[name]
    one = entry(Gentle(), protocol=protocol, tuning=tuning, features=Nystroem(landmarks=8))
    split = PreparedData().split(one, FIRST)
    clean = tuned(one, tmp_path / "clean")
    # Other labels would be stratified otherwise.
    noisy = replace(Clouds(), noisy=tuple(split.test.rows.tolist()), flipped=not protocol.stratified)
    other = entry(Gentle(), noisy, protocol=protocol, tuning=tuning, features=Nystroem(landmarks=8))
    again = PreparedData().split(other, FIRST)
    np.testing.assert_array_equal(again.train.rows, split.train.rows)
    dirty = tuned(other, tmp_path / "dirty")
    assert found_of_first_fold(other, dirty) == found_of_first_fold(one, clean)
    # The noise is there: the test AUC saw it, and the weights did not.
    (auc, weights), (noisy_auc, same) = (results(s)["fake_gentle", 0, 0] for s in (clean, dirty))
    assert auc != noisy_auc
    assert weights == same


@pytest.mark.parametrize("protocol", [Holdout(), TrainValidTest()], ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("features", [None, Nystroem(landmarks=8)], ids=["identity", "nystroem"])
@pytest.mark.parametrize("scaling", [Scaling.minmax, Scaling.maxabs, Scaling.standard], ids=str)
def test_an_outlier_among_the_validation_rows_does_not_change_what_is_trained_on(
    protocol, features, scaling, tmp_path
):
    def arrays(noisy):
        clouds = replace(Clouds(), noisy=noisy, flipped=False)  # folds are stratified by labels
        one = entry(
            Gentle(), clouds, protocol=protocol, tuning=Grid(folds=3), features=features, scaling=scaling
        )
        (planned,) = plan_of([one], Store(tmp_path)).entries
        search = planned.cells[0].search
        prepared = PreparedData().prepared(Unit("key", planned.digests, one, search.seeds, inner=0))
        split = PreparedData().split(one, FIRST)
        return prepared, inner_split(split, 3, 0, 0).test.rows, split.test.rows

    clean, validating, testing = arrays(())
    dirty, *_ = arrays((int(validating[0]), int(testing[0])))
    np.testing.assert_array_equal(clean.X, dirty.X)
    np.testing.assert_array_equal(clean.y, dirty.y)
    assert not np.array_equal(clean.X_test[0], dirty.X_test[0])
    np.testing.assert_array_equal(clean.X_test[1:], dirty.X_test[1:])
