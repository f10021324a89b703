import json
import os
import subprocess
import sys

import pytest

from aucbench.cli.commands import COMMANDS
from aucbench.cli.main import main


def asked(line, monkeypatch, capsys):
    """The words the shell would be offered for an unfinished line."""
    monkeypatch.setenv("COMP_LINE", line)
    assert main(["-sc", "query=bash"]) == 0
    return capsys.readouterr().out.split()


CASES = {
    "aucbench le": (["leaderboard"], "lea"),
    "aucbench algo=ps": (["algo=psam"], "x"),
    "aucbench run algo=so": (["algo=solam"], "x"),
    "aucbench algo=solam algo.": (["algo.zeta=", "algo.radius="], "algo.gamma="),
    "aucbench fetch a9": (["a9a"], "x"),
    "aucbench list d": (["datasets"], "losses"),
    "aucbench algo=solam algo.norm=": (["algo.norm=l1", "algo.norm=l2"], "algo.norm=zero"),
    "aucbench scaling=u": (["scaling=unit"], "scaling=none"),
    "aucbench budget.ep": (["budget.epochs="], "budget.seconds="),
}


@pytest.mark.parametrize("line", CASES, ids=str)
def test_the_shell_is_offered_commands_names_and_fields(line, monkeypatch, capsys):
    expected, absent = CASES[line]
    words = asked(line, monkeypatch, capsys)
    assert set(expected) <= set(words)
    assert absent not in words


@pytest.mark.usefixtures("process")
def test_the_completion_script_is_one_a_shell_can_evaluate():
    script = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv=['aucbench', '-sc', 'install=bash']; "
         "from aucbench.cli.main import main; main()"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", f"{script}\ncomplete -p aucbench"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[-1] == "aucbench"


@pytest.mark.usefixtures("process")
def test_help_and_version_are_answered_without_importing_hydra_numba_or_mlflow():
    code = (
        "import sys, aucbench.cli.main as c; c.main(['--help']); c.main(['--version']);"
        "print([m for m in ('hydra', 'numba', 'mlflow', 'numpy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "leaderboard" in done.stdout


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"run", "check", "try"}))  # which train
@pytest.mark.usefixtures("process")
def test_the_help_of_a_command_imports_neither_numba_nor_mlflow(command):
    code = (
        f"import sys, aucbench.cli.main as c; c.main(['{command}', '--help']);"
        "print([m for m in ('numba', 'mlflow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert len(done.stdout.splitlines()) > 5


def test_list_names_what_is_installed(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    for word in ("psam", "pairs", "covtype", "hinge", "identity", "aucbench_algorithms.psam", "aucbench 0."):
        assert word in shown
    main(["list", "losses"])
    shown = capsys.readouterr().out
    assert "hinge" in shown
    assert "psam" not in shown


def test_the_hydra_job_is_another_spelling_of_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["run", "algo=solam", "tracking=none"]) == 0
    first = capsys.readouterr()
    for word in ("test AUC", "training", "ns per iteration", "iterations", "bytes", "stopped", "next"):
        assert word in first.out
    assert "training solam" in first.err
    assert main(["algo=solam", "tracking=none"]) == 0
    assert "nothing was run again" in capsys.readouterr().out


def test_a_sweep_runs_every_combination_and_goes_on_after_a_bad_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [
        "-m",
        "algo=fsauc,psam",
        "dataset=breast_cancer,gaussian",
        "budget.seconds=0.01",
        "tracking=none",
    ]
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.err.count("fsauc must know the number of iterations beforehand") == 1
    assert "fsauc on breast_cancer, fsauc on gaussian: " in said.err
    assert said.out.count("test AUC") == 2
    assert len(list(tmp_path.rglob("*.npz"))) == 2


@pytest.mark.usefixtures("process")
def test_strict_makes_a_plugin_that_fails_to_load_an_error(tmp_path):
    info = tmp_path / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[aucbench]\nbroken = no_such_module\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-m", "aucbench", "tracking=none", "store.path=null"]
    lenient = subprocess.run(
        words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert lenient.returncode == 0
    assert "aucbench: warning: plugin no_such_module of distribution broken-plugin failed" in lenient.stderr
    strict = subprocess.run(
        [*words, "strict=true"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert strict.returncode == 2
    assert "aucbench: strict=true: plugin no_such_module of distribution broken-plugin" in strict.stderr


@pytest.mark.slow
def test_a_diverging_method_is_recorded_as_such_and_never_as_a_score(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["algo=opauc", "algo.eta=1e6", "tracking=mlflow", "budget.epochs=3"]) == 0
    assert "diverged at iteration" in capsys.readouterr().out
    import numpy as np

    with np.load(next((tmp_path / "aucbench-store").rglob("*.npz"))) as cell:
        result = json.loads(cell["record"].tobytes())["result"]
    assert result["auc"] is None
    assert result["stop_reason"] == "diverged"
    assert 0 < result["iterations"] < 3 * 455


@pytest.mark.mirror
def test_psam_on_covtype_reaches_the_published_region_within_one_epoch(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["algo=psam", "dataset=covtype", "tracking=none"]) == 0
    shown = capsys.readouterr().out
    auc = next(float(line.split()[-1]) for line in shown.splitlines() if "test AUC" in line)
    assert auc >= 0.80


@pytest.mark.mirror
def test_fetch_finds_the_mirrors_files_and_parses_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path))
    assert main(["fetch", "ijcnn1", "digits"]) == 0
    shown = capsys.readouterr().out
    assert "ijcnn1: train part, 49,990 rows, 22 features" in shown
    assert "ijcnn1: test part, 91,701 rows, 22 features" in shown
    assert "digits: nothing to fetch" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "solam"), "aucbench: interrupted\n"),
        (("algo=solam",), "aucbench: interrupted; finished cells are in the store\n"),
        (("run",), "aucbench: interrupted; finished cells are in the store\n"),
    ],
)
def test_ctrl_c_ends_a_command_with_one_line(words, said, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("aucbench.cli.main._command", interrupted)
    assert main(list(words)) == 130
    assert capsys.readouterr().err == said
