"""What is attached to a run: its data sets by name and digest, its cells, their records and weights."""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from aucbench.result import CellResult
from aucbench.tracking.content import LoggedEntry

CELLS, RECORDS, WEIGHTS = "cells.parquet", "records.json", "weights.npz"
SOURCE = "aucbench"
CONTEXT = "mlflow.data.context"
SEEDS = ("seed", "split_seed", "order_seed", "fold")
DIGEST = 24  # hexadecimal digits of the data's; MLflow takes 36 characters, and the side follows


def inputs(entry: LoggedEntry) -> list[Any]:
    """The training and the test rows as MLflow's data set inputs; no rows are copied."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    record = entry.record
    source = json.dumps({"sha256": record["data"]["sha256"]} | record["dataset"], default=str)
    found = []
    for context, digest, profile in sides(record):
        text = json.dumps(profile, sort_keys=True)
        # MLflow takes two data sets of one name and digest for the same: the side is part of the digest.
        side = sha256(f"{context} {text}".encode()).hexdigest()[:10]
        dataset = Dataset(
            name=entry.title,
            digest=f"{digest[:DIGEST]}-{side}",
            source_type=SOURCE,
            source=source[:60000],
            schema=json.dumps(_schema(record)),
            profile=text,
        )
        found.append(DatasetInput(dataset, [InputTag(CONTEXT, context)]))
    return found


def sides(record: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Context, digest and profile of the rows that train and of those that test."""
    facts = record["data"]
    features = {"features": facts["features"]}
    train = {"rows": facts["train_rows"], "positives": facts["train_positives"]}
    yield "train", facts["sha256"][0], train | features
    test = {"rows": facts["test_rows"]}
    if "test_positives" in facts:  # older records lack it
        test["positives"] = facts["test_positives"]
    yield "test", facts["sha256"][-1], test | features


def write_files(entry: LoggedEntry, folder: Path) -> None:
    """The curves of all cells, their records, and the weights of linear methods."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = entry.cells
    lengths = [len(cell.curve["auc"]) for cell in cells]
    columns: dict[str, Any] = {
        name: np.repeat([cell.record[name] for cell in cells], lengths) for name in SEEDS
    }
    columns |= {key: np.concatenate([cell.curve[key] for cell in cells]) for key in cells[0].curve}
    pq.write_table(pa.table(columns), folder / CELLS)
    (folder / RECORDS).write_text(json.dumps([cell.record for cell in cells], indent=1))
    weights = {name: c.weights for name, c in weight_names(cells) if c.weights is not None}
    if weights:
        np.savez_compressed(folder / WEIGHTS, **weights)  # type: ignore[arg-type]


def weight_names(cells: Sequence[CellResult]) -> Iterable[tuple[str, CellResult]]:
    """Under which name the weights of each cell are kept."""
    return [(weight_name(cell.record), cell) for cell in cells]


def weight_name(record: dict[str, Any]) -> str:
    """Under which name the weights of a cell are kept."""
    return f"seed_{record['seed']}" + (f"_fold_{record['fold']}" if record["fold"] else "")


def _schema(record: dict[str, Any]) -> dict[str, Any]:
    def tensor(kind: str, shape: list[int]) -> str:
        return json.dumps([{"type": "tensor", "tensor-spec": {"dtype": kind, "shape": shape}}])

    features = tensor("float64", [-1, record["data"]["features"]])
    return {"mlflow_tensorspec": {"features": features, "targets": tensor("int8", [-1])}}
