"""A comparison with a paper as Markdown."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards.comparing import agreement, counts
from aucbench.boards.published.tables import PublishedTable
from aucbench.leaderboard.render.markdown import plain

if TYPE_CHECKING:
    import pandas as pd


def markdown(name: str, table: PublishedTable, frame: "pd.DataFrame", command: str) -> str:
    """The table, the order of methods, and the command that made it."""
    lines = [f"# {name}", "", f"{table.source}, table {table.table}.", ""]
    if table.remark:
        lines += [table.remark, ""]
    if frame.empty:
        lines += ["There are no results.", ""]
    elif frame["published"].isna().all():
        lines += [*_rows(frame, ours_alone=True), ""]
    else:
        lines += [*_rows(frame), "", sentence(frame), ""]
        orders = [row for row in agreement(frame).to_dict("records") if row["pairs"]]
        lines += [_order(row) for row in orders]
        lines += [""] if orders else []
    return "\n".join([*lines, f"Made by `{command}`.", ""])


def sentence(frame: "pd.DataFrame") -> str:
    """The verdicts in words."""
    found = counts(frame)
    compared = found["equal"] + found["better"] + found["worse"]
    text = (
        f"{compared} cells compared: {found['equal']} equal (within max(0.003, two published standard "
        f"deviations)), {found['better']} better, {found['worse']} worse"
    )
    if compared:
        text += f"; {found['share']:.0%} equal or better"
    return f"{text}. {found['not run']} not run, {found['not comparable']} not comparable."


def _order(row: Mapping[Any, Any]) -> str:
    tau = float(row["tau"])
    what = f"Kendall's tau {tau:.2f}" if not np.isnan(tau) else "Kendall's tau is not defined: all tie"
    where = "the whole table" if row["dataset"] == "all" else plain(str(row["dataset"]))
    pairs = "1 pair" if row["pairs"] == 1 else f"{row['pairs']} pairs"
    return f"- order of methods, {where}: {what}, over {pairs}"


def _rows(frame: "pd.DataFrame", ours_alone: bool = False) -> list[str]:
    timed = bool(frame["published_seconds"].notna().any())
    columns = {
        "data set": lambda row: plain(row["dataset"]),
        "method": lambda row: plain(row["method"]),
        "published": lambda row: _with_std(row["published"], row["published_std"]),
        "ours": lambda row: _with_std(row["ours"], row["ours_std"]),
        "difference": lambda row: _formatted(row["difference"], "+.4f"),
        "verdict": lambda row: str(row["verdict"]),
        "runs": lambda row: str(row["runs"]),
        "our seconds": lambda row: _formatted(row["seconds"], ".3g"),
        "published / our seconds": lambda row: _formatted(row["time_ratio"], ".3g"),
        "note": lambda row: plain(row["note"]),
    }
    left_out = {"published", "difference", "verdict"} if ours_alone else {"our seconds"}
    if not timed:
        left_out.add("published / our seconds")
    if not frame["note"].any():
        left_out.add("note")
    head = [name for name in columns if name not in left_out]
    rule = ["---" if name in ("data set", "method", "verdict", "note") else "---:" for name in head]
    body = [[columns[name](row) for name in head] for row in frame.to_dict("records")]
    lines = [f"| {' | '.join(line)} |" for line in [head, rule, *body]]
    if timed:
        lines += ["", "Times are ratios of other machines and other code, and say little."]
    return lines


def _formatted(value: float, form: str) -> str:
    return "-" if np.isnan(value) else format(value, form)


def _with_std(mean: float, std: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{mean:.4f}" + ("" if np.isnan(std) else f" ± {std:.4f}")
