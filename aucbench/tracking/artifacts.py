"""Artifacts of a run: data sets, cells, records, weights and a picture, written and read back."""

import json
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import astuple

from aucbench.studies.record import SEEDS, CellRecord, decode, to_dict
from aucbench.studies.result import CellResult, FinishedEntry, mean_curve
from aucbench.tracking.client import WHOLE, Connection, reads
from aucbench.tracking.run_data import run_name

CELLS, RECORDS, WEIGHTS, PICTURE = "cells.parquet", "records.json", "weights.npz", "curve.png"
SOURCE = "aucbench"
CONTEXT = "mlflow.data.context"
DIGEST = 24  # hex digits of the data; MLflow accepts 36 characters, including the context
PAGE = 1000  # runs per request


def inputs(entry: FinishedEntry) -> list[Any]:
    """The training and the test rows as MLflow's data set inputs; no rows are copied."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    record, data = entry.record, entry.record.data
    source = json.dumps({"sha256": data.sha256} | to_dict(record.dataset))
    features, targets = _tensor("float64", [-1, data.features]), _tensor("int8", [-1])
    schema = json.dumps({"mlflow_tensorspec": {"features": features, "targets": targets}})
    found = []
    for context, digest, rows, positives in (
        ("train", data.sha256[0], data.train_rows, data.train_positives),
        ("test", data.sha256[-1], data.test_rows, data.test_positives),
    ):
        counts = {"positives": positives, "rows": rows, "features": data.features}
        known = {
            name: count for name, count in counts.items() if count is not None
        }  # not by an earlier version
        profile = json.dumps(known, sort_keys=True)
        # MLflow identifies a data set by name and digest, so the digest must include the context.
        suffix = sha256(f"{context} {profile}".encode()).hexdigest()[:10]
        dataset = Dataset(
            name=entry.title,
            digest=f"{digest[:DIGEST]}-{suffix}",
            source_type=SOURCE,
            source=source[:60000],
            schema=schema,
            profile=profile,
        )
        found.append(DatasetInput(dataset, [InputTag(CONTEXT, context)]))
    return found


def _tensor(kind: str, shape: list[int]) -> str:
    return json.dumps([{"type": "tensor", "tensor-spec": {"dtype": kind, "shape": shape}}])


def write_files(entry: FinishedEntry, folder: Path, tags: dict[str, str]) -> None:
    """The curves of all cells, their records, the weights of linear methods, and a picture of the curve."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = entry.cells
    lengths = [len(cell.curve["auc"]) for cell in cells]
    columns: dict[str, Any] = {
        name: np.repeat([getattr(cell.record, name) for cell in cells], lengths) for name in SEEDS
    }
    known = [key for key in cells[0].curve if all(key in cell.curve for cell in cells)]
    columns |= {key: np.concatenate([cell.curve[key] for cell in cells]) for key in known}
    pq.write_table(pa.table(columns), folder / CELLS)
    (folder / RECORDS).write_text(json.dumps([to_dict(cell.record) for cell in cells], indent=1))
    weights = {weight_name(cell.record): cell.weights for cell in cells if cell.weights is not None}
    if weights:
        np.savez_compressed(folder / WEIGHTS, **weights)  # type: ignore[arg-type]
    _draw(entry, folder / PICTURE, tags)


def _draw(entry: FinishedEntry, file: Path, tags: dict[str, str]) -> None:
    """The mean test AUC against training seconds, with a band of one standard deviation."""
    curve = mean_curve([cell.curve for cell in entry.cells])
    seconds, auc, std = (curve[name] for name in ("train_seconds", "auc", "auc_std"))
    shown = (seconds > 0) & np.isfinite(auc)
    if not shown.any():
        return
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    with matplotlib.rc_context({"text.parse_math": False, "text.usetex": False}):  # names may contain $
        figure = Figure(figsize=(6.4, 4.0))
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        colour = tags["mlflow.runColor"]
        axes.plot(seconds[shown], auc[shown], color=colour, marker="o", markersize=3)
        if len(entry.cells) > 1:
            low, high = (auc - std)[shown], np.minimum((auc + std)[shown], 1.0)
            axes.fill_between(seconds[shown], low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set_xscale("log")
        # Whole decades give at least two ticks and comparable pictures.
        decades = np.log10(seconds[shown][[0, -1]])
        axes.set_xlim(10.0 ** np.floor(decades[0]), 10.0 ** (np.floor(decades[1]) + 1))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())  # minor ticks take as long as the rest of the picture
        axes.set_xlabel("training seconds")
        axes.set_ylabel("test AUC")
        axes.grid(color="0.9")
        diverged = f" (diverged: {tags['diverged']})" if "diverged" in tags else ""
        title = f"{run_name(entry.record)} on {entry.title}{diverged}"
        figure.text(0.5, 0.93, title, ha="center", wrap=len(title) > 70)
        figure.savefig(file, dpi=100)


def weight_name(record: CellRecord) -> str:
    """The array name of a cell's weights."""
    return f"seed_{record.seed}" + (f"_fold_{record.fold}" if record.fold else "")


def read_cells(uri: str, study: str | None = None) -> list[CellResult]:
    """All cells logged to an address, or the cells of one study, without duplicates."""
    found: dict[str, CellResult] = {}
    with reads(uri, "The cells") as connection:
        client = connection.client
        for experiment in _pages(client.search_experiments):
            for run in _pages(partial(client.search_runs, [experiment.experiment_id], max_results=PAGE)):
                tags = run.data.tags
                if "key" not in tags or "algo" not in tags or study not in (None, tags.get("study")):
                    continue
                if run.info.status not in WHOLE:  # incomplete: the process was killed while logging
                    continue
                for cell in _cells(connection, run.info.run_id):
                    found[cell.record.key] = cell
    return list(found.values())


def _pages(search: Callable[..., Any]) -> Iterator[Any]:
    """All results of an MLflow search, over all pages."""
    token = None
    while True:
        page = search(page_token=token)
        yield from page
        token = page.token
        if not token:
            return


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
