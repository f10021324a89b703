"""Ctrl-C is never lost, and leaves nothing half made."""

import contextlib
import signal
import subprocess
import sys

import pytest

from aucbench import pool

# Ctrl-C reaches a process while the process starts its fork server.
STARTING = """
import os, signal, sys
from multiprocessing import forkserver
from aucbench import pool
start = forkserver.ensure_running
def interrupted():
    os.kill(os.getpid(), signal.SIGINT)
    start()
if __name__ == "__main__":
    forkserver.ensure_running = interrupted
    try:
        pool.start_fork_server()
    except KeyboardInterrupt:
        sys.exit(17)
"""


@pytest.mark.usefixtures("process")
@pytest.mark.skipif(pool.METHOD != "forkserver", reason="processes are not forked here")
def test_ctrl_c_while_the_first_process_starts_is_heard():
    assert subprocess.run([sys.executable, "-c", STARTING], check=False).returncode == 17


@pytest.mark.parametrize(("presses", "heard"), [(1, [0, "end"]), (2, [0]), (0, ["end"])])
def test_ctrl_c_is_heard_at_the_end_of_what_must_not_be_interrupted_and_a_second_one_at_once(presses, heard):
    before, events = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt) if presses else contextlib.nullcontext():
        with pool.interrupted_later():
            for number in range(presses):
                signal.raise_signal(signal.SIGINT)
                events.append(number)
            events.append("end")
        assert not presses
    assert events == heard
    assert signal.getsignal(signal.SIGINT) is before


def test_where_ctrl_c_is_ignored_it_stays_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pool.interrupted_later():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


# Ctrl-C reaches a process while an object is freed: Python only prints the error and continues.
FREED = """
import os, signal, sys, time, weakref
from aucbench.cli import main
class Freed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
def command(words):
    Freed()
    time.sleep(10)
main._command = lambda first, words: command
sys.exit(main.main(["list"]))
"""


@pytest.mark.usefixtures("process")
def test_ctrl_c_while_an_object_is_freed_ends_the_command():
    process = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (130, "aucbench: interrupted\n")
