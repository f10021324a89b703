"""The effects of a plugin on its process reach no cell of another distribution."""

import fcntl
import os
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import psutil
import pytest

from aucbench.contracts.hooks import PROJECT
from aucbench.pool import start_fork_server
from aucbench.studies.entry_and_keys import BoundPlugin
from aucbench.studies.execution.executor import LocalExecutor
from aucbench.studies.store import Store
from aucbench.studies.study import Observer
from tests.helpers.hostile_methods import ATTACKS, Hostile, Victim
from tests.helpers.studies import contents, entry, run_entries
from tests.helpers.study_methods import Clouds, Gentle

PATIENCE = 10.0  # seconds after which no process may be left

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("process")]


def victims():
    """Entries of a method that looks like a built-in method."""
    entries = [entry(Victim(eta=eta)) for eta in (0.1, 0.2, 0.3)]
    return [replace(item, algorithm=BoundPlugin(item.algorithm.instance, PROJECT, "1")) for item in entries]


def hostile(attack):
    attacker = entry(Hostile(attack=attack))
    return replace(attacker, algorithm=BoundPlugin(attacker.algorithm.instance, "hostile", "1"))


def mixed(attacks):
    """A victim, the attacks, and the other victims after them."""
    first, *remaining = victims()
    return [first, *map(hostile, attacks), *remaining]


def healthy(store):
    return {key: value for key, value in contents(store)["cells"].items() if "victim" in str(value[0])}


@pytest.fixture(scope="module", autouse=True)
def server():
    """The fork server, which stays for the next study."""
    start_fork_server()


@pytest.fixture(autouse=True)
def daemons(tmp_path_factory, monkeypatch):
    """A function that returns the living daemons of plugins; surviving daemons are killed at the end."""
    file = tmp_path_factory.mktemp("daemons") / "numbers"
    monkeypatch.setenv("HOSTILE_DAEMONS", str(file))

    def alive():
        numbers = [int(line) for line in file.read_text().split()] if file.exists() else []
        return [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]

    yield alive
    for process in alive():
        process.kill()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The cells of the victims without an attack."""
    store = Store(tmp_path_factory.mktemp("alone"))
    run_entries(victims(), store)
    cells = healthy(store)
    assert len(cells) == 3
    return cells


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_changes_no_cell_of_others(attack, expected, tmp_path):
    folder, children = os.getcwd(), set(psutil.Process().children(recursive=True))
    with closing(LocalExecutor(Observer(), isolated=True)) as executor:
        run_entries(mixed([attack])[:3], Store(tmp_path), executor)  # victims before and after the attack
    cells = healthy(tmp_path)
    assert len(cells) == 2
    assert cells.items() <= expected.items()
    assert os.getcwd() == folder
    assert set(psutil.Process().children(recursive=True)) <= children


def test_daemons_of_a_plugin_end_with_its_process(daemons, tmp_path):
    with closing(LocalExecutor(Observer(), isolated=True)) as executor:
        run_entries(mixed(["leaves_daemons"]), Store(tmp_path), executor)
        started = daemons()
        assert len(started) >= 2  # each step starts two
    assert psutil.wait_procs(started, timeout=PATIENCE)[1] == []


@pytest.mark.parametrize("attack", ["writes_to_all_files", "truncates_all_files", "unlocks_all_files"])
def test_open_files_of_the_study_are_out_of_reach(attack, tmp_path):
    with open(tmp_path / "open", "w+") as file:
        file.write("kept")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        with closing(LocalExecutor(Observer(), isolated=True)) as executor:
            run_entries([hostile(attack)], Store(tmp_path / "store"), executor)
        assert (tmp_path / "open").read_text() == "kept"
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 4
        with open(tmp_path / "open") as handle, pytest.raises(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@dataclass(frozen=True)
class Leaving(Gentle):
    """A method that ends the process in which it is unpickled."""

    name: ClassVar[str] = "leaving"

    def __setstate__(self, state):
        sys.exit(3)


def test_a_plugin_that_ends_the_program_where_it_is_unpickled_fails_alone(tmp_path):
    with closing(LocalExecutor(Observer(), limited=True)) as executor:
        result = run_entries([entry(Leaving()), entry(Gentle())], Store(tmp_path), executor)
    assert (result.finished, [failure.message for failure in result.failures]) == (1, ["SystemExit: 3"])


def test_without_isolation_an_attack_is_seen(expected, tmp_path):
    code = (
        "from tests.studies.execution.test_isolation import *\n"
        f"run_entries(mixed(['replaces_functions']), Store({str(tmp_path)!r}), LocalExecutor(Observer()))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=os.getcwd())
    assert healthy(tmp_path) != expected


@dataclass(frozen=True)
class HostileClouds(Clouds):
    """A data set that replaces functions and leaves the folder when it is loaded."""

    name: ClassVar[str] = "hostile_clouds"

    def load(self):
        samples = super().load()
        ATTACKS["leaves_the_folder"]()
        ATTACKS["replaces_functions"]()
        return samples


def test_the_maker_of_the_rows_of_another_distribution_changes_no_cell_of_others(expected, tmp_path):
    from aucbench.studies.execution.prepared_data import prepared_data

    folder = os.getcwd()
    prepared_data().isolates = True
    try:
        loaded = prepared_data().load(entry(Gentle(), HostileClouds()))
        assert np.shape(loaded("train").X) == np.shape(Clouds().load().X)
    finally:
        prepared_data().isolates = False
    assert os.getcwd() == folder
    assert np.dot([1.0], [2.0]) == 2.0
