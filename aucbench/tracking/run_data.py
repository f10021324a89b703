"""Contents of the MLflow run of an entry: name, parameters, metrics, tags, description and files."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from msgspec.structs import asdict

from aucbench.evaluation.measures import listed
from aucbench.studies.codec import grouped, subset, to_dict
from aucbench.studies.method_look import colour
from aucbench.studies.plugin_metadata import GROUPS, changed, citation, first_loss
from aucbench.studies.record import SEEDS, EntryDescription
from aucbench.studies.rerun_command import seed_fields, words
from aucbench.studies.result import (
    SUBOPTIMALITY,
    FinishedEntry,
    chosen_in_words,
    common,
    diverged_in_words,
    mean_curve,
    with_suboptimality,
    with_whole_curves,
)

LIMIT = 7500  # characters; MLflow keeps 8,000
LABELS = 200  # characters of the list of positive labels
TAG_LENGTH = 5000  # MLflow's limit
CLOCK, SAMPLES = "cost/train_seconds", "cost/samples"  # metrics for the x axes of the curves
ERROR = "test/one_minus_auc"
CELLS, RECORDS, WEIGHTS = "cells.parquet", "records.json", "weights.npz"  # files


def note(entry: FinishedEntry) -> str:
    """The description above the charts of a run."""
    record, data, runs = entry.record, entry.record.data, len(entry.cells)
    parts = [f"**{record.algorithm.name}** on **{entry.title}**"]
    if cited := citation("algo", record.algorithm.name):
        parts.append(f"Method: {cited}")
    positive = f" Positive: {', '.join(data.positive)[:LABELS]}." if data.positive else ""
    parts.append(
        f"Data: {data.train_rows:,} training rows ({data.train_positives:,} positive), "
        f"{data.test_rows:,} test rows, {data.features:,} features.{positive} "
        f"{citation('dataset', record.dataset.name) or ''}"
    )
    mean = f"the mean of {runs} runs; `test/auc_std` is their standard deviation"
    parts.append(
        f"`test/auc` is the exact AUC on the test rows at log-spaced checkpoints, "
        f"{mean if runs > 1 else 'of one run'}. `{CLOCK}` is the training time up to the checkpoint; the "
        f"clock runs during training and stops during measurement."
    )
    measures = common([cell.record for cell in entry.cells])
    parts += [f"`{item.rows}/{item.name}` is the {item.title} at the same checkpoints." for item in measures]
    if diverged := diverged_in_words(entry.cells):
        parts.append(
            f"The method {diverged}: there is no final AUC, and the curve ends before the divergence."
        )
    if entry.failures or entry.missing:
        parts.append(f"Incomplete: {len(entry.failures)} runs failed, {entry.missing} have not been run.")
    seeds = [cell.record.seeds for cell in entry.cells]
    command = shlex.join(["aucbench", *words(record, seeds, entry.study, measures)])
    return "\n\n".join([*parts, "Run it again:", f"    {command}"])[:LIMIT]


def run_name(described: EntryDescription) -> str:
    """The method and its non-default settings, which distinguish the rows of one method."""
    return " ".join([described.algorithm.name, *_variant(described)])


def _variant(described: EntryDescription) -> list[str]:
    """The settings that differ from the method's defaults; all settings if it is not installed."""
    algorithm, loss, features = described.algorithm, described.loss, described.features
    tuning = described.tuning
    tuned = tuning.space if tuning.name != "none" else {}
    fields = {key: value for key, value in changed("algo", algorithm).items() if key not in tuned}
    terms = [f"{key}={_short(value)}" for key, value in fields.items()]
    parts = ("loss", loss, first_loss(algorithm.name)), ("features", features, "identity")
    for group, part, usual in parts:
        if part and part.name != usual:
            terms.append(part.name)
        if part and (group == "loss" or part.name != usual):
            terms += [f"{key}={_short(value)}" for key, value in changed(group, part).items()]
    if tuned:
        terms.append("tuned" if tuning.name == "grid" else f"tuned:{tuning.name}")
    return terms + [f"rows={described.max_train_rows}"] * (described.max_train_rows is not None)


def metrics(entry: FinishedEntry) -> Iterator[tuple[str, float, float, int]]:
    """Points of the curves, then the totals: the metric, its value, the training seconds and the step."""
    cells = entry.cells
    curve = mean_curve([with_suboptimality(cell.record, cell.curve) for cell in with_whole_curves(cells)])
    measures = {
        f"{measure.rows}/{measure.name}": measure.name for measure in common([c.record for c in cells])
    }
    named = measures | ({f"train/{SUBOPTIMALITY}": SUBOPTIMALITY} if SUBOPTIMALITY in curve else {})
    along = {"test/auc": curve["auc"], ERROR: 1.0 - curve["auc"], "test/auc_std": curve["auc_std"]}
    along |= {CLOCK: curve["train_seconds"], SAMPLES: curve["samples"]}
    for title, name in named.items():
        along |= {title: curve[name], f"{title}_std": curve[f"{name}_std"]}
    for title, values in along.items():
        for value, seconds, step in zip(values, curve["train_seconds"], curve["iteration"], strict=True):
            if np.isfinite(value):
                yield title, float(value), float(seconds), int(step)
    diverged = sum(cell.diverged for cell in cells)
    results = [cell.record.result for cell in cells]
    totals = {
        f"cost/{key}": float(np.mean([getattr(result, key) for result in results]))
        for key in ("ns_per_iteration", "cpu_ns_per_iteration", "state_bytes")
    }
    if costs := [cell.record.tuned.cost for cell in cells if cell.record.tuned]:
        for key in ("passes", "train_seconds"):
            totals[f"cost/tuning_{key}"] = float(np.mean([getattr(cost, key) for cost in costs]))
    if diverged:  # the last AUC before divergence is not final
        names = ["test/auc", *measures]
        totals |= dict.fromkeys([*names, *(f"{name}_std" for name in names), ERROR], float("nan"))
    totals["runs/diverged"] = float(diverged)
    seconds, step = max(run.train_seconds for run in results), max(run.iterations for run in results)
    yield from ((key, value, seconds, step) for key, value in totals.items())


def params(entry: FinishedEntry) -> dict[str, Any]:
    """All settings, by the names of the command line.

    MLflow's comparison page selects the alphabetically first names that differ between runs, capital letters
    first. Two capitalised names, common to all methods, precede the hyperparameters of methods.
    """
    record = entry.record
    fields: dict[str, Any] = {"Loss": record.loss.name if record.loss else "none", "Method": run_name(record)}
    for group, name in (GROUPS | {"tuning": "tuning", "protocol": "protocol"}).items():
        fields |= grouped(group, getattr(record, name))
    fields |= subset(record, ("scaling", "rescale", "regularisation", "max_train_rows", "order", "dtype"))
    fields |= {f"budget.{key}": value for key, value in asdict(record.budget).items() if value is not None}
    fields |= seed_fields([cell.record.seeds for cell in entry.cells])
    fields["dataset.part"] = record.dataset.part
    measures = common([cell.record for cell in entry.cells])
    for measure in measures:
        fields |= {f"{measure.name}.{key}": value for key, value in measure.parameters.items()}
    rows = subset(record.data, ("train_rows", "train_positives", "test_rows", "test_positives"))
    rows |= {"positive": ", ".join(record.data.positive), "negative": ", ".join(record.data.negative)}
    return fields | {f"data.{name}": value for name, value in rows.items() if value not in ("", None)}


def tags(entry: FinishedEntry) -> dict[str, str]:
    """The tags by which runs are searched."""
    record, ruleset = entry.record, entry.ruleset
    records = [cell.record for cell in entry.cells]
    diverged = sum(cell_record.diverged for cell_record in records)
    texts = {
        "algo": record.algorithm.name,
        "dataset": entry.title,
        "loss": record.loss.name if record.loss else "none",
        "protocol": record.protocol.name,
        "study": entry.study or "none",
        "key": entry.key,
        "mlflow.runColor": colour(record.algorithm.name, " ".join(_variant(record))),
        "mlflow.source.name": "aucbench",
        "mlflow.source.type": "LOCAL",
        "diverged": f"{diverged} of {len(records)}" if diverged else "",
        "metrics": listed(common(records)),
        "tuned": chosen_in_words(records)[:TAG_LENGTH],
        "mlflow.source.git.commit": (record.git_commit or "").partition("+")[0],  # without the local changes
    }
    if entry.failures or entry.missing:
        texts["incomplete"] = f"{len(entry.failures)} cells failed, {entry.missing} not run"
    if ruleset:
        texts["ruleset"] = " ".join([str(ruleset), *ruleset.departures])[:TAG_LENGTH]
    return {name: text for name, text in texts.items() if text}


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_files(entry: FinishedEntry, folder: Path) -> None:
    """Write the curves and the records of all cells, and the weights of linear methods."""
    cells = entry.cells
    curves = [pd.DataFrame(cell.curve).assign(**subset(cell.record, SEEDS)) for cell in cells]
    pd.concat(curves, join="inner").to_parquet(folder / CELLS, index=False)
    (folder / RECORDS).write_text(json.dumps([to_dict(cell.record) for cell in cells], indent=1))
    weights: dict[str, Any] = {
        f"seed_{cell.record.seed}" + (f"_fold_{cell.record.fold}" if cell.record.fold else ""): cell.weights
        for cell in cells
        if cell.weights is not None
    }
    if weights:
        np.savez_compressed(folder / WEIGHTS, **weights)
