"""Data tests: a cache of their own, no network, a scripted web server, small declared data sets."""

import socket
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from aucbench import File
from aucbench.data.files import download, locate
from tests.helpers.http_server import HttpServer

TINY = "-1 1:0.5 3:2\n1 2:-1.25\n-1 1:1e-3 # a comment\n1 1:7 2:8 3:9\n-1 3:4\n"


@dataclass(frozen=True)
class Declared:
    """A data set of files, declared by hand."""

    name: ClassVar[str] = "tiny"
    files: tuple[File, ...] = (File("binary/tiny"),)
    features: int | None = None
    positive: Any = None


@dataclass(frozen=True)
class InMemory:
    """A data set that loads itself."""

    name: ClassVar[str] = "in_memory"
    samples: Any = field(default=None)
    positive: Any = None

    def load(self):
        return self.samples


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache folder; the public site is a port where nobody listens: no test leaves the machine."""
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("AUCBENCH_OFFLINE", raising=False)
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.01)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setattr(locate, "PUBLIC_SITE", f"http://127.0.0.1:{closed.getsockname()[1]}/public")
        yield tmp_path / "cache"


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A folder mirror that has `binary/tiny`."""
    folder = tmp_path / "mirror"
    (folder / "binary").mkdir(parents=True)
    (folder / "binary" / "tiny").write_text(TINY)
    monkeypatch.setenv("AUCBENCH_MIRROR", str(folder))
    return folder


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes into a file; returns its path."""

    def written(text, name="own.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(tmp_path / name)

    return written


@pytest.fixture
def web(monkeypatch):
    """A web server on this machine, as the mirror."""
    with HttpServer() as server:
        monkeypatch.setenv("AUCBENCH_MIRROR", server.address)
        yield server


def files_of(folder):
    """Names of the visible files below a folder, locks and notes apart."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
