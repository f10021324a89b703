"""Cells made by hand, for tests of boards that need no training."""

import msgspec
import numpy as np
from msgspec import structs

from aucbench.reports.cells import BoardCell, of_results
from aucbench.studies.codec import to_dict
from aucbench.studies.record import CellRecord, CellStatus, EntryDescription, Seeds
from aucbench.studies.result import CellResult

PLUGIN = {"distribution": "mine", "version": "1.0", "exempt": {}}


def _described(algorithm="alpha", dataset="data", **changes):
    """The description of an entry; `changes` replace whole parts."""
    return {
        "algorithm": parameters(algorithm) if isinstance(algorithm, str) else algorithm,
        "dataset": PLUGIN | {"name": dataset, "parameters": {}, "part": "train", "title": dataset},
        "loss": PLUGIN | {"name": "hinge", "parameters": {"margin": 1.0}},
        "features": PLUGIN | {"name": "identity", "parameters": {}},
        "scaling": "maxabs",
        "rescale": False,
        "regularisation": "columns",
        "protocol": {"name": "holdout", "parameters": {"test_fraction": 0.2}},
        "tuning": {"name": "none", "parameters": {}, "space": {}},
        "max_train_rows": None,
        "budget": budget(),
        "order": "shuffled",
        "dtype": "float64",
    } | changes


def tuning(name="grid", space=None, **fields):
    """A tuning as it is described."""
    return {"name": name, "parameters": {"folds": 2} | fields, "space": space or {"eta": [0.1, 1.0]}}


def budget(**fields):
    """A budget as it is described."""
    return {"epochs": None, "iterations": None, "seconds": None, "checkpoints": 4} | fields


def parameters(name="alpha", **fields):
    """A method as it is described."""
    return PLUGIN | {"name": name, "parameters": {"eta": 0.1, "radius": 1.0} | fields}


def result(
    auc, seed=0, source="code", finished_at="2026-01-01", cpu="chip", concurrency=1, seconds=1e-3,
    checkpoints=4, tuned=None, data=(), advice=None, **parts,
):  # fmt: skip
    """A finished cell; diverged where the AUC is None."""
    entry = _described(**parts)
    finals = 0.5 if auc is None else auc
    steps = np.geomspace(1, 1000, checkpoints)
    curve = {
        **dict.fromkeys(("iteration", "samples"), steps.astype(np.int64)),
        **dict.fromkeys(("train_seconds", "cpu_seconds"), steps / 1000 * seconds),
        "auc": 0.5 + (finals - 0.5) * np.linspace(0.1, 1.0, checkpoints),
    }
    key = repr((entry, seed, source))
    record = {
        "key": key,
        **entry,
        **dict.fromkeys(("seed", "split_seed", "order_seed"), seed),
        "fold": 0,
        "data": {
            "sha256": ["d" * 64], "train_rows": 80, "test_rows": 20, "features": 5, "train_positives": 40,
            "format": "dense",
        }
        | dict(data),
        "tuned": tuned and {"validation_auc": 0.9, "folds": 1} | tuned,
        "source": source,
        "environment": {"cpu": cpu, "concurrency": concurrency, "finished_at": finished_at},
        "result": {
            "auc": None if auc != auc else auc, "iterations": 1000,
            "train_seconds": seconds, "train_cpu_seconds": seconds,
            "ns_per_iteration": 1e6 * seconds, "cpu_ns_per_iteration": 1e6 * seconds, "state_bytes": 64,
            "weights_norm": 1.0,
            "stop_reason": "diverged" if auc is None else "budget", "advice": advice,
            "checkpoints": checkpoints,
        },
    }  # fmt: skip
    # Files have no such names, and no AUC that is NaN; the views must work with them nevertheless.
    safe = {part: entry[part] | {"name": "x"} for part in ("algorithm", "dataset")} | {"scaling": "x"}
    cell = msgspec.convert(record | safe, CellRecord)
    algorithm = structs.replace(cell.algorithm, name=entry["algorithm"]["name"])
    dataset = structs.replace(cell.dataset, name=entry["dataset"]["name"])
    cell = structs.replace(cell, algorithm=algorithm, dataset=dataset, scaling=entry["scaling"])
    if auc != auc:
        cell = structs.replace(cell, result=structs.replace(cell.result, auc=auc))
    return CellResult(cell, curve, None)


def finished(auc, **parts):
    """The cell of a result."""
    return of_results([result(auc, **parts)])[0]


def altered(cell, **parts):
    """A result, or its cell, with other parts of its record; a mapping replaces some fields of a part."""
    content = to_dict(cell.record)
    for name, value in parts.items():
        content[name] = content[name] | value if isinstance(content.get(name), dict) else value
    changed = CellResult(msgspec.convert(content, CellRecord), cell.curve, getattr(cell, "weights", None))
    return changed if isinstance(cell, CellResult) else of_results([changed])[0]


def unfinished(status="missing", seed=0, **parts):
    """A cell that is planned, but has no result."""
    entry = msgspec.convert(_described(**parts), EntryDescription)
    key, seeds = repr((entry, seed, "planned")), Seeds(seed, seed, seed, 0)
    return BoardCell(key, entry, seeds, CellStatus(status), None, {})


def several(names=("alpha", "beta"), datasets=("data",), runs=3):
    """Cells of methods on data sets; the first name is best everywhere."""
    rng = np.random.default_rng(0)
    return [
        finished(float(0.9 - 0.03 * rank + rng.uniform(0.0, 0.01)), seed=seed, algorithm=name, dataset=data)
        for rank, name in enumerate(names)
        for data in datasets
        for seed in range(runs)
    ]


def with_models(cells, models):
    """The cells with the class of model of their method."""
    return [altered(cell, class_of_model=models[cell.described.algorithm.name]) for cell in cells]
