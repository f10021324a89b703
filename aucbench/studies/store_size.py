"""The size of a store by study and by what its cells keep, and the removal of scores and models."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from aucbench.errors import ParameterError
from aucbench.studies.store import Store

RECORDS = "records"
# What a cell keeps besides its record and curve, and the arrays with it.
KEPT: Mapping[str, tuple[str, ...]] = {
    "weights": ("weights", "checkpoint_weights"),
    "scores": ("scores",),
    "models": ("model",),
}
KINDS = (RECORDS, *KEPT)
CELLS = "cells"


def size_of(store: Store, keys: Collection[str]) -> Counter[str]:
    """Number of finished cells among these keys, under ``cells``, and their bytes by kind."""
    kinds = {array: kind for kind, arrays in KEPT.items() for array in arrays}
    found: Counter[str] = Counter({CELLS: 0} | dict.fromkeys(KINDS, 0))
    for key in keys:
        if store.has(key):
            found[CELLS] += 1
            for array, size in store.sizes(key).items():
                found[kinds.get(array, RECORDS)] += size
    return found


def sizes(store: Store) -> Iterator[tuple[str, Counter[str]]]:
    """Names of the studies of a store, and their sizes; cells that studies share count for each of them."""
    for name, keys in _keys_by_study(store).items():
        yield name, size_of(store, keys)


def prune(store: Store, kinds: Collection[str], study: str | None = None) -> Counter[str]:
    """Remove scores or models of the finished cells of a store, or of one study.

    Parameters
    ----------
    store : Store
        The store; records, curves and weights stay.
    kinds : collection of str
        ``"scores"``, ``"models"`` or both.
    study : str, optional
        Name of a study; its cells lose them in all studies that share them.

    Returns
    -------
    Counter
        Number of changed cells, under ``cells``, and removed bytes by kind.

    Raises
    ------
    ParameterError
        The store has no such study.
    """
    keys: Collection[str] = store.keys()
    if study is not None:
        by_study = _keys_by_study(store)
        if study not in by_study:
            known = ", ".join(by_study) or "none"
            raise ParameterError(f"The store at {store.path} has no study '{study}'. Known: {known}.")
        keys = by_study[study]
    removed: Counter[str] = Counter()
    for key in filter(store.has, keys):
        found = {kind: store.remove_arrays(key, KEPT[kind]) for kind in kinds}
        removed[CELLS] += any(found.values())
        removed.update(found)
    return removed


def _keys_by_study(store: Store) -> dict[str, set[str]]:
    return {plan.study: {key for entry in plan.entries for key in entry.cells} for plan in store.plans()}
