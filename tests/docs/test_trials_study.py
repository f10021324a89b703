"""Statements of the pages about the trials, computed again from the records with loops."""

import statistics

import pytest

from aucbench.studies.archives.archive_file import read
from aucbench.studies.archives.tried_settings import tried_settings
from tests.studies.conftest import tuned_file, tuned_store  # noqa: F401  (fixtures)


@pytest.fixture
def aucs(tuned_file):  # noqa: F811
    """AUC by method, data set, setting's number, split and fold."""
    records = [cell.record for cell in read(tuned_file)[1]]
    return {
        (each.algorithm.name, each.dataset.title, trial.number, each.seed, trial.fold): trial.auc
        for each in records
        for trial in each.tuned.trials
    }


@pytest.mark.slow
def test_losses_are_those_of_the_settings_that_are_best_elsewhere(extension, aucs, tuned_file):  # noqa: F811
    import trials_study

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
        gain, before = statistics.fmean(changes), statistics.fmean(tunings)
        expected = [gain, before, before - gain]
        assert list(told[["gain", "before", "after"]]) == pytest.approx(expected, abs=1e-12)
        assert told["verdict"] == ""  # four families are too few
