"""The papers' tables (papers.csv), and our figures beside them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from aucbench.reports.cell_frame import cell_frame
from aucbench.reports.cells import BoardCell
from aucbench.reports.columns import described
from aucbench.reports.labels import method_of
from aucbench.reports.statistics.over_runs import TOLERANCE
from aucbench.reports.views.text import TextTable
from aucbench.reports.views.text import table as table_text
from aucbench.reports.views.text import text_table as table_of
from aucbench.studies.record import CellStatus, EntryDescription

COLUMNS = (
    "dataset", "method", "published", "published_std", "ours", "ours_std", "runs", "difference", "verdict",
    "published_seconds", "seconds", "time_ratio", "note",
)  # fmt: skip
SHOWN = described("papers")
DRAWN = "the paper drew the halves of the classes at random and did not publish them"
MARGIN = 0.003  # differences of AUC up to this are equal, whatever deviation was published


class Verdict(StrEnum):
    """How our AUC compares with the published one."""

    equal = "equal"
    better = "better"
    worse = "worse"
    not_run = "not run"
    not_comparable = "not comparable"


def judge_table(numbers: pd.DataFrame) -> pd.DataFrame:
    """The numbers with a column `verdict`, a `Verdict` as text.

    Equal is |ours - published| <= max(0.003, 2 published_std): the deviation of single runs, which is what
    papers print, and not the error of their mean. The columns are `published` (AUC; NaN is not comparable),
    `published_std` (NaN where none was published), `ours` (mean AUC; NaN when not run, or without a result)
    and `comparable` (bool: whether protocol, data and preprocessing are those of the paper); others are kept.
    """
    published, std, ours = (numbers[name].to_numpy(float) for name in ("published", "published_std", "ours"))
    allowed = np.fmax(MARGIN, 2 * std)  # fmax prefers a number to NaN
    verdicts = np.select(
        [
            ~numbers["comparable"].to_numpy(bool) | np.isnan(published),
            np.isnan(ours),
            np.abs(ours - published) <= allowed + TOLERANCE,
            ours > published,
        ],
        [Verdict.not_comparable, Verdict.not_run, Verdict.equal, Verdict.better],
        Verdict.worse,
    )
    return numbers.assign(verdict=verdicts.tolist())


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper."""

    paper: str  # it and the table as in `papers.csv`
    table: str
    source: str
    other_data: Mapping[str, str] = field(default_factory=dict)  # data sets that are not the paper's, and why

    def numbers(self) -> pd.DataFrame:
        """Its numbers, a line each, in the order of the file; NaN where a part was not printed.

        The columns are `dataset`, `method` (as the table names it, in our spelling), `published` and
        `published_std` (AUC), `published_seconds` and `note`.
        """
        with files("aucbench.reports").joinpath("papers.csv").open(encoding="utf-8") as file:
            every = pd.read_csv(file, dtype={"table": str}).fillna({"note": ""})
        own = every[(every["paper"] == self.paper) & (every["table"] == self.table)]
        return own.drop(columns=["paper", "table"]).assign(dataset=own["dataset"].str.lower())


_DECLARED = tomllib.loads(files("aucbench.reports").joinpath("papers.toml").read_text("utf-8"))
TABLES = {
    name: PublishedTable(source=_DECLARED["paper"][table["paper"]], **table)
    for name, table in _DECLARED["table"].items()
}


def is_method(described: EntryDescription, name: str) -> bool:
    """Whether a described cell is of the method that a table calls `name`."""
    wanted = {"features": "identity"} | _DECLARED["variant"].get(name, {"algorithm": name})
    algorithm = wanted.pop("algorithm")
    if described.algorithm.name not in _DECLARED["stand_in"].get(algorithm, [algorithm]):
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


def compare(table: PublishedTable, cells: Sequence[BoardCell]) -> pd.DataFrame:
    """One row a published number.

    `verdict` is that of `judge_table`; with cells that failed, diverged or are missing a method is `not run`,
    and `runs` counts those that finished. `time_ratio` is published over ours (the machines differ). `note`
    is that of the table, and why a number is not comparable.
    """
    found = cell_frame(cells, one_study=True)
    latest = list(found.loc[found["method"].notna(), "cell"])
    numbers, ours = table.numbers().reset_index(drop=True), []
    for each in numbers.to_dict("records"):
        here = [cell for cell in latest if cell.described.dataset.name.lower() == each["dataset"]]
        own = [cell for cell in here if is_method(cell.described, each["method"])]
        ours.append(_ours(own, each["note"], table.other_data.get(each["dataset"], "")))
    frame = judge_table(numbers.drop(columns="note").join(pd.DataFrame(ours)))
    frame["difference"] = frame["ours"] - frame["published"]
    frame["time_ratio"] = frame["published_seconds"] / frame["seconds"].where(frame["seconds"] > 0)
    return frame[list(COLUMNS)]


def _ours(own: Sequence[BoardCell], note: str, other_data: str) -> dict[str, Any]:
    """Our part of a line of `compare`; it needs every run, since those that finished are a selection."""
    settings = {method_of(cell.described, one_study=True) for cell in own}
    drawn = "" if not own or is_comparable(own[0].described) else DRAWN
    notes = [note, (other_data or drawn) if own else ""]
    done = [cell.record.result for cell in own if cell.record and cell.status is CellStatus.finished]
    if len(settings) > 1:
        notes.insert(1, f"the study has this method with {len(settings)} settings")
        done = []
    elif own:
        missing = sum(cell.status is CellStatus.missing for cell in own)
        lost = len(own) - len(done) - missing
        notes.append(f"{missing} of {len(own)} runs are missing" if missing else "")
        notes.append(f"{lost} of {len(own)} runs gave no AUC" if lost else "")
    whole = done if len(done) == len(own) else []
    aucs = pd.Series([result.auc for result in whole], dtype=float)
    return {
        "ours": aucs.mean(),
        "ours_std": aucs.std(),
        "runs": len(done),
        "comparable": not own or not (drawn or other_data or len(settings) > 1),
        "seconds": pd.Series([result.train_seconds for result in whole], dtype=float).mean(),
        "note": "; ".join(filter(None, notes)),
    }


def markdown(name: str, table: PublishedTable, frame: pd.DataFrame, command: str) -> str:
    """The verdicts, the rows that were run, and the command that made them."""
    own = tried(frame)
    rows = [] if own.empty else [table_text(text_table(own))]
    return "\n\n".join([f"# {name}", about(table), *verdicts(frame), *rows, f"Made by `{command}`.\n"])


def tried(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a comparison that have a run, finished or not."""
    return frame[(frame["runs"] > 0) | frame["note"].str.contains(" runs ")]


def about(table: PublishedTable) -> str:
    """The paper and the number of a table."""
    return f"{table.source}, table {table.table}."


def verdicts(frame: pd.DataFrame) -> list[str]:
    """Sentences about a comparison."""
    timed = frame["published_seconds"].notna().any()
    remarks = ["Times are ratios of other machines and other code, and say little."] if timed else []
    return [*remarks, sentence(frame)]


def sentence(frame: pd.DataFrame) -> str:
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


def text_table(frame: pd.DataFrame, without: Sequence[str] = ()) -> TextTable:
    """The rows of a comparison as text, without some columns and those without any value."""
    empty = {name for name in ("time_ratio", "note") if not frame[name].replace("", None).notna().any()}
    left_out = {*empty, *without}
    return table_of(frame, [column for name, column in SHOWN.items() if name not in left_out])
