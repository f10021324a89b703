"""The experiments compose and bind; tests/reports/test_papers.py compares them with the papers' numbers."""

from functools import cache
from itertools import product
from pathlib import Path

import pytest

from aucbench.config.compose import config_folder
from aucbench.data.loader import Part
from aucbench_algorithms import aucbench_algorithms
from tests.helpers.studies import EXPERIMENTS, study_of

pytestmark = pytest.mark.slow

FOLDER = Path(config_folder()) / "experiment"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
# Experiments that reproduce no paper.
OURS = ("losses", "smoke", "try", "reference", "reference_defaults")


@pytest.fixture(scope="module")
def study():
    """A function that composes the study of an experiment and overrides, once each, without a run."""
    return cache(lambda name, *overrides: study_of(f"+experiment={name}", *overrides, "tracking=none"))


def cells(study):
    return {(entry.algorithm.name, entry.dataset.name) for entry in study.entries}


def entry_of(study, algo, dataset):
    (entry,) = (e for e in study.entries if (e.algorithm.name, e.dataset.name) == (algo, dataset))
    return entry


def test_all_entries_of_an_experiment_bind_and_those_of_a_paper_are_run_as_it_says(study):
    assert sorted({name for name, *_ in EXPERIMENTS}) == NAMES
    for command in EXPERIMENTS:
        planned = study(*command)
        assert planned.entries
        assert not [refused.why for refused in planned.refused]
        assert planned.name == command[0]
        for entry in planned.entries:
            method, protocol = entry.algorithm.instance, entry.protocol
            tested = any(file.part == "test" for file in getattr(entry.dataset.instance, "files", ()))
            assert tested or (protocol.name != "given" and entry.part is Part.train)
            if command[0] in OURS:
                continue
            assert planned.skip_missing_data
            assert not entry.settings.rescale
            assert protocol.name == "kfold" or not getattr(protocol, "stratified", False)
            assert (entry.budget.epochs is None) == hasattr(method, "done")
            assert entry.algorithm.name in entry.tuning.choice.grid
            assert not getattr(method, "bounded", False)
            assert getattr(protocol, "duplicates", None) != "together"
            if entry.algorithm.name in ("oam_seq", "oam_gra"):
                assert method.average == ((command[0], entry.algorithm.name) == ("sauc_table2", "oam_gra"))


@pytest.mark.parametrize(
    ("name", "ruleset", "departing"),
    [("reference", "trials", {"boosting", "mlp"}), ("reference_defaults", "defaults", set())],
)
def test_the_reference_study_has_every_method_on_every_data_set_but_one(name, ruleset, departing, study):
    # log_reg is the same model as uni_log, and estimator needs the path of a class.
    methods = {cls.name for cls in aucbench_algorithms()} - {"uni_log", "estimator"}
    entries = study(name).entries
    data_sets = {entry.dataset.name for entry in entries}
    assert len(data_sets) == 95
    assert cells(study(name)) == {*product(methods, data_sets)} - {("cbr", "adbench_smtp")}
    assert len(entries) == len(methods) * len(data_sets) - 1
    assert {len(entry.cells()) for entry in entries} == {3, 5, 10}
    assert {entry.ruleset.title for entry in entries} == {ruleset}
    assert {entry.protocol.duplicates for entry in entries} == {"together"}
    assert {entry.settings.max_train_rows for entry in entries} == {2_000, 5_000, None}
    assert {entry.algorithm.name for entry in entries if entry.ruleset.departures} == departing
    assert any(entry.tuning.chooses for entry in entries) == (ruleset == "trials")


def test_divisions_and_numbers_of_cells_are_those_of_the_papers(study):
    for name, halved, listed in (
        ("fsauc_table2", True, "a9a w8a"),
        ("psam_table2", False, "ijcnn1 a9a mnist acoustic cod_rna epsilon sector news20"),
    ):
        protocols = {e.dataset.name: e.protocol for e in study(name).entries if e.protocol.name == "given"}
        assert protocols.keys() == set(listed.split())
        assert {protocol.halved for protocol in protocols.values()} == {halved}
    for name, count in {
        "fsauc_table2": 5, "opauc_table2": 25, "opauc_table4": 25, "sauc_table2": 50, "spdam_table3": 25,
        "psam_table2": 5, "psam_table3": 3,
    }.items():  # fmt: skip
        assert {len(entry.cells()) for entry in study(name).entries} == {count}
    for entry in study("fsauc_table2").entries:  # one tuning, and several orders of one split
        assert len(set(entry.searches(("digest",)).values())) == 1
        assert {seeds.split_seed for seeds in entry.cells()} == {0}
        assert [seeds.order_seed for seeds in entry.cells()] == [0, 1, 2, 3, 4]


def powers(base, low, high, step=1):
    return tuple(float(base) ** power for power in range(low, high + 1, step))


def test_the_grids_are_those_of_the_papers(study):
    tens, passes = powers(10, -2, 2), tuple(float(value) for value in range(1, 101, 9))
    expected = {
        ("fsauc_table2", "fsauc", "a9a"): {"radius": powers(10, -1, 5), "eta": powers(2, -10, 10)},
        ("fsauc_table2", "solam", "a9a"): {"zeta": powers(2, -10, 10), "radius": powers(10, -1, 5)},
        ("fsauc_table2", "solam_l1", "a9a"): {"zeta": powers(2, -10, 10), "radius": powers(10, -1, 5)},
        ("fsauc_table2", "opauc", "a9a"): {"eta": powers(2, -12, -4), "lam": powers(2, -10, 0)},
        ("fsauc_table2", "opauc_r", "real_sim"): {"eta": powers(2, -12, -4), "lam": powers(2, -10, 0)},
        ("opauc_table2", "opauc", "a9a"): {"eta": powers(2, -12, 10), "lam": powers(2, -10, 2)},
        ("opauc_table2", "oam_seq", "a9a"): {"C": powers(2, -12, 10)},
        ("opauc_table2", "svm_or", "a9a"): {"lam": powers(2, -10, 10)},
        ("opauc_table2", "ls_svm", "a9a"): {"lam": powers(2, -10, 10)},
        ("opauc_table2", "uni_log", "a9a"): {"lam": powers(2, -10, 10)},
        ("opauc_table2", "uni_exp", "a9a"): {"eta": powers(2, -12, 10)},
        ("opauc_table4", "opauc_r", "sector"): {"eta": powers(2, -12, 10), "lam": powers(2, -10, 2)},
        ("sauc_table2", "sauc", "dna"): {"radius": tens, "beta": tens},
        ("sauc_table2", "oam_gra", "dna"): {"C": tens, "radius": tens},
        ("sauc_table2", "spam", "dna"): {"C": tens, "radius": tens},
        ("sauc_table2", "opauc", "dna"): {"eta": powers(2, -12, 0, 3), "lam": powers(2, -10, 2, 3)},
        ("spdam_table3", "spdam", "usps"): {"lam": powers(10, -5, 1)},
        ("spdam_table3", "regsolam", "usps"): {"zeta": passes, "lam": powers(10, -5, 5)},
        ("psam_table2", "psam", "a9a"): {"gamma": powers(10, -10, -7)},
        ("psam_table2", "psam", "sector"): {"gamma": passes},
        ("psam_table2", "asam", "farm_ads"): {"gamma": passes},
        ("psam_table2", "cbr", "a9a"): {"C": powers(2, -10, 10)},
        ("psam_table2", "bam", "a9a"): {"C": powers(2, -15, 10)},
        ("psam_table3", "asam", "susy"): {"gamma": powers(10, -10, -7)},
    }
    for (name, algo, dataset), grid in expected.items():
        space = entry_of(study(name), algo, dataset).tuning.space
        assert list(space) == list(grid)
        for field, values in grid.items():
            assert space[field] == pytest.approx(values, rel=1e-12), (name, algo, field)


def test_methods_have_the_fields_that_the_papers_give_them(study):
    for name, algo, dataset, field, value in (
        ("sauc_table2", "spam", "dna", "penalty", "ball"),
        ("sauc_table2", "fsauc", "dna", "delta", 0.1),
        ("sauc_table2", "oam_gra", "dna", "buffer", 100),
        ("psam_table2", "cbr", "a9a", "buffer", 50),
        ("spdam_table3", "spdam", "a9a", "batch_fraction", 0.1),
        ("opauc_table4", "oam_seq", "sector", "buffer", 50),
    ):
        assert getattr(entry_of(study(name), algo, dataset).algorithm.instance, field) == value
    assert study("sauc_table2", "algo=sauc", "loss=logistic").entries[0].loss.name == "logistic"


def test_batch_methods_run_until_they_converge_and_see_no_more_rows_than_in_the_paper(study):
    batch = {"uni_log", "svm_or", "ls_svm"}
    for entry in study("opauc_table2").entries:
        assert entry.budget.epochs == (None if entry.algorithm.name in batch else 1.0)
        assert entry.settings.max_train_rows == (8000 if entry.algorithm.name in batch else None)
    assert entry_of(study("psam_table2"), "bam", "a9a").budget.epochs is None
    planned = next(study(*command) for command in EXPERIMENTS if "dataset=epsilon" in command)
    assert cells(planned) == {(name, "epsilon") for name in batch}
    assert {entry.settings.max_train_rows for entry in planned.entries} == {2000}
