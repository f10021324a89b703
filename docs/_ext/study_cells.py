"""The cells of archives as a data frame, and differences of the AUC between two choices over families."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from aucbench.studies.archives.archive import Archive
from aucbench.studies.archives.archive_file import read

RUN = ["data_set", "family", "split", "order"]  # compared choices have the same rows in the same order
EARLY = 0.1  # fraction of the rows seen in a training


class Choice(NamedTuple):
    """A method with its loss and feature map, after a part of the training or all of it."""

    method: str
    loss: str = ""  # any loss if empty
    features: str = "identity"
    tuned: bool = False
    part: float = 1.0


@cache
def archive(file: Path) -> Archive:
    """The content of an archive, which is read once for all pages."""
    return read(file)[1]


def cells(*files: Path) -> pd.DataFrame:
    """A row for each cell; `loss` is the criterion of boosting and mlp if it is not a loss over pairs."""
    frame = pd.concat([_cells(file) for file in files], ignore_index=True)
    return frame.drop_duplicates([*RUN, "method", "loss", "features", "tuned"])


@cache
def _cells(file: Path) -> pd.DataFrame:
    rows = []
    for cell in archive(file):
        record = cell.record
        criterion = record.algorithm.parameters.get("criterion", "pairs")
        index = (
            np.searchsorted(cell.curve["samples"], EARLY * max(cell.curve["samples"], default=0), "right") - 1
        )
        seconds = record.result.train_seconds + (record.tuned.cost.train_seconds if record.tuned else 0.0)
        rows.append(
            {
                "data_set": record.dataset.title,
                "family": record.dataset.family or record.dataset.name,
                "split": record.seeds.split_seed,
                "order": record.seeds.order_seed,
                "method": record.algorithm.name,
                "loss": (record.loss.name if record.loss else "") if criterion == "pairs" else criterion,
                "features": record.features.name,
                "tuned": record.tuned is not None,
                "auc": np.nan if record.result.auc is None else record.result.auc,
                "early": cell.curve["auc"][index] if index >= 0 else np.nan,
                "seconds": seconds,
                "rows": record.data.train_rows,
                "columns": record.data.features,
                "positives": record.data.train_positives,
            }
        )
    return pd.DataFrame(rows)


def chosen(frame: pd.DataFrame, choice: Choice) -> "pd.Series[float]":
    """The AUC of a choice by `RUN`."""
    runs = frame[
        (frame["method"] == choice.method)
        & (frame["features"] == choice.features)
        & (frame["tuned"] == choice.tuned)
        & ((frame["loss"] == choice.loss) | (choice.loss == ""))
    ]
    return runs.set_index(RUN)["auc" if choice.part == 1.0 else "early"]


def by_family(differences: "pd.Series[float]") -> "pd.Series[float]":
    """Means over runs, then over the data sets of each family."""
    return differences.dropna().groupby(level=["family", "data_set"]).mean().groupby(level="family").mean()


def gains(frame: pd.DataFrame, choice: Choice, baseline: Choice) -> "pd.Series[float]":
    """The AUC of a choice minus the AUC of the baseline on common runs, by family."""
    return by_family(chosen(frame, choice) - chosen(frame, baseline))


def size(differences: Iterable["pd.Series[float]"]) -> float:
    """The root mean square of differences over families; each comparison counts once."""
    return float(np.sqrt(np.mean([np.mean(np.square(difference)) for difference in differences])))
