"""Suggestions are what loops over the records give, and there is none where there is no evidence."""

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
    given = {
        (each.dataset.title, each.seed, trial.fold): trial.auc
        for each in records
        for trial in each.tuned.trials
        if each.algorithm.name == "log_reg" and trial.number == 0
    }
    gains = {}
    for each in records:
        for trial in each.tuned.trials:
            gain = trial.auc - given[each.dataset.title, each.seed, trial.fold]
            by_set = gains.setdefault((each.algorithm.name, trial.number), {})
            by_set.setdefault(each.dataset.title, []).append(gain)
    found = suggest_methods(tried, tried["wine"].facts)
    evidence = found.methods[0].evidence
    weights = dict(zip(evidence["data_set"], (evidence["distance"] + 0.1) ** -2, strict=True))
    means = {
        key: sum(weights[name] * float(np.mean(own)) for name, own in by_set.items()) / sum(weights.values())
        for key, by_set in gains.items()
        if set(by_set) == set(weights)
    }
    for method in found.methods:
        own = {number: value for (name, number), value in means.items() if name == method.method}
        assert method.gain == pytest.approx(max(own.values()), abs=1e-12)
        number = max(own, key=own.get)
        assert method.parameters == tried["wine"].methods[method.method].settings[number]
    first, shares = found.methods[0], np.array(list(weights.values())) / sum(weights.values())
    spread = shares @ (evidence["gain"] - first.gain) ** 2 / (1 - shares @ shares)
    half = stats.t.ppf(0.975, len(shares) - 1) * math.sqrt(shares @ shares * spread)
    assert [first.low, first.high] == pytest.approx([first.gain - half, first.gain + half])
    gains = [each.gain for each in found.methods]
    assert gains == sorted(gains, reverse=True)
    assert len(found.methods) == 3


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
    own = tried["wine"].methods[best.method]
    at = own.settings.index(best.parameters)
    aucs = own.aucs.copy()
    aucs[at, 0, 0] = np.nan
    changed = replace(tried["wine"], methods=tried["wine"].methods | {best.method: replace(own, aucs=aucs)})
    found = suggest_methods(tried | {"wine": changed}, tried["wine"].facts)
    assert (best.method, best.parameters) not in [(each.method, each.parameters) for each in found.methods]


@pytest.mark.parametrize(
    ("change", "seconds", "words"),
    [
        ({"positives": 1e-5}, None, "no data set of the archive is similar"),
        ({}, 1e-9, "no method is expected to end"),
    ],
)
def test_without_evidence_there_is_a_reason_and_no_method(tried, change, seconds, words):
    found = suggest_methods(tried, tried["wine"].facts._replace(**change), seconds)
    assert found.methods == ()
    assert words in found.reason


def test_a_budget_leaves_methods_that_are_expected_to_keep_it(tried):
    every = suggest_methods(tried, tried["wine"].facts).methods
    limit = sorted(each.seconds for each in every)[1]
    kept = suggest_methods(tried, tried["wine"].facts, limit).methods
    assert {each.method for each in kept} == {each.method for each in every if each.seconds <= limit}
