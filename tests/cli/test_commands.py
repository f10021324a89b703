"""Completion, help, `list`, `fetch`, and properties of all commands."""

import re
import subprocess
import sys

import pytest

from aucbench import api
from aucbench.cli.commands import COMMANDS
from aucbench.contracts.validation import Failure
from aucbench.humanize import duration
from aucbench.registry import Catalog

OFFERED = {
    "aucbench le": ({"leaderboard"}, "lea"),
    "aucbench run algo=so": ({"algo=solam"}, "x"),
    "aucbench algo=solam algo.": ({"algo.zeta=", "algo.radius="}, "algo.gamma="),
    "aucbench -m +suite=imb": ({"+suite=imbalanced"}, "+suite=small"),
    "aucbench check h": ({"hinge"}, "x"),
    "aucbench results ": ({"export", "import", "check", "merge", "verify"}, "x"),
}


@pytest.mark.parametrize("line", OFFERED, ids=str)
def test_the_shell_is_offered_commands_names_and_fields(line, output, monkeypatch):
    expected, absent = OFFERED[line]
    monkeypatch.setenv("COMP_LINE", line)
    completions = output("-sc", "query=bash").split()
    assert expected <= set(completions)
    assert absent not in completions


def test_times_are_told_in_three_digits():
    seconds = {20.0: "20 s", 0.02134: "21.3 ms", 3.3e-6: "3.3 us", 1e-9: "1 ns", 5400.0: "1.5 h"}
    assert {value: duration(value) for value in seconds} == seconds


LIGHT = """
import contextlib, io, sys
from aucbench.cli.main import main

def output(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(words)
    return out.getvalue()

heavy = lambda *names: [name for name in names if name in sys.modules]
assert "leaderboard" in output("--help") and output("--version").startswith("aucbench ")
assert not heavy("hydra", "numba", "mlflow", "numpy", "pandas")
for command in sys.argv[1:]:
    assert len(output(command, "--help").splitlines()) > 5, command
    assert not heavy("numba", "mlflow"), command
assert not heavy("pandas") and "psam" in output("list") and not heavy("pandas", "mlflow")
"""


@pytest.mark.usefixtures("process")
def test_help_and_version_are_answered_without_importing_the_libraries():
    commands = sorted(COMMANDS.keys() - {"run", "check", "try"})  # these train
    subprocess.run([sys.executable, "-c", LIGHT, *commands], check=True)


def test_list_names_what_is_installed(run):
    output = run("list")[1]
    assert {"psam", "hinge", "identity", "keel"} <= set(output.replace(",", " ").split())
    assert len(output.splitlines()) < 30
    rows = [line.split() for line in run("list", "algorithms")[1].splitlines()[1:] if line.strip()]
    assert (names := [name for name, *_ in rows]) == sorted(names)
    assert {"trees", "full", "yes"} <= set(rows[names.index("boosting")])
    assert "dataset.path=null" in run("list", "datasets", "csv")[1]
    assert run("list", "datasets", "nosuch")[0] == 2
    assert run("list", "psam") == run("list", "algorithms", "psam")
    assert [name in run("list", "losses")[1] for name in ("hinge", "psam")] == [True, False]
    output = run("list", "suites")[1].split()
    assert output[output.index("keel") :].index("143") < output[output.index("keel") :].index("small")


@pytest.mark.slow
def test_a_run_is_compared_with_the_reference_of_its_own_data_and_configuration(run, tmp_path, monkeypatch):
    (tmp_path / "own" / "algo").mkdir(parents=True)
    monkeypatch.setenv("COLUMNS", "120")
    args = ("dataset=wine", "budget.iterations=10", "tracking=none")
    status, out, _ = run("--config-dir", str(tmp_path / "own"), "algo=solam", *args)
    assert status == 0
    for text in ("test AUC", "training", "per iteration", "iterations", "bytes", "stopped", "next"):
        assert text in out
    assert re.search(
        r"solam [01]\.\d+, log_reg [01]\.\d+: [+-]0\.\d+ \(.* to .*\), \w[\w ]*; 1 run$", out.rstrip()
    )
    assert "nothing was run again" in run("run", "algo=solam", *args)[1]
    assert "verdict" not in run("algo=log_reg", *args)[1]
    monkeypatch.setattr("aucbench.cli.commands.run.CHEAP", 0.0)
    assert "aucbench algo=log_reg dataset=wine seed=1" in run("algo=solam", *args, "seed=1")[1]


def test_strict_makes_a_plugin_that_fails_to_load_an_error(output, refused, monkeypatch):
    broken = Failure("plugin gone of distribution broken", "no module gone", frozenset({"gone"}), "")
    catalog = Catalog(api.catalog().plugins, (broken,))
    monkeypatch.setattr(api, "catalog", lambda: catalog)
    output("--dry-run", "algo=log_reg")
    assert "strict=true: plugin gone of distribution broken" in refused("strict=true")


@pytest.mark.parametrize("argument", ["check", "algo=solam", "run"])
def test_ctrl_c_ends_a_command_with_one_line(argument, run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("aucbench.cli.main._command", interrupted)
    more = "" if argument == "check" else "; finished cells are in the store"
    assert run(argument) == (130, "", f"aucbench: interrupted{more}\n")
