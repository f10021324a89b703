"""Every figure of README's section on the reference study, computed again with pandas and SciPy alone.

`python -m benchmarks reference` reads the cells and curves of `docs/results` without any code of aucbench,
computes the figures of the section, and looks up each in its text. A figure that differs, is not found, or
stands in the text without being computed is a miss.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.measuring import Measure

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
STUDY = "reference_defaults.zip"
TRIALS = "reference.zip"
PARTS = (STUDY, "losses.zip", "reference.zip", "reference_orders.zip")
HEADING = "## What the reference study says"
REFERENCE, ROPE, FEWEST = "log_reg_cv", 0.005, 10
RUN = ["data_set", "family", "split", "order"]
FIGURE = re.compile(r"(?<![\w.`])[+-]?\d[\d,]*(?:\.\d+)?(?![\w`])")

Frame = pd.DataFrame
Floats = Any


@cache
def cells(*names: str) -> Frame:
    """A row for each cell of the archives."""
    frames = []
    for name in names:
        with zipfile.ZipFile(RESULTS / name) as file:
            records = [json.loads(line) for line in file.read("cells.json").splitlines()]
            curves = pd.read_parquet(io.BytesIO(file.read("curves.parquet"))).set_index("key")
        frame = Frame([_cell(record) for record in records])
        frame["early"] = [_early(curves.loc[key]) for key in frame["key"]]
        frames.append(frame)
    columns = [*RUN, "method", "loss", "features", "tuned"]
    return pd.concat(frames, ignore_index=True).drop_duplicates(columns)


def _cell(record: Mapping[str, Any]) -> dict[str, Any]:
    dataset, tuned = record["dataset"], record.get("tuned")
    criterion = record["algorithm"]["parameters"].get("criterion", "pairs")
    loss = record["loss"]["name"] if record.get("loss") else ""
    spent = record["result"]["train_seconds"]
    return {
        "key": record["key"],
        "data_set": dataset["title"],
        "family": dataset.get("family") or dataset["name"],
        "split": record["split_seed"],
        "order": record["order_seed"],
        "method": record["algorithm"]["name"],
        "model": record["class_of_model"],
        "loss": loss if criterion == "pairs" else criterion,
        "features": record["features"]["name"],
        "tuned": tuned is not None,
        "auc": record["result"]["auc"],
        "settings": tuned["cost"]["settings"] if tuned else 0,
        "seconds": spent + (tuned["cost"]["train_seconds"] if tuned else 0.0),
        "timed": tuple(record["environment"].get(name) for name in ("cpu", "concurrency", "machine")),
        "rows": record["data"]["train_rows"],
        "columns": record["data"]["features"],
        "positives": record["data"]["train_positives"],
    }


def _early(curve: "pd.Series[Any]") -> float:
    """The AUC after the first tenth of the rows that a training saw."""
    samples = np.asarray(curve["samples"])
    at = np.flatnonzero(samples <= samples[-1] / 10) if len(samples) else []
    return float(curve["auc"][at[-1]]) if len(at) else np.nan


def by_family(values: "pd.Series[float]") -> "pd.Series[float]":
    """Means over runs, then over the data sets of a family."""
    return values.dropna().groupby(["family", "data_set"]).mean().groupby("family").mean()


def aucs(
    method: str, loss: str = "", features: str = "identity", tuned: bool = False, early: bool = False
) -> Any:
    """The AUC of a method with options by run, from all archives."""
    frame = cells(*PARTS)
    runs = frame[(frame["method"] == method) & (frame["features"] == features) & (frame["tuned"] == tuned)]
    runs = runs[runs["loss"] == loss] if loss else runs
    return runs.set_index(RUN)["early" if early else "auc"]


def half_widths(values: Floats) -> Floats:
    """Half widths of 95 % intervals of column means: bootstrap-t by the largest |t|, as in `docs/why.md`."""
    n, has_value = len(values), ~np.isnan(values)
    count = has_value.sum(axis=0)
    residuals = np.where(has_value, values - np.nanmean(values, axis=0), 0.0)
    std = np.sqrt((residuals**2).sum(axis=0) / (count - 1))
    order = np.lexsort((np.abs(residuals).min(axis=1), np.abs(residuals).max(axis=1)))
    units, has_value = residuals[order] / std, has_value[order]
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), 2_000).astype(float)
    counts = drawn @ has_value
    mean = drawn @ units / counts
    with np.errstate(divide="ignore", invalid="ignore"):  # resamples may have no spread
        t = np.abs(mean) / np.sqrt(np.maximum(drawn @ units**2 / counts - mean**2, 0.0) / (counts - 1))
    t = np.where(np.isnan(t), np.inf, t)
    student, bonferroni = stats.t.ppf(0.975, count - 1), stats.t.ppf(1 - 0.025 / len(count), count - 1)
    quantiles = np.quantile(t, 0.97, axis=0, method="higher")
    is_outlier = quantiles > 3 * student
    common = 0.0 if is_outlier.all() else np.quantile(t[:, ~is_outlier].max(axis=1), 0.97, method="higher")
    critical = np.where(is_outlier, np.maximum(quantiles * bonferroni / student, common), common)
    return np.clip(critical, student, 3 * bonferroni) * std / np.sqrt(count)


def verdict(gain: float, half: float) -> str:
    """The verdict on a gain with half the width of its interval."""
    low, high = gain - half, gain + half
    if low > ROPE or high < -ROPE:
        return "better" if low > ROPE else "worse"
    if low >= -ROPE and high <= ROPE:
        return "equivalent"
    if low > 0 or high < 0:
        return "slightly better" if low > 0 else "slightly worse"
    return "not worse" if low > -ROPE else "undecided"


def compared(gains: Mapping[Any, "pd.Series[float]"]) -> Frame:
    """Gain, interval, verdict and shares of families by name; the gains are by family."""
    table = Frame(gains)
    table = table.sort_index()
    values = table.to_numpy(float)
    half = half_widths(values)
    mean = np.nanmean(values, axis=0)
    counts = (~np.isnan(values)).sum(axis=0)
    return Frame(
        {
            "gain": mean,
            "low": mean - half,
            "high": mean + half,
            "verdict": [verdict(*pair) for pair in zip(mean, half, strict=True)],
            "better": (values > ROPE).sum(axis=0) / counts,
            "worse": (values < -ROPE).sum(axis=0) / counts,
            "families": counts,
        },
        index=table.columns,
    )


def _comparable(frame: Frame) -> Frame:
    """Whether all runs of a method were timed under the conditions of most runs on that data set."""
    table = frame.groupby(["data_set", "method"])["timed"].agg(lambda tags: frozenset(tags)).unstack("method")
    runs = frame.groupby(["data_set", "method"])["key"].count().unstack("method")
    masks = {}
    for data_set, row in table.iterrows():
        conditions = [condition for group in row.dropna() for condition in group]
        usual = max(sorted(set(conditions)), key=conditions.count)
        masks[data_set] = row.map(lambda group, usual=usual: group == {usual})
    return Frame(masks).T & runs.eq(runs.max(axis=1), axis=0)


@cache
def methods(study: str = STUDY) -> Frame:
    """All methods of a study against its reference, with the ratio of their times."""
    frame = cells(study)
    groups = {name: group.set_index(RUN) for name, group in frame.groupby("method")}
    base = groups.pop(REFERENCE)
    table = compared({name: by_family(group["auc"] - base["auc"]) for name, group in groups.items()})
    times = (
        frame.groupby(["method", "data_set"])["seconds"].mean().unstack("method").where(_comparable(frame))
    )
    ratios = np.log(times.div(times[REFERENCE], axis=0)).mean()
    return table.assign(
        time=np.exp(ratios.reindex(table.index)), model=frame.groupby("method")["model"].first()
    ).sort_values("gain", ascending=False)


CLASSES = {  # class of model: balanced cross entropy, and the choices that are compared with it
    "linear": (
        ("log_reg",),
        {loss: ("bam", loss) for loss in ("logistic", "squared_hinge", "square", "exponential")},
    ),
    "kernel": (
        ("log_reg", "", "nystroem"),
        {loss: ("bam", loss, "nystroem") for loss in ("logistic", "squared_hinge", "square", "exponential")},
    ),
    "trees": (
        ("boosting", "balanced_log_loss"),
        {
            loss: ("boosting", loss)
            for loss in ("log_loss", "logistic", "squared_hinge", "square", "exponential")
        },
    ),
    "network": (
        ("mlp", "balanced_cross_entropy"),
        {
            loss: ("mlp", loss)
            for loss in ("cross_entropy", "logistic", "squared_hinge", "square", "exponential")
        },
    ),
}


@cache
def losses() -> dict[str, Frame]:
    """By class of model, each loss against balanced cross entropy."""
    frame = cells("losses.zip")

    def series(method: str, loss: str = "", features: str = "identity") -> "pd.Series[float]":
        runs = frame[(frame["method"] == method) & (frame["features"] == features)]
        return (runs[runs["loss"] == loss] if loss else runs).set_index(RUN)["auc"]

    tables = {}
    for model, (base, choices) in CLASSES.items():
        gains = {loss: by_family(series(*choice) - series(*base)) for loss, choice in choices.items()}
        if enough := {loss: gain for loss, gain in gains.items() if len(gain) >= FEWEST}:
            tables[model] = compared(enough)
    return tables


def _factors() -> dict[str, list["pd.Series[float]"]]:
    """The differences between choices of each line of the table, by family."""
    tuned = [("psam",), ("sgd_hinge",), ("sgd_log",), ("bam", "squared_hinge"), ("solam",)]
    stochastic = (
        "psam", "roc_sgd", "solam", "fsauc", "opauc", "spdam", "sgd_log", "ftrl_log", "pair_batch", "oam_gra"
    )  # fmt: skip
    solved = {"psam": "svm_or", "roc_sgd": "svm_or", "sgd_log": "log_reg", "ftrl_log": "log_reg"}
    solved |= dict.fromkeys(("solam", "opauc", "spdam", "fsauc"), "ls_svm")
    trees = aucs("boosting", "logistic")
    hinge = aucs("bam", "squared_hinge")
    differences = {
        "class of model": [auc - aucs("log_reg_cv") for auc in (trees, aucs("mlp", "logistic"))],
        "regularisation": [
            aucs("log_reg_cv") - aucs("log_reg"),
            *(aucs(*args, tuned=True) - aucs(*args) for args in tuned),
        ],
        "loss over pairs": [
            *(aucs("bam", loss) - hinge for loss in ("square", "exponential")),
            *(aucs("boosting", loss) - trees for loss in ("squared_hinge", "square")),
        ],
        "pairs or rows": [trees - aucs("boosting", "balanced_log_loss")],
        "algorithm": [aucs(method) - aucs(exact) for method, exact in solved.items()],
        "passes": [aucs(name) - aucs(name, early=True) for name in stochastic],
        "order of the rows": [
            _again(aucs(name), "order") for name in ("psam", "solam", "fsauc", "sgd_log", "pair_batch")
        ],
        "division of the rows": [
            _again(aucs(*args), "split") for args in (("log_reg_cv",), ("psam",), ("boosting", "logistic"))
        ],
    }
    return {name: [by_family(values) for values in series] for name, series in differences.items()}


def _again(auc: "pd.Series[float]", seed: str) -> "pd.Series[float]":
    """Run 1 minus run 0 of each data set; only the order differs, or the split and with it the order."""
    frame = auc.rename("auc").reset_index()
    frame = frame[frame["split"] == (0 if seed == "order" else frame["order"])]
    runs = frame.set_index(["data_set", "family", seed])["auc"].unstack(seed)
    return runs[1] - runs[0]


class Section:
    """The text of README's section; figures that were looked up are struck out."""

    def __init__(self, text: str):
        self.text = text

    def claim(self, name: str, pattern: str, *values: float) -> Iterator[Measure]:
        """Compare the figures in the groups of a pattern with computed values."""
        if not (match := re.search(pattern, self.text)):
            yield Measure(f"{name}: not found", 1.0, 0.0, at_most=True)
            return
        for text, value in zip(match.groups(), values, strict=True):
            figure = float(text.replace(",", ""))
            unit = 10.0 ** -len(text.partition(".")[2])
            yield Measure(f"{name}: {text}", abs(figure - value), 0.5001 * unit, at_most=True)
        for start, end in sorted(map(match.span, range(1, len(values) + 1)), reverse=True):
            self.text = f"{self.text[:start]}#{self.text[end:]}"

    def rest(self) -> Iterator[Measure]:
        """The figures that were not computed."""
        hits = FIGURE.findall(re.sub(r"`[^`]*`|\]\([^)]*\)|\|[- |]+\|", "", self.text))
        yield Measure(f"figures that are not computed {' '.join(hits)}", float(len(hits)), 0.0, at_most=True)


def reference() -> Iterator[Measure]:
    """Every figure of the section."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = " ".join(readme.partition(HEADING)[2].partition("\n## ")[0].split())
    scope, answer, tuned, *bullets = map(Section, text.split(" - **"))
    yield from _scope(scope)
    yield from _answer(answer, STUDY)
    yield from _tried(tuned)
    yield from _answer(tuned, TRIALS)
    remainder = Section(" ".join(bullet.text for bullet in bullets))
    yield from _cost_and_data(remainder)
    yield from _deciding(remainder)
    yield from _losses(remainder)
    for section in (scope, answer, tuned, remainder):
        yield from section.rest()


def _scope(section: Section) -> Iterator[Measure]:
    frame = cells(STUDY)
    runs = sorted(frame.groupby("data_set")["split"].nunique().unique())
    numbers = r"(\d+)" + r"(?:, | and )(\d+)" * (len(runs) - 1)
    counts = [frame[name].nunique() for name in ("method", "data_set")]
    pattern = rf"(\d+) methods on (\d+) data sets, with {numbers} runs"
    yield from section.claim("scope", pattern, *counts, *runs)
    yield from section.claim("rope", r"below (0\.\d+) are taken", ROPE)


def _tried(section: Section) -> Iterator[Measure]:
    frame = cells(TRIALS)
    largest = frame[frame["tuned"]].groupby("model")["settings"].max()
    pattern = r"best of (\d+) settings of a linear method, (\d+) of boosted trees and (\d+) of a network"
    yield from section.claim("settings", pattern, *largest[["linear", "trees", "network"]])


def _answer(section: Section, study: str) -> Iterator[Measure]:
    """The verdicts of a study, by class of model."""
    yield from section.claim("families", r"Over (\d+) families", cells(study)["family"].nunique())
    for model, table in methods(study).groupby("model"):
        verdicts = table["verdict"].replace("slightly worse", "worse")
        best = table.loc[verdicts.isin(["better", "slightly better"]), "gain"]
        if len(best):
            pattern = rf"better than {REFERENCE}, by (?:up to )?([+\d.]+)"
            yield from section.claim(f"{model}, better", pattern, best.max())
        equal = table.loc[verdicts == "equivalent", "time"]
        if len(equal):
            pattern = (
                rf"{equal.idxmin()} is (?:equivalent|the cheapest of these): ([\d.]+) times the training"
            )
            yield from section.claim(f"{model}, equivalent", pattern, _three(equal.min()))
        for verdict, group in verdicts.groupby(verdicts):
            if len(group) > 3:
                yield from section.claim(f"{model}, {verdict}", rf"(\d+) are {verdict}", len(group))


def _three(value: float) -> float:
    """A number with three significant digits, as in the text."""
    return float(f"{value:.3g}")


def _cost_and_data(section: Section) -> Iterator[Measure]:
    table = methods()
    linear, nonlinear = table[table["model"] == "linear"], table[table["model"] != "linear"]
    first = nonlinear.sort_values("better").iloc[-1]
    frame = cells(STUDY).set_index(["method", *RUN])["auc"]
    gains = by_family(frame["psam"] - frame[REFERENCE])
    shares = [first["better"], first["worse"], (gains > ROPE).mean(), (gains < -ROPE).mean()]
    yield from section.claim(
        "shares of families",
        rf"`{first.name}` gains more than (0\.\d+) on (\d+) % of the families and loses as much on (\d+) %, "
        r"while `psam`.* gains as much on (\d+) % and loses as much on (\d+) %",
        ROPE,
        *(100 * share for share in shares),
    )
    fast, slow = linear["time"].idxmin(), linear["time"].idxmax()
    times = [_three(table.loc[name, "time"]) for name in ("psam", fast, slow)]
    yield from section.claim(
        "times",
        rf"takes ([\d.]+) times as long with `psam` as with `{REFERENCE}`, ([\d.]+) times with the fastest "
        rf"linear method, `{fast}`, and ([\d.]+) times with the slowest, `{slow}`",
        *times,
    )


def _deciding(section: Section) -> Iterator[Measure]:
    sizes = {}
    for name, series in _factors().items():
        sizes[name] = float(np.sqrt(np.mean([np.mean(gains**2) for gains in series])))
        mean = float(np.mean([gains.mean() for gains in series]))
        fewest = min(map(len, series))
        pattern = rf"\| {name} \| [^|]* \| ([\d.]+) \| ([+-][\d.]+) \| (\d+) \|"
        yield from section.claim(name, pattern, sizes[name], mean, fewest)
    first = max(sizes, key=sizes.__getitem__)
    yield from section.claim(
        "sizes",
        rf"Another {first} typically changes it by ([\d.]+), another loss over pairs by ([\d.]+), and "
        r"another order of the rows, which is chance, by ([\d.]+)\.",
        *(sizes[name] for name in (first, "loss over pairs", "order of the rows")),
    )


def _losses(section: Section) -> Iterator[Measure]:
    for model, table in losses().items():
        pairs = table.drop(index=["log_loss", "cross_entropy"], errors="ignore")
        best = pairs.loc[pairs["gain"].idxmax()]
        pattern = rf"([+-][\d.]+) for [\w ]+ \({best.name.replace('_', ' ')}, {best['verdict']}\)"
        yield from section.claim(f"best loss over pairs, {model}", pattern, best["gain"])
    frame = cells("losses.zip")
    counts = [frame[name].nunique() for name in ("data_set", "family")]
    yield from section.claim("losses", r"on (\d+) data sets of (\d+) families", *counts)


MEASURES: dict[str, Callable[[], Iterator[Measure]]] = {"reference": reference}
