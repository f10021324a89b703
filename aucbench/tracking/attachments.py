"""What is attached to a run: its data sets by name and digest, its cells, their records and weights."""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from aucbench.studies.record import SEEDS, CellRecord, to_dict
from aucbench.studies.result import CellResult, FinishedEntry

CELLS, RECORDS, WEIGHTS = "cells.parquet", "records.json", "weights.npz"
SOURCE = "aucbench"
CONTEXT = "mlflow.data.context"
DIGEST = 24  # hexadecimal digits of the data's; MLflow takes 36 characters, and the side follows


def inputs(entry: FinishedEntry) -> list[Any]:
    """The training and the test rows as MLflow's data set inputs; no rows are copied."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    record = entry.record
    source = json.dumps({"sha256": record.data.sha256} | to_dict(record.dataset))
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


def sides(record: CellRecord) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Context, digest and profile of the rows that train and of those that test."""
    data = record.data
    features = {"features": data.features}
    yield "train", data.sha256[0], {"rows": data.train_rows, "positives": data.train_positives} | features
    test = {"rows": data.test_rows}
    if data.test_positives is not None:  # a version did not count them
        test["positives"] = data.test_positives
    yield "test", data.sha256[-1], test | features


def write_files(entry: FinishedEntry, folder: Path) -> None:
    """The curves of all cells, their records, and the weights of linear methods."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = entry.cells
    lengths = [len(cell.curve["auc"]) for cell in cells]
    columns: dict[str, Any] = {
        name: np.repeat([getattr(cell.record, name) for cell in cells], lengths) for name in SEEDS
    }
    columns |= {key: np.concatenate([cell.curve[key] for cell in cells]) for key in cells[0].curve}
    pq.write_table(pa.table(columns), folder / CELLS)
    (folder / RECORDS).write_text(json.dumps([to_dict(cell.record) for cell in cells], indent=1))
    weights = {name: c.weights for name, c in weight_names(cells) if c.weights is not None}
    if weights:
        np.savez_compressed(folder / WEIGHTS, **weights)  # type: ignore[arg-type]


def weight_names(cells: Sequence[CellResult]) -> Iterable[tuple[str, CellResult]]:
    """Under which name the weights of each cell are kept."""
    return [(weight_name(cell.record), cell) for cell in cells]


def weight_name(record: CellRecord) -> str:
    """Under which name the weights of a cell are kept."""
    return f"seed_{record.seed}" + (f"_fold_{record.fold}" if record.fold else "")


def _schema(record: CellRecord) -> dict[str, Any]:
    def tensor(kind: str, shape: list[int]) -> str:
        return json.dumps([{"type": "tensor", "tensor-spec": {"dtype": kind, "shape": shape}}])

    features = tensor("float64", [-1, record.data.features])
    return {"mlflow_tensorspec": {"features": features, "targets": tensor("int8", [-1])}}
