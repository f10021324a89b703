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
    """The numbers with a column `verdict`, a `Verdict` as text; NaN are numbers that are not known.

    Equal is |ours - published| <= max(0.003, 2 published_std): the deviation of single runs, which is what
    papers print, and not the error of their mean. The columns are `published`, `published_std`, `ours` (mean
    AUC) and `comparable` (bool: whether protocol, data and preprocessing are those of the paper).
    """
    published, std, ours = (numbers[name].to_numpy(float) for name in ("published", "published_std", "ours"))
    allowed = np.fmax(MARGIN, 2 * std)  # fmax prefers a number to NaN
    conditions = {
        Verdict.not_comparable: ~numbers["comparable"].to_numpy(bool) | np.isnan(published),
        Verdict.not_run: np.isnan(ours),
        Verdict.equal: np.abs(ours - published) <= allowed + TOLERANCE,
        Verdict.better: ours > published,
    }
    verdicts = np.select(list(conditions.values()), list(conditions), Verdict.worse)
    return numbers.assign(verdict=verdicts.tolist())


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper."""

    paper: str  # names of paper and table as in `papers.csv`
    table: str
    source: str
    other_data: Mapping[str, str] = field(default_factory=dict)  # data sets that are not the paper's, and why

    def numbers(self) -> pd.DataFrame:
        """Its numbers, a line each, in the order of the file; NaN where a part was not printed.

        The columns are `dataset`, `method` (as the table names it, in our spelling), `published` and
        `published_std` (AUC), `published_seconds` and `note`.
        """
        with FILES.joinpath("papers.csv").open(encoding="utf-8") as file:
            every = pd.read_csv(file, dtype={"table": str}).fillna({"note": ""})
        own = every[(every["paper"] == self.paper) & (every["table"] == self.table)]
        return own.drop(columns=["paper", "table"]).assign(dataset=own["dataset"].str.lower())


FILES = files("aucbench.reports")
_DECLARED = tomllib.loads(FILES.joinpath("papers.toml").read_text("utf-8"))
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
    found = cell_frame(cells, one_study=True).dropna(subset=["method"])
    found["described"] = [cell.described for cell in found["cell"]]
    names = found["described"].map(lambda each: each.dataset.name.lower())
    numbers, ours = table.numbers().reset_index(drop=True), []
    for each in numbers.itertuples():
        here = found[names == each.dataset]
        is_own = [is_method(described, str(each.method)) for described in here["described"]]
        own = here[pd.Series(is_own, here.index, dtype=bool)]
        ours.append(_ours(own, str(each.note), table.other_data.get(str(each.dataset), "")))
    frame = judge_table(numbers.drop(columns="note").join(pd.DataFrame(ours)))
    frame["difference"] = frame["ours"] - frame["published"]
    frame["time_ratio"] = frame["published_seconds"] / frame["seconds"].where(frame["seconds"] > 0)
    return frame[list(COLUMNS)]


def _ours(own: pd.DataFrame, note: str, other_data: str) -> dict[str, Any]:
    """Our part of a line of `compare`; it needs every run, since those that finished are a selection."""
    settings = own.groupby(["setting", "data_set", "method"]).ngroups
    reasons = [f"the study has this method with {settings} settings"] * (settings > 1)
    if other_data and len(own):
        reasons.append(other_data)
    elif not all(map(is_comparable, own["described"])):
        reasons.append(DRAWN)
    own = own[:0] if settings > 1 else own
    done = own[own["status"] == CellStatus.finished]
    missing = int((own["status"] == CellStatus.missing).sum())
    gaps = {"are missing": missing, "gave no AUC": len(own) - len(done) - missing}
    notes = [note, *reasons, *(f"{count} of {len(own)} runs {what}" for what, count in gaps.items() if count)]
    whole = done.astype({"auc": float, "train_seconds": float})[: len(done) if len(done) == len(own) else 0]
    return {
        "ours": whole["auc"].mean(),
        "ours_std": whole["auc"].std(),
        "runs": len(done),
        "comparable": not reasons,
        "seconds": whole["train_seconds"].mean(),
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
    """Sentences about a comparison: a remark on times, and how many numbers have each verdict."""
    timed = frame["published_seconds"].notna().any()
    remarks = ["Times are ratios of other machines and other code, and say little."] if timed else []
    equal, better, worse, not_run, not_comparable = (
        int((frame["verdict"] == verdict).sum()) for verdict in Verdict
    )
    compared = equal + better + worse
    share = f"; {(equal + better) / compared:.0%} equal or better" if compared else ""
    return [
        *remarks,
        f"{compared} cells compared: {equal} equal (within max(0.003, two published standard deviations)), "
        f"{better} better, {worse} worse{share}. {not_run} not run, {not_comparable} not comparable.",
    ]


def text_table(frame: pd.DataFrame, without: Sequence[str] = ()) -> TextTable:
    """The rows of a comparison as text, without some columns and those without any value."""
    empty = {name for name in ("time_ratio", "note") if not frame[name].replace("", None).notna().any()}
    left_out = {*empty, *without}
    return table_of(frame, [column for name, column in SHOWN.items() if name not in left_out])
