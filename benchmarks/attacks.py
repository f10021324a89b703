"""Attacks on a study: hostile plugins, kills, flipped bits and changed files, repeated on demand.

``python -m benchmarks attacks`` prints a row for each attack: tries, how many were survived, and what was
lost. A try is survived when every healthy cell is there, bit for bit, and no process is left over.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from benchmarks.measuring import Measure

SECONDS = 10.0  # no process may be left after this time
WORDS = ("-m", "algo=solam,psam,log_reg", "dataset=wine", "runs=2", "budget.epochs=2", "tracking=none")
KILLS, CHANGES = 12, 200  # number of killed studies, and of changed bytes in files
WANTED = 25.0  # ms a cell that isolation may cost


@dataclass
class Attacked:
    """The outcome of one kind of attack."""

    name: str
    tries: int = 0
    survived: int = 0
    lost: str = "nothing"

    reached = property(lambda self: self.survived == self.tries)

    def count(self, survived: bool, lost: str) -> None:
        """Add a try."""
        self.tries += 1
        self.survived += survived
        if not survived:
            self.lost = lost

    def __str__(self) -> str:
        return f"| {self.name} | {self.tries} | {self.survived} | {self.lost} |"


def attacks(kills: int = KILLS, changes: int = CHANGES) -> Iterator[Attacked | Measure]:
    """All kinds of attacks as the rows of a table, and the cost of isolation."""
    print("| attack | tries | survived | lost |\n|---|---:|---:|---|")
    yield from plugins()
    yield killed_studies(kills, 1)
    yield killed_studies(kills, 2)
    yield flipped_bits(changes)
    yield changed_stores(changes)
    yield changed_archives(changes)
    print()
    yield isolation_cost()
    print()


def plugins() -> Iterator[Attacked]:
    """Each hostile method alone, and all together with one and two workers."""
    from aucbench.studies.execution.executor import LocalExecutor
    from aucbench.studies.store import Store
    from aucbench.studies.study import Observer
    from tests.helpers.hostile_methods import ATTACKS
    from tests.helpers.studies import run_entries
    from tests.studies.execution.test_isolation import healthy, mixed, victims

    kinds: dict[str, tuple[list[list[str]], Callable[[], Any]]] = {
        "hostile plugins, each alone": (
            [[name] for name in ATTACKS],
            lambda: LocalExecutor(Observer(), isolated=True),
        ),
        "all hostile plugins in one study": ([[*ATTACKS]], lambda: LocalExecutor(Observer(), isolated=True)),
        "the same with two workers": ([[*ATTACKS]], lambda: LocalExecutor(Observer(), 2, isolated=True)),
    }
    with tempfile.TemporaryDirectory() as folder:
        run_entries(victims(), Store(Path(folder) / "alone"))
        expected = healthy(Path(folder) / "alone")
        for number, (name, (studies, executor)) in enumerate(kinds.items()):
            row = Attacked(f"{name} ({len(ATTACKS)})")
            for at, names in enumerate(studies):
                store = Path(folder) / f"{number}-{at}"
                with _silent(), closing(executor()) as running:
                    run_entries(mixed(names), Store(store), running)
                row.count(healthy(store) == expected, f"a healthy cell beside {', '.join(names)[:60]}")
            yield row


def killed_studies(tries: int, workers: int) -> Attacked:
    """Studies killed at random moments and run again: the same cells, no process and no `.part` left."""
    from tests.helpers.studies import contents

    row = Attacked(f"studies killed at random moments, {'one worker' if workers == 1 else 'two workers'}")
    generator = random.Random(workers)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.monotonic()
        _study(folder / "whole", workers).wait()
        duration, expected = time.monotonic() - started, contents(folder / "whole")
        for number in range(tries):
            store = folder / str(number)
            study = _study(store, workers)
            time.sleep(generator.uniform(0.3, 1.0) * duration)
            processes = _tree(study)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(study.pid, signal.SIGKILL)
            study.wait()
            survivors = psutil.wait_procs(processes, timeout=SECONDS)[1]
            _study(store, workers).wait()
            same = contents(store) == expected
            row.count(same and not survivors, f"{len(survivors)} processes left" if same else "a cell")
    return row


def flipped_bits(tries: int) -> Attacked:
    """One flipped bit in a cached array, found by `aucbench data verify` and repaired."""
    from aucbench.data.files import cache_inventory
    from aucbench.data.loader import load

    row = Attacked("a flipped bit in a cached array")
    generator = random.Random(0)
    with _own_cache() as cache:
        dataset = _table(cache)
        expected = load(dataset).sha256
        for _ in range(tries):
            file = generator.choice(sorted(cache.glob("data/*/*/*.npy")))
            content = bytearray(file.read_bytes())
            bit = generator.randrange(8 * 128, 8 * len(content))
            content[bit // 8] ^= 1 << bit % 8
            file.unlink()
            file.write_bytes(content)
            problems = cache_inventory.verify(dataset.name)
            data = load(dataset)
            row.count(any(problems.values()) and data.sha256 == expected, "a bit")
    return row


def changed_stores(tries: int) -> Attacked:
    """Bytes changed in the files of a store: refused with a message, or read as the stored content."""
    from aucbench.errors import AucbenchError
    from aucbench.studies.store import Store

    row = Attacked("changed bytes in a store")
    generator = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        _study(Path(name) / "store", 1).wait()
        store = Store(Path(name) / "store")
        files = [file for file in store.path.rglob("*") if file.suffix in (".npz", ".json")]
        for _ in range(tries):
            file = generator.choice(files)
            content = file.read_bytes()
            file.write_bytes(_changed(content, generator))
            try:
                for cell in store:
                    assert cell.record.key
                store.plans()
                row.count(True, "")
            except AucbenchError:
                row.count(True, "")
            except Exception as error:
                row.count(False, f"{type(error).__name__} instead of a sentence")
            file.write_bytes(content)
    return row


def changed_archives(tries: int) -> Attacked:
    """Bytes changed in an archive: refused with a message, or equal in content."""
    from aucbench.errors import AucbenchError
    from aucbench.studies.archives.archive import from_store
    from aucbench.studies.archives.archive_file import read, write
    from aucbench.studies.store import Store

    row = Attacked("changed bytes in an archive")
    generator = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        _study(Path(name) / "store", 1, "study=mine").wait()
        archive, file = Path(name) / "mine.zip", Path(name) / "other.zip"
        write(from_store(Store(Path(name) / "store"), "mine"), archive)
        content, (manifest, _) = archive.read_bytes(), read(archive)
        for _ in range(tries):
            file.write_bytes(_changed(content, generator))
            try:
                row.count(read(file)[0] == manifest, "other results")
            except AucbenchError:
                row.count(True, "")
            except Exception as error:
                row.count(False, f"{type(error).__name__} instead of a sentence")
    return row


def isolation_cost(rounds: int = 5) -> Measure:
    """Milliseconds that isolation adds to a cell of another distribution, as the median of several rounds."""
    from aucbench.studies.execution.executor import LocalExecutor
    from aucbench.studies.store import Store
    from aucbench.studies.study import Observer
    from tests.helpers.hostile_methods import ATTACKS
    from tests.helpers.studies import run_entries
    from tests.studies.execution.test_isolation import hostile

    ATTACKS["does_nothing"] = lambda: None
    runs = 40
    entry = hostile("does_nothing")
    entries = [entry.__class__(**(vars(entry) | {"settings": _runs(entry.settings, runs)}))]
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(rounds + 1):  # the first round warms up
        for isolated in (True, False):
            executor = LocalExecutor(Observer(), isolated=isolated)
            with tempfile.TemporaryDirectory() as folder, closing(executor):
                started = time.perf_counter()
                run_entries(entries, Store(folder), executor)
                seconds[isolated].append(time.perf_counter() - started)
    cost = [1e3 * (a - b) / runs for a, b in zip(seconds[True][1:], seconds[False][1:], strict=True)]
    note = f"median of {rounds} rounds of {runs} cells in one process"
    return Measure("ms a cell that isolation costs", median(cost), WANTED, at_most=True, note=note)


def _runs(settings: Any, runs: int) -> Any:
    from dataclasses import replace

    return replace(settings, runs=runs)


def _study(store: Path, workers: int, *more: str) -> "subprocess.Popen[bytes]":
    args = [*WORDS, f"parallel={workers}", f"store.path={store}", *more]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    return subprocess.Popen([sys.executable, "-m", "aucbench", *args], **quiet)  # type: ignore[call-overload]


def _tree(started: "subprocess.Popen[bytes]") -> list[psutil.Process]:
    try:
        process = psutil.Process(started.pid)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _changed(content: bytes, generator: random.Random) -> bytes:
    """The content with a few bytes changed, or cut short."""
    changed = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        changed[generator.randrange(len(changed))] = generator.randrange(256)
    return bytes(changed[: generator.randrange(len(changed))] if generator.random() < 0.2 else changed)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep the output of plugins out of the table."""
    sys.stdout.flush()
    before = os.dup(1)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(before, 1)
        os.close(before)


@contextlib.contextmanager
def _own_cache() -> Iterator[Path]:
    before = os.environ.get("AUCBENCH_CACHE")
    with tempfile.TemporaryDirectory() as name:
        os.environ["AUCBENCH_CACHE"] = name
        try:
            yield Path(name)
        finally:
            os.environ.pop("AUCBENCH_CACHE")
            if before is not None:
                os.environ["AUCBENCH_CACHE"] = before


def _table(folder: Path) -> Any:
    """A data set in a file of the user."""
    import aucbench

    file = folder / "mine.txt"
    rows = random.Random(0)
    file.write_text(
        "".join(f"{rows.choice((-1, 1))} 1:{rows.random()} 7:{rows.random()}\n" for _ in range(500))
    )
    return aucbench.catalog().dataset("libsvm")(path=str(file))


MEASURES = {"attacks": attacks}
