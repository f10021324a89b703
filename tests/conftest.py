"""Shared by all tests: real data files where there are some, and a real browser."""

import contextlib
import gc
import os
import re
import shutil
import signal
from collections import Counter

import psutil
import pytest
from hypothesis import settings

# Before NumPy is imported: tests run side by side, one for each processor.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Jobs in the background of a shell ignore Ctrl-C, and so would the processes that tests send it to.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The first example may compile a kernel.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

CHROMIUM = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


# A test that requests one of these fixtures starts other processes, and is marked `system`.
SYSTEM = {"browser", "process", "server"}
# Tests with one of these marks are not in the fast lane; all others are marked `fast`.
NOT_FAST = {"boosters", "browser", "docs", "faults", "jax", "mirror", "package", "slow", "system", "variants"}
# The lanes of libraries: tests that have a method or a library of these names as a parameter.
LANES = {"boosters": {"boosting", "catboost", "lightgbm", "xgboost"}, "jax": {"jax", "mlp"}}
# Seconds of a test with a mark, roughly: workers take whole files, and the longest files go first.
SECONDS = {"package": 60.0, "docs": 15.0, "faults": 8.0, "jax": 5.0, "slow": 3.0, "system": 3.0}
# Folders that go last: their kernels are compiled by the first and longest file, the checks of all plugins.
# Two workers that begin with them would compile each kernel twice.
LOADING = {"algorithms", "river", "sklearn"}


def pytest_configure(config):
    if hasattr(config.option, "loadscopereorder"):
        # Else the files with the most tests go first, however short these are.
        config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses among the marks
def pytest_collection_modifyitems(items):
    for item in items:
        if SYSTEM & set(item.fixturenames):
            item.add_marker(pytest.mark.system)
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)
        parameters = set(item.callspec.id.split("-")) if hasattr(item, "callspec") else set()
        for lane, names in LANES.items():
            if names & parameters:
                item.add_marker(lane)
        if not NOT_FAST & {mark.name for mark in item.iter_markers()}:
            item.add_marker(pytest.mark.fast)
    if "PYTEST_XDIST_WORKER" in os.environ:
        _longest_files_first(items)
    if os.environ.get("AUCBENCH_MIRROR"):
        return
    skip = pytest.mark.skip(reason="AUCBENCH_MIRROR is not set: no real data files to read")
    for item in items:
        if "mirror" in item.keywords:
            item.add_marker(skip)


def _longest_files_first(items):
    seconds = Counter()
    for item in items:
        seconds[item.path] += max(SECONDS.get(mark.name, 0.2) for mark in item.iter_markers())
    items.sort(key=lambda item: (item.path.parent.name in LOADING, -seconds[item.path]))


def pytest_collection_finish():
    # Tests and libraries stay until the end; a search for garbage among them takes longer than many a test.
    gc.collect()
    gc.freeze()


@pytest.fixture
def process():
    """For tests that start processes: processes left behind by a test are killed after it."""
    before = set(psutil.Process().children())
    yield
    for child in set(psutil.Process().children()) - before:
        # Workers are forked from one server for all tests.
        with contextlib.suppress(psutil.NoSuchProcess):
            if not {"forkserver", "resource_tracker"} & set(re.findall(r"\w+", " ".join(child.cmdline()))):
                child.kill()


@pytest.fixture(scope="session")
def browser():
    """Chromium; one for all tests, for Playwright cannot be started twice in a thread."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    paths = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    executable = next((path for path in paths if path), None)
    if executable is None:
        pytest.skip("no Chromium on PATH")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=executable, args=list(CHROMIUM))
        yield launched
        launched.close()
