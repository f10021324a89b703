"""The papers' tables (papers.csv), and our figures beside them."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aucbench.humanize import counted, duration
from aucbench.reports.cells import BoardCell, groups
from aucbench.reports.columns import Column, described, fixed, number, signed, whole
from aucbench.reports.labels import method_of
from aucbench.reports.statistics.agreement import Verdict, judge_table, order_agreement
from aucbench.reports.views.text import TextTable, plain
from aucbench.reports.views.text import table as table_text
from aucbench.reports.views.text import text_table as table_of
from aucbench.studies.record import CellStatus, EntryDescription

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = (
    "dataset", "method", "published", "published_std", "ours", "ours_std", "runs", "difference", "verdict",
    "published_seconds", "seconds", "time_ratio", "note",
)  # fmt: skip
SHOWN = described(
    Column("dataset", "data set", "The data set"),
    Column("method", "method", "The method, as the table names it"),
    Column("published", "published", "Published mean AUC", fixed, spread="published_std"),
    Column("ours", "ours", "Our mean AUC", fixed, spread="ours_std"),
    Column("difference", "difference", "Ours - published", signed),
    Column("verdict", "verdict", "By the difference and the published deviation"),
    Column("runs", "runs", "Runs that finished", whole),
    Column("seconds", "our time", "Our mean training time", duration),
    Column("time_ratio", "published / our time", "Published time over ours", number),
    Column("note", "note", "Why a number does not compare"),
)
Ours = tuple[float, float, int, float]  # mean and deviation of AUC, finished runs, mean seconds
NAN = float("nan")


class PublishedCell(NamedTuple):
    """One number of a table; NaN where a part was not printed."""

    dataset: str
    method: str  # as the table names it, in our spelling
    auc_mean: float
    auc_std: float
    train_seconds: float
    note: str


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper."""

    paper: str  # it and the table as in `papers.csv`
    table: str
    source: str
    remark: str = ""  # what is to be known when its numbers are read
    other_data: Mapping[str, str] = field(default_factory=dict)  # data sets that are not the paper's, and why

    def cells(self) -> list[PublishedCell]:
        """Its numbers, in the order of the file; none where the paper's cells cannot be read."""
        text = resources.files("aucbench.reports").joinpath("papers.csv").read_text("utf-8")
        return [
            PublishedCell(
                row["dataset"].lower(),
                row["algorithm"],
                float(row["auc_mean"] or NAN),
                float(row["auc_std"] or NAN),
                float(row["train_seconds"] or NAN),
                row["note"],
            )
            for row in csv.DictReader(text.splitlines())
            if (row["paper"], row["table"]) == (self.paper, self.table)
        ]


FSAUC = (
    "M. Liu, X. Zhang, Z. Chen, X. Wang, T. Yang: Fast stochastic AUC maximization with "
    "O(1/n)-convergence rate. ICML 2018"
)
OPAUC = "W. Gao, R. Jin, S. Zhu, Z.-H. Zhou: One-pass AUC optimization. ICML 2013"
SAUC = (
    "Z. Yang, W. Shen, Y. Ying, X. Yuan: Stochastic AUC optimization with general loss. "
    "Communications on Pure and Applied Analysis, 2020"
)
SPDAM = (
    "M. Natole, Y. Ying, S. Lyu: Stochastic AUC optimization algorithms with linear convergence. "
    "Frontiers in Applied Mathematics and Statistics 5, 2019"
)
PSAM = "M. Khalid, H. Chitsaz, I. Ray: Proximal stochastic AUC maximization. 2019"
OTHER_COVTYPE = "the published linear AUCs are above what a linear score reaches on our file"

TABLES: Mapping[str, PublishedTable] = {
    "fsauc_table2": PublishedTable("fsauc2018", "2", FSAUC),
    "opauc_table2": PublishedTable("opauc2013", "2", OPAUC),
    "opauc_table4": PublishedTable("opauc2013", "4", OPAUC),
    "sauc_table2": PublishedTable("sauc2020", "2", SAUC),
    "spdam_table3": PublishedTable(
        "spdam2019", "3", SPDAM, "The cells of this table could not be read; there are our results alone."
    ),
    "psam_table2": PublishedTable("psam2019", "II", PSAM, other_data={"covtype": OTHER_COVTYPE}),
    "psam_table3": PublishedTable("psam2019", "III", PSAM, other_data={"covtype": OTHER_COVTYPE}),
}

# Columns of the tables that are one of our methods with other fields, by what decides a cell.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "sauc_hinge": {"algorithm": "sauc", "loss": "hinge"},
    "sauc_logistic": {"algorithm": "sauc", "loss": "logistic"},
    "spam_ball": {"algorithm": "spam", "penalty": "ball"},
    "opauc_f": {"algorithm": "opauc", "features": "subset"},
    "opauc_rp": {"algorithm": "opauc", "features": "projection"},
    "opauc_pca": {"algorithm": "opauc", "features": "pca"},
    "npsam": {"algorithm": "psam", "features": "nystroem"},
    "nasam": {"algorithm": "asam", "features": "nystroem"},
    "nsolam": {"algorithm": "solam", "features": "nystroem"},
    "nbam": {"algorithm": "bam", "features": "nystroem"},
}
STAND_INS = {"cbr": ("cbr", "cbr_diag")}  # where the tables do not tell two methods of ours apart


def is_method(described: EntryDescription, name: str) -> bool:
    """Whether a described cell is of the method that a table calls `name`."""
    wanted = {"features": "identity"} | dict(VARIANTS.get(name, {"algorithm": name}))
    algorithm = wanted.pop("algorithm")
    if described.algorithm.name not in STAND_INS.get(algorithm, (algorithm,)):
        return False
    found = described.algorithm.parameters | {
        "loss": described.loss.name if described.loss else None,
        "features": described.features.name,
    }
    return all(found.get(field) == value for field, value in wanted.items())


def is_comparable(described: EntryDescription) -> bool:
    """Whether the paper's classes are known: halves of several classes were drawn, and not published."""
    parameters = described.dataset.parameters
    return parameters.get("grouping") != "halves" or parameters.get("positive") is not None


def compare(table: PublishedTable, cells: Sequence[BoardCell]) -> "pd.DataFrame":
    """One row a published number; of a table without any, one row of ours a method and data set.

    `verdict` is that of `judge_table`; with cells that failed, diverged or are missing a method is `not run`,
    and `runs` counts those that finished. `time_ratio` is published over ours (the machines differ). `note`
    is that of the table, and why a number is not comparable.
    """
    import pandas as pd

    found = groups(cells, one_study=True)
    latest = [cell for group in found for board in group.boards.values() for cell in board]
    published = table.cells()
    if not published:
        rows = [
            _row(PublishedCell(dataset, method, NAN, NAN, NAN, ""), own)
            for group in found
            for dataset in group.boards
            for method, own in group.by_method(dataset).items()
        ]
    else:
        rows = []
        for each in published:
            here = [cell for cell in latest if cell.described.dataset.name.lower() == each.dataset]
            own = [cell for cell in here if is_method(cell.described, each.method)]
            rows.append(_row(each, own, table.other_data.get(each.dataset, "")))
    if not rows:
        return pd.DataFrame(columns=list(COLUMNS))
    frame = judge_table(pd.DataFrame(rows))
    frame["time_ratio"] = frame["published_seconds"] / frame["seconds"].where(frame["seconds"] > 0)
    return frame[list(COLUMNS)]


def _row(published: PublishedCell, own: Sequence[BoardCell], other_data: str = "") -> dict[str, Any]:
    settings = {method_of(cell.described, one_study=True) for cell in own}
    comparable = not own or (is_comparable(own[0].described) and not other_data)
    notes = [published.note] if published.note else []
    if len(settings) > 1:
        notes.append(f"the study has this method with {len(settings)} settings")
    if not comparable:
        drawn = "the paper drew the halves of the classes at random and did not publish them"
        notes.append(other_data or drawn)
    ours, std, runs, seconds = _ours(own) if len(settings) < 2 else (NAN, NAN, 0, NAN)
    missing = sum(cell.status is CellStatus.missing for cell in own)
    if missing and len(settings) < 2:
        notes.append(f"{missing} of {len(own)} runs are missing")
    if runs + missing < len(own) and len(settings) < 2:
        notes.append(f"{len(own) - runs - missing} of {len(own)} runs gave no AUC")
    return {
        "dataset": published.dataset,
        "method": published.method,
        "published": published.auc_mean,
        "published_std": published.auc_std,
        "ours": ours,
        "ours_std": std,
        "runs": runs,
        "difference": ours - published.auc_mean,
        "comparable": comparable and len(settings) < 2,
        "published_seconds": published.train_seconds,
        "seconds": seconds,
        "note": "; ".join(notes),
    }


def _ours(own: Sequence[BoardCell]) -> Ours:
    """Nothing but the number of runs unless all cells finished: those that did are a selection."""
    results = [cell.record.result for cell in own if cell.record and cell.status is CellStatus.finished]
    if not own or len(results) < len(own):
        return NAN, NAN, len(results), NAN
    aucs = [result.auc for result in results if result.auc is not None]
    std = float(np.std(aucs, ddof=1)) if len(aucs) > 1 else NAN
    return float(np.mean(aucs)), std, len(aucs), float(np.mean([each.train_seconds for each in results]))


def markdown(name: str, table: PublishedTable, frame: "pd.DataFrame", command: str) -> str:
    """The verdicts, the order of methods, the rows that were run, and the command that made them."""
    lines = [f"# {name}", "", about(table), ""]
    remarks, orders = verdicts(frame)
    for remark in remarks:
        lines += [remark, ""]
    lines += [f"- {order}" for order in orders]
    lines += [""] if orders else []
    if not (own := tried(frame)).empty:
        lines += [table_text(text_table(own)), ""]
    return "\n".join([*lines, f"Made by `{command}`.", ""])


def tried(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The rows of a comparison that have a run, finished or not."""
    return frame[(frame["runs"] > 0) | frame["note"].str.contains(" runs ")]


def about(table: PublishedTable) -> str:
    """The paper and number of a table, and what is remarkable about it."""
    return " ".join(filter(None, (f"{table.source}, table {table.table}.", table.remark)))


def verdicts(frame: "pd.DataFrame") -> tuple[list[str], list[str]]:
    """Sentences about a comparison, and a line about the order of methods on each data set."""
    if frame.empty:
        return ["There are no results."], []
    timed = frame["published_seconds"].notna().any()
    remarks = ["Times are ratios of other machines and other code, and say little."] if timed else []
    if frame["published"].isna().all():
        return remarks, []
    orders = order_agreement(frame[frame["verdict"] != Verdict.not_comparable]).query("pairs > 0")
    return [*remarks, sentence(frame)], [_order(row) for row in orders.to_dict("records")]


def sentence(frame: "pd.DataFrame") -> str:
    """The verdicts in words."""
    found = {str(verdict): int((frame["verdict"] == verdict).sum()) for verdict in Verdict}
    compared = found["equal"] + found["better"] + found["worse"]
    text = (
        f"{compared} cells compared: {found['equal']} equal (within max(0.003, two published standard "
        f"deviations)), {found['better']} better, {found['worse']} worse"
    )
    if compared:
        text += f"; {(found['equal'] + found['better']) / compared:.0%} equal or better"
    return f"{text}. {found['not run']} not run, {found['not comparable']} not comparable."


def _order(row: Mapping[Any, Any]) -> str:
    tau = float(row["tau"])
    what = f"Kendall's tau {tau:.2f}" if not np.isnan(tau) else "Kendall's tau is not defined: all tie"
    return f"order of methods, {plain(str(row['dataset']))}: {what}, over {counted(row['pairs'], 'pair')}"


def text_table(frame: "pd.DataFrame", without: Sequence[str] = ()) -> TextTable:
    """The rows of a comparison as text, without some columns; of a table without published numbers, ours."""
    left_out = {"published", "difference", "verdict"} if frame["published"].isna().all() else {"seconds"}
    left_out |= {name for name in ("time_ratio", "note") if not frame[name].replace("", None).notna().any()}
    return table_of(frame, [column for name, column in SHOWN.items() if name not in {*left_out, *without}])
