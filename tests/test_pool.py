"""Processes of the pool import what their parent does, and end with it."""

import os
import socket
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from aucbench.pool import METHOD, SAFE_PATH, Pool, ProcessEnded, tell
from tests.helpers.processes import forked

pytestmark = pytest.mark.usefixtures("process")

STARTED = """
import os, time
from aucbench.pool import Pool, tell

def sleep():
    tell(os.getpid())
    time.sleep(60)

Pool().submit(sleep, listener=lambda number: print(number, flush=True))
time.sleep(60)
"""


@pytest.mark.skipif(METHOD != "forkserver", reason="processes are not forked here")
def test_a_process_imports_what_its_parent_does_and_ends_with_it_though_it_is_killed(tmp_path):
    (script := tmp_path / "bin" / "start.py").parent.mkdir()
    script.write_text(STARTED)
    (tmp_path / "msgspec.py").write_text("raise RuntimeError('hidden')")
    # Like the console script, which looks into its own folder and not into the current one.
    command = [sys.executable, str(script)]
    environment = {name: value for name, value in os.environ.items() if name != SAFE_PATH}
    how = {"stdout": subprocess.PIPE, "text": True, "cwd": tmp_path, "env": environment}
    with subprocess.Popen(command, **how) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    assert psutil.wait_procs([child], timeout=10.0)[1] == []


@pytest.fixture
def pool():
    with Pool() as pool:
        yield pool


def name_of_process():
    return os.getpid()


def exits(status):
    os._exit(status)


def hangs():
    tell("begun")
    time.sleep(60)


def fails():
    raise LookupError("nothing there")


def test_tasks_of_one_key_share_a_process_and_others_have_their_own(pool):
    pids = [pool.submit(name_of_process, key=key).result() for key in ("a", "a", "b")]
    assert pids[0] == pids[1] != pids[2]
    assert os.getpid() not in pids


@pytest.mark.skipif(METHOD != "forkserver", reason="sockets of another kind")
def test_no_process_listens_at_an_address_that_another_user_can_reach(pool):
    worker = psutil.Process(pool.submit(name_of_process).result())
    processes = [worker, worker.parent()]  # the second is the server that it is forked from
    assert psutil.Process() not in processes
    assert not [connection for process in processes for connection in process.net_connections("inet")]
    sockets = {connection.laddr for process in processes for connection in process.net_connections("unix")}
    files = [address for address in sockets if address.startswith("/")]
    assert files
    for file in files:
        assert stat.S_IMODE(Path(file).parent.stat().st_mode) == 0o700
        if os.getuid() == 0:  # else there is no other user to be
            assert forked(partial(fails_to_connect, file)) == [0]


def fails_to_connect(file, user=65534):
    """Try to connect to a socket as another user."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    with pytest.raises(PermissionError):
        socket.socket(socket.AF_UNIX).connect(file)


def test_a_task_may_be_defined_within_a_function_and_its_error_ends_no_process(pool):
    before = pool.submit(name_of_process).result()
    with pytest.raises(LookupError, match="nothing there"):
        pool.submit(fails).result()
    assert pool.submit(lambda: (os.getpid(), 3)).result() == (before, 3)


def test_a_process_that_exits_is_replaced_also_for_tasks_that_wait_for_it(pool):
    first, second = pool.submit(exits, 7), pool.submit(abs, -1)
    with pytest.raises(ProcessEnded) as ended:
        first.result()
    assert (ended.value.status, ended.value.is_late) == (7, False)
    assert second.result() == 1


def test_a_task_that_is_late_is_ended_and_says_where_it_was(pool):
    heard = []
    with pytest.raises(ProcessEnded) as ended:
        pool.submit(hangs, listener=heard.append, seconds=2.0).result(timeout=30)
    assert ended.value.is_late
    assert "in hangs" in ended.value.trace
    assert heard == ["begun"]


def test_a_pool_that_is_closed_leaves_no_process():
    with Pool() as pool:
        child = psutil.Process(pool.submit(name_of_process).result())
    assert not child.is_running()
