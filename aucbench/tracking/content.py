"""What a run says of an entry: name, parameters, metrics and tags, made from the records of its cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.result import CellResult, mean_curve
from aucbench.tracking import installed
from aucbench.tracking.colouring import colour
from aucbench.tuning import winners

if TYPE_CHECKING:
    from aucbench.studies.conducting import Executed

GROUPS = {"algo": "algorithm", "dataset": "dataset", "loss": "loss", "features": "features"}
SEEDS = ("split_seed", "order_seed")
TAG_LENGTH = 5000  # MLflow's limit


@dataclass(frozen=True)
class LoggedEntry:
    """A finished entry as it is logged.

    Parameters
    ----------
    key : str
        Of the entry.
    study : str or None
        Its name.
    cells : tuple of CellResult
        The finished ones, at least one.
    failed, missing : int
        Cells without a result: those that failed, and those that have not been run.
    """

    key: str
    study: str | None
    cells: tuple[CellResult, ...]
    failed: int = 0
    missing: int = 0

    @classmethod
    def of(cls, executed: "Executed") -> "LoggedEntry":
        """What has just been run."""
        study = executed.entry.settings.study
        return cls(executed.key, study, executed.cells, len(executed.failures), executed.missing)

    @property
    def record(self) -> dict[str, Any]:
        """The record of the first cell; what it says of method, data and setting holds for all."""
        return installed.completed(self.cells[0].record)

    @property
    def title(self) -> str:
        """The data set, under which the runs of an experiment lie."""
        return str(self.record["dataset"]["title"])


def run_name(record: Mapping[str, Any]) -> str:
    """The method and what is not its default, so that rows of one method are told apart."""
    different = variant(record)
    name = str(record["algorithm"]["name"])
    return f"{name} {' '.join(different)}" if different else name


def variant(record: Mapping[str, Any]) -> list[str]:
    """Words for what differs from the method's defaults; all its parameters where it is not installed."""
    algorithm, loss, features = record["algorithm"], record["loss"], record["features"]
    tuned = record["tuning"]["space"] if record["tuning"]["name"] != "none" else {}
    changed = {key: value for key, value in installed.changed("algo", algorithm).items() if key not in tuned}
    words = [f"{key}={_short(value)}" for key, value in changed.items()]
    first = installed.first_loss(algorithm["name"])
    if loss and loss["name"] != first:
        words.append(str(loss["name"]))
    if loss:
        words += [f"{key}={_short(value)}" for key, value in installed.changed("loss", loss).items()]
    if features["name"] != "identity":
        words.append(str(features["name"]))
        words += [f"{key}={_short(value)}" for key, value in installed.changed("features", features).items()]
    if tuned:
        words.append("tuned" if record["tuning"]["name"] == "grid" else f"tuned:{record['tuning']['name']}")
    if record["max_train_rows"] is not None:
        words.append(f"rows={record['max_train_rows']}")
    return words


def series(entry: LoggedEntry) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mean curve, and the metrics along it."""
    curve = mean_curve([cell.curve for cell in entry.cells])
    return curve, {
        "test/auc": curve["auc"],
        "test/auc_gap": 1.0 - curve["auc"],
        "test/auc_std": curve["auc_std"],
        "cost/train_seconds": curve["train_seconds"],
    }


def totals(cells: Sequence[CellResult]) -> dict[str, float]:
    """Metrics with a single value."""
    outcomes = [cell.outcome for cell in cells]
    found = {
        f"cost/{key}": float(np.mean([outcome[key] for outcome in outcomes]))
        for key in ("ns_per_iteration", "cpu_ns_per_iteration", "state_bytes")
    }
    tuned = [cell.record["tuned"] for cell in cells if cell.record["tuned"]]
    if tuned:
        found |= {
            f"cost/tuning_{key}": float(np.mean([each["cost"][key] for each in tuned]))
            for key in ("passes", "train_seconds")
        }
    diverged = sum(cell.diverged for cell in cells)
    if diverged:  # the last checkpoint before a method diverged is no final AUC
        found |= dict.fromkeys(("test/auc", "test/auc_gap", "test/auc_std"), float("nan"))
    return found | {"runs/diverged": float(diverged)}


def params(entry: LoggedEntry) -> dict[str, Any]:
    """Everything that was set, by the names of the command line."""
    record = entry.record
    found: dict[str, Any] = {}
    for group, name in GROUPS.items():
        described = record[name] or {"name": "none", "parameters": {}}
        found[group] = described["name"]
        found |= {f"{group}.{key}": value for key, value in described["parameters"].items()}
    found |= {key: record[key] for key in ("scaling", "rescale", "max_train_rows", "order", "dtype")}
    for group in ("tuning", "protocol"):
        found[group] = record[group]["name"]
        found |= {f"{group}.{key}": value for key, value in record[group]["parameters"].items()}
    found |= {f"budget.{key}": value for key, value in record["budget"].items() if value is not None}
    return found | seeds(entry.cells) | {"dataset.part": record["dataset"]["part"]} | _classes(record["data"])


def _classes(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Which labels are positive and the rows of the first run, as far as the record has them."""
    found = {f"data.{name}": ", ".join(facts[name]) for name in ("positive", "negative") if name in facts}
    counts = ("train_rows", "train_positives", "test_rows", "test_positives")
    return found | {f"data.{name}": facts[name] for name in counts if name in facts}


def seeds(cells: Sequence[CellResult]) -> dict[str, int]:
    """The fields seed and runs, and those seeds that did not follow the run's."""
    each = [cell.record for cell in cells]
    own = {record["seed"] for record in each}
    found = {"seed": min(own), "runs": max(own) - min(own) + 1}
    for name in SEEDS:
        if any(record[name] != record["seed"] for record in each):
            found[name] = each[0][name]
    return found


def tags(entry: LoggedEntry) -> dict[str, str]:
    """What runs are searched by."""
    record, cells = entry.record, entry.cells
    found = {
        "algo": record["algorithm"]["name"],
        "dataset": entry.title,
        "loss": record["loss"]["name"] if record["loss"] else "none",
        "protocol": record["protocol"]["name"],
        "study": entry.study or "none",
        "key": entry.key,
        "stop_reason": ", ".join(sorted({cell.outcome["stop_reason"] for cell in cells})),
        "mlflow.runColor": colour(record["algorithm"]["name"], " ".join(variant(record))),
        "mlflow.source.name": "aucbench",
    }
    diverged = sum(cell.diverged for cell in cells)
    if diverged:
        found["diverged"] = f"{diverged} of {len(cells)}"
        advice = next(cell.outcome.get("advice") for cell in cells if cell.diverged)
        found |= {"advice": advice} if advice else {}
    records = [cell.record for cell in cells]
    chosen = winners.in_words(records)
    if chosen:
        found["tuned"] = chosen[:TAG_LENGTH]
    edges = "; ".join(sentence for _, sentence in winners.at_edges(records))
    if edges:
        found["tuned_at_edge"] = edges[:TAG_LENGTH]
    if entry.failed or entry.missing:
        found["incomplete"] = f"{entry.failed} cells failed, {entry.missing} not run"
    exempt = record["algorithm"]["exempt"]
    if exempt:
        found["exempt"] = "; ".join(f"{name}: {why}" for name, why in exempt.items())
    commit = record.get("git_commit")
    return found | ({"git_commit": commit} if commit else {})


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
