"""Checks that the entries of an archive agree with each other."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from aucbench.archives.archive import Archive, Manifest
from aucbench.data.splits.protocols import PROTOCOLS
from aucbench.evaluation.measures import AUC, RECORDED
from aucbench.studies.default_settings import LONGEST_NAME
from aucbench.studies.plugin_metadata import completed
from aucbench.studies.record import DESCRIPTION, CellRecord, EntryDescription, canonical, subset
from aucbench.studies.record import FORMAT as RECORD_FORMAT
from aucbench.studies.result import COSTS, CellResult
from aucbench.studies.tuners import TUNINGS

KEY = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z_][\w-]*")
MOST_ROWS = 1 << 48  # or features
ROUNDING = 1e-6  # of values in single precision, relatively


def problems_of(archive: Archive, manifest: Manifest, records: int) -> list[str]:
    """Contradictions in words, empty where there are none. `records` were read, keys counted twice."""
    return list(_problems(archive, manifest, records))


def _problems(archive: Archive, manifest: Manifest, records: int) -> Iterator[str]:
    if len(archive.cells) != records:
        yield "cells.json has two cells of one key"
    if len(archive.cells) != manifest.cells or len(archive.failed) != manifest.failures:
        yield "cells.json and failures.json have other numbers of cells than the manifest says"
    names = [plan.study for plan in archive.studies]
    if tuple(names) != manifest.studies or len(set(names)) < len(names):
        yield "plans.json has other studies than the manifest says"
    for name in names:
        if not name.strip() or len(name) > LONGEST_NAME or name.strip(".") == "":
            yield f"plans.json names a study {name[:40]!r}"
    planned = {
        key: (entry, seeds)
        for plan in archive.studies
        for entry in plan.entries
        for key, seeds in entry.cells.items()
    }
    for entry in (entry for plan in archive.studies for entry in plan.entries):
        for text in _unsafe(entry.described):
            yield f"an entry of plans.json {text}"
        if not entry.cells or (entry.ruleset and not NAME.fullmatch(entry.ruleset.title)):
            yield "an entry of plans.json has no cells, or a ruleset without a name"
    for key in (*archive.cells, *archive.failed):
        if not KEY.fullmatch(key):
            yield f"the key {key[:70]!r} is none"
        elif key not in planned:
            yield f"cell {key[:12]} belongs to no study"
    for key in archive.others:
        if key not in archive.cells:
            yield f"replications.json names a cell {key[:70]!r} that is not there"
    for replication in (each for found in archive.others.values() for each in found):
        if not _is_auc(replication.auc) or not _is_time(replication.train_seconds):
            yield f"a replication of cell {replication.key[:12]} has AUC {replication.auc}"
    planned_settings = {id(entry): _settings(entry.described) for entry, _ in planned.values()}
    for key, cell in archive.cells.items():
        for text in _cell_problems(cell, manifest.compact):
            yield f"cell {key[:12]} {text}"
        if key in planned:
            entry, seeds = planned[key]
            own = (cell.record.algorithm.name, cell.record.dataset.title, cell.record.seeds)
            is_planned = own == (entry.algorithm, entry.dataset, seeds)
            if not is_planned or _settings(cell.record) != planned_settings[id(entry)]:
                yield f"cell {key[:12]} is not the one that its study planned"
    if archive.sources != manifest.sources:
        yield "cells.json has methods or code of methods that the manifest does not state"
    if archive.confirmed != manifest.confirmed:
        yield "plans.json has other confirmations than the manifest"


def _settings(described: EntryDescription | CellRecord) -> str:
    """Everything that decides a result, besides code, data and seeds."""
    return canonical(subset(completed(described), DESCRIPTION))


def _cell_problems(cell: CellResult, compact: bool) -> Iterator[str]:
    record, curve = cell.record, cell.curve
    result, data = record.result, record.data
    if record.format != RECORD_FORMAT:
        yield f"has format {record.format}, expected {RECORD_FORMAT}"
    yield from _unsafe(record)
    counts = (data.train_rows, data.test_rows, data.features)
    if not all(0 < each < MOST_ROWS for each in counts) or data.train_positives > data.train_rows:
        yield "has numbers of rows or features that cannot be"
    if not _is_auc(result.auc):
        yield f"has AUC {result.auc}, expected a number from 0 to 1"
    if (result.auc is None) != record.diverged:
        yield "has an AUC although it diverged, or none although it did not"
    times = (result.train_seconds, result.train_cpu_seconds, result.ns_per_iteration)
    if not all(map(_is_time, times)) or (result.iterations and not result.train_seconds):
        yield "has times that are no finite positive numbers"
    lengths = {len(values) for values in curve.values()}
    if not {"iteration", "samples", "train_seconds", AUC.name} <= curve.keys() or len(lengths) != 1:
        yield "has no curve, or one of unequal columns"
        return
    if max(lengths) == 0 and record.diverged:
        return
    yield from _curve_problems(record, curve[AUC.name], compact)
    for name in COSTS:
        if name in curve and (not np.all(np.isfinite(curve[name])) or np.any(np.diff(curve[name]) < 0)):
            yield f"has a curve whose {name} does not grow"
    weights = cell.weights
    if weights is not None and weights.ndim != 1:
        yield "has weights that are no vector"


def _unsafe(described: EntryDescription | CellRecord) -> Iterator[str]:
    """What would be another override than its place says, or be resolved, when the cell is run again."""
    plugins: tuple[Any, ...] = (described.algorithm, described.dataset, described.loss, described.features)
    chosen = [each for each in plugins if each is not None] + [described.protocol, described.tuning]
    names = [each.name for each in chosen] + [described.dataset.part, described.scaling]
    names += [described.order, described.dtype, *described.tuning.space]
    # A field with a dot, such as pauc.max_fpr, is one of the measure by which a tuning chose.
    for each in chosen:
        for key in each.parameters:
            measure, _, own = key.rpartition(".")
            names.append(own if not measure or measure in RECORDED else key)
    for name in names:
        if not NAME.fullmatch(name):
            yield f"has the name {name[:70]!r}, expected letters, digits, - and _"
    groups: tuple[Any, ...] = (*PROTOCOLS, *TUNINGS)
    for name in (described.protocol.name, described.tuning.name):
        if all(name != each.name for each in groups):
            yield f"has the protocol or tuning {name[:70]!r}, which does not exist"
    if any("${" in text for text in _texts([each.parameters for each in chosen] + [described.tuning.space])):
        yield "has a value that would be resolved when it is run"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(key)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _curve_problems(record: CellRecord, values: np.ndarray, compact: bool) -> Iterator[str]:
    if not len(values) or np.any((values < 0) | (values > 1)):
        yield "has a curve outside of 0 to 1"
    elif record.result.auc is not None and not np.isclose(
        values[-1], record.result.auc, rtol=ROUNDING if compact else 0, atol=0
    ):
        yield f"has AUC {record.result.auc}, and its curve ends at {values[-1]}"


def _is_auc(value: float | None) -> bool:
    return value is None or 0.0 <= value <= 1.0


def _is_time(value: float) -> bool:
    return bool(np.isfinite(value)) and value >= 0
