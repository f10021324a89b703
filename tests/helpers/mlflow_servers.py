"""Real servers on loopback: MLflow's, on a file or on PostgreSQL."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from functools import partial
from pathlib import Path

PATIENCE = 300  # seconds until a server must have answered; it takes some 10


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def mlflow_server(folder, backend):
    """The address of a server over a store; ended afterwards."""
    port = free_port()
    words = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--host", "127.0.0.1"]
    words += ["--port", str(port), "--backend-store-uri", backend, "--artifacts-destination", str(folder)]
    # Without it the server starts eight more processes of 235 MB.
    environment = os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with open(folder / "server.log", "wb") as log:
        process = subprocess.Popen(
            words, env=environment, stdout=log, stderr=log, cwd=folder, start_new_session=True
        )
        try:
            health = partial(urllib.request.urlopen, f"http://127.0.0.1:{port}/health", timeout=5)
            _answered(health, process, folder / "server.log").close()
            yield f"http://127.0.0.1:{port}"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _answered(attempt, process, log):
    """Try until nothing is raised; an error if the process ends or takes too long."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            return attempt()
        time.sleep(0.2)
    raise AssertionError(f"no answer: {log.read_text()[-2000:]}")


def postgres_tools():
    """The folder of initdb and postgres, None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    folders += [Path(found).resolve().parent] if found else []
    return next((f for f in folders if (f / "initdb").exists() and (f / "postgres").exists()), None)


@contextlib.contextmanager
def postgres(folder):
    """The address of a database in a new cluster; ended afterwards."""
    import psycopg

    def create():
        words = f"host=127.0.0.1 port={port} user=aucbench dbname=postgres"
        try:
            with psycopg.connect(words, autocommit=True) as connection:
                connection.execute("CREATE DATABASE mlflow")
        except psycopg.OperationalError as error:
            raise OSError from error

    tools, port = postgres_tools(), free_port()
    folder.mkdir(parents=True, exist_ok=True)
    options = {"env": {"LC_ALL": "C", "PATH": os.environ["PATH"]}, "cwd": folder}
    if os.getuid() == 0:  # as which PostgreSQL refuses to run
        known = {each.pw_name: each for each in pwd.getpwall()}
        user = known.get("postgres") or known["nobody"]
        os.chown(folder, user.pw_uid, user.pw_gid)
        options |= {"user": user.pw_uid, "group": user.pw_gid}
    words = ["-D", folder / "cluster", "-U", "aucbench", "--auth=trust", "--no-sync", "-E", "UTF8"]
    subprocess.run([tools / "initdb", *words], check=True, capture_output=True, **options)
    words = ["-D", folder / "cluster", "-F", "-p", str(port), "-h", "127.0.0.1", "-k", folder]
    with open(folder / "postgres.log", "ab") as log:
        process = subprocess.Popen(
            [tools / "postgres", *words], stdout=log, stderr=log, start_new_session=True, **options
        )
    try:
        _answered(create, process, folder / "postgres.log")
        yield f"postgresql+psycopg://aucbench@127.0.0.1:{port}/mlflow"
    finally:
        process.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
        process.wait(30)
