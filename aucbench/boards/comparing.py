"""Our figures beside the published ones: differences, verdicts, the order of methods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards import statistics
from aucbench.boards.collecting import FINISHED, Cell
from aucbench.boards.published.tables import PublishedTable, is_comparable, is_method

if TYPE_CHECKING:
    import pandas as pd

BETTER_OR_EQUAL = (statistics.Verdict.equal, statistics.Verdict.better)


def compare(table: PublishedTable, cells: Sequence[Cell]) -> "pd.DataFrame":
    """One row a published number.

    Returns
    -------
    DataFrame
        `dataset`, `method`, `published`, `published_std`, `ours`, `ours_std`, `runs`, `difference`,
        `verdict`, `published_seconds`, `seconds`, `time_ratio` (published over ours; the machines differ) and
        `note` of the table. A number is equal when it lies within max(0.003, two published standard
        deviations); cells that failed or diverged make a method `not run`.
    """
    import pandas as pd

    rows = []
    for published in table.cells():
        own = [
            cell
            for cell in cells
            if cell.described["dataset"]["name"].lower() == published.dataset
            and is_method(cell.described, published.method)
        ]
        finished = [cell for cell in own if cell.status == FINISHED and cell.record]
        complete = bool(own) and len(finished) == len(own)
        aucs = [float(cell.record["result"]["auc"]) for cell in finished if cell.record]
        seconds = [float(cell.record["result"]["train_seconds"]) for cell in finished if cell.record]
        ours = float(np.mean(aucs)) if complete else float("nan")
        comparable = is_comparable(own[0].described) if own else True
        rows.append(
            {
                "dataset": published.dataset,
                "method": published.method,
                "published": published.auc_mean,
                "published_std": published.auc_std,
                "ours": ours,
                "ours_std": float(np.std(aucs, ddof=1)) if complete and len(aucs) > 1 else float("nan"),
                "runs": len(finished),
                "difference": ours - published.auc_mean,
                "comparable": comparable,
                "published_seconds": published.train_seconds,
                "seconds": float(np.mean(seconds)) if seconds else float("nan"),
                "note": published.note,
            }
        )
    frame = pd.DataFrame(rows)
    if frame.empty:
        return frame
    frame = statistics.judge_table(frame)
    frame["time_ratio"] = frame["published_seconds"] / frame["seconds"]
    return frame.drop(columns="comparable")


def agreement(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Kendall's tau between the published and our order of methods: a row a data set, and one for "
    "the table."""
    import pandas as pd

    if frame.empty:
        return frame
    counted = frame.assign(comparable=frame["verdict"] != statistics.Verdict.not_comparable, table="table")
    single = statistics.order_agreement(counted, by=("dataset",))
    whole = statistics.order_agreement(counted, by=("table",)).assign(dataset="all").drop(columns="table")
    return pd.concat([single, whole], ignore_index=True)


def counts(frame: "pd.DataFrame") -> dict[str, Any]:
    """How many numbers have which verdict, and the share that is equal or better among those compared."""
    found = {str(verdict): int((frame["verdict"] == verdict).sum()) for verdict in statistics.Verdict}
    compared = found["equal"] + found["better"] + found["worse"]
    return found | {"share": (found["equal"] + found["better"]) / compared if compared else float("nan")}


def markdown(name: str, table: PublishedTable, frame: "pd.DataFrame", command: str) -> str:
    """The table, the order of methods, and the command that made it."""
    lines = [f"# {name}", "", f"{table.source}, table {table.table}.", ""]
    if table.remark:
        lines += [table.remark, ""]
    if not frame.empty:
        lines += [*_rows(frame), "", sentence(frame), ""]
        for row in agreement(frame).to_dict("records"):
            if row["pairs"]:
                lines.append(
                    f"- order of methods, {row['dataset']}: Kendall's tau {row['tau']:.2f} over "
                    f"{row['pairs']} pairs"
                )
    return "\n".join([*lines, "", f"Made by `{command}`.", ""])


def sentence(frame: "pd.DataFrame") -> str:
    """The verdicts in words."""
    found = counts(frame)
    compared = found["equal"] + found["better"] + found["worse"]
    text = (
        f"{compared} cells compared: {found['equal']} equal (within max(0.003, two published standard "
        "deviations)), "
        f"{found['better']} better, {found['worse']} worse"
    )
    if compared:
        text += f"; {found['share']:.0%} equal or better"
    return f"{text}. {found['not run']} not run, {found['not comparable']} not comparable."


def _rows(frame: "pd.DataFrame") -> list[str]:
    timed = bool(frame["published_seconds"].notna().any())
    head = ["data set", "method", "published", "ours", "difference", "verdict", "runs"]
    head += ["published / our seconds"] if timed else []
    lines = ["| " + " | ".join(head) + " |", "|---|---|---:|---:|---:|---|---:|" + ("---:|" if timed else "")]
    for row in frame.to_dict("records"):
        cells = [
            row["dataset"],
            row["method"],
            _with_std(row["published"], row["published_std"]),
            _with_std(row["ours"], row["ours_std"]),
            "-" if np.isnan(row["difference"]) else f"{row['difference']:+.4f}",
            str(row["verdict"]),
            str(row["runs"]),
        ]
        if timed:
            cells.append("-" if np.isnan(row["time_ratio"]) else f"{row['time_ratio']:.3g}")
        lines.append("| " + " | ".join(cells) + " |")
    if timed:
        lines += ["", "Times are ratios of other machines and other code, and say little."]
    return lines


def _with_std(mean: float, std: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{mean:.4f}" + ("" if np.isnan(std) else f" ± {std:.4f}")
