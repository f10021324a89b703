"""Sizes of the change in AUC when one factor changes and all others stay the same.

Each row of the table compares pairs of choices that differ in one factor. The change is the
difference of their AUCs on the same rows, by family of data sets; its size is the root mean square over
families.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
from markdown import table
from study_cells import EARLY, Choice, by_family, cells, gains, size

from aucbench.reports.columns import signed

RESULTS = Path(__file__).parents[1] / "results"
FILES = tuple(
    RESULTS / name
    for name in ("reference_defaults.zip", "losses.zip", "reference.zip", "reference_orders.zip")
)

STOCHASTIC = (
    "psam",
    "roc_sgd",
    "solam",
    "fsauc",
    "opauc",
    "spdam",
    "sgd_log",
    "ftrl_log",
    "pair_batch",
    "oam_gra",
)
SOLVED = {  # stochastic methods by the method that finds the optimum of the same loss
    "svm_or": ("psam", "roc_sgd"), "ls_svm": ("solam", "opauc", "spdam", "fsauc"),
    "log_reg": ("sgd_log", "ftrl_log"),
}  # fmt: skip
RESEEDED = ("psam", "solam", "fsauc", "sgd_log", "pair_batch")


Compared = tuple[str, tuple["pd.Series[float]", ...]]


def _between(frame: pd.DataFrame, pairs: list[tuple[Choice, Choice]]) -> tuple["pd.Series[float]", ...]:
    return tuple(changes for choice, baseline in pairs if len(changes := gains(frame, choice, baseline)))


def _model(frame: pd.DataFrame) -> Compared:
    text = "`boosting` and `mlp` minus `log_reg_cv`"
    return text, _between(
        frame, [(Choice(name, "logistic"), Choice("log_reg_cv")) for name in ("boosting", "mlp")]
    )


def _regularisation(frame: pd.DataFrame) -> Compared:
    names = [
        ("psam", ""),
        ("sgd_hinge", ""),
        ("sgd_log", ""),
        ("bam", "squared_hinge"),
        ("solam", ""),
    ]
    pairs = [(Choice(*name, tuned=True), Choice(*name)) for name in names]
    text = "chosen by cross-validation minus default, six linear methods"
    return text, _between(frame, [(Choice("log_reg_cv"), Choice("log_reg")), *pairs])


def _loss(frame: pd.DataFrame) -> Compared:
    pairs = [(Choice("bam", loss), Choice("bam", "squared_hinge")) for loss in ("square", "exponential")]
    pairs += [
        (Choice("boosting", loss), Choice("boosting", "logistic")) for loss in ("squared_hinge", "square")
    ]
    return "another loss over pairs, `bam` and `boosting`", _between(frame, pairs)


def _pairs(frame: pd.DataFrame) -> Compared:
    text = "logistic loss over pairs minus logistic loss of balanced rows, `boosting`"
    return text, _between(frame, [(Choice("boosting", "logistic"), Choice("boosting", "balanced_log_loss"))])


def _algorithm(frame: pd.DataFrame) -> Compared:
    pairs = [(Choice(method), Choice(exact)) for exact, names in SOLVED.items() for method in names]
    return "eight stochastic methods minus the optimum of their loss", _between(frame, pairs)


def _passes(frame: pd.DataFrame) -> Compared:
    pairs = [(Choice(name), Choice(name, part=EARLY)) for name in STOCHASTIC]
    return "all passes minus the first tenth of them, ten stochastic methods", _between(frame, pairs)


def _order(frame: pd.DataFrame) -> Compared:
    return "another order of the rows, five stochastic methods", _again(frame, "order")


def _split(frame: pd.DataFrame) -> Compared:
    return "another division into training and test rows, log_reg_cv, psam and boosting", _again(
        frame, "split"
    )


def _again(frame: pd.DataFrame, seed: str) -> tuple["pd.Series[float]", ...]:
    """AUC with seed 1 minus AUC with seed 0; if the split differs, the order differs, too."""
    names = RESEEDED if seed == "order" else ("log_reg_cv", "psam", "boosting")
    subset = frame[frame["method"].isin(names) & (frame["features"] == "identity") & ~frame["tuned"]]
    subset = subset[(subset["split"] == 0) if seed == "order" else (subset["split"] == subset["order"])]
    subset = subset[~(subset["method"].eq("boosting") & subset["loss"].ne("logistic"))]
    changes = []
    for name in names:
        runs = subset[subset["method"] == name].set_index(["data_set", "family", seed])["auc"].unstack(seed)
        changes.append(by_family(runs[1] - runs[0]))
    return tuple(changes)


FACTORS: dict[str, Callable[[pd.DataFrame], Compared]] = {
    "class of model": _model,
    "division of the rows": _split,
    "passes": _passes,
    "algorithm": _algorithm,
    "regularisation": _regularisation,
    "loss over pairs": _loss,
    "pairs or rows": _pairs,
    "order of the rows": _order,
}


@cache
def factors() -> pd.DataFrame:
    """A row for each factor, the largest change first: the comparison, the size, and the mean change."""
    frame, rows = cells(*FILES), []
    for name, compare in FACTORS.items():
        text, changes = compare(frame)
        means = [float(change.mean()) for change in changes]
        rows.append(
            {
                "factor": name,
                "compared": text,
                "families": min(len(change) for change in changes),
                "size": size(changes),
                "mean": sum(means) / len(means),
            }
        )
    return pd.DataFrame(rows).sort_values("size", ascending=False, ignore_index=True)


def factor_table() -> str:
    """The table of factors in README."""
    rows = [
        (row["factor"], row["compared"], f"{row['size']:.4f}", signed(row["mean"]), f"{row['families']}")
        for row in factors().to_dict("records")
    ]
    return table(("What is chosen", "Compared", "Typical change of the AUC", "Mean change", "Families"), rows)
