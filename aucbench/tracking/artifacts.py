"""Artifacts of a run: data sets, cells, records and weights, written and read back."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import astuple

from aucbench.errors import TrackingError
from aucbench.studies.record import SEEDS, CellRecord, decode, to_dict
from aucbench.studies.result import CellResult, FinishedEntry
from aucbench.tracking.client import WHOLE, Connection

CELLS, RECORDS, WEIGHTS = "cells.parquet", "records.json", "weights.npz"
SOURCE = "aucbench"
CONTEXT = "mlflow.data.context"
DIGEST = 24  # hexadecimal digits of the data's; MLflow takes 36 characters, and the side follows

PAGE = 1000  # runs asked for at once


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


def read_cells(uri: str, study: str | None = None) -> list[CellResult]:
    """All cells that were logged to an address, each once.

    Parameters
    ----------
    uri : str
        An MLflow tracking address.
    study : str, optional
        Only the entries that were logged for this study.

    Raises
    ------
    TrackingError
        The address does not work.
    """
    try:
        connection = Connection(uri, create=False)
        found: dict[str, CellResult] = {}
        for run in _runs(connection.client):
            tags = run.data.tags
            if "key" not in tags or "algo" not in tags or study not in (None, tags.get("study")):
                continue
            if run.info.status not in WHOLE:  # half of it is there: a process was killed while it logged
                continue
            for cell in _cells(connection, run.info.run_id):
                found[cell.record.key] = cell
    except TrackingError:
        raise
    except Exception as error:
        why = str(error).strip().split("\n")[0]
        raise TrackingError(f"Nothing could be read from {uri} ({type(error).__name__}: {why}).") from error
    return list(found.values())


def _runs(client: Any) -> Iterator[Any]:
    """All runs, however many pages they take."""
    experiments, token = [], None
    while True:
        page = client.search_experiments(page_token=token)
        experiments += [experiment.experiment_id for experiment in page]
        token = page.token
        if not token:
            break
    for experiment in experiments:
        while True:
            page = client.search_runs([experiment], max_results=PAGE, page_token=token)
            yield from page
            token = page.token
            if not token:
                break


def _cells(connection: Connection, run_id: str) -> list[CellResult]:
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in (RECORDS, CELLS):
            connection.client.download_artifacts(run_id, file, str(folder))
        records = decode((folder / RECORDS).read_bytes(), list[CellRecord])
        table = pq.read_table(folder / CELLS).to_pandas()
    seeds = list(SEEDS)
    curves = dict(list(table.groupby(seeds, sort=False)))
    cells = []
    for record in records:
        own = curves.get(astuple(record.seeds), table[:0])  # diverged before any checkpoint
        curve = {str(column): own[column].to_numpy() for column in own.columns if column not in seeds}
        cells.append(CellResult(record, curve, None))
    return cells
