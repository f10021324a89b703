"""Each kind of bad input ends with one clear sentence, exit status 2, and an untouched store."""

import pytest

from aucbench.cli.main import main

LINES = [f"{1 if i % 2 else -1} 1:{i % 7} 2:{(i * i) % 11}" for i in range(40)]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in an empty folder; gives the exit status and what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)

    def run(*words):
        status = main([*words])
        lines = [line for line in capsys.readouterr().err.splitlines() if not line.endswith(" ...")]
        return status, "\n".join(lines)

    return run


@pytest.fixture
def file(tmp_path):
    """Write a data file of its lines and return its path."""

    def write(lines):
        path = tmp_path / "my.txt"
        path.write_text("".join(line + "\n" for line in lines))
        return str(path)

    return write


CASES = {
    "algo=psma": "Unknown algorithm 'psma'. Did you mean psam",
    "dataset=a9b": "Unknown data set 'a9b'. Did you mean a9a",
    "loss=hing": "Unknown loss 'hing'. Did you mean hinge",
    "store=here": "store=here: expected one of its fields, store.path",
    "loss=null": "loss is chosen by name, got null",
    "loss=3": "loss is chosen by name, got 3",
    "-m loss=null,hinge": "loss is chosen by name, got null,hinge",
    "+experiment=null": "experiment is chosen by name, got null",
    "claims psam algo.gamma=1": "python -m studies.claims measures",
    "claims psam --quick": "python -m studies.claims measures",
    "claims psma": "Unknown algorithm 'psma'. Did you mean psam",
    "optimum psam breast_cancer loss=null": "loss is chosen by name, got null",
    "loss.margin=2": "loss.margin: name the loss whose field this is, as in loss=hinge loss.margin=VALUE",
    "loss.foo=2": "loss.foo: no loss has a field 'foo'.",
    "optimum psam,spam breast_cancer": "one method with one setting on one data set, got 2",
    "optimum psam breast_cancer algo.gamma=1,2": "one method with one setting on one data set, got 2",
    "optimum psam breast_cancer tuning=grid": "tuning=grid: the objective depends on the hyperparameters",
    "optimum psam breast_cancer ruleset=trials": "the objective depends on the hyperparameters",
    "optimum psam breast_cancer limits.optimum=0": "limits.optimum=0 asks for no search",
    "optimum psam wine limits.optimum=1e-9": "within limits.optimum=1e-09 s",
    "features=identiy": "Unknown feature map 'identiy'. Did you mean identity",
    "protocol=holdot": "Unknown protocol 'holdot'. Did you mean holdout",
    "algo.gama=1": "algo.gama: psam has no field 'gama'. Did you mean gamma",
    "dataset.foo=1": "dataset.foo: breast_cancer has no field 'foo'.",
    "budget.epoch=1": "budget.epoch: budget has no field 'epoch'. Did you mean epochs",
    "sed=1": "Unknown setting 'sed'. Did you mean seed",
    "+sed=1": "Unknown setting 'sed'. Did you mean seed",
    "algo.gamma=abc": "could not be converted to Float (expected a number or null).",
    "algo.gamma=-1": "psam: gamma must be > 0 (or none), got -1.0.",
    "algo.gamma=nan": "psam: gamma must be > 0 (or none), got nan.",
    "algo=solam algo.zeta=abc": "could not be converted to Float (expected a number).",
    "algo.rskip=1.5": "algo.rskip: Value '1.5' of type 'float' could not be converted to Integer",
    "loss=square": "psam accepts the losses hinge, got loss=square.",
    "scaling=foo": "scaling: Invalid value 'foo', expected one of [none, minmax, maxabs, standard, unit",
    "order=stored": "order=stored does not apply to a method that draws random pairs.",
    "budget.epochs=0": "budget: epochs must be > 0 (or none), got 0.0.",
    "budget.epochs=1 budget.seconds=1": "set exactly one of epochs, iterations and seconds, got epochs",
    "seed=-1": "run: seed must be >= 0 and <= 4.61169e+18, got -1.",
    "protocol.test_fraction=1": "holdout: test_fraction must be > 0 and < 1, got 1.0.",
    "protocol=given": "has no test part",
    "dataset=libsvm": "path",
    "dataset=libsvm dataset.path=absent.txt": "absent.txt",
    "algo.gamma=": "algo.gamma",
    "algo=": "algo",
    "algo=psam,solam": "algo",
    "=1": "The override '=1' cannot be read; expected NAME=VALUE.",
    "run algo": "The override 'algo' cannot be read; expected NAME=VALUE.",
    "~budget": "'~budget': a setting cannot be deleted",
    "algo=[psam,solam]": "algo is one name, got [psam,solam]; several are swept by --multirun",
    "--foo": "unrecognized arguments: --foo; see aucbench run --help.",
    "--experimental-rerun x": "--experimental-rerun is not offered",
    "--info": "--info is not offered: aucbench run --cfg all",
    "--config-path=x": "--config-path is not offered: --config-dir",
    "--config-dir nowhere": "--config-dir: there is no folder",
    "--cfg job --package nothing": "the configuration has no part 'nothing'",
    "--resolve": "--package and --resolve belong to --cfg",
    "hydra.run.dir=x": "there are no run folders; store.path",
    "hydra.verbose=true": "'hydra.verbose=true' has no effect",
    "hydra/launcher=joblib": "Unknown hydra/launcher 'joblib'.",
    "-m algo.zeta=interval(1,2) algo=solam": "'algo.zeta=interval(1,2)' has no finite number of values",
    "-m algo=glob(x*)": "'algo=glob(x*)' matches nothing",
    "-sc install=csh": "No completion plugin for 'csh'",
    "rescale=7": "rescale: expected true or false, got 7.",
    "rescale=abc": "rescale: expected true or false, got abc.",
    "algo=solam algo.one_sided_ab=1": "algo.one_sided_ab: expected true or false, got 1.",
    "protocol.stratified=0": "protocol.stratified: expected true or false, got 0.",
    "baseline=log_rg": "Unknown baseline 'log_rg'. Did you mean log_reg",
    "seed=99999999999999999999": "run: seed must be >= 0 and <=",
    "store.path=": "store.path is empty: name one, or say store.path=null for no store.",
    "tracking.uri=": "tracking.uri is empty",
    "tracking.uri=foo://bar": "tracking.uri: expected an address of sqlite, http",
    "tracking.uri=3": "tracking.uri: expected an address of sqlite, http",
    "leaderboard --store . --out /proc/x": "holds no finished cell",
    "algo": "'algo' is neither a command nor an override (NAME=VALUE).",
    "leaderbord": "'leaderbord' is neither a command nor an override (NAME=VALUE). Did you mean leaderboard?",
    "leaderboard --store nowhere": "There is no store at nowhere",
    "leaderboard --stor x": "--stor",
    "list algorithm": "Unknown family 'algorithm'. Did you mean algorithms?",
    "fetch a9b": "Unknown data set 'a9b'. Did you mean a9a",
    "fetch": "Name the data sets to fetch, or use --all-small.",
    "--multirun algo=psam,psma": "Unknown algorithm 'psma'. Did you mean psam",
    "algo=fsauc budget.seconds=1": "fsauc must know the number of iterations beforehand",
}


@pytest.mark.parametrize("words", CASES, ids=str)
def test_bad_words_get_one_clear_sentence_and_status_2(words, run, tmp_path):
    status, said = run(*words.split())
    assert status == 2
    assert said.startswith("aucbench: ")
    assert CASES[words] in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "aucbench-store").exists()
    assert not (tmp_path / "mlflow.db").exists()


FILES = {
    "a malformed line": ([*LINES[:4], "1 1:2 x:3", *LINES[4:]], "line 5"),
    "an empty file": ([], "empty"),
    "one class": ([line.replace("-1 ", "1 ", 1) for line in LINES], "1"),
    "three classes": (["3 1:1", *LINES], "dataset.positive"),
    "nan": (["1 1:nan", *LINES], "line 1"),
    "infinite": ([*LINES, "1 1:inf"], "line 41"),
    "a split with one class": (["1 1:1", *(line for line in LINES if line.startswith("-1"))], "part"),
}


@pytest.mark.parametrize("case", FILES)
def test_bad_files_get_one_clear_sentence_and_status_2(case, run, file, tmp_path):
    lines, expected = FILES[case]
    status, said = run("dataset=libsvm", f"dataset.path={file(lines)}")
    assert status == 2
    assert expected in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "aucbench-store").exists()


def test_no_network_and_no_mirror_lists_the_addresses_and_the_two_ways_out(run, monkeypatch):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    monkeypatch.delenv("AUCBENCH_MIRROR", raising=False)
    status, said = run("dataset=a9a")
    assert status == 2
    assert "AUCBENCH_MIRROR" in said
    assert "AUCBENCH_OFFLINE" in said
    assert len(said.splitlines()) == 1


@pytest.mark.slow
def test_a_good_file_of_ones_own_runs(run, file, tmp_path):
    status, said = run("dataset=libsvm", f"dataset.path={file(LINES)}", "tracking=none", "budget.epochs=3")
    assert (status, said) == (0, "")
    assert len(list((tmp_path / "aucbench-store").rglob("*.npz"))) == 1


def test_the_traceback_is_shown_on_request(run, monkeypatch):
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(ValueError, match="gamma must be > 0"):
        run("algo.gamma=-1")


def test_an_address_of_another_file_is_refused_before_training(run, tmp_path):
    (tmp_path / "notes.db").write_text("no database")
    status, said = run("tracking.uri=sqlite:///notes.db")
    assert status == 2
    assert "notes.db is not an SQLite file" in said
    assert not (tmp_path / "aucbench-store").exists()


@pytest.mark.slow
def test_a_dead_server_costs_the_log_and_not_the_result(run, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    status, said = run("algo=solam", "tracking.uri=http://127.0.0.1:9")
    assert status == 2
    assert len(said.splitlines()) == 1
    assert "could not be logged to http://127.0.0.1:9" in said
    assert "the result is in the store aucbench-store" in said
    assert len(list((tmp_path / "aucbench-store").rglob("*.npz"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("algo", ["ls_svm", "fsauc", "psam"])
def test_features_whose_squares_overflow_are_refused_unless_scaled(algo, run, file):
    lines = [f"{1 if i % 2 else -1} 1:{(i * 7 % 13 - 6)}e160 2:{(i * 5 % 11 - 5)}e160" for i in range(100)]
    words = [f"algo={algo}", "dataset=libsvm", f"dataset.path={file(lines)}", "tracking=none"]
    status, said = run(*words, "scaling=none")
    assert status == 2
    assert "The features reach 6e+160" in said
    assert "scaling=maxabs" in said
    assert run(*words) == (0, "")
