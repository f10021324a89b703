"""The size of a store by kind of content, and the removal of scores and models."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from aucbench.studies.store import Store

RECORDS = "records"
# Kinds of content of a cell besides its record and curve, with their arrays.
KEPT: Mapping[str, tuple[str, ...]] = {
    "weights": ("weights", "checkpoint_weights"),
    "scores": ("scores",),
    "models": ("model",),
}
KINDS = (RECORDS, *KEPT)
CELLS = "cells"


def size_of(store: Store, study: str | None = None) -> Counter[str]:
    """Number of finished cells of a store, or of one study, under ``cells``, and their bytes by kind.

    Raises ParameterError if the store has no such study.
    """
    kinds = {array: kind for kind, arrays in KEPT.items() for array in arrays}
    totals: Counter[str] = Counter({CELLS: 0} | dict.fromkeys(KINDS, 0))
    for key in _keys(store, study):
        totals[CELLS] += 1
        for array, size in store.sizes(key).items():
            totals[kinds.get(array, RECORDS)] += size
    return totals


def prune(store: Store, kinds: Collection[str], study: str | None = None) -> Counter[str]:
    """Remove the ``"scores"`` or ``"models"`` of the finished cells of a store, or of one study.

    Cells that several studies share change in all these studies. Returns the number of changed cells, under
    ``cells``, and the removed bytes by kind. Raises ParameterError if the store has no such study.
    """
    removed: Counter[str] = Counter()
    for key in _keys(store, study):
        sizes, cell = store.sizes(key), store.get(key)
        totals = {kind: sum(sizes.get(array, 0) for array in KEPT[kind]) for kind in kinds}
        if any(totals.values()) and cell is not None:
            without: Any = {array: None for kind in kinds for array in KEPT[kind]}
            store.put(key, replace(cell, **without))
            removed.update(totals, cells=1)
    return removed


def _keys(store: Store, study: str | None) -> Collection[str]:
    if study is None:
        return store.keys()
    planned = {key for plan in store.plans(study) for entry in plan.entries for key in entry.cells}
    return list(filter(store.has, planned))
