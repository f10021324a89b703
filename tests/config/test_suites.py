"""Suites: their data sets, their combinations, and the report before files are downloaded."""

from collections import Counter
from itertools import product

import pytest

from aucbench import ParameterError, api, catalog
from aucbench.config.compose import Composer
from aucbench.studies.study import Observer
from tests.data.conftest import cache, web
from tests.helpers.studies import study_of

__all__ = ["cache", "web"]


@pytest.fixture(scope="module")
def suites():
    return {suite.name: suite for suite in Composer(catalog()).suites()}


def test_suites_have_the_sets_and_families_that_they_promise(suites):
    names = set(catalog().plugins["datasets"])
    for suite in suites.values():
        assert set(suite.datasets) <= names
        assert len(set(suite.datasets)) == len(suite.datasets)
        assert suite.title
    sizes = {name: len(suite.datasets) for name, suite in suites.items()}
    assert sizes["small"] == len(suites["small"].families) == 10
    assert set(suites["keel"].datasets) | set(suites["adbench"].datasets) == {
        name for name in names if name.startswith(("keel_", "adbench_"))
    }


def test_the_imbalanced_suite_has_few_sets_of_many_families_and_half_of_both_are_imbalanced(suites):
    families, rare = Counter(), Counter()
    for name in suites["imbalanced"].datasets:
        cls = catalog().dataset(name)
        families[getattr(cls, "family", name)] += 1
        files = [file for file in getattr(cls, "files", ()) if file.part == "train"]
        labels = Counter({label: count for file in files for label, count in file.labels.items()})
        rare[getattr(cls, "family", name)] += bool(labels) and min(labels.values()) < 0.15 * labels.total()
    assert len(families) >= 60
    assert set(families.values()) <= {1, 2, 3}
    assert 2 * rare.total() >= families.total()
    assert 2 * sum(count > 0 for count in rare.values()) >= len(families)


def test_a_suite_is_a_sweep_over_its_data_sets_with_any_further_words(suites):
    study = study_of("suite=small", "+experiment=smoke", "algo=psam,log_reg", "runs=3", "tracking=none")
    assert not study.refused
    assert study.swept
    entries = [(entry.algorithm.name, entry.dataset.name, entry.settings.runs) for entry in study.entries]
    assert sorted(entries) == sorted(product(("psam", "log_reg"), suites["small"].datasets, (3,)))
    (entry,) = study_of("+suite=small", "dataset=wine", "tracking=none").entries
    assert entry.dataset.name == "wine"
    refused = {"+suite=smal": "small", "+suite=small,keel": "one name", "+suite=small +suite=keel": "suite"}
    for overrides, named in refused.items():
        with pytest.raises(ParameterError, match=named):
            study_of(*overrides.split(), "-m")


def test_what_a_suite_of_ones_own_is_to_download_is_reported_before_anything_is(tmp_path, web):
    class Seen(Observer):
        def files_missing(self, sizes):
            self.sizes, self.before = sizes, dict(web.requests)

        def study_finished(self, result):
            self.result = result

    (tmp_path / "suite").mkdir()
    sweep = "hydra: {mode: MULTIRUN, sweeper: {params: {dataset: 'wine,fourclass,german'}}}"
    (tmp_path / "suite" / "own.yaml").write_text(f"# @package _global_\nsuite: Mine\n{sweep}\n")
    web.sizes["/binary/fourclass"] = 1234
    overrides = ("-cd", str(tmp_path), "+suite=own", "algo=ls_svm", "tracking=none", "store.path=null")
    study = study_of(*overrides)
    assert [entry.dataset.name for entry in study.entries] == ["wine", "fourclass", "german"]
    assert study.running.suite == "Mine"
    observer = Seen()
    result = api.run_study(overrides, observer)
    assert observer.before == {}
    assert observer.sizes == {"fourclass": 1234, "german": None}
    assert result.finished == 1  # wine comes with a package
    assert len(result.refused) == 2
