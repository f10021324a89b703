"""Comparison of our results with published tables (papers.csv)."""

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
MARGIN = 0.003  # AUCs that differ by at most this are equal, for any published deviation


class Verdict(StrEnum):
    """How our AUC compares with the published AUC."""

    equal = "equal"
    better = "better"
    worse = "worse"
    not_run = "not run"
    not_comparable = "not comparable"


def judge_table(numbers: pd.DataFrame) -> pd.DataFrame:
    """The numbers with a column `verdict`, a `Verdict` as text; NaN are unknown numbers.

    Equal is |ours - published| <= max(0.003, 2 published_std), where published_std is the deviation of single
    runs, as printed in papers, and not the error of their mean. The columns are `published`, `published_std`,
    `ours` (mean AUC) and `comparable` (bool: whether protocol, data and preprocessing match the paper).
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
    other_data: Mapping[str, str] = field(default_factory=dict)  # by data set: why it is not the paper's

    def numbers(self) -> pd.DataFrame:
        """The numbers of the table, in the order of the file; NaN for numbers that were not printed.

        The columns are `dataset`, `method` (the table's name, in our spelling), `published` and
        `published_std` (AUC), `published_seconds` and `note`.
        """
        with FILES.joinpath("papers.csv").open(encoding="utf-8") as file:
            frame = pd.read_csv(file, dtype={"table": str}).fillna({"note": ""})
        rows = frame[(frame["paper"] == self.paper) & (frame["table"] == self.table)]
        return rows.drop(columns=["paper", "table"]).assign(dataset=rows["dataset"].str.lower())


FILES = files("aucbench.reports")
_DECLARED = tomllib.loads(FILES.joinpath("papers.toml").read_text("utf-8"))
TABLES = {
    name: PublishedTable(source=_DECLARED["paper"][table["paper"]], **table)
    for name, table in _DECLARED["table"].items()
}


def is_method(described: EntryDescription, name: str) -> bool:
    """Whether a cell belongs to the method that a table calls `name`."""
    variant = {"features": "identity"} | _DECLARED["variant"].get(name, {"algorithm": name})
    algorithm = variant.pop("algorithm")
    if described.algorithm.name not in _DECLARED["stand_in"].get(algorithm, [algorithm]):
        return False
    values = described.algorithm.parameters | {
        "loss": described.loss.name if described.loss else None,
        "features": described.features.name,
    }
    return all(values.get(key) == value for key, value in variant.items())


def is_comparable(described: EntryDescription) -> bool:
    """Whether the paper's classes are known: random halves of several classes were not published."""
    parameters = described.dataset.parameters
    return parameters.get("grouping") != "halves" or parameters.get("positive") is not None


def compare(table: PublishedTable, cells: Sequence[BoardCell]) -> pd.DataFrame:
    """A row for each published number.

    `verdict` is that of `judge_table`; a method with failed, diverged or missing cells is `not run`. `runs`
    counts the finished cells. `time_ratio` is the published time over ours (the machines differ). `note` is
    the note of the table, and the reason if a number is not comparable.
    """
    runs = cell_frame(cells, one_study=True).dropna(subset=["method"])
    runs["described"] = [cell.described for cell in runs["cell"]]
    names = runs["described"].map(lambda entry: entry.dataset.name.lower())
    numbers, ours = table.numbers().reset_index(drop=True), []
    for row in numbers.itertuples():
        candidates = runs[names == row.dataset]
        is_match = [is_method(described, str(row.method)) for described in candidates["described"]]
        matches = candidates[pd.Series(is_match, candidates.index, dtype=bool)]
        ours.append(_our_part(matches, str(row.note), table.other_data.get(str(row.dataset), "")))
    frame = judge_table(numbers.drop(columns="note").join(pd.DataFrame(ours)))
    frame["difference"] = frame["ours"] - frame["published"]
    frame["time_ratio"] = frame["published_seconds"] / frame["seconds"].where(frame["seconds"] > 0)
    return frame[list(COLUMNS)]


def _our_part(runs: pd.DataFrame, note: str, other_data: str) -> dict[str, Any]:
    """Our part of a line of `compare`; every run must have finished, since finished runs alone are biased."""
    settings = runs.groupby(["setting", "data_set", "method"]).ngroups
    reasons = [f"the study has this method with {settings} settings"] * (settings > 1)
    if other_data and len(runs):
        reasons.append(other_data)
    elif not all(map(is_comparable, runs["described"])):
        reasons.append(DRAWN)
    runs = runs[:0] if settings > 1 else runs
    done = runs[runs["status"] == CellStatus.finished]
    missing = int((runs["status"] == CellStatus.missing).sum())
    gaps = {"are missing": missing, "gave no AUC": len(runs) - len(done) - missing}
    notes = [note, *reasons, *(f"{count} of {len(runs)} runs {gap}" for gap, count in gaps.items() if count)]
    usable = done.astype({"auc": float, "train_seconds": float})[: len(done) if len(done) == len(runs) else 0]
    return {
        "ours": usable["auc"].mean(),
        "ours_std": usable["auc"].std(),
        "runs": len(done),
        "comparable": not reasons,
        "seconds": usable["train_seconds"].mean(),
        "note": "; ".join(filter(None, notes)),
    }


def markdown(name: str, table: PublishedTable, frame: pd.DataFrame, command: str) -> str:
    """The verdicts, the rows that were run, and the command of the comparison."""
    attempted = tried(frame)
    rows = [] if attempted.empty else [table_text(text_table(attempted))]
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
    remarks = ["Time ratios compare different machines and different code, and mean little."] if timed else []
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
    """The rows of a comparison as text, without the columns `without` and empty columns."""
    empty = {name for name in ("time_ratio", "note") if not frame[name].replace("", None).notna().any()}
    left_out = {*empty, *without}
    return table_of(frame, [column for name, column in SHOWN.items() if name not in left_out])
