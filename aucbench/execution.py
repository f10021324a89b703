"""Executing an entry: what the store has is taken from it, the rest is run and kept."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench import data, provenance
from aucbench.data.loading import Part
from aucbench.entry import Bound, Cell, Entry
from aucbench.errors import AucbenchError, PluginError
from aucbench.preparation import Prepared, prepare
from aucbench.protocols import Load
from aucbench.result import CellResult
from aucbench.runner.cell import Outcome, StopReason, Task, run_cell
from aucbench.sources import source_file
from aucbench.store import Store


class Observer:
    """Told how an execution proceeds; this one says nothing."""

    def stage(self, text: str) -> None:
        """A stage begins."""

    def progress(self, cell: Cell, share: float) -> None:
        """The running cell has spent this share of its budget."""

    def finished(self, cell: Cell, result: CellResult, stored: bool) -> None:
        """A cell is finished, or was found in the store."""


@dataclass(frozen=True)
class Executed:
    """A finished entry."""

    entry: Entry
    key: str
    cells: tuple[CellResult, ...]
    from_store: bool


def execute(entry: Entry, store: Store | None, observer: Observer | None = None) -> Executed:
    """Run all cells of an entry that the store does not have.

    Parameters
    ----------
    entry : Entry
        What to run.
    store : Store or None
        Where finished cells are found and kept; None runs everything and keeps nothing.
    observer : Observer
        Told about stages and progress.
    """
    observer = observer or Observer()
    observer.stage(f"loading {entry.dataset.name}")

    @cache
    def load(part: Part) -> data.Loaded:
        with _blaming(entry.dataset):
            return data.load(entry.dataset.instance, part)

    digests = entry.protocol.digests(load, entry.part)
    context = _Context(entry, load, digests, observer)
    cells, ran = [], 0
    for cell in entry.cells():
        key = cell.key(digests)
        result = store.get(key) if store else None
        if result is None:
            result = context.run(cell, key)
            ran += 1
            if store:
                store.put(key, result)
            observer.finished(cell, result, stored=False)
        else:
            observer.finished(cell, result, stored=True)
        cells.append(result)
    return Executed(entry, entry.key(digests), tuple(cells), from_store=not ran)


class _Context:
    """Runs cells one after another; equal splits are prepared once."""

    def __init__(self, entry: Entry, load: Load, digests: tuple[str, ...], observer: Observer):
        self._entry, self._load, self._digests, self._observer = entry, load, digests, observer
        self._prepared: tuple[int, Prepared] | None = None

    def run(self, cell: Cell, key: str) -> CellResult:
        prepared = self._prepare(cell.split_seed)
        entry, settings = self._entry, self._entry.settings
        self._observer.stage(f"training {entry.algorithm.name} (seed {cell.seed})")
        task = Task(
            algorithm=entry.algorithm.instance,
            loss=entry.loss.instance if entry.loss else None,
            X=prepared.X,
            y=prepared.y,
            X_test=prepared.X_test,
            y_test=prepared.y_test,
            epochs=entry.budget.epochs,
            iterations=entry.budget.iterations,
            seconds=entry.budget.seconds,
            checkpoints=entry.budget.checkpoints,
            order=settings.order,
            seed=cell.seed,
            order_seed=cell.order_seed,
        )
        with _blaming(entry.algorithm):
            outcome = run_cell(task, lambda share: self._observer.progress(cell, share))
        record = (
            {"key": key}
            | entry.describe()
            | cell.seeds()
            | {
                "data": _facts(prepared, self._digests),
                "result": _measured(outcome),
                "source": entry.source_digest,
                "git_commit": provenance.git_commit(source_file(entry.algorithm.cls)),
                "environment": provenance.environment(),
            }
        )
        curve = {
            name: getattr(outcome, name)
            for name in ("iteration", "samples", "train_seconds", "cpu_seconds", "auc")
        }
        return CellResult(record, curve, outcome.weights)

    def _prepare(self, split_seed: int) -> Prepared:
        if self._prepared is None or self._prepared[0] != split_seed:
            entry = self._entry
            self._observer.stage("preparing the split")
            self._prepared = None  # frees the old arrays before the new ones are made
            split = entry.protocol.split(self._load, entry.part, split_seed)
            prepared = prepare(
                split, entry.scaling, entry.features.instance, entry.settings.dtype, split_seed
            )
            self._prepared = (split_seed, prepared)
        return self._prepared[1]


@contextlib.contextmanager
def _blaming(plugin: Bound) -> Iterator[None]:
    """Name the plugin, and whom to ask, when its code raises."""
    try:
        yield
    except (AucbenchError, MemoryError):
        raise
    except Exception as error:
        raise PluginError(
            f"{plugin.name} of distribution {plugin.distribution} {plugin.version} failed: "
            f"{type(error).__name__}: {error} (HYDRA_FULL_ERROR=1 shows where)."
        ) from error


def _facts(prepared: Prepared, digests: tuple[str, ...]) -> dict[str, Any]:
    X = prepared.X
    return {
        "sha256": list(digests),
        "train_rows": len(prepared.y),
        "test_rows": len(prepared.y_test),
        "features": int(X.shape[1]),
        "train_positives": int(np.count_nonzero(prepared.y == 1)),
        "format": "csr" if sparse.issparse(X) else "dense",
        "nonzeros_per_row": X.nnz / len(prepared.y) if sparse.issparse(X) else float(X.shape[1]),
        "features_seconds": prepared.features_seconds,
    }


def _measured(outcome: Outcome) -> dict[str, Any]:
    diverged = outcome.stop_reason is StopReason.diverged
    per_iteration = 1e9 / max(1, outcome.iterations)
    return {
        # A diverged model has no score, whatever its last finite checkpoint was.
        "auc": None if diverged else float(outcome.auc[-1]),
        "iterations": outcome.iterations,
        "train_seconds": outcome.total_seconds,
        "train_cpu_seconds": outcome.total_cpu_seconds,
        "ns_per_iteration": outcome.total_seconds * per_iteration,
        "cpu_ns_per_iteration": outcome.total_cpu_seconds * per_iteration,
        "state_bytes": outcome.state_bytes,
        "layout": outcome.layout,
        "weights_norm": _norm(outcome.weights),
        "stop_reason": str(outcome.stop_reason),
        "checkpoints": len(outcome.iteration),
    }


def _norm(weights: NDArray[np.float64] | None) -> float | None:
    """l2 norm, None when it is not a number that JSON knows."""
    if weights is None:
        return None
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(weights))
    return norm if np.isfinite(norm) else None
