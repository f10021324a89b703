"""Suggestions equal the results of loops over the records, and need evidence."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from aucbench.reports.suggestion import interval, suggest_methods
from aucbench.studies.archives.archive_file import read
from aucbench.studies.archives.tried_settings import tried_settings
from tests.studies.conftest import tuned_file, tuned_store  # noqa: F401  (fixtures)


@pytest.fixture
def tried(tuned_file):  # noqa: F811
    return tried_settings(read(tuned_file)[1])


@pytest.mark.slow
def test_the_setting_with_the_largest_weighted_gain_over_log_reg_is_suggested(tried, tuned_file):  # noqa: F811
    """All four data sets are near: the weighted mean is over all their trials, one by one."""
    records = [cell.record for cell in read(tuned_file)[1]]
    baseline = {
        (record.dataset.title, record.seed, trial.fold): trial.auc
        for record in records
        for trial in record.tuned.trials
        if record.algorithm.name == "log_reg" and trial.number == 0
    }
    gains = {}
    for record in records:
        for trial in record.tuned.trials:
            gain = trial.auc - baseline[record.dataset.title, record.seed, trial.fold]
            by_set = gains.setdefault((record.algorithm.name, trial.number), {})
            by_set.setdefault(record.dataset.title, []).append(gain)
    result = suggest_methods(tried, tried["wine"].facts)
    evidence = result.methods[0].evidence
    weights = dict(zip(evidence["data_set"], (evidence["distance"] + 0.1) ** -2, strict=True))
    means = {
        key: sum(weights[name] * float(np.mean(runs)) for name, runs in sets.items()) / sum(weights.values())
        for key, sets in gains.items()
        if set(sets) == set(weights)
    }
    for method in result.methods:
        candidates = {number: value for (name, number), value in means.items() if name == method.method}
        assert method.gain == pytest.approx(max(candidates.values()), abs=1e-12)
        number = max(candidates, key=candidates.get)
        assert method.parameters == tried["wine"].methods[method.method].settings[number]
    first, shares = result.methods[0], np.array(list(weights.values())) / sum(weights.values())
    spread = shares @ (evidence["gain"] - first.gain) ** 2 / (1 - shares @ shares)
    half = stats.t.ppf(0.975, len(shares) - 1) * math.sqrt(shares @ shares * spread)
    assert [first.low, first.high] == pytest.approx([first.gain - half, first.gain + half])
    gains = [item.gain for item in result.methods]
    assert gains == sorted(gains, reverse=True)
    assert len(result.methods) == 3


def test_evidence_has_the_distances_of_the_scaled_facts(tried):
    def coordinates(facts):
        logit = math.log(facts.positives / (1 - facts.positives))
        return [math.log10(facts.rows), math.log10(facts.features), math.log10(facts.density), logit]

    names = list(tried)
    table = np.array([coordinates(tried[name].facts) for name in names])
    spread = [float(np.std(column, ddof=1)) or 1.0 for column in table.T]
    at = names.index("gaussian")
    expected = {
        name: math.sqrt(sum(((a - b) / s) ** 2 for a, b, s in zip(row, table[at], spread, strict=True)))
        for name, row in zip(names, table, strict=True)
    }
    evidence = suggest_methods(tried, tried["gaussian"].facts).methods[0].evidence
    assert evidence.set_index("data_set")["distance"].to_dict() == pytest.approx(expected)
    assert evidence["data_set"][0] == "gaussian"


def test_the_interval_is_the_corrected_one_for_repeated_folds():
    values = np.array([[0.01, 0.03, 0.02], [0.00, 0.02, 0.05]])
    half = stats.t.ppf(0.975, 5) * math.sqrt((1 / 6 + 1 / 2) * values.var(ddof=1))
    mean = values.mean()
    assert interval(values) == pytest.approx((mean, mean - half, mean + half))


def test_a_setting_without_an_auc_on_any_split_is_not_suggested(tried):
    best = suggest_methods(tried, tried["wine"].facts, count=1).methods[0]
    past = tried["wine"].methods[best.method]
    at = past.settings.index(best.parameters)
    aucs = past.aucs.copy()
    aucs[at, 0, 0] = np.nan
    changed = replace(tried["wine"], methods=tried["wine"].methods | {best.method: replace(past, aucs=aucs)})
    result = suggest_methods(tried | {"wine": changed}, tried["wine"].facts)
    assert (best.method, best.parameters) not in [(item.method, item.parameters) for item in result.methods]


@pytest.mark.parametrize(
    ("change", "seconds", "reason"),
    [
        ({"positives": 1e-5}, None, "no data set of the archive is similar"),
        ({}, 1e-9, "no method is expected to end"),
    ],
)
def test_without_evidence_there_is_a_reason_and_no_method(tried, change, seconds, reason):
    result = suggest_methods(tried, tried["wine"].facts._replace(**change), seconds)
    assert result.methods == ()
    assert reason in result.reason


def test_a_budget_leaves_methods_that_are_expected_to_keep_it(tried):
    methods = suggest_methods(tried, tried["wine"].facts).methods
    limit = sorted(method.seconds for method in methods)[1]
    selected = suggest_methods(tried, tried["wine"].facts, limit).methods
    assert {item.method for item in selected} == {item.method for item in methods if item.seconds <= limit}
