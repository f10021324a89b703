"""Finished cells back from MLflow: records and curves, as they were logged."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import astuple

from aucbench.errors import TrackingError
from aucbench.studies.record import SEEDS, CellRecord, decode
from aucbench.studies.result import CellResult
from aucbench.tracking.attachments import CELLS, RECORDS
from aucbench.tracking.connecting import WHOLE, Connection

PAGE = 1000  # runs asked for at once


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
