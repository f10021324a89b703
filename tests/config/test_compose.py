"""Runs are composed of Hydra's configuration files and of the overrides of each run."""

import re

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore

import aucbench
from aucbench.config.compose import CHOSEN, Composer, config_folder
from aucbench.config.words import parse
from aucbench.data.loader import Part
from tests.helpers.studies import study_of

CATALOG = aucbench.catalog()


def composed(*overrides):
    return [job.run for job in Composer(CATALOG, parse(overrides)).jobs()]


NO_MATRIX = ("matrix.for_dataset=null", "matrix.for_algo=null")
WORDS = ("algo=solam", "algo.zeta=3", "budget.epochs=2", "tuning=random", "tuning.trials=7", "seed=4")


@pytest.mark.parametrize("experiment", ["fsauc_table2", "reference"])
def test_files_and_words_give_what_hydra_composes_of_them(experiment):
    run = composed("-m", f"+experiment={experiment}", "dataset=wine", *NO_MATRIX, *WORDS)[0]
    overrides = [f"+experiment={experiment}", "dataset=wine", "algo=solam", "tuning=random"]
    with initialize_config_dir(config_folder(), version_base="1.3"):
        config = compose("config", overrides)
    for part in ("protocol", "store", "limits", "features", "rescale", "runs", "study"):
        assert run[part] == config.get(part, run[part]), part
    changed = {"algo": {CHOSEN: "solam", "zeta": 3}, "seed": 4}
    changed["budget"] = {**config.get("budget", {}), "epochs": 2}
    changed["tuning"] = {**config.tuning, "trials": 7}
    assert {part: run[part] for part in changed} == changed


def test_a_part_is_made_once_and_files_are_composed_once(monkeypatch):
    calls, load = [], Composer._composed
    monkeypatch.setattr(Composer, "_composed", lambda self, files: calls.append(files) or load(self, files))
    algorithms = ",".join(CATALOG.plugins["algorithms"])
    runs = composed("-m", f"algo={algorithms}", "dataset=gaussian,a9a,w8a", "tuning=grid")
    assert len(runs) == 3 * len(CATALOG.plugins["algorithms"])
    assert len(calls) == 1
    assert len({id(run["tuning"]) for run in runs}) == 1
    assert len({id(run["dataset"]) for run in runs}) == 3


def test_a_choice_that_is_a_file_sets_something_else_in_its_runs(tmp_path):
    (tmp_path / "algo").mkdir()
    (tmp_path / "algo" / "long.yaml").write_text(
        "# @package _global_\ndefaults: [solam@algo, _self_]\nbudget: {epochs: 33}\n"
    )
    study = study_of("-m", "algo=psam,long", "seed=1,2", "tracking=none", "-cd", str(tmp_path))
    assert [entry.algorithm.name for entry in study.entries] == ["psam", "psam", "solam", "solam"]
    assert [entry.budget.epochs for entry in study.entries] == [None, None, 33.0, 33.0]


@pytest.mark.parametrize(
    ("overrides", "workers"),
    [((), 0), (("parallel=3",), 3), (("parallel=1",), 1), (("hydra.launcher.parallel=null",), 1)],
)
def test_the_launcher_of_dask_has_a_worker_for_each_core_unless_their_number_is_given(overrides, workers):
    assert study_of("-m", "algo=psam,solam", "hydra/launcher=dask", *overrides).running.parallel == workers


def test_a_launcher_of_somebody_else_is_refused():
    repo = ConfigStore.instance().repo["hydra"]["launcher"]
    ConfigStore.instance().store(group="hydra/launcher", name="foreign", node={"_target_": "x.Launcher"})
    try:
        with pytest.raises(aucbench.ParameterError, match=r"hydra/launcher=foreign .* hydra/launcher=dask"):
            study_of("-m", "algo=psam", "hydra/launcher=foreign")
    finally:
        del repo["foreign.yaml"]


def test_a_value_may_refer_to_another_one():
    study = study_of("-m", "algo=psam", "seed=3,4", "split_seed=${seed}", "algo.t0=${budget.checkpoints}")
    pairs = [(entry.settings.split_seed, entry.algorithm.instance.t0) for entry in study.entries]
    assert pairs == [(3, 50), (4, 50)]


MATRIX = (
    "matrix.for_dataset={gaussian: ['protocol=kfold', 'protocol.folds=3', 'dataset.n=9','dataset.part=all']}",
    "matrix.for_algo={solam: ['budget.epochs=4', 'algo.zeta=9']}",
)
PAIRS = ("-m", "algo=solam,psam", "dataset=gaussian,breast_cancer", "tracking=none")


def test_what_the_matrix_says_for_a_data_set_or_a_method_reaches_its_runs_only():
    entries = study_of(*PAIRS, *MATRIX).entries
    assert [entry.protocol.name for entry in entries] == ["kfold", "holdout"] * 2
    assert [getattr(entry.protocol, "folds", None) for entry in entries] == [3, None] * 2
    assert [entry.part for entry in entries] == [Part.all, Part.train] * 2
    assert [entry.budget.epochs for entry in entries] == [4.0, 4.0, None, None]
    assert [getattr(entry.algorithm.instance, "zeta", None) for entry in entries] == [9.0, 9.0, None, None]


def test_words_of_the_command_line_win_over_the_matrix_whose_choice_they_replace_with_its_fields():
    common = ("algo=solam", "dataset=gaussian", *MATRIX)
    (fields,) = study_of(*common, "budget.epochs=2", "dataset.part=test", "algo.zeta=5").entries
    assert (fields.budget.epochs, fields.part, fields.algorithm.instance.zeta) == (2.0, Part.test, 5.0)
    assert (fields.protocol.folds, fields.dataset.instance.n) == (3, 9)
    (choice,) = study_of(*common, "protocol=given", "protocol.halved=true").entries
    assert (choice.protocol.name, choice.protocol.halved) == ("given", True)


def test_the_matrix_skips_what_it_names():
    runs = composed(*PAIRS, "matrix.skip={solam: [gaussian], psam: breast_cancer}")
    pairs = [[run[group].get(CHOSEN) for group in ("algo", "dataset")] for run in runs]
    assert pairs == [["solam", "breast_cancer"], ["psam", "gaussian"]]


RUNS = "matrix.runs={10: {rows: 1000, rare: 100}, 5: {rows: 5000}}"


def test_the_published_rows_of_a_data_set_give_the_number_of_runs_unless_another_word_does():
    counts = {"fourclass": 10, "adbench_smtp": 10, "german": 5, "a9a": 1, "wine": 1, "csv": 1}
    runs = composed("-m", "algo=solam", f"dataset={','.join(counts)}", RUNS)
    assert [run["runs"] for run in runs] == list(counts.values())
    override = "matrix.for_dataset={german: ['runs=7']}"
    for overrides, expected in (((override,), 7), ((override, "runs=2"), 2)):
        (run,) = composed("dataset=german", RUNS, *overrides)
        assert run["runs"] == expected


REFUSED = {
    "matrix.runs={10: 1000}": "matrix.runs",
    "matrix.skip={solm: [gaussian]}": "Did you mean solam",
    "matrix.for_dataset=3": "matrix.for_dataset",
    "matrix.skip={psam: 3}": "matrix.skip.psam: expected a list",
    "matrix=3": "matrix=3",
    "dataset.part=half": "part must be one of train, test, all, got 'half'",
}


def test_what_cannot_be_composed_is_refused_by_name():
    for override, named in REFUSED.items():
        with pytest.raises(aucbench.AucbenchError, match=re.escape(named)):
            study_of("dataset=german", override)


def test_texts_need_no_quotes():
    for value in ("~/x.csv", "data (1).csv", "x[1].csv", "it's.csv", "a=b.csv", "ä&#.csv", ">50K"):
        (entry,) = study_of("dataset=csv", f"dataset.path={value}", f"dataset.target={value}").entries
        assert [str(getattr(entry.dataset.instance, field)) for field in ("path", "target")] == [value] * 2
