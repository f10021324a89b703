"""A sweep is composed from parts; each run is what Hydra would compose for its words."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

import aucbench
from aucbench import ParameterError
from aucbench.config import compose
from aucbench.config.compose import Composer, compose_jobs, session
from aucbench.config.overrides import Request, parse
from aucbench.data.loader import Part

CATALOG = aucbench.catalog()

WORDS = {
    "algo": ["algo=solam", "algo=psam", "algo=ls_svm"],
    "algo.field": ["algo.gamma=0.5", "algo.zeta=3"],
    "dataset": ["dataset=breast_cancer", "dataset=gaussian"],
    "dataset.n": ["dataset.n=300", "dataset.part=train"],
    "protocol": ["protocol=kfold", "protocol=train_valid_test"],
    "protocol.folds": ["protocol.folds=3"],
    "tuning": ["tuning=grid", "tuning=optuna"],
    "tuning.folds": ["tuning.folds=3", "tuning.report=false"],
    "tracking": ["tracking=none"],
    "seed": ["seed=3", "seed=4"],
    "runs": ["runs=2"],
    "split_seed": ["split_seed=${seed}", "split_seed=1"],
    "scaling": ["scaling=minmax"],
    "budget": ["budget.epochs=2", "budget.iterations=7"],
    "checkpoints": ["budget.checkpoints=3"],
    "study": ["study=x"],
    "parallel": ["parallel=2"],
    "plus": ["++runs=3", "+tuning.grid.solam.zeta=[1,2]"],
}


@st.composite
def sweeps(draw):
    """Jobs as Hydra makes them: the same names in each, their values of a few."""
    names = draw(st.lists(st.sampled_from(sorted(WORDS)), unique=True, min_size=1, max_size=6))
    random.Random(draw(st.integers(0, 99))).shuffle(names)
    count = draw(st.integers(2, 5))
    return [[draw(st.sampled_from(WORDS[name])) for name in names] for _ in range(count)]


def plain(cfg):
    """The values of a composed run as plain ones, and its choices."""
    values = OmegaConf.to_container(OmegaConf.create({name: cfg.get(name) for name in cfg}), resolve=True)
    return values, {group: compose.chosen(cfg, group) for group in compose.CHOICES}


def composed(composing, words):
    """The plain config, or the kind of error."""
    try:
        return plain(composing(words))
    except Exception as error:
        return type(error).__name__


@pytest.mark.usefixtures("process")
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(jobs=sweeps())
def test_a_run_composed_from_parts_is_the_run_composed_as_a_whole(jobs):
    with session(CATALOG):
        composer = Composer()
        for words in jobs:
            assert composed(composer.compose, words) == composed(compose.compose, words)


def swept(*jobs):
    with session(CATALOG):
        return [job.run for job in compose._each(CATALOG, Composer(), [list(job) for job in jobs])]


@pytest.mark.slow
def test_parts_that_were_composed_are_not_composed_again(monkeypatch):
    calls, whole = [], compose.compose
    monkeypatch.setattr(compose, "compose", lambda *words: calls.append(words) or whole(*words))
    jobs = [
        [f"algo={algo}", f"dataset={dataset}", "tuning=grid"]
        for algo in CATALOG.plugins["algorithms"]
        for dataset in ("gaussian", "a9a", "w8a")
    ]
    found = swept(*jobs)
    assert len(found) == len(jobs)
    assert len(calls) <= 2
    with session(CATALOG):
        for job, run in list(zip(jobs, found, strict=True))[::7]:
            assert plain(run) == plain(compose.compose(job))


def test_a_choice_that_sets_something_else_does_so_in_every_run(tmp_path):
    (tmp_path / "algo").mkdir()
    (tmp_path / "algo" / "long.yaml").write_text(
        "# @package _global_\ndefaults: [solam@algo, _self_]\nbudget: {epochs: 33}\n"
    )
    request = Request(("algo=psam,long", "seed=1,2"), multirun=True, config_dir=str(tmp_path))
    runs = [job.run for job in compose.compose_jobs(CATALOG, request).jobs]
    assert [run["budget"].epochs for run in runs] == [None, None, 33.0, 33.0]


PAIRS = [(algo, dataset) for algo in ("solam", "psam") for dataset in ("gaussian", "breast_cancer")]


MATRIX = (
    "matrix.for_dataset={gaussian: ['protocol=kfold', 'protocol.folds=3', 'dataset.n=9','dataset.part=all']}",
    "matrix.for_algo={solam: ['budget.epochs=4', 'algo.zeta=9']}",
)


def test_what_the_matrix_says_for_a_data_set_or_a_method_reaches_its_runs_only():
    runs = swept(*((f"algo={a}", f"dataset={d}", *MATRIX) for a, d in PAIRS))
    assert [compose.chosen(cfg, "protocol") for cfg in runs] == ["kfold", "holdout"] * 2
    assert [cfg["protocol"].get("folds") for cfg in runs] == [3, None] * 2
    assert [cfg["dataset"].part for cfg in runs] == [Part.all, Part.train] * 2
    assert [cfg["budget"].epochs for cfg in runs] == [4.0, 4.0, None, None]
    assert [cfg["algo"].get("zeta") for cfg in runs] == [9.0, 9.0, None, None]


def test_words_of_the_command_line_win_over_the_matrix_whose_choice_they_replace_with_its_fields():
    common = ("algo=solam", "dataset=gaussian", *MATRIX)
    fields, choice = swept(
        (*common, "budget.epochs=2", "dataset.part=test", "algo.zeta=5"), (*common, "protocol=given")
    )
    assert (fields["budget"].epochs, fields["dataset"].part, fields["algo"].zeta) == (2.0, Part.test, 5.0)
    assert (fields["protocol"].folds, fields["dataset"].n) == (3, 9)
    assert (compose.chosen(choice, "protocol"), "folds" in choice["protocol"]) == ("given", False)


def test_the_matrix_skips_what_it_names():
    skip = "matrix.skip={solam: [gaussian], psam: breast_cancer}"
    runs = swept(*((f"algo={a}", f"dataset={d}", skip) for a, d in PAIRS))
    found = [(compose.chosen(run, "algo"), compose.chosen(run, "dataset")) for run in runs]
    assert found == [PAIRS[1], PAIRS[2]]


RUNS = "matrix.runs={10: {rows: 1000, rare: 100}, 5: {rows: 5000}}"


def test_the_published_rows_of_a_data_set_give_the_number_of_runs_unless_another_word_does():
    found = {"fourclass": 10, "adbench_smtp": 10, "german": 5, "a9a": 1, "wine": 1, "csv": 1}
    runs = swept(*(("algo=solam", f"dataset={name}", RUNS) for name in found))
    assert [run["runs"] for run in runs] == list(found.values())
    own = "matrix.for_dataset={german: ['runs=7']}"
    runs = swept(*(("algo=solam", "dataset=german", RUNS, *words) for words in ((own,), (own, "runs=2"))))
    assert [run["runs"] for run in runs] == [7, 2]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("matrix.runs={10: 1000}", r"matrix.runs: expected \{RUNS: \{rows: ROWS\}\}, got \{10: 1000\}"),
        ("matrix.skip={solm: [gaussian]}", "matrix.skip: unknown algorithm 'solm'. Did you mean solam"),
        ("matrix.for_dataset=3", r"matrix.for_dataset: expected \{NAME: \[WORDS\]\}, got 3"),
        (
            "matrix.for_dataset={a9b: ['runs=2']}",
            "matrix.for_dataset: unknown data set 'a9b'. Did you mean a9a",
        ),
        ("matrix.for_algo={solam: [3]}", r"matrix.for_algo.solam: expected a list of words, got \[3\]"),
    ],
)
def test_a_matrix_that_cannot_be_read_is_refused(word, sentence):
    with pytest.raises(ParameterError, match=sentence):
        swept(("algo=solam", word))


def test_choices_that_come_after_fields_replace_them_as_in_hydra(tmp_path):
    (tmp_path / "mine.yaml").write_text("defaults: [_self_, config]\ntuning: {folds: 3}\n")
    for words in (("tuning=grid",), ("tuning=grid", "algo=solam")):
        request = Request(words, config_name="mine", config_dir=str(tmp_path))
        (job,) = compose.compose_jobs(CATALOG, request).jobs
        with session(CATALOG, request):
            assert job.run["tuning"] == compose.compose(words, "mine")["tuning"]


@pytest.mark.parametrize(
    "value", ["~/x.csv", "data (1).csv", "x[1].csv", "it's.csv", "a=b.csv", "ä&#.csv", "a b.csv"]
)
@pytest.mark.parametrize("field", ["path", "test_path", "target"])
def test_paths_and_columns_need_no_quotes(value, field):
    request = parse(["dataset=csv", "dataset.path=x", f"dataset.{field}={value}"])
    (job,) = compose_jobs(CATALOG, request).jobs
    assert job.run["dataset"][field] == value
