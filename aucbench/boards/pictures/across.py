"""Pictures across boards: ranks, performance profiles, tests."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aucbench.boards.pictures.matrices import matrix
from aucbench.boards.pictures.styling import Style, begin, height, legend, logarithmic, short
from aucbench.boards.report import Overall
from aucbench.boards.texts import line

Picture = tuple[Any, str]


def ranks(overall: Overall, styles: Mapping[str, Style]) -> Picture | None:
    """Mean ranks with intervals; bars join methods that do not differ significantly."""
    ranked = sorted(overall.ranks.items(), key=lambda item: item[1].value)
    if len(ranked) < 2:
        return None
    labels = short([method for method, _ in ranked])
    figure, axes = begin(7.0, 1.6 + sum(0.34 + 0.12 * label.count("\n") for label in labels))
    for place, (method, rank) in enumerate(ranked):
        style = styles[method]
        axes.plot([rank.low, rank.high], [place, place], color=style.colour, linewidth=1.6)
        axes.plot(rank.value, place, marker=style.marker, color=style.colour, markersize=7)
    _bars(axes, [method for method, _ in ranked], overall)
    axes.set_yticks(range(len(ranked)), labels)
    axes.invert_yaxis()
    axes.set_xlabel("mean rank (1 is best)")
    axes.set_title(f"{overall.boards} boards, {'tuned' if overall.tuned else 'not tuned'}")
    return figure, (
        "Mean rank over the boards on which every method shown has all runs, with a 95 % bootstrap interval; "
        f"further left is better. Grey lines join, by their dots, methods that do not differ significantly "
        f"({overall.procedure})."
    )


def critical_difference(overall: Overall, styles: Mapping[str, Style]) -> Picture | None:
    """The diagram of Demsar (2006), from ten boards on."""
    if overall.friedman is None:
        return None
    ranked = sorted(overall.ranks.items(), key=lambda item: item[1].value)
    half = (len(ranked) + 1) // 2
    groups = overall.cliques
    top = -0.6 - 0.2 * len(groups)  # of the first name, under all bars
    labels = short([method for method, _ in ranked], 34)
    tall = max(label.count("\n") for label in labels)
    figure, axes = begin(9.0, 1.8 + (0.3 + 0.16 * tall) * half + 0.06 * len(groups))
    low, high = 1.0, float(len(ranked))
    axes.set_xlim(low - 0.45 * (high - low), high + 0.45 * (high - low))
    axes.set_ylim(top - half, 1.8)
    axes.axis("off")
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(1, len(ranked) + 1):
        axes.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        axes.text(tick, 0.2, str(tick), ha="center", va="bottom", fontsize="small")
    width = overall.friedman["critical_difference"]
    axes.plot([low, low + width], [1.0, 1.0], color="black", linewidth=2)
    axes.text(low + width / 2, 1.08, f"CD = {width:.2f}", ha="center", va="bottom", fontsize="small")
    for place, (method, rank) in enumerate(ranked):
        left = place < half
        row = top - (place if left else len(ranked) - 1 - place)
        end = low - 0.05 * (high - low) if left else high + 0.05 * (high - low)
        axes.plot([rank.value, rank.value, end], [0, row, row], color=styles[method].colour, linewidth=1)
        axes.text(
            end,
            row,
            labels[place],
            ha="right" if left else "left",
            va="center",
            fontsize="small",
        )
    for level, members in enumerate(groups):
        values = [overall.ranks[method].value for method in members]
        at = -0.24 - 0.2 * level
        axes.plot([min(values) - 0.04, max(values) + 0.04], [at, at], color="0.35", linewidth=3)
    return figure, (
        "Critical-difference diagram (Demsar 2006): mean ranks on the axis, 1 is best. Methods joined by a "
        "thick bar do not differ by Nemenyi's test at 95 %; the bar above shows how far apart ranks must be."
    )


def gains(overall: Overall, styles: Mapping[str, Style], name: str) -> Picture | None:
    """Mean gains over the baseline with intervals."""
    found = {method: gain for method, gain in overall.gains.items() if method != overall.baseline}
    if not overall.baseline or not found:
        return None
    ordered = sorted(found.items(), key=lambda item: -item[1].value)
    labels = short([method for method, _ in ordered])
    figure, axes = begin(7.0, 1.6 + sum(0.34 + 0.12 * label.count("\n") for label in labels))
    for place, (method, gain) in enumerate(ordered):
        style = styles[method]
        axes.plot([gain.low, gain.high], [place, place], color=style.colour, linewidth=1.6)
        axes.plot(gain.value, place, marker=style.marker, color=style.colour, markersize=7)
    axes.axvline(0.0, color="0.5", linewidth=0.8)
    axes.set_yticks(range(len(ordered)), labels)
    axes.invert_yaxis()
    axes.set_xlabel(f"mean gain in test AUC over {line(overall.baseline)}")
    axes.set_title(f"gain over {line(name)}, {'tuned' if overall.tuned else 'not tuned'}")
    return figure, (
        f"Mean difference of test AUC, method - {line(overall.baseline)}, over the boards on which neither "
        "has gaps, with a 95 % t interval over these boards; further right is better."
    )


def profile(overall: Overall, styles: Mapping[str, Style]) -> Picture | None:
    """Performance profiles of the AUC gap."""
    if not overall.profile:
        return None
    labels = short(list(overall.profile))
    figure, axes = begin(8.4, height(labels))
    for label, (method, (ratios, shares)) in zip(labels, overall.profile.items(), strict=True):
        style = styles[method]
        axes.step(ratios, shares, where="post", color=style.colour, linestyle=style.dashes, label=label)
    axes.set_xscale("log")
    logarithmic(axes.xaxis, *axes.get_xlim())
    axes.set_ylim(0.0, 1.03)
    axes.set_xlabel("(1 - AUC) relative to the best method")
    axes.set_ylabel("share of the boards")
    axes.set_title("performance profile")
    legend(axes)
    return figure, (
        "For each factor, the share of boards on which a method's 1 - AUC is within that factor of the best "
        "method's (Dolan and More 2002). Higher is better; the value at the left edge is the share of boards "
        "on which it is best."
    )


def tests(overall: Overall) -> Picture | None:
    """Holm-corrected p-values of Wilcoxon's tests."""
    methods = [method for method in overall.methods if method in overall.ranks_with_gaps]
    figure = matrix(methods, overall.pairwise, "Wilcoxon's tests across boards, Holm's correction")
    return figure and (
        figure,
        "Corrected p-value of Wilcoxon's signed-rank test of two methods over their means on the boards that "
        "both have; dark cells (p < 0.05) differ.",
    )


def _groups(methods: list[str], overall: Overall) -> list[list[str]]:
    letters = sorted({letter for method in methods for letter in overall.groups.get(method, "")})
    groups = [[m for m in methods if letter in overall.groups.get(m, "")] for letter in letters]
    return [group for group in groups if len(group) > 1]


def _bars(axes: Any, methods: list[str], overall: Overall) -> None:
    lows = [rank.low if np.isfinite(rank.low) else rank.value for rank in overall.ranks.values()]
    low, step = min(lows), 0.02 * max(len(methods), 5)
    for level, members in enumerate(_groups(methods, overall)):
        places = [methods.index(method) for method in members]
        x = low - step * (level + 1.5)
        axes.plot([x] * len(places), places, color="0.6", linewidth=2, marker="o", markersize=5)
