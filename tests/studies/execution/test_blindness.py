"""Tuning never sees test rows: for any test rows, all trials and the choice stay the same."""

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


def tuned(subject, folder):
    store = Store(folder)
    assert run_entries([subject], store).failures == []
    return store


def found_of_first_fold(subject, store):
    """The trials of the first fold's search, the chosen parameters and their validation AUC."""
    (planned,) = plan_of([subject], store).entries
    trials = store.trials(planned.cells[0].search.key)
    (tuned,) = [cell.record.tuned for cell in store if cell.record.fold == 0]
    trials = [structs.replace(trial, train_seconds=0.0, passes=0.0) for trial in trials]
    return trials, tuned.parameters, tuned.validation_auc


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS)
def test_noise_in_the_test_rows_changes_neither_trials_nor_choice(name, tmp_path):
    protocol, tuning = PROTOCOLS[name], TUNINGS[name]
    clean_entry = entry(Gentle(), protocol=protocol, tuning=tuning, features=Nystroem(landmarks=8))
    split = PreparedData().split(clean_entry, FIRST)
    clean = tuned(clean_entry, tmp_path / "clean")
    # Changed labels would change a stratified split.
    noisy = replace(Clouds(), noisy=tuple(split.test.rows.tolist()), flipped=not protocol.stratified)
    noisy_entry = entry(Gentle(), noisy, protocol=protocol, tuning=tuning, features=Nystroem(landmarks=8))
    noisy_split = PreparedData().split(noisy_entry, FIRST)
    np.testing.assert_array_equal(noisy_split.train.rows, split.train.rows)
    dirty = tuned(noisy_entry, tmp_path / "dirty")
    assert found_of_first_fold(noisy_entry, dirty) == found_of_first_fold(clean_entry, clean)
    # The noise changes the test AUC, and not the weights.
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
        subject = entry(
            Gentle(), clouds, protocol=protocol, tuning=Grid(folds=3), features=features, scaling=scaling
        )
        (planned,) = plan_of([subject], Store(tmp_path)).entries
        search = planned.cells[0].search
        prepared = PreparedData().prepared(Unit("key", planned.digests, subject, search.seeds, inner=0))
        split = PreparedData().split(subject, FIRST)
        return prepared, inner_split(split, 3, 0, 0).test.rows, split.test.rows

    clean, validating, testing = arrays(())
    dirty, *_ = arrays((int(validating[0]), int(testing[0])))
    np.testing.assert_array_equal(clean.X, dirty.X)
    np.testing.assert_array_equal(clean.y, dirty.y)
    assert not np.array_equal(clean.X_test[0], dirty.X_test[0])
    np.testing.assert_array_equal(clean.X_test[1:], dirty.X_test[1:])
