"""Tables of generated rows: parsing beside pyarrow's, and training on more rows than the memory holds.

``parsing`` compares the time of all threads, since both sides parse in parallel. ``beyond_memory`` trains in
a process whose data are limited to 1.5 GB of address space, so that the training rows are read from memory
maps, beside SGDClassifier.partial_fit on the same blocks of the same maps. `AUCBENCH_ROWS` sets the number
of its rows, by default 20 million, which need 30 GB of disk in the cache folder.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil
import pyarrow
from numpy.typing import NDArray
from pyarrow import csv, parquet

import aucbench
from aucbench import data
from aucbench.contracts import Access
from aucbench.contracts.cache_folder import cache_folder
from aucbench.data.scaler import fit_scaling, gather
from aucbench.data.splits.protocols import Holdout
from aucbench.runner.sampler import BLOCK_ROWS, RowSampler
from aucbench.runner.task import Order
from benchmarks.measuring import Measure

COLUMNS, CSV_ROWS, FILE_ROWS = 30, 1_000_000, 1_000_000
MOST_BYTES = 1_500_000_000  # address space for data, without read-only maps


def _made(rows: int, seed: int) -> pyarrow.Table:
    rng = np.random.default_rng([seed, rows])
    X = rng.standard_normal((rows, COLUMNS), np.float32)
    w = np.random.default_rng(0).standard_normal(COLUMNS, np.float32)
    y = (X @ w + 5.0 * rng.standard_normal(rows, np.float32) > 8.0).astype(np.int8)
    return pyarrow.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": y})


def _all_threads(action: Callable[[], object]) -> tuple[float, float]:
    """Processor and wall-clock seconds of a call."""
    start = time.process_time(), time.perf_counter()
    action()
    return time.process_time() - start[0], time.perf_counter() - start[1]


def parsing(rounds: int = 5) -> Iterator[Measure]:
    """Numbers in CSV, from the file to the arrays of the cache."""
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        path = Path(folder) / "rows.csv"
        csv.write_csv(_made(CSV_ROWS, 1), path)

        def ours() -> None:
            path.touch()  # the cache's key includes the time of the last change
            data.load(aucbench.catalog().dataset("csv")(path=str(path)))

        theirs = partial(csv.read_csv, path)
        ours()
        pairs = [(_all_threads(ours), _all_threads(theirs)) for _ in range(rounds)]
        cpu, wall = (median(first[k] / second[k] for first, second in pairs) for k in (0, 1))
        note = f"{median(second[0] for _, second in pairs):.1f} s of processor time; {wall:.2f} by the clock"
        yield Measure(f"parsing {CSV_ROWS:,} rows, times pyarrow's time", cpu, 1.3, at_most=True, note=note)


def _train(folder: str) -> dict[str, float]:
    """Train a method for one epoch; runs in a limited process."""
    overrides = ("order=blocks", "budget.epochs=1", "scaling=standard", "tracking=none")
    start = time.perf_counter()
    result = aucbench.run("algo=solam", "dataset=parquet", f"dataset.path={folder}", *overrides)
    elapsed, seconds = time.perf_counter() - start, float(result.curve["train_seconds"].iloc[-1])
    return {"whole": elapsed, "seconds": seconds, "auc": result.auc}


def _train_sgd(folder: str) -> dict[str, float]:
    """The same with scikit-learn's SGDClassifier, on the same blocks of the same rows."""
    loaded = data.load(aucbench.catalog().dataset("parquet")(path=folder))
    split = Holdout().split(lambda part: loaded, "train", 0)  # type: ignore[arg-type, return-value]
    scaler = fit_scaling("standard", loaded.X, split.train.rows)
    X = gather(loaded.X, split.train.rows, scaler)
    seconds, model = _partial_fit(X, split.train.y)
    scores = [
        model.decision_function(gather(loaded.X, split.test.rows[k : k + BLOCK_ROWS], scaler))  # type: ignore[index]
        for k in range(0, len(split.test.y), BLOCK_ROWS)
    ]
    from sklearn.metrics import roc_auc_score

    return {"seconds": seconds, "auc": float(roc_auc_score(split.test.y, np.concatenate(scores)))}


def _partial_fit(X: Any, y: NDArray[np.int8]) -> tuple[float, Any]:
    from sklearn.linear_model import SGDClassifier

    model, rows, seconds = SGDClassifier(loss="log_loss"), RowSampler(Access.stream, y, Order.blocks), 0.0
    for begin in range(0, len(y), BLOCK_ROWS):
        chosen = rows.take(min(BLOCK_ROWS, len(y) - begin))
        start = time.perf_counter()
        model.partial_fit(X[chosen], y[chosen], classes=[-1, 1])
        seconds += time.perf_counter() - start
    return seconds, model


def beyond_memory() -> Iterator[Measure]:
    """One epoch over more rows than the process may hold, from Parquet files to the AUC."""
    rows = int(os.environ.get("AUCBENCH_ROWS", "20000000"))
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        for start in range(0, rows, FILE_ROWS):
            count = min(FILE_ROWS, rows - start)
            name = f"{folder}/rows-{start // FILE_ROWS:03d}.parquet"
            parquet.write_table(_made(count, start), name, compression="none")
        ours, peak = _limited("_train", folder)
        theirs, _ = _limited("_train_sgd", folder)
    if not ours or not theirs:
        yield Measure("beyond_memory, peak in GB above the maps", np.inf, 1.0, at_most=True, note="it failed")
        return
    note = f"{rows * COLUMNS * 8 / 1e9:.1f} GB of rows; {ours['whole']:.0f} s in all"
    yield Measure("beyond_memory, peak in GB above the maps", peak / 1e9, 1.0, at_most=True, note=note)
    note = f"{ours['seconds']:.1f} against {theirs['seconds']:.1f} s"
    note += f"; AUC {ours['auc']:.4f} and {theirs['auc']:.4f}"
    ratio = ours["seconds"] / theirs["seconds"]
    yield Measure("beyond_memory, times partial_fit's time", ratio, 1.0, at_most=True, note=note)


def _limited(function: str, folder: str) -> tuple[dict[str, float], int]:
    """The result of a function in a process of limited memory ({} if it failed), and its peak memory."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_DATA, ({MOST_BYTES},) * 2)"
    imports = "import aucbench; from benchmarks import tables"  # the former sets up Arrow for the limit
    call = f"{imports}; print(tables.json.dumps(tables.{function}({folder!r})))"
    command, peak = [sys.executable, "-c", f"{limit}; {call}"], 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak = max(peak, _anonymous(process.pid))
            time.sleep(0.2)
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
    return json.loads(lines[-1]) if process.returncode == 0 else {}, peak


def _anonymous(pid: int) -> int:
    """Bytes of a process and its children that are in memory and in no file."""
    total = 0
    try:
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return 0
    for process in processes:
        try:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        except OSError:  # the process has ended
            continue
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
    return total


MEASURES = {"parsing": parsing, "beyond_memory": beyond_memory}
