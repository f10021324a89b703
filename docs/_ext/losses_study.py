"""Losses over pairs against balanced cross entropy by model, from the archive of ``+experiment=losses``."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from markdown import table
from matplotlib.figure import Figure
from study_cells import Choice, cells, chosen

from aucbench.reports.answer import BETTER, listed
from aucbench.reports.columns import VERDICT_COLOURS, signed
from aucbench.reports.report import FEWEST, ROPE
from aucbench.reports.statistics.meta_regression import meta_regression
from aucbench.reports.statistics.verdicts import compare_families
from aucbench.reports.views.figure_style import begin

ARCHIVE = Path(__file__).parents[1] / "results" / "losses.zip"
PAIRS = ("logistic", "squared_hinge", "square", "exponential")
NAMES = {"plain": "cross entropy", **{name: name.replace("_", " ") for name in PAIRS}}

# By class of model: the choice with balanced cross entropy, and the compared choices by loss.
CLASSES: dict[str, tuple[Choice, dict[str, Choice]]] = {
    "linear": (Choice("log_reg"), {loss: Choice("bam", loss) for loss in PAIRS}),
    "kernel": (
        Choice("log_reg", features="nystroem"),
        {loss: Choice("bam", loss, "nystroem") for loss in PAIRS},
    ),
    "trees": (
        Choice("boosting", "balanced_log_loss"),
        {"plain": Choice("boosting", "log_loss"), **{loss: Choice("boosting", loss) for loss in PAIRS}},
    ),
    "network": (
        Choice("mlp", "balanced_cross_entropy"),
        {"plain": Choice("mlp", "cross_entropy"), **{loss: Choice("mlp", loss) for loss in PAIRS}},
    ),
}


@cache
def differences() -> pd.DataFrame:
    """The gain of each loss over balanced cross entropy, by class of model, loss and data set."""
    frame, parts = cells(ARCHIVE), []
    for model, (reference, losses) in CLASSES.items():
        base = chosen(frame, reference)
        for loss, choice in losses.items():
            set_gains = (chosen(frame, choice) - base).dropna()
            means = set_gains.groupby(level=["data_set", "family"]).mean().rename("gain").reset_index()
            parts.append(means.assign(model=model, method=loss))
    set_gains = pd.concat(parts, ignore_index=True)
    too_few = set_gains.groupby(["model", "method"])["family"].transform("nunique") < FEWEST
    return set_gains[~too_few].reset_index(drop=True)


@cache
def compared() -> pd.DataFrame:
    """Gain, interval and verdict of each loss over families; intervals hold jointly for a class of model."""
    parts = [
        compare_families(group, ROPE).reset_index().assign(model=model)
        for model, group in differences().groupby("model", sort=False)
    ]
    return pd.concat(parts, ignore_index=True).rename(columns={"method": "loss"})


@cache
def slopes() -> pd.DataFrame:
    """Change in the gain of the logistic loss over pairs if classes become ten times as unequal."""
    frame = cells(ARCHIVE).groupby("data_set")[["rows", "columns", "positives"]].mean()
    facts = pd.DataFrame(
        {
            "data_set": frame.index,
            "positive_share": (frame["positives"] / frame["rows"]).to_numpy(),
            "rows": frame["rows"].to_numpy(),
            "features": frame["columns"].to_numpy(),
        }
    )
    set_gains = differences()
    logistic = set_gains[set_gains["method"] == "logistic"]
    regression = meta_regression(logistic.drop(columns="method").rename(columns={"model": "method"}), facts)
    return regression[regression["covariate"] == "imbalance"].set_index("method")


def known_models() -> list[str]:
    """Classes of model with enough families in the archive."""
    return [model for model in CLASSES if (differences()["model"] == model).any()]


def losses_table() -> str:
    """Gains over balanced cross entropy, a row for each class of model and a column for each loss."""
    gains = compared().set_index(["model", "loss"])
    rows = [
        (model, *(_shown(gains.loc[model, loss]) if (model, loss) in gains.index else "" for loss in NAMES))
        for model in known_models()
    ]
    return table(("Model", "Cross entropy", *(f"Pairs: {NAMES[loss]}" for loss in PAIRS)), rows)


def _shown(row: pd.Series) -> str:
    return f"{signed(row['gain'])} ({signed(row['low'])} to {signed(row['high'])})"


def losses_sentences() -> str:
    """The answer for README and the front page, in words."""
    gains = compared()
    pairs = gains[gains["loss"].isin(PAIRS)]
    best = pairs.loc[pairs.groupby("model", sort=False)["gain"].idxmax()].set_index("model")
    texts = [
        f"{signed(row['gain'])} for {_noun(model)} ({NAMES[row['loss']]}, {row['verdict']})"
        for model, row in best.iterrows()
    ]
    families = int(gains["families"].max())
    sets = differences()["data_set"].nunique()
    imbalance = slopes()
    rising = [_noun(model) for model, row in imbalance.iterrows() if row["low"] > 0]
    falling = [_noun(model) for model, row in imbalance.iterrows() if row["high"] < 0]
    trend = (
        "The gain of the logistic loss over pairs does not change clearly with the imbalance of the classes."
        if not rising and not falling
        else " ".join(
            f"The gain of the logistic loss over pairs {verb} with the imbalance of the classes for "
            f"{' and '.join(names)}."
            for verb, names in (("grows", rising), ("falls", falling))
            if names
        )
    )
    better = [_noun(model) for model, row in best.iterrows() if row["verdict"] in BETTER]
    finding = (
        f"a loss over pairs is better for {' and '.join(better)}"
        if better
        else ("no loss over pairs is shown to be better than balanced cross entropy")
    )
    return (
        f"**Does an AUC loss pay?** With the same model and settings, on {sets} data sets of {families} "
        f"families, {finding}. The largest gain of a loss over pairs is {listed(texts)}. {trend}"
    )


def _noun(model: str) -> str:
    return {
        "linear": "linear models",
        "kernel": "kernel models",
        "trees": "boosted trees",
        "network": "networks",
    }[model]


def losses_picture() -> Figure:
    """Gains of all losses with their intervals over the band of the rope, in the current style."""
    gains = compared()
    rows = [(row["model"], row["loss"], row) for row in gains.to_dict("records")]
    figure, axes = begin(0.8 + 0.19 * len(rows))
    axes.axvspan(-ROPE, ROPE, color="0.9", linewidth=0, zorder=0)
    axes.axvline(0.0, color="0.45", linewidth=0.8, zorder=1)
    limit = max(0.03, float(np.quantile([abs(row["gain"]) for _, _, row in rows], 0.8)) * 2)
    for index, (_, _, row) in enumerate(rows):
        colour = VERDICT_COLOURS.get(row["verdict"], VERDICT_COLOURS["undecided"])[0]
        ends = np.clip([row["low"], row["high"]], -limit, limit)
        axes.plot(ends, [index, index], color=colour, linewidth=1.1, zorder=2)
        if abs(row["gain"]) <= limit:
            axes.plot([row["gain"]], [index], "o", color=colour, markersize=4, zorder=3)
        axes.annotate(
            f"{signed(row['gain'])}  {row['verdict']}", (1.02, index), xycoords=("axes fraction", "data"),
            va="center", fontsize=7, color=colour,
        )  # fmt: skip
    for index in np.cumsum(gains.groupby("model", sort=False).size())[:-1]:
        axes.axhline(index - 0.5, color="0.8", linewidth=0.6)
    axes.set_xlim(-limit, limit)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [f"{model}: {NAMES[loss]}" for model, loss, _ in rows], fontsize=7)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("gain in AUC over balanced cross entropy with the same model", fontsize=8)
    return figure
