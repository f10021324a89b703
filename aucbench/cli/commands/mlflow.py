"""``aucbench sync``, ``aucbench charts`` and ``aucbench export-model``."""

from pathlib import Path

import click

from aucbench.cli.commands._store import opened, plans_of, store_option
from aucbench.studies.default_settings import MLFLOW_FILE, mlflow_address
from aucbench.studies.result import FinishedEntry
from aucbench.studies.store import Store

_uri = click.option(
    "--uri", callback=lambda _context, _option, value: mlflow_address(value),
    show_default=f"MLFLOW_TRACKING_URI, else {MLFLOW_FILE}", help="Address of MLflow, as in tracking.uri.",
)  # fmt: skip


@click.command()
@store_option
@_uri
@click.option("--study", default=None, help="Name of a study; by default, all studies.")
def sync(store: str, uri: str, study: str | None) -> None:
    """Log the results of a store that MLflow does not have.

    An entry is sent once all of its cells are finished, and only once, however often this command runs.
    """
    from aucbench import tracking
    from aucbench.tracking import tracker

    tracking.check_address(uri)
    storage = opened(store, writable=True)
    plans = plans_of(storage, study)

    def sent(entry: FinishedEntry, run_id: str) -> None:
        print(f"{entry.record.algorithm.name} on {entry.title}: run {run_id}", flush=True)

    report = tracker.sync(storage, uri, plans, sent)
    for name in report.boards:
        print(f"leaderboard of {name} sent")
    print(f"{report.sent} entries sent, {report.known} were there, {report.incomplete} are not complete yet")


@click.command()
@store_option
@_uri
@click.option("--study", default=None, help="Name of a study; by default the latest study of the store.")
def charts(store: str, uri: str, study: str | None) -> None:
    """Print the addresses where MLflow compares the curves of a study's methods over training time."""
    from aucbench import tracking
    from aucbench.tracking import chart_views, client
    from aucbench.tracking.tracker import named

    tracking.check_address(uri)
    if study is None and Path(store).is_dir():
        names = [name for plan in Store(store).plans() if (name := named(plan))]
        study = names[-1] if names else None
    views = chart_views.views(uri, study)
    print(f"study {study}" if study else "all studies")
    command = client.serving(uri)
    if command:
        print(f"start MLflow's pages by  {command}")
    width = max(len(view.title) for view in views)
    for view in views:
        print(f"{view.title:<{width}}  {view.runs:>3} runs  {view.url}")


@click.command("export-model")
@store_option
@click.option("--algo", required=True, help="Name of the method.")
@click.option("--dataset", required=True, help="Name of the data set.")
@click.option("--key", default=None, help="Beginning of the cell's key.")
@click.option("--seed", type=int, default=None, help="Seed of the cell; by default the smallest seed.")
@click.option("--out", required=True, help="New folder for the model.")
def export_model(store: str, algo: str, dataset: str, key: str | None, seed: int | None, out: str) -> None:
    """Write the final weights of a linear method, with their scaling, as an mlflow.pyfunc model.

    The model takes rows of raw features.
    """
    from aucbench.tracking import model_export

    cell = model_export.from_store(opened(store, writable=True), algo, dataset, seed, key)
    folder = model_export.export_model(cell, out)
    record = cell.record
    title = f"{record.algorithm.name} on {record.dataset.title}"
    print(f"{title} (seed {record.seed}, test AUC {cell.auc:.4f}) written to {folder}")
    print(f"load it by  mlflow.pyfunc.load_model({str(folder)!r})")
