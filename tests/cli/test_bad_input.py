"""Each kind of bad input ends with one clear sentence, exit status 2, and an untouched store."""

import pytest

LINES = [f"{1 if i % 2 else -1} 1:{i % 7} 2:{(i * i) % 11}" for i in range(40)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A new cache for each test."""
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))


def word_of(lines, folder):
    """Write a data file of the lines; returns the override that names it."""
    (folder / "my.txt").write_text("".join(line + "\n" for line in lines))
    return f"dataset.path={folder / 'my.txt'}"


CASES = {
    # names
    "algo=psma": "Unknown algorithm 'psma'. Did you mean psam",
    "hydra/launcher=joblib": "Unknown hydra/launcher 'joblib'.",
    "reference=log_rg": "Unknown reference 'log_rg'. Did you mean log_reg",
    "loss=null": "loss=null",
    "algo=[psam,solam]": "algo is one name, got [psam,solam]",
    "-m algo=glob(x*)": "'algo=glob(x*)' matches nothing",
    # settings and fields
    "sed=1": "Unknown setting 'sed'. Did you mean seed",
    "store=here": "store=here: expected one of its fields, store.path",
    "algo.gama=1": "algo.gama: psam has no field 'gama'. Did you mean gamma",
    # values
    "algo.gamma=abc": "gamma must be a number (or none), got 'abc'",
    "scaling=foo": "scaling must be one of auto, none, minmax, maxabs, standard",
    "store.path=": "store.path is empty: name one, or say store.path=null for none.",
    "tracking.uri=foo://bar": "tracking.uri: expected an address of sqlite, http",
    "-m algo.zeta=interval(1,2) algo=solam": "'algo.zeta=interval(1,2)' has no finite number of values",
    "dataset=libsvm": "path",
    "dataset=libsvm dataset.path=absent.txt": "absent.txt",
    "tuning=grid tuning.metric=objective": "objective",
    # settings that contradict each other
    "loss=square": "psam accepts the losses hinge, got loss=square.",
    "order=stored": "order=stored does not apply to a method that draws random pairs.",
    "budget.epochs=1 budget.seconds=1": "set exactly one of epochs, iterations and seconds, got epochs",
    "protocol=given": "has no test part",
    "algo=fsauc budget.seconds=1": "fsauc must know the number of iterations beforehand",
    # overrides and options
    "run algo": "The override 'algo' cannot be read; expected NAME=VALUE.",
    "~budget": "'~budget' cannot be read",
    "--foo": "unrecognized arguments: --foo; see aucbench run --help.",
    "--config-dir nowhere": "--config-dir: there is no folder",
    "hydra.verbose=true": "'hydra.verbose=true' has no effect",
    "-sc install=csh": "-sc install=csh: expected",
    # other commands
    "leaderbord": "'leaderbord' is neither a command nor an override (NAME=VALUE). Did you mean leaderboard?",
    "leaderboard --stor x": "--stor",
    "leaderboard --store nowhere": "There is no store at nowhere",
    "leaderboard --store .": "has no cells",
    "compare fsauc_table3": "Unknown table 'fsauc_table3'. Did you mean fsauc_table2",
    "results import none.zip": "There is no archive none.zip",
    "charts --uri sqlite:///mlfow.db": "there is no file mlfow.db",
    "export-model --out model": "--algo",
    "list algorithm": "Unknown family 'algorithm'. Did you mean algorithms?",
    "fetch a9b": "Unknown data set 'a9b'. Did you mean a9a",
    "fetch": "Name the data sets to fetch, or use --all-small.",
    "check": "use --all",
    "check psma": "Unknown plugin 'psma'. Did you mean psam",
    "check psam --patience 0": "--patience must be > 0, got 0.",
    "claims psam algo.gamma=1": "Unknown algorithm 'algo.gamma=1'.",
    "suggest nothing": "Unknown data set 'nothing'",
    "suggest wine runs=none": "runs",
    "suggest wine algo.gamma=1.0": "algo.gamma=1.0",
    "suggest wine dataset=german": "dataset=german",
    "try psma": "psam",
    "try psam --seconds nan": "nan",
    "optimum uni_exp breast_cancer": "uni_exp",
    "optimum psam,spam breast_cancer": "algo has several values",
    "optimum psam breast_cancer tuning=grid": "tuning=grid: the objective depends on the hyperparameters",
    "optimum psam wine limits.optimum=1e-9": "within limits.optimum=1e-09 s",
    "new algoritm mine": "Unknown kind 'algoritm'. Did you mean algorithm?",
    "new algorithm my-method": "'my-method' cannot name a plugin: expected two or more small letters",
    "new algorithm class": "'class' cannot name a plugin",
    "new loss solam": "There is already the algorithm of aucbench ",
    "new dataset json": "There is already a Python module called 'json'",
    "new dataset scikit_learn": "There is already an installed package called 'scikit_learn'",
}


@pytest.mark.parametrize("command", CASES, ids=str)
def test_bad_words_get_one_clear_sentence_and_leave_no_file(command, refused, tmp_path):
    assert CASES[command] in refused(*command.split())
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == []


FILES = {
    "a malformed line": ([*LINES[:4], "1 1:2 x:3", *LINES[4:]], "line 5"),
    "a split with one class": (["1 1:1", *(line for line in LINES if line.startswith("-1"))], "part"),
}


@pytest.mark.parametrize("case", FILES)
def test_bad_files_get_one_clear_sentence(case, refused, tmp_path):
    lines, expected = FILES[case]
    assert expected in refused("dataset=libsvm", word_of(lines, tmp_path))
    assert not (tmp_path / "aucbench-store").exists()


def test_no_network_and_no_mirror_names_the_two_ways_out_and_a_traceback_is_shown_on_request(
    run, refused, monkeypatch
):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    monkeypatch.delenv("AUCBENCH_MIRROR", raising=False)
    sentence = refused("dataset=a9a")
    assert [name in sentence for name in ("AUCBENCH_MIRROR", "AUCBENCH_OFFLINE")] == [True, True]
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(ValueError, match="gamma must be > 0"):
        run("algo.gamma=-1")


@pytest.mark.slow
def test_a_dead_server_costs_the_log_and_not_the_result(refused, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    sentence = refused("algo=log_reg", "tracking.uri=http://127.0.0.1:9")
    assert "could not be logged to http://127.0.0.1:9" in sentence
    assert "the result is in the store aucbench-store" in sentence
    assert len(list((tmp_path / "aucbench-store").rglob("*.npz"))) == 1


@pytest.mark.slow
def test_features_whose_squares_overflow_are_refused_unless_scaled(output, refused, tmp_path):
    lines = [f"{1 if i % 2 else -1} 1:{(i * 7 % 13 - 6)}e160 2:{(i * 5 % 11 - 5)}e160" for i in range(100)]
    args = ["algo=psam", "dataset=libsvm", word_of(lines, tmp_path), "tracking=none", "reference=null"]
    sentence = refused(*args, "scaling=none")
    assert "The features reach 6e+160" in sentence
    assert "scaling=maxabs" in sentence
    output(*args)
