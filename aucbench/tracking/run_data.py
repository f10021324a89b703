"""Contents of the MLflow run of an entry: name, parameters, metrics, tags and description."""

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import asdict

from aucbench.contracts import MethodFacts
from aucbench.evaluation.measures import TrainingObjective, listed
from aucbench.studies.plugin_metadata import changed, citation, colour, first_loss, plugin
from aucbench.studies.record import EntryDescription, MeasureRecord, subset
from aucbench.studies.rerun_command import GROUPS, seed_fields, words
from aucbench.studies.result import (
    SUBOPTIMALITY,
    CellResult,
    FinishedEntry,
    chosen_in_words,
    common,
    diverged_in_words,
    edges_in_words,
    mean_curve,
    with_suboptimality,
)

LIMIT = 7500  # characters; MLflow keeps 8,000
LABELS = 200  # characters of the list of positive labels
TAG_LENGTH = 5000  # MLflow's limit
LOG_TIME = "log_seconds/test_auc"
DECADE, SPACING = 100, 10  # steps per factor of ten of training time, and between two values


def note(entry: FinishedEntry) -> str:
    """The description above the charts of a run."""
    record = entry.record
    method, data = record.algorithm.name, record.dataset.name
    parts = [f"**{method}** on **{entry.title}**", *_method(method), *_data(entry, data), *_curve(entry)]
    seeds = [cell.record.seeds for cell in entry.cells]
    measures = common([cell.record for cell in entry.cells])
    command = shlex.join(["aucbench", *words(record, seeds, entry.study, measures)])
    text = "\n\n".join(parts)[:LIMIT]
    again = f"Run it again:\n\n    {command}"
    return f"{text}\n\n{again}" if len(text) + len(again) < LIMIT else text


def _method(name: str) -> list[str]:
    cls = plugin("algo", name)
    parts = []
    if cited := citation("algo", name):
        parts.append(f"Method: {cited}")
    if claims := MethodFacts(cls).claims:
        parts.append(f"Claims: convergence rate {claims.rate}, cost per iteration {claims.cost}.")
    if deviations := MethodFacts(cls).deviations:
        parts.append("Where we differ:\n\n" + "\n".join(f"- {sentence}" for sentence in deviations))
    return parts


def _data(entry: FinishedEntry, name: str) -> list[str]:
    facts = entry.record.data
    text = (
        f"Data: {facts.train_rows:,} training rows ({facts.train_positives:,} positive), "
        f"{facts.test_rows:,} test rows, {facts.features:,} features."
    )
    if positive := ", ".join(facts.positive)[:LABELS]:
        text += f" Positive: {positive}."
    if cited := citation("dataset", name):
        text += f" {cited}"
    return [text]


def _curve(entry: FinishedEntry) -> list[str]:
    runs = len(entry.cells)
    mean = (
        f"the mean of {runs} runs; `test/auc_std` is their standard deviation" if runs > 1 else "of one run"
    )
    parts = [
        f"`test/auc` is the exact AUC on the test rows at log-spaced checkpoints, {mean}. Steps are "
        "iterations. Choose the relative time axis to see it against training time: the clock runs while "
        "the method trains and stops while it is measured. `cost/train_seconds` is that time, exactly, and "
        f"`{LOG_TIME}` the AUC against its logarithm (a step is {DECADE} log10 of the seconds)."
    ]
    for measure in common([cell.record for cell in entry.cells]):
        parts.append(f"`{measure.rows}/{measure.name}` is the {measure.title} at the same checkpoints.")
        if measure.name == TrainingObjective.name:
            parts += _minimum(entry.cells[0].record.measures[measure.name])
    if diverged := diverged_in_words(entry.cells):
        parts.append(f"The method {diverged}: there is no final AUC, and the curve ends before that.")
    if entry.failures or entry.missing:
        parts.append(f"Incomplete: {len(entry.failures)} runs failed, {entry.missing} have not been run.")
    return parts


def _minimum(own: MeasureRecord) -> list[str]:
    """What is known of the minimum of an objective."""
    if not own.minimum:
        return []
    if own.minimum.value is None:
        return [f"There is no suboptimality: {own.minimum.reason}"]
    text = f"F* = {own.minimum.value:.9g} within {own.minimum.gap:.0e} in the first run"
    return [
        f"`train/suboptimality` is (F - F*) / max(F*, F(0) / 1000), F being {own.minimum.objective}; {text}."
    ]


def run_name(described: EntryDescription) -> str:
    """The method and what is not its default, so that rows of one method are told apart."""
    return " ".join([described.algorithm.name, *_variant(described)])


def _variant(described: EntryDescription) -> list[str]:
    """Words for what differs from the method's defaults; all its parameters where it is not installed."""
    algorithm, loss, features = described.algorithm, described.loss, described.features
    tuning = described.tuning
    tuned = tuning.space if tuning.name != "none" else {}
    fields = {key: value for key, value in changed("algo", algorithm).items() if key not in tuned}
    words = [f"{key}={_short(value)}" for key, value in fields.items()]
    if loss and loss.name != first_loss(algorithm.name):
        words.append(loss.name)
    if loss:
        words += [f"{key}={_short(value)}" for key, value in changed("loss", loss).items()]
    if features.name != "identity":
        words.append(features.name)
        words += [f"{key}={_short(value)}" for key, value in changed("features", features).items()]
    if tuned:
        words.append("tuned" if tuning.name == "grid" else f"tuned:{tuning.name}")
    if described.max_train_rows is not None:
        words.append(f"rows={described.max_train_rows}")
    return words


def series(entry: FinishedEntry) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mean curve, and the metrics along it."""
    curve = mean_curve([with_suboptimality(cell.record, cell.curve) for cell in entry.cells])
    found = {
        "test/auc": curve["auc"],
        "test/auc_gap": 1.0 - curve["auc"],
        "test/auc_std": curve["auc_std"],
        "cost/train_seconds": curve["train_seconds"],
    }
    for name in _measures(entry.cells):
        own = name.partition("/")[2]
        found |= {name: curve[own], f"{name}_std": curve[f"{own}_std"]}
    if SUBOPTIMALITY in curve:
        names = (SUBOPTIMALITY, f"{SUBOPTIMALITY}_std")
        found |= {f"train/{name}": curve[name] for name in names}
    return curve, found


def over_log_time(entry: FinishedEntry, curve: dict[str, Any]) -> dict[int, float]:
    """Steps on a grid of log seconds, the same grid for all runs, to the test AUC reached by then.

    The last value is the final AUC, or not a number where a cell diverged.
    """
    known = np.isfinite(curve["auc"]) & (curve["train_seconds"] > 0)
    steps, aucs = DECADE * np.log10(curve["train_seconds"][known]), curve["auc"][known]
    found: dict[int, float] = {}
    if len(steps):
        first, last = (SPACING * int(np.ceil(step / SPACING)) for step in (steps[0], steps[-1]))
        grid = range(first, last + 1, SPACING)
        places = np.searchsorted(steps, grid, side="right") - 1
        found = {step: float(aucs[place]) for step, place in zip(grid, places, strict=True)}
        if any(cell.diverged for cell in entry.cells):
            found[last + SPACING] = float("nan")
    return found


def seconds_at(step: int) -> float:
    """The training time for which a step of `over_log_time` stands."""
    return float(10.0 ** (step / DECADE))


def _measures(cells: Sequence[CellResult]) -> list[str]:
    """Metrics of the measures beside the AUC that all cells have: ``test/ap``, ``train/objective``."""
    return [f"{measure.rows}/{measure.name}" for measure in common([cell.record for cell in cells])]


def totals(cells: Sequence[CellResult]) -> dict[str, float]:
    """Metrics with a single value."""
    results = [cell.record.result for cell in cells]
    found = {
        f"cost/{key}": float(np.mean([getattr(result, key) for result in results]))
        for key in ("ns_per_iteration", "cpu_ns_per_iteration", "state_bytes")
    }
    costs = [cell.record.tuned.cost for cell in cells if cell.record.tuned]
    if costs:
        found["cost/tuning_passes"] = float(np.mean([cost.passes for cost in costs]))
        found["cost/tuning_train_seconds"] = float(np.mean([cost.train_seconds for cost in costs]))
    diverged = sum(cell.diverged for cell in cells)
    if diverged:  # the last checkpoint before a method diverged is no final AUC
        names = ["test/auc_gap", "test/auc", *_measures(cells)]
        found |= dict.fromkeys([*names, *(f"{name}_std" for name in names[1:])], float("nan"))
    return found | {"runs/diverged": float(diverged)}


def params(entry: FinishedEntry) -> dict[str, Any]:
    """Everything that was set, by the names of the command line."""
    record = entry.record
    found: dict[str, Any] = {}
    for group, name in GROUPS.items():
        plugin = getattr(record, name)
        found[group] = plugin.name if plugin else "none"
        found |= {f"{group}.{key}": value for key, value in plugin.parameters.items()} if plugin else {}
    found |= subset(record, ("scaling", "rescale", "max_train_rows", "order", "dtype"))
    for group, chosen in (("tuning", record.tuning), ("protocol", record.protocol)):
        found[group] = chosen.name
        found |= {f"{group}.{key}": value for key, value in chosen.parameters.items()}
    found |= {f"budget.{key}": value for key, value in asdict(record.budget).items() if value is not None}
    found |= seed_fields([cell.record.seeds for cell in entry.cells])
    found["dataset.part"] = record.dataset.part
    measures = common([cell.record for cell in entry.cells])
    for measure in measures:
        found |= {f"{measure.name}.{key}": value for key, value in measure.parameters.items()}
    rows = subset(record.data, ("train_rows", "train_positives", "test_rows", "test_positives"))
    rows |= {"positive": ", ".join(record.data.positive), "negative": ", ".join(record.data.negative)}
    return found | {f"data.{name}": value for name, value in rows.items() if value not in ("", None)}


def tags(entry: FinishedEntry) -> dict[str, str]:
    """What runs are searched by."""
    record, cells = entry.record, entry.cells
    found = {
        "algo": record.algorithm.name,
        "dataset": entry.title,
        "loss": record.loss.name if record.loss else "none",
        "protocol": record.protocol.name,
        "study": entry.study or "none",
        "key": entry.key,
        "stop_reason": ", ".join(sorted({cell.record.result.stop_reason for cell in cells})),
        "mlflow.runColor": colour(record.algorithm.name, " ".join(_variant(record))),
        "mlflow.source.name": "aucbench",
        "mlflow.source.type": "LOCAL",
    }
    if entry.ruleset:
        found["ruleset"] = entry.ruleset.title
        found["ruleset_version"] = f"{entry.ruleset.version} of {entry.ruleset.date}"
        found["ruleset_departures"] = " ".join(entry.ruleset.departures)[:TAG_LENGTH] or "none"
    if diverged := sum(cell.diverged for cell in cells):
        found["diverged"] = f"{diverged} of {len(cells)}"
        advice = next(cell.record.result.advice for cell in cells if cell.diverged)
        found |= {"advice": advice} if advice else {}
    records = [cell.record for cell in cells]
    if measures := listed(common(records)):
        found["metrics"] = measures
    if chosen := chosen_in_words(records):
        found["tuned"] = chosen[:TAG_LENGTH]
    if edges := "; ".join(sentence for _, sentence in edges_in_words(records)):
        found["tuned_at_edge"] = edges[:TAG_LENGTH]
    if entry.failures or entry.missing:
        found["incomplete"] = f"{len(entry.failures)} cells failed, {entry.missing} not run"
    if exempt := record.algorithm.exempt:
        found["exempt"] = "; ".join(f"{name}: {why}" for name, why in exempt.items())
    if record.git_commit:
        found["git_commit"] = record.git_commit
        found["mlflow.source.git.commit"] = record.git_commit.partition("+")[0]  # MLflow's has no changes
    return found


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
