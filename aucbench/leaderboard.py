"""The leaderboard: finished cells of a store, ranked per data set."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.store import Store

if TYPE_CHECKING:
    import pandas as pd

CONTEXT = ("dataset", "features", "scaling", "protocol", "max_train_rows", "order", "dtype")
METHOD = ("algorithm", "loss", "tuning")
COLUMNS = (
    "board",
    "dataset",
    "rank",
    "method",
    "runs",
    "diverged",
    "auc_mean",
    "auc_std",
    "train_seconds",
    "ns_per_iteration",
    "setting",
    "parameters",
    "differs_in",
    "exempt",
)


def build(store: Store) -> "pd.DataFrame":
    """One row a method and data set.

    Cells are compared only when data, features, scaling, protocol, tuning, budget, order and dtype agree:
    they share a board. A method with other hyper-parameters, or of another version, is a row of its own.

    Returns
    -------
    DataFrame
        Columns `board` (a number), `dataset`, `rank` (1 is best; by mean test AUC, ties share the smallest),
        `method`, `runs`, `diverged`, `auc_mean`, `auc_std` (over the runs that did not diverge),
        `train_seconds` and `ns_per_iteration` (means), `setting` (what the board has in common) and
        `parameters` of the method; `differs_in` holds those in which the rows of one method on one board
        differ; `exempt` names the checks from which the method is exempt and why. A method with a diverged
        run has no rank.
    """
    import pandas as pd

    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in store:
        record = cell.record
        board = json.dumps(_context(record), sort_keys=True)
        method = json.dumps(
            {key: record[key] for key in METHOD} | {"source": record["source"]}, sort_keys=True
        )
        groups.setdefault((board, method), []).append(record)
    boards = {
        board: number
        for number, board in enumerate(sorted({board for board, _ in groups}, key=_board_name), 1)
    }
    rows = [_row(boards[board], records) for (board, _), records in groups.items()]
    for (board, _), row in zip(groups, rows, strict=True):
        rivals = [
            _parameters(records[0])
            for (other, _), records in groups.items()
            if other == board and records[0]["algorithm"]["name"] == row["method"]
        ]
        row["differs_in"] = _differing(row.pop("fields"), rivals)
    table = pd.DataFrame(rows, columns=[c for c in COLUMNS if c != "rank"])
    complete = table["auc_mean"].where(table["diverged"] == 0)
    table.insert(2, "rank", complete.groupby(table["board"]).rank(ascending=False, method="min"))
    return table.sort_values(["board", "rank", "method"], na_position="last", ignore_index=True)


def show(table: "pd.DataFrame") -> None:
    """Print the table to the terminal, one board after the other."""
    from rich.console import Console
    from rich.table import Table

    console = Console(markup=False, highlight=False)
    for _, board in table.groupby("board"):
        first = board.iloc[0]
        view = Table(title=f"{first['dataset']}: {first['setting']}", title_justify="left")
        view.add_column("method", no_wrap=True)
        for name in ("rank", "test AUC", "runs", "train s", "ns/iteration"):
            view.add_column(name, justify="right", no_wrap=True)
        view.add_column("differs in", overflow="fold")
        for row in board.to_dict("records"):
            view.add_row(
                str(row["method"]) + ("*" if row["exempt"] else ""),
                "-" if np.isnan(row["rank"]) else f"{row['rank']:.0f}",
                _auc(row),
                f"{row['runs']}" + (f" ({row['diverged']} diverged)" if row["diverged"] else ""),
                f"{row['train_seconds']:.3g}",
                f"{row['ns_per_iteration']:,.0f}",
                row["differs_in"],
            )
        console.print(view)
        for method, exempt in sorted({(row["method"], row["exempt"]) for row in board.to_dict("records")}):
            if exempt:
                console.print(f"* {method} is exempt from checks: {exempt}")


def _context(record: dict[str, Any]) -> dict[str, Any]:
    """What cells must share to be compared; the number of checkpoints changes no result."""
    budget = {key: value for key, value in record["budget"].items() if key != "checkpoints"}
    tuning = {key: record["tuning"][key] for key in ("name", "parameters")}
    return {key: record[key] for key in CONTEXT} | {"tuning": tuning, "budget": budget}


def _row(board: int, records: list[dict[str, Any]]) -> dict[str, Any]:
    first, outcomes = records[0], [record["result"] for record in records]
    aucs = [outcome["auc"] for outcome in outcomes if outcome["auc"] is not None]
    return {
        "board": board,
        "dataset": first["dataset"]["title"],
        "method": first["algorithm"]["name"],
        "exempt": "; ".join(f"{name}: {why}" for name, why in first["algorithm"]["exempt"].items()),
        "runs": len(records),
        "diverged": sum(outcome["stop_reason"] == "diverged" for outcome in outcomes),
        "auc_mean": float(np.mean(aucs)) if aucs else float("nan"),
        "auc_std": float(np.std(aucs, ddof=1)) if len(aucs) > 1 else float("nan"),
        "train_seconds": float(np.mean([outcome["train_seconds"] for outcome in outcomes])),
        "ns_per_iteration": float(np.mean([outcome["ns_per_iteration"] for outcome in outcomes])),
        "setting": _setting(first),
        "parameters": _fields(_parameters(first)),
        "fields": _parameters(first),
    }


def _parameters(record: dict[str, Any]) -> dict[str, Any]:
    algorithm, loss = record["algorithm"], record["loss"]
    of_loss = {f"loss.{key}": value for key, value in loss["parameters"].items()} if loss else {}
    return algorithm["parameters"] | ({"loss": loss["name"]} | of_loss if loss else {})


def _differing(own: dict[str, Any], rivals: list[dict[str, Any]]) -> str:
    if len(rivals) == 1:
        return ""
    different = {key: value for key, value in own.items() if any(rival.get(key) != value for rival in rivals)}
    return _fields(different) or "source code"


def _setting(record: dict[str, Any]) -> str:
    budget = {
        key: value for key, value in record["budget"].items() if key != "checkpoints" and value is not None
    }
    dataset = record["dataset"]["parameters"] | {"part": record["dataset"]["part"]}
    parts = [
        _fields(dataset),
        f"{record['protocol']['name']} {_fields(record['protocol']['parameters'])}".strip(),
        f"scaling {record['scaling']}",
        _fields(budget) or "default budget",
        f"tuning {record['tuning']['name']} {_fields(record['tuning']['parameters'])}".strip(),
        f"order {record['order']}",
        record["dtype"],
    ]
    if record["max_train_rows"] is not None:
        parts.append(f"max_train_rows {record['max_train_rows']}")
    features = record["features"]
    if features["name"] != "identity":
        parts.insert(2, f"features {features['name']} {_fields(features['parameters'])}".strip())
    return "; ".join(part for part in parts if part)


def _fields(parameters: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in parameters.items())


def _board_name(board: str) -> tuple[str, str]:
    return json.loads(board)["dataset"]["title"], board


def _auc(row: Mapping[Any, Any]) -> str:
    if np.isnan(row["auc_mean"]):
        return "diverged"
    spread = "" if np.isnan(row["auc_std"]) else f" +- {row['auc_std']:.4f}"
    return f"{row['auc_mean']:.4f}{spread}"
