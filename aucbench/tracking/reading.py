"""Finished cells back from MLflow: records and curves, as they were logged."""

import json
import tempfile
from pathlib import Path
from typing import Any

from aucbench.errors import TrackingError
from aucbench.result import CellResult
from aucbench.tracking.attachments import CELLS, RECORDS, SEEDS
from aucbench.tracking.connecting import Connection


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
        connection = Connection(uri)
        found: dict[str, CellResult] = {}
        for experiment in connection.client.search_experiments():
            for run in connection.client.search_runs([experiment.experiment_id], max_results=10_000):
                tags = run.data.tags
                if "key" not in tags or "algo" not in tags or study not in (None, tags.get("study")):
                    continue
                for cell in _cells(connection, run.info.run_id):
                    found[cell.record["key"]] = cell
    except TrackingError:
        raise
    except Exception as error:
        why = str(error).strip().split("\n")[0]
        raise TrackingError(f"Nothing could be read from {uri} ({type(error).__name__}: {why}).") from error
    return list(found.values())


def _cells(connection: Connection, run_id: str) -> list[CellResult]:
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in (RECORDS, CELLS):
            connection.client.download_artifacts(run_id, file, str(folder))
        records: list[dict[str, Any]] = json.loads((folder / RECORDS).read_text())
        table = pq.read_table(folder / CELLS).to_pandas()
    seeds = list(SEEDS)
    curves = dict(list(table.groupby(seeds, sort=False)))
    cells = []
    for record in records:
        own = curves[tuple(record[name] for name in seeds)]
        curve = {str(column): own[column].to_numpy() for column in own.columns if column not in seeds}
        cells.append(CellResult(record, curve, None))
    return cells
