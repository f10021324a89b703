"""Pictures of a report as PDF, PNG and SVG, each with a sentence that says how to read it."""

import re
from collections.abc import Collection, Iterator
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aucbench.reports.columns import fixed, text
from aucbench.reports.report import Report
from aucbench.reports.views.figure_style import (
    NARROW,
    Style,
    begin,
    fitted,
    legend,
    logarithmic,
    look,
    span,
    styles,
    type_size,
    width,
)
from aucbench.reports.views.forest import forest, verdict_rows
from aucbench.reports.views.text import plain

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("png", "svg", "pdf")
CAPTIONS = "pictures.md"  # the sentences once more, as text
NAMED = 8  # methods of a picture that have a colour and a name, at most
START = 6  # pictures that come first
COSTS = {"seconds": ("training time", "s"), "passes": ("passes over the training rows", "")}  # title, unit
Picture = tuple[Any, str]  # the figure, and how to read it; None, and why there is none


class Drawn(NamedTuple):
    """A picture that was drawn."""

    files: list[Path]  # those of the pictures to start with come first, and the captions last
    start: list[str]  # names of the pictures to start with, `START` at most
    lacking: list[str]  # sentences on those that cannot be drawn


def draw_all(report: Report, folder: Path, width: str = "page", font: str = "sans") -> Drawn:
    """Draw and write every picture that the report has numbers for.

    They have no titles, since a paper has captions of its own; sentences that say how to read them stand in a
    file beside them. `width` is one of `figure_style.WIDTHS` and `font` one of `figure_style.FONTS`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    captions: dict[str, str] = {}
    lacking: list[str] = []
    with look(width, font):
        for title, (figure, sentence) in pictures(report):
            if figure is None:
                lacking.append(f"The picture '{title}' cannot be drawn: {sentence}.")
                continue
            name = _file_name(title, {each.lower() for each in captions})
            captions[name] = sentence
            for form in FORMATS:
                files.append(folder / f"{name}.{form}")
                figure.savefig(files[-1], dpi=150, metadata={"Date": None} if form == "svg" else None)
    lines = [f"- `{name}`: {plain(sentence)}" for name, sentence in captions.items()]
    parts = {
        "To start with": lines[:START],
        "All others": lines[START:],
        "Not drawn": [f"- {plain(sentence)}" for sentence in lacking],
    }
    words = "\n\n".join("\n".join([f"## {head}", "", *own]) for head, own in parts.items() if own)
    (folder / CAPTIONS).write_text(f"{words}\n", encoding="utf-8")
    return Drawn([*files, folder / CAPTIONS], list(captions)[:START], lacking)


def pictures(report: Report) -> Iterator[tuple[str, Picture]]:
    """Every picture with its title, those to start with first."""
    looks: dict[str, dict[str, Style]] = {}
    for setting in report.settings:
        table = verdict_rows(report, setting)
        names = report.references[setting], *table.loc[table["front"], "method"], *table["method"]
        first = [name for name in names if name]
        looks[setting] = styles(first, list(dict.fromkeys(first))[:NAMED])
        yield f"forest {setting}", forest(report, setting, table)
        yield f"cost {setting}", cost(report, table, looks[setting])
    data_sets = report.data_sets  # the largest have the most to show between the first row and the last
    if "rows" in data_sets:
        data_sets = data_sets.sort_values("rows", ascending=False, kind="stable")
    for kind in (curves, suboptimality):
        for facts in data_sets.to_dict("records"):
            setting, data_set = facts["setting"], facts["data_set"]
            own = report.part("curves", setting, data_set)
            yield f"{kind.__name__} {data_set} {setting}", kind(report, own, facts, looks[setting])


def _file_name(title: str, taken: Collection[str]) -> str:
    """A name that every file system takes, and no other picture has."""
    safe = re.sub(r"[^A-Za-z0-9.=_-]+", "-", title).strip("-.")[:100] or "picture"
    names = chain([safe], (f"{safe}-{number}" for number in count(2)))
    return next(name for name in names if name.lower() not in taken)


def cost(report: Report, table: "pd.DataFrame", looks: dict[str, Style]) -> Picture:
    """Mean over families against training time, a point for each method, and the Pareto front."""
    known = table[table["time_ratio"].between(0.0, np.inf, "neither") & table["mean"].notna()]
    if known.empty:
        return None, "no method has both a mean and a time that compares with the reference's"
    reference = known["reference"].iloc[0]
    front = known[known["front"]].sort_values("time_ratio")
    figure, axes = begin(2.6 if width() < NARROW else 3.4)
    named = known["method"].map(lambda name: looks[name].is_named)
    low, high = span(known["mean"], known.loc[named, "mean"])
    shown = known["mean"].clip(low, high)
    for name, ratio, mean, at in zip(known["method"], known["time_ratio"], known["mean"], shown, strict=True):
        edge = {"marker": "v" if mean < at else "^", "clip_on": False} if mean != at else {}
        axes.plot([ratio], [at], **looks[name].point() | edge)
    steps = [*front["time_ratio"], known["time_ratio"].max()], [*front["mean"], front["mean"].max()]
    axes.step(*steps, where="post", color="0.6", linewidth=0.9, zorder=1)
    axes.set_ylim(low, high)
    logarithmic(axes, "x", known["time_ratio"])
    size = type_size()
    axes.set_xlabel(fitted(f"training time relative to {reference}", 0.6 * width(), size), fontsize=size)
    axes.set_ylabel(f"mean test {report.measure.symbol}", fontsize=size)
    axes.tick_params(labelsize=size)
    legend(figure, {name: own for name, own in looks.items() if name in set(known["method"])}, marks=True)
    sentence = (
        f"Mean test {report.measure.title} over families of data sets against training time relative to "
        f"{reference}, tuning included, log scale; higher and further left is better. The line is the Pareto "
        "front: the methods that no other beats in both."
    )
    if (known["mean"] != shown).any():
        sentence += " Triangles at an edge mark methods beyond the axis."
    if missing := len(table) - len(known):
        sentence += f" {missing} methods have no comparable time or no mean and are not shown."
    return figure, sentence


def curves(report: Report, own: "pd.DataFrame", facts: Any, looks: dict[str, Style]) -> Picture:
    """The measure against seconds and passes."""
    final: Any = own.dropna(subset=["mean"]).groupby("method", sort=False)["mean"].last()
    if not len(final):
        return None, f"no checkpoint has a test {report.measure.symbol}"
    named = [value for name, value in final.items() if looks[name].is_named]
    target = facts.get("target", np.nan)
    limits = span(final, [*named, target])
    results = report.part("results", facts["setting"], facts["data_set"])
    figure, every, steps = _panels(own, results, "mean", looks, limits, band="std")
    for axes in every:
        axes.set_ylim(*limits)
        if np.isfinite(target):
            axes.axhline(target, color="0.4", linewidth=0.8, linestyle=":", zorder=1)
    every[0].set_ylabel(f"test {report.measure.symbol}", fontsize=type_size())
    sentence = (
        f"Mean test {report.measure.title} on {text(facts['data_set'])} over the runs with whole curves, "
        "against seconds of training and passes over the training rows, log scales; higher and further left "
        "is better. "
        f"Values far below the final ones are not shown.{steps}"
    )
    if own.loc[own["method"].map(lambda name: looks[name].is_named), "std"].gt(0).any():
        sentence += " Bands are one standard deviation to either side."
    if np.isfinite(target):
        sentence += f" The dotted line is the target ({fixed(target)})."
    return figure, sentence


def suboptimality(report: Report, own: "pd.DataFrame", facts: Any, looks: dict[str, Style]) -> Picture:
    """The relative suboptimality of the training objective against seconds and passes."""
    if "suboptimality" not in own or not own["suboptimality"].gt(0).any():
        return None, "no run knows the minimum of its training objective"
    own = own[own["suboptimality"].gt(0)]
    results = report.part("results", facts["setting"], facts["data_set"])
    figure, every, steps = _panels(own, results, "suboptimality", looks, (0.0, np.inf))
    for axes in every:
        logarithmic(axes, "y", own["suboptimality"])
    every[0].set_ylabel("relative suboptimality", fontsize=type_size())
    return figure, (
        "How far the training objective is above its certified minimum, as a share of that minimum, mean "
        "over the runs, against seconds of training and against passes over the training rows, log scales; "
        f"lower and further left is better. Each method is measured by its own objective.{steps}"
    )


def _panels(
    own: "pd.DataFrame",
    results: "pd.DataFrame",
    quantity: str,
    looks: dict[str, Style],
    limits: tuple[float, float],
    band: str = "",
) -> tuple[Any, list[Any], str]:
    """Lines of a quantity against each of the costs, where it is within limits, and their legend.

    Returns the figure, its axes, and a sentence on open marks where there are any.
    """
    narrow, size = width() < NARROW, type_size()
    shape = (len(COSTS), 1) if narrow else (1, len(COSTS))
    figure, every = begin(3.6 if narrow else 2.9, *shape, sharey=True)
    by_method = {
        name: part for name, part in own.groupby("method", sort=False) if part[quantity].notna().any()
    }
    drawn = {name: style for name, style in looks.items() if name in by_method}
    batch = set(results.loc[results["iteration"] != "", "method"]) & set(drawn)
    for axes, (column, (heading, unit)) in zip(every, COSTS.items(), strict=True):
        any_cost = own[column].gt(0).any()  # else the axis is linear, and shows that there was none
        for name, style in drawn.items():
            part = by_method[name]
            part = part[part[column].gt(0)] if any_cost else part
            axes.plot(part[column], part[quantity], **style.line(name in batch))
            if band and style.is_named:
                low, high = part[quantity] - part[band], part[quantity] + part[band]
                axes.fill_between(part[column], low, high, color=style.colour, alpha=0.12, linewidth=0)
        logarithmic(axes, "x", own.loc[own[quantity].between(*limits), column], unit)
        axes.set_xlabel(heading, fontsize=size)
        axes.tick_params(labelsize=size)
    legend(figure, drawn, batch=batch)
    told = any(drawn[name].is_named for name in batch)
    steps = " Open marks are iterations over all rows, such as Newton steps; other methods' are a few rows."
    return figure, list(every), steps * told
