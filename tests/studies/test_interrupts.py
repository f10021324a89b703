"""Ctrl-C is never lost, and leaves nothing half made."""

import os
import signal
import subprocess
import sys

import pytest

from aucbench.studies import forking

# Ctrl-C reaches a process just while it starts the one to fork from.
STARTING = """
import os, signal, sys
from multiprocessing import forkserver
from aucbench.studies import forking
start = forkserver.ensure_running
def interrupted():
    os.kill(os.getpid(), signal.SIGINT)
    start()
if __name__ == "__main__":
    forkserver.ensure_running = interrupted
    try:
        forking.begin()
    except KeyboardInterrupt:
        sys.exit(17)
"""


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.skipif(forking.METHOD != "forkserver", reason="processes are not forked here")
def test_ctrl_c_while_the_first_process_starts_is_heard():
    assert subprocess.run([sys.executable, "-c", STARTING], check=False).returncode == 17


def test_ctrl_c_is_heard_at_the_end_of_what_must_not_be_interrupted():
    reached = []
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        with forking.interrupted_later():
            press_ctrl_c()
            reached.append("the end")
        reached.append("behind it")
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_is_heard_at_once():
    reached = []
    with pytest.raises(KeyboardInterrupt), forking.interrupted_later():
        press_ctrl_c()
        reached.append("once")
        press_ctrl_c()
        reached.append("twice")
    assert reached == ["once"]


def test_without_ctrl_c_nothing_happens():
    before = signal.getsignal(signal.SIGINT)
    with forking.interrupted_later():
        pass
    assert signal.getsignal(signal.SIGINT) is before
