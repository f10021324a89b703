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
            _wait(f"http://127.0.0.1:{port}/health", process, folder / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _wait(url, process, log):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.2)
    raise AssertionError(f"{url} does not answer: {log.read_text()[-2000:]}")


def postgres_tools():
    """The folder of initdb and postgres, None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    folders += [Path(found).resolve().parent] if found else []
    return next((f for f in folders if (f / "initdb").exists() and (f / "postgres").exists()), None)


class Postgres:
    """A database in a new cluster."""

    def __init__(self, folder):
        tools, port = postgres_tools(), free_port()
        self.address = f"postgresql+psycopg://aucbench@127.0.0.1:{port}/mlflow"
        folder.mkdir(parents=True, exist_ok=True)
        user = _unprivileged()
        if user:
            os.chown(folder, user.pw_uid, user.pw_gid)
        plain = {"LC_ALL": "C", "PATH": os.environ["PATH"]}
        owner = {"user": user.pw_uid, "group": user.pw_gid} if user else {}
        options = {"env": plain, "cwd": folder} | owner
        words = ["-D", folder / "cluster", "-U", "aucbench", "--auth=trust", "--no-sync", "-E", "UTF8"]
        subprocess.run([tools / "initdb", *words], check=True, capture_output=True, **options)
        where = ["-p", str(port), "-h", "127.0.0.1", "-k", folder]
        words = [tools / "postgres", "-D", folder / "cluster", "-F", *where]
        with open(folder / "postgres.log", "ab") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True, **options)
        _create(port, self._process, folder / "postgres.log")

    def stop(self):
        self._process.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
        self._process.wait(30)


@contextlib.contextmanager
def postgres(folder):
    """A running database; ended afterwards."""
    database = Postgres(folder)
    try:
        yield database
    finally:
        database.stop()


def _create(port, process, log):
    import psycopg

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(psycopg.OperationalError):
            address = f"host=127.0.0.1 port={port} user=aucbench dbname=postgres"
            with psycopg.connect(address, autocommit=True) as connection:
                known = connection.execute("SELECT datname FROM pg_database").fetchall()
                if ("mlflow",) not in known:
                    connection.execute("CREATE DATABASE mlflow")
            return
        time.sleep(0.1)
    raise AssertionError(f"PostgreSQL does not answer: {log.read_text()[-2000:]}")


def _unprivileged():
    """Whom PostgreSQL runs as where we are root, which it refuses."""
    if os.getuid() != 0:
        return None
    return next(pwd.getpwnam(name) for name in ("postgres", "nobody") if _exists(name))


def _exists(name):
    with contextlib.suppress(KeyError):
        return bool(pwd.getpwnam(name))
    return False
