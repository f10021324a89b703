"""Tried settings that are read from an archive are the settings of its records."""

import pytest

from aucbench import api
from aucbench.studies.archives.archive_file import read
from aucbench.studies.archives.tried_settings import tried_settings
from aucbench.studies.store import Store


@pytest.mark.slow
def test_the_first_setting_is_the_method_as_given_and_facts_are_those_of_the_training_rows(tuned_file):
    _, archive = read(tuned_file)
    wine = tried_settings(archive)["wine"]
    psam, facts = wine.methods["psam"], wine.facts
    assert psam.settings[0] == {"gamma": api.catalog().algorithm("psam")().gamma}
    assert (psam.is_tuned, psam.linear) == (True, True)
    data = next(cell.record.data for cell in archive if cell.record.dataset.title == "wine")
    assert (facts.rows, facts.features, facts.density) == (data.train_rows, 13.0, 1.0)
    assert facts.positives == pytest.approx(data.train_positives / data.train_rows)


@pytest.mark.parametrize("override", ["tuning.draw_seed=null", "tuning.given_first=false"])
def test_settings_that_cannot_be_compared_are_left_out(tmp_path, override):
    overrides = ["algo=psam", "dataset=wine", "runs=2", "tuning=random", "tuning.trials=3", "tuning.folds=2"]
    common = ["tuning.draw_seed=0", "tuning.given_first=true", "tracking=none", f"store.path={tmp_path}"]
    remaining = [item for item in common if item.partition("=")[0] != override.partition("=")[0]]
    api.run_study([*overrides, *remaining, override])
    assert tried_settings(Store(tmp_path))["wine"].methods == {}
