"""Pictures of the training objective: suboptimality against cost, and targets reached over all data sets."""

from collections.abc import Mapping

import numpy as np

from aucbench.reports.render import display
from aucbench.reports.render.figure_style import (
    Picture,
    Style,
    against_log,
    begin,
    height,
    legend,
    logarithmic,
)
from aucbench.reports.report import Board, Overall

AXES = {
    "samples": ("examples seen", "examples seen"),
    "seconds": ("training seconds", "seconds of training"),
    "passes": ("passes over the training rows", "passes over the training rows"),
}


def suboptimality(board: Board, styles: Mapping[str, Style], against: str) -> Picture | None:
    """Relative suboptimality of the training objective against a cost, both on logarithmic axes."""
    objectives = display.objectives(board)
    signs = {method: each.sign for each in objectives for method in each.methods}
    several = len(objectives) > 1
    found = []
    for row in board.rows:
        curve = row.curve
        if curve is not None and curve.suboptimality is not None:
            found.append((row.method, np.asarray(getattr(curve, against), float), curve.suboptimality))
    if not found:
        return None
    methods = [method for method, _, _ in found]
    labels = legend(styles, methods, [f"{signs[method]} {method}" for method in methods] if several else ())
    figure, axes = begin(height(labels))
    for label, (method, x, values) in zip(labels, found, strict=True):
        shown = (x > 0) & np.isfinite(values)
        axes.plot(x[shown], values[shown], label=label, **styles[method].line(True, int(shown.sum())))
    axes.set_yscale("log")
    logarithmic(axes.yaxis, *axes.get_ylim())
    label, what = AXES[against]
    title = f"{board.dataset} ({'tuned' if board.tuned else 'not tuned'})"
    against_log(axes, label, "relative suboptimality", title)
    sentence = (
        "How far the training objective is above its certified minimum, as a share of that minimum, against "
        f"{what}, mean over the runs, log scales; lower and further left is better."
    )
    if several:
        sentence += " Each method has its own objective: "
        sentence += "; ".join(f"{each.sign}: {each.text}" for each in objectives) + "."
    elif objectives:
        sentence += f" The objective is {objectives[0].text}."
    return figure, sentence


def reached(overall: Overall, styles: Mapping[str, Style], against: str) -> Picture | None:
    """The share of pairs of data set and target that each method reached within a cost."""
    profiles = overall.reached.get(against)
    if not profiles:
        return None
    labels = legend(
        styles,
        list(profiles),
        [
            method if boards == overall.boards else f"{method} ({boards} of {overall.boards} data sets)"
            for method, (_, _, boards) in profiles.items()
        ],
    )
    figure, axes = begin(height(labels))
    for label, (method, (cost, shares, _)) in zip(labels, profiles.items(), strict=True):
        shown = cost > 0
        axes.step(cost[shown], shares[shown], where="post", label=label, **styles[method].line())
    against_log(axes, AXES[against][0], "share of targets reached", "targets reached")
    axes.set_ylim(0.0, 1.03)
    return figure, (
        "Share of all pairs of a data set and a relative suboptimality (1e-2, 1e-3, 1e-4) that a method "
        f"reaches within so many {AXES[against][1]}, the median over the runs; higher is better. Each method "
        "is measured against the certified minimum of its own objective."
    )
