"""A report as data frames: one row a board and method, one row a method overall, one row a cell."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aucbench.boards.collecting import Cell
from aucbench.boards.report import Overall, Report, Row

if TYPE_CHECKING:
    import pandas as pd

NOT_TABULAR = ("curve", "aucs", "auc")


def board_table(report: Report) -> "pd.DataFrame":
    """One row a board and method, best first.

    Returns
    -------
    DataFrame
        `board`, `dataset`, `tuned`, the fields of `Row` (the interval of the AUC as `auc_mean`, `auc_low`,
        `auc_high`), `target` and `setting`.
    """
    import pandas as pd

    rows = [
        {"board": board.number, "dataset": board.dataset, "tuned": board.tuned}
        | _flat(row)
        | {"target": board.target, "setting": board.setting}
        for board in report.boards
        for row in board.rows
    ]
    return pd.DataFrame(rows)


def overall_table(report: Report) -> "pd.DataFrame":
    """One row a method and kind of board: ranks with and without gaps, groups, wins, ties, losses."""
    import pandas as pd

    return pd.DataFrame([_total(overall, method) for overall in report.overall for method in overall.methods])


def cell_table(cells: Sequence[Cell]) -> "pd.DataFrame":
    """One row a cell, from which every statistic can be computed again."""
    import json

    import pandas as pd

    rows = []
    for cell in cells:
        described, result = cell.described, (cell.record or {}).get("result", {})
        tuned = (cell.record or {}).get("tuned") or {}
        rows.append(
            {
                "key": cell.key,
                "dataset": described["dataset"]["title"],
                "algorithm": described["algorithm"]["name"],
                "parameters": json.dumps(described["algorithm"]["parameters"], default=str),
                "described": json.dumps({name: described[name] for name in _DESCRIBED}, default=str),
                "seed": cell.run[0],
                "split_seed": cell.run[1],
                "order_seed": cell.run[2],
                "fold": cell.run[3],
                "status": cell.status,
                "chosen": json.dumps(tuned.get("parameters"), default=str),
                "tuning_passes": tuned.get("cost", {}).get("passes"),
                "tuning_seconds": tuned.get("cost", {}).get("train_seconds"),
                "concurrency": (cell.record or {}).get("environment", {}).get("concurrency"),
                "cpu": (cell.record or {}).get("environment", {}).get("cpu"),
            }
            | {name: result.get(name) for name in _MEASURED}
        )
    return pd.DataFrame(rows)


_DESCRIBED = (
    "dataset", "loss", "features", "scaling", "protocol", "tuning", "max_train_rows", "budget", "order",
    "dtype",
)  # fmt: skip
_MEASURED = (
    "auc", "iterations", "train_seconds", "train_cpu_seconds", "ns_per_iteration", "state_bytes",
    "stop_reason",
)  # fmt: skip


def _flat(row: Row) -> dict[str, Any]:
    fields = {name: value for name, value in vars(row).items() if name not in NOT_TABULAR}
    return {
        "method": fields.pop("method"),
        "algorithm": fields.pop("algorithm"),
        "rank": fields.pop("rank"),
        "auc_mean": row.auc.value,
        "auc_std": fields.pop("std"),
        "auc_low": row.auc.low,
        "auc_high": row.auc.high,
    } | fields


def _total(overall: Overall, method: str) -> dict[str, Any]:
    rank, with_gaps = overall.ranks.get(method), overall.ranks_with_gaps.get(method)
    return {
        "tuned": overall.tuned,
        "method": method,
        "rank": rank.value if rank else None,
        "rank_low": rank.low if rank else None,
        "rank_high": rank.high if rank else None,
        "rank_with_gaps": with_gaps.value if with_gaps else None,
        "gaps": ", ".join(overall.incomplete.get(method, [])),
        "groups": overall.groups.get(method, ""),
        "wins": overall.wins.get(method, 0),
        "ties": overall.ties.get(method, 0),
        "losses": overall.losses.get(method, 0),
        "pareto": method in overall.pareto,
    }
