"""Statements of the pages about the trials, computed again from the records with loops."""

import statistics
import sys
from pathlib import Path

import numpy as np
import pytest

from aucbench.reports.suggestion import suggest_methods
from aucbench.studies.archives.archive_file import read
from aucbench.studies.archives.tried_settings import tried_settings
from tests.studies.conftest import tuned_file, tuned_store  # noqa: F401  (fixtures)

EXTENSION = Path(__file__).resolve().parents[2] / "docs" / "_ext"


@pytest.fixture
def trials_study(monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(EXTENSION))
    import trials_study

    yield trials_study
    for name in set(sys.modules) - before:
        if str(EXTENSION) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def aucs(tuned_file):  # noqa: F811
    """AUC by method, data set, setting's number, split and fold."""
    return {
        (
            cell.record.algorithm.name,
            cell.record.dataset.title,
            trial.number,
            cell.record.seed,
            trial.fold,
        ): trial.auc
        for cell in read(tuned_file)[1]
        for trial in cell.record.tuned.trials
    }


def test_losses_are_those_of_the_settings_that_are_best_elsewhere(trials_study, aucs, tuned_file):  # noqa: F811
    names = sorted({dataset for _, dataset, *_ in aucs})
    found = trials_study.losses(tried_settings(read(tuned_file)[1]))
    assert set(found.index) == {"log_reg", "psam", "solam"}
    for method, told in found.iterrows():
        numbers = sorted({number for name, _, number, *_ in aucs if name == method})

        def mean(dataset, number, method=method):
            own = [v for k, v in aucs.items() if k[:3] == (method, dataset, number)]
            return statistics.fmean(own)

        changes, tunings = [], []
        for left in names:
            others = [each for each in names if each != left]
            total = {n: statistics.fmean(mean(each, n) - mean(each, 0) for each in others) for n in numbers}
            chosen = max(numbers, key=lambda n, total=total: total[n])
            changes.append(mean(left, chosen) - mean(left, 0))
            for split in (0, 1):
                for fold in (0, 1):
                    best = max(numbers, key=lambda n: aucs[method, left, n, split, 1 - fold])
                    tunings.append(aucs[method, left, best, split, fold] - aucs[method, left, 0, split, fold])
        assert told["gain"] == pytest.approx(statistics.fmean(changes), abs=1e-12)
        assert told["before"] == pytest.approx(statistics.fmean(tunings), abs=1e-12)
        assert told["after"] == pytest.approx(
            statistics.fmean(tunings) - statistics.fmean(changes), abs=1e-12
        )
        assert told["verdict"] == ""  # four families are too few


def test_a_setting_that_is_better_everywhere_is_found(trials_study, tuned_file):  # noqa: F811
    tried = tried_settings(read(tuned_file)[1])
    wine = tried["wine"]
    solam = wine.methods["solam"]
    rng = np.random.default_rng(0)
    copies = {}
    for number in range(12):
        raised = 0.6 + 0.01 * rng.random(solam.aucs.shape)
        raised[1] += 0.1
        own = trials_study.TriedSettings(
            "solam", f"{number}", solam.settings, raised, solam.tested, True, 1.0
        )
        copies[f"{number}"] = trials_study.TriedDataset(f"{number}", wine.facts, {"solam": own})
    ((_, told),) = trials_study.losses(copies).iterrows()
    assert told["verdict"] == "better"
    assert told["setting"] == solam.settings[1]
    assert (told["raised"], told["lowered"]) == (12, 0)


def test_the_evidence_for_suggestions_leaves_out_the_family_of_the_data_set(trials_study, aucs, tuned_file):  # noqa: F811
    tried = tried_settings(read(tuned_file)[1])
    told = trials_study.suggestion_evidence(tried)
    differences = []
    for name, dataset in tried.items():
        family = trials_study._family(name)
        others = {key: each for key, each in tried.items() if trials_study._family(key) != family}
        found = suggest_methods(others, dataset.facts, linear=True, count=1)
        for each in found.methods:
            number = dataset.methods[each.method].settings.index(each.parameters)
            own = [v for k, v in aucs.items() if k[:3] == (each.method, name, number)]
            fixed = [v for k, v in aucs.items() if k[:3] == ("psam", name, 0)]
            differences.append(statistics.fmean(own) - statistics.fmean(fixed))
    assert told.datasets == len(differences)
    assert told.datasets + told.without == 4
    assert told.compared["gain"] == pytest.approx(statistics.fmean(differences), abs=1e-12)
