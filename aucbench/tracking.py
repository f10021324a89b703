"""Logging finished entries to MLflow: one flat run per entry, one experiment per data set."""

import contextlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

import numpy as np
from filelock import FileLock

from aucbench.errors import TrackingError
from aucbench.result import CellResult, mean_curve
from aucbench.store import Store
from aucbench.studies.conducting import Executed

SQLITE = "sqlite:///"
SQLITE_MARK = b"SQLite format 3\0"  # the first bytes of every such file
SCHEMES = ("sqlite", "http", "https", "file", "postgresql", "mysql", "mssql", "databricks")
LOCK_SECONDS = 60.0
RETRIES = "2"  # a dead server otherwise blocks a client for minutes


def check_address(uri: str) -> None:
    """Refuse, before anything is trained, an address that cannot be logged to.

    Raises
    ------
    TrackingError
        An unknown kind of address, or an SQLite address whose file is something else.
    """
    scheme = uri.partition(":")[0]
    if ":" not in uri or scheme.partition("+")[0] not in SCHEMES:
        raise TrackingError(f"tracking.uri: expected an address of {', '.join(SCHEMES)}, got {uri}.")
    file = _sqlite_file(uri)
    if file is None:
        return
    if file.is_dir():
        raise TrackingError(f"tracking.uri: {file} is a folder, expected an SQLite file.")
    if file.exists() and file.stat().st_size and file.read_bytes()[: len(SQLITE_MARK)] != SQLITE_MARK:
        raise TrackingError(f"tracking.uri: {file} is not an SQLite file.")


def log_entry(executed: Executed, uri: str, store: Store | None) -> str:
    """Log an entry unless the store remembers that it was logged at `uri`; returns the MLflow run id.

    Parameters
    ----------
    executed : Executed
        The finished entry.
    uri : str
        An MLflow tracking address, such as ``sqlite:///mlflow.db`` or ``http://127.0.0.1:5000``.
    store : Store or None
        Remembers what was logged where.

    Raises
    ------
    TrackingError
        The address does not work; says where the result is.
    """
    address = _address(uri)
    known = store.tracked(address, executed.key) if store else None
    if known is not None and _still_there(uri, known):
        return known
    try:
        with _tracking_store(address) as client:
            run_id = _log(client, executed, _artifact_folder(address))
    except Exception as error:  # whatever a tracking store raises must not look like a lost result
        kept = f"the result is in the store {store.path}" if store else "the result is not kept anywhere"
        why = str(error).strip().split("\n")[0]
        raise TrackingError(
            f"The entry could not be logged to {uri} ({type(error).__name__}: {why[:300]}); {kept}, "
            f"and the same command logs it once the address works."
        ) from error
    if store:
        store.mark_tracked(address, executed.key, run_id)
    return run_id


def _log(client: Any, executed: Executed, artifacts: Path | None) -> str:
    from mlflow.entities import Metric, Param, RunTag

    entry, cells = executed.entry, executed.cells
    name = entry.dataset.title
    experiment = client.get_experiment_by_name(name)
    if experiment:
        experiment_id = experiment.experiment_id
    else:
        location = (artifacts / name).as_uri() if artifacts else None
        experiment_id = client.create_experiment(name, artifact_location=location)
    # Timestamps are the training clock, so that MLflow's relative time axis shows AUC against training time.
    curve = mean_curve([cell.curve for cell in cells])
    start = int(time() * 1000)
    run = client.create_run(experiment_id, start_time=start, run_name=entry.algorithm.name)
    run_id: str = run.info.run_id
    metrics = [
        Metric(key, float(value), start + round(seconds * 1000), int(step))
        for key, values in _series(curve).items()
        for value, seconds, step in zip(values, curve["train_seconds"], curve["iteration"], strict=True)
        if np.isfinite(value)
    ]
    end = start + round(max(cell.outcome["train_seconds"] for cell in cells) * 1000)
    metrics += [
        Metric(key, value, end, cells[0].outcome["iterations"]) for key, value in _totals(cells).items()
    ]
    params = [Param(key, str(value)[:6000]) for key, value in _params(executed).items()]
    tags = [RunTag(key, value) for key, value in _tags(executed).items()]
    for start_at in range(0, len(metrics), 900):
        client.log_batch(run_id, metrics=metrics[start_at : start_at + 900])
    client.log_batch(run_id, params=params[:100], tags=tags)
    _log_artifacts(client, run_id, cells)
    client.set_terminated(run_id, status="FINISHED", end_time=max(end, start + 1))
    return run_id


def _series(curve: dict[str, Any]) -> dict[str, Any]:
    return {
        "test/auc": curve["auc"],
        "test/auc_gap": 1.0 - curve["auc"],
        "test/auc_std": curve["auc_std"],
        "cost/train_seconds": curve["train_seconds"],
    }


def _totals(cells: tuple[CellResult, ...]) -> dict[str, float]:
    outcomes = [cell.outcome for cell in cells]
    totals = {
        f"cost/{key}": float(np.mean([outcome[key] for outcome in outcomes]))
        for key in ("ns_per_iteration", "cpu_ns_per_iteration", "state_bytes")
    }
    tuned = [cell.record["tuned"] for cell in cells if cell.record["tuned"]]
    if tuned:
        totals |= {
            f"cost/tuning_{key}": float(np.mean([each["cost"][key] for each in tuned]))
            for key in ("passes", "train_seconds")
        }
    return totals | {"runs/diverged": float(sum(o["stop_reason"] == "diverged" for o in outcomes))}


def _params(executed: Executed) -> dict[str, Any]:
    entry = executed.entry
    params: dict[str, Any] = {}
    for group, bound in (
        ("algo", entry.algorithm),
        ("dataset", entry.dataset),
        ("loss", entry.loss),
        ("features", entry.features),
    ):
        described: dict[str, Any] = bound.describe() if bound else {"name": "none", "parameters": {}}
        params[group] = described["name"]
        params |= {f"{group}.{key}": value for key, value in described["parameters"].items()}
    described = entry.describe()
    params |= {key: described[key] for key in ("scaling", "max_train_rows", "order", "dtype")}
    params["tuning"] = described["tuning"]["name"]
    params |= {f"tuning.{key}": value for key, value in described["tuning"]["parameters"].items()}
    params["protocol"] = described["protocol"]["name"]
    params |= {f"protocol.{key}": value for key, value in described["protocol"]["parameters"].items()}
    params |= {f"budget.{key}": value for key, value in described["budget"].items() if value is not None}
    return params | {"seed": entry.settings.seed, "runs": entry.settings.runs, "dataset.part": entry.part}


def _tags(executed: Executed) -> dict[str, str]:
    entry = executed.entry
    tags = {
        "algo": entry.algorithm.name,
        "dataset": entry.dataset.title,
        "loss": entry.loss.name if entry.loss else "none",
        "protocol": str(entry.protocol.name),
        "study": entry.settings.study or "none",
        "key": executed.key,
        "stop_reason": ", ".join(sorted({cell.outcome["stop_reason"] for cell in executed.cells})),
        "mlflow.runColor": colour(entry.algorithm.name),
        "mlflow.source.name": "aucbench",
        "mlflow.note.content": (
            f"{entry.algorithm.name} on {entry.dataset.title}: mean of {len(executed.cells)} runs. "
            "Choose the relative time axis to see AUC against training time."
        ),
    }
    if executed.failures or executed.missing:
        tags["incomplete"] = f"{len(executed.failures)} cells failed, {executed.missing} not run"
    exempt = executed.cells[0].record["algorithm"]["exempt"]
    if exempt:
        tags["exempt"] = "; ".join(f"{name}: {why}" for name, why in exempt.items())
    commit = executed.cells[0].record.get("git_commit")
    return tags | ({"git_commit": commit} if commit else {})


def colour(name: str) -> str:
    """One fixed colour for each algorithm, so that runs are told apart in every view."""
    import colorsys

    digest = sha256(name.encode()).digest()
    hue, light = int.from_bytes(digest[:2]) / 65536, 0.35 + 0.25 * digest[2] / 255
    red, green, blue = colorsys.hls_to_rgb(hue, light, 0.65)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def _log_artifacts(client: Any, run_id: str, cells: tuple[CellResult, ...]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns: dict[str, Any] = {
            "seed": np.repeat([c.record["seed"] for c in cells], [len(c.curve["auc"]) for c in cells])
        }
        columns |= {key: np.concatenate([c.curve[key] for c in cells]) for key in cells[0].curve}
        pq.write_table(pa.table(columns), folder / "cells.parquet")
        (folder / "records.json").write_text(json.dumps([cell.record for cell in cells], indent=1))
        weights = {f"seed_{c.record['seed']}": c.weights for c in cells if c.weights is not None}
        if weights:
            np.savez_compressed(folder / "weights.npz", **weights)  # type: ignore[arg-type]
        client.log_artifacts(run_id, str(folder))


@contextlib.contextmanager
def _tracking_store(uri: str) -> Iterator[Any]:
    """An MLflow client of `uri`.

    Processes that open a new SQLite store at once leave it unusable for good, so it is created under a file
    lock and switched to write-ahead logging once.
    """
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", RETRIES)
    import logging

    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.WARNING)
    from mlflow import MlflowClient

    file = _sqlite_file(uri)
    if file is None:
        yield MlflowClient(uri)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{file}.lock", timeout=LOCK_SECONDS):
        new = not file.exists()
        client = MlflowClient(uri)
        client.search_experiments(max_results=1)
        if new:
            with contextlib.closing(sqlite3.connect(file)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
    yield client


def _address(uri: str) -> str:
    """The address as the store remembers it; MLflow keeps a store per address, so no relative paths."""
    file = _sqlite_file(uri)
    return SQLITE + str(file.resolve()) if file else uri


def _artifact_folder(address: str) -> Path | None:
    """Beside the SQLite file; a server decides for itself."""
    file = _sqlite_file(address)
    return file.parent / "mlruns" if file else None


def _sqlite_file(uri: str) -> Path | None:
    return Path(uri.removeprefix(SQLITE)) if uri.startswith(SQLITE) else None


def _still_there(uri: str, run_id: str) -> bool:
    """Whether a remembered run is still in an SQLite file, which a user can remove; servers are trusted."""
    file = _sqlite_file(uri)
    if file is None:
        return True
    if not file.exists():
        return False
    with contextlib.closing(sqlite3.connect(file)) as connection:
        try:
            found = connection.execute("SELECT 1 FROM runs WHERE run_uuid = ?", (run_id,)).fetchone()
        except sqlite3.DatabaseError:
            return False
    return found is not None
