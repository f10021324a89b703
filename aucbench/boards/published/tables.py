"""The papers' tables as data: `tables.csv` holds the cells as they were printed."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

from aucbench.studies.record import EntryDescription

FILE = "tables.csv"


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
    """A table of a paper.

    Parameters
    ----------
    paper, table : str
        As in `tables.csv`.
    source : str
        The paper.
    remark : str
        What is to be known when its numbers are read.
    """

    paper: str
    table: str
    source: str
    remark: str = ""

    def cells(self) -> list[PublishedCell]:
        """Its numbers, in the order of the file; none where the paper's cells cannot be read."""
        text = resources.files("aucbench.boards.published").joinpath(FILE).read_text("utf-8")
        return [
            PublishedCell(
                row["dataset"].lower(),
                row["algorithm"],
                _number(row["auc_mean"]),
                _number(row["auc_std"]),
                _number(row["train_seconds"]),
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

TABLES: Mapping[str, PublishedTable] = {
    "fsauc_table2": PublishedTable("fsauc2018", "2", FSAUC),
    "opauc_table2": PublishedTable("opauc2013", "2", OPAUC),
    "opauc_table4": PublishedTable("opauc2013", "4", OPAUC),
    "sauc_table2": PublishedTable("sauc2020", "2", SAUC),
    "spdam_table3": PublishedTable(
        "spdam2019", "3", SPDAM, "The cells of this table could not be read; there are our results alone."
    ),
    "psam_table2": PublishedTable("psam2019", "II", PSAM),
    "psam_table3": PublishedTable("psam2019", "III", PSAM),
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


def _number(text: str) -> float:
    return float(text) if text else float("nan")
