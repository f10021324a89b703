"""Checks that the entries of an archive agree with each other."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from aucbench.archives.archive import Archive, Manifest
from aucbench.data.splits.protocols import PROTOCOLS
from aucbench.evaluation.measures import AUC
from aucbench.studies.default_settings import LONGEST_NAME
from aucbench.studies.plugin_metadata import completed
from aucbench.studies.record import DESCRIPTION, WORD, CellRecord, EntryDescription, canonical, subset
from aucbench.studies.record import FORMAT as RECORD_FORMAT
from aucbench.studies.result import COSTS, CURVE, CellResult
from aucbench.studies.tuners import TUNINGS

KEY = re.compile(r"[0-9a-f]{64}")
ROUNDING = 1e-6  # relative error of values in single precision, of which a compact archive is made


def contradictions(archive: Archive, manifest: Manifest, records: int) -> Iterator[str]:
    """What cannot be true, in words. `records` were read, keys counted twice.

    The types of the records limit each value alone; here are the limits of one value by others.
    """
    if len(archive.cells) != records:
        yield "cells.json has two cells of one key"
    counted = archive.summary()
    for name in ("studies", "cells", "failures", "sources", "confirmed"):
        if getattr(manifest, name) != counted[name]:
            yield f"the {name} are others than the manifest states"
    names = [plan.study for plan in archive.studies]
    if len(set(names)) < len(names):
        yield "plans.json has a study twice"
    for name in names:
        if not name.strip() or len(name) > LONGEST_NAME or name.strip(".") == "":
            yield f"plans.json names a study {name[:40]!r}"
    planned: dict[str, tuple[Any, ...]] = {}
    for entry in (entry for plan in archive.studies for entry in plan.entries):
        settings = _settings(entry.described)
        yield from (f"{entry.algorithm[:40]!r} of plans.json {text}" for text in _unsafe(entry.described))
        if not entry.cells or (entry.ruleset and not re.fullmatch(WORD, entry.ruleset.title)):
            yield f"{entry.algorithm[:40]!r} of plans.json has no cells, or a ruleset without a name"
        own = (entry.algorithm, entry.dataset, settings)
        planned |= {key: (*own, seeds) for key, seeds in entry.cells.items()}
    for key in planned:
        if not KEY.fullmatch(key):
            yield f"the key {key[:70]!r} is none"
    for key in (*archive.cells, *archive.failed):
        if key not in planned:
            yield f"cell {key[:70]!r} belongs to no study"
    for key in archive.others.keys() - archive.cells.keys():
        yield f"replications.json names a cell {key[:70]!r} that is not there"
    for key, cell in archive.cells.items():
        record = cell.record
        yield from (f"cell {key[:12]} {text}" for text in (*_unsafe(record), *_cell_problems(cell)))
        here = (record.algorithm.name, record.dataset.title, _settings(record), record.seeds)
        if planned.get(key, here) != here:
            yield f"cell {key[:12]} is not the one that its study planned"


def _settings(described: EntryDescription | CellRecord) -> str:
    """Everything that decides a result, besides code, data and seeds."""
    return canonical(subset(completed(described), DESCRIPTION))


def _unsafe(described: EntryDescription | CellRecord) -> Iterator[str]:
    """What no composition could read, or would resolve, when the cell is run again."""
    for name, groups in ((described.protocol.name, PROTOCOLS), (described.tuning.name, TUNINGS)):
        if all(name != each.name for each in groups):  # type: ignore[attr-defined]
            yield f"has the protocol or tuning {name[:70]!r}, which does not exist"
    if "${" in canonical(subset(described, DESCRIPTION)):
        yield "has a value that would be resolved when it is run"


def _cell_problems(cell: CellResult) -> Iterator[str]:
    record, curve, result = cell.record, cell.curve, cell.record.result
    if record.format != RECORD_FORMAT:
        yield f"has format {record.format}, expected {RECORD_FORMAT}"
    if record.data.train_positives > record.data.train_rows:
        yield "has numbers of rows or features that cannot be"
    if (result.auc is None) != record.diverged:
        yield "has an AUC although it diverged, or none although it did not"
    if result.iterations and not result.train_seconds:
        yield "has iterations that took no time"
    lengths = {len(values) for values in curve.values()}
    if not {*CURVE} <= curve.keys() or len(lengths) != 1:
        yield "has no curve, or one of unequal columns"
        return
    aucs = curve[AUC.name]
    if not len(aucs) and record.diverged:
        return
    if not len(aucs) or np.any((aucs < 0) | (aucs > 1)):
        yield "has a curve outside of 0 to 1"
    elif result.auc is not None and not np.isclose(aucs[-1], result.auc, rtol=ROUNDING, atol=0):
        yield f"has AUC {result.auc}, and its curve ends at {aucs[-1]}"
    for name in COSTS:
        if name in curve and (not np.all(np.isfinite(curve[name])) or np.any(np.diff(curve[name]) < 0)):
            yield f"has a curve whose {name} does not grow"
