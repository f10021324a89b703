"""Pictures of a report as PNG, SVG and PDF, each with a sentence that says how to read it."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aucbench.reports.render import board_figures, objective_figures
from aucbench.reports.render.display import line
from aucbench.reports.render.figure_style import (
    TALLEST,
    Picture,
    Style,
    against_log,
    begin,
    begin_rows,
    fitting,
    height,
    highlighted,
    legend,
    look,
    p_values,
    short,
    styles,
    type_size,
)
from aucbench.reports.render.markdown import plain
from aucbench.reports.report import Estimate, Overall, Report

FORMATS = ("png", "svg", "pdf")
CAPTIONS = "pictures.md"  # the sentences once more, as text
TICKS = 12  # of the axis of ranks, at most
UNIT = 0.34  # inches, of a critical-difference diagram


class Pictures(NamedTuple):
    """How pictures are drawn."""

    width: str = "page"  # one of `figure_style.WIDTHS`
    titles: bool = False  # whether titles and sentences are part of them


def draw_all(
    report: Report, folder: Path, wanted: Pictures | None = None, formats: tuple[str, ...] = FORMATS
) -> list[Path]:
    """Draw and write every picture that the report has numbers for; returns the files.

    Titles, and the sentences that say how to read a picture, are drawn on request only: a paper has captions
    of its own. All sentences stand in a file beside the pictures.
    """
    wanted = wanted or Pictures()
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    captions: list[str] = []
    taken: set[str] = set()
    with look(wanted.width):
        for title, figure, sentence in pictures(report):
            name = _file_name(title, taken)
            captions.append(f"- `{name}` ({plain(title)}): {plain(sentence)}")
            if wanted.titles:
                lines = textwrap.wrap(sentence, int(figure.get_figwidth() * 14))
                figure.supxlabel("\n".join(lines), fontsize="x-small", color="0.25")
            else:
                _remove_titles(figure)
            for form in formats:
                file = folder / f"{name}.{form}"
                figure.savefig(file, dpi=150, metadata={"Date": None} if form == "svg" else None)
                files.append(file)
    (folder / CAPTIONS).write_text("\n".join(captions) + "\n", encoding="utf-8")
    return [*files, folder / CAPTIONS]


def _remove_titles(figure: Any) -> None:
    for axes in figure.axes:
        axes.set_title("")
    figure.suptitle("")


def pictures(report: Report) -> Iterator[tuple[str, Any, str]]:
    """Title, figure and sentence of every picture that the report has numbers for."""
    for title, picture in _drawn(report):
        if picture is not None:
            yield title, *picture


def _drawn(report: Report) -> Iterator[tuple[str, Picture | None]]:
    style = styles(report)
    for overall in report.overall:
        if overall.boards < 2:
            continue
        kind, few = "tuned" if overall.tuned else "untuned", highlighted(style, overall)
        yield f"ranks-{kind}", ranks(overall, few)
        yield f"gains-{kind}", gains(overall, few, report.baseline)
        yield f"critical-difference-{kind}", critical_difference(overall, few)
        yield f"profile-{kind}", profile(overall, few)
        yield f"tests-{kind}", overall_tests(overall)
        for cost in overall.reached:
            yield f"reached-{kind}-{cost}", objective_figures.reached(overall, few, cost)
    of_board = {
        board.number: highlighted(style, overall) for overall, boards in report.groups() for board in boards
    }
    for board in report.boards:
        where = f"{board.number}-{board.dataset}"
        name, own = board.measure.name, of_board.get(board.number, style)
        yield f"{where}-{name}-samples", board_figures.curves(board, own, "samples")
        yield f"{where}-{name}-seconds", board_figures.curves(board, own, "seconds")
        yield f"{where}-{name}-cost", board_figures.pareto(board, own)
        for other in report.others:
            yield f"{where}-{other.name}-samples", board_figures.curves(board, own, "samples", other)
        for cost in objective_figures.AXES:
            yield (
                f"{where}-suboptimality-{cost}",
                objective_figures.suboptimality(board, own, cost),
            )
        yield f"{where}-runs", board_figures.runs(board, own)
        yield f"{where}-tests", board_figures.board_tests(board)
        for name, picture in board_figures.sensitivity(board, style):
            yield f"{where}-sensitivity-{name}", picture


def _file_name(title: str, taken: set[str]) -> str:
    """A name that every file system takes, and no other picture has."""
    safe = re.sub(r"[^A-Za-z0-9.=_-]+", "-", title).strip("-.")[:100] or "picture"
    name, number = safe, 2
    while name.lower() in taken:
        name, number = f"{safe}-{number}", number + 1
    taken.add(name.lower())
    return name


def ranks(overall: Overall, styles: Mapping[str, Style]) -> Picture | None:
    """Mean ranks with intervals; filled marks are methods that are tied with the best."""
    ranked = sorted(overall.ranks.items(), key=lambda item: item[1].value)
    if len(ranked) < 2:
        return None
    best = set(overall.groups.get(ranked[0][0], ""))
    letters = {method: set(overall.groups.get(method, "")) for method, _ in ranked}
    worse = [method for method, own in letters.items() if best and own and not best & own]
    figure, axes, missing = _intervals(ranked, styles, overall.baseline, hollow=worse)
    axes.set_xlim(left=1.0)
    axes.set_xticks(_ticks(1, int(axes.get_xlim()[1])))
    axes.set_xlabel("mean rank (1 is best)")
    axes.set_title(f"{overall.boards} boards, {'tuned' if overall.tuned else 'not tuned'}")
    sentence = (
        "Mean rank over the boards on which every method shown has all runs, with a 95 % bootstrap interval; "
        "further left is better."
    )
    if best:
        for label, fill in [("tied with best", "0.3"), ("significantly worse", "white")][: 1 + bool(worse)]:
            axes.plot([], [], "o", color="0.3", markerfacecolor=fill, label=label)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
        sentence += (
            f" Filled marks are tied with the best, hollow ones significantly worse ({overall.procedure})."
        )
    return figure, sentence + missing


def critical_difference(overall: Overall, styles: Mapping[str, Style]) -> Picture | None:
    """The diagram of Demsar (2006), from ten boards on."""
    if overall.friedman is None:
        return None
    distance = overall.friedman["critical_difference"]
    top = -0.6 - 0.2 * len(overall.cliques)  # of the first name, under all bars; in units, as all below
    names = sorted(overall.ranks, key=lambda method: overall.ranks[method].value)
    room = TALLEST - UNIT * (1.8 - top)
    shown, missing = fitting(names, overall.baseline, 2 * room, 34)  # on two sides
    overall = overall.only(shown)
    ranked = [(method, overall.ranks[method]) for method in shown]
    half = (len(ranked) + 1) // 2
    labels = short(shown, 34)
    apart = min(0.2 + 0.14 * max(label.count("\n") for label in labels), room / half) / UNIT
    size = type_size(labels[:half], UNIT * apart * half)
    figure, axes = begin(UNIT * (1.8 - top + apart * half))
    # Ranks are those among all methods, of which a part may be drawn.
    low = float(np.floor(ranked[0][1].value))
    high = float(np.ceil(max(ranked[-1][1].value, low + distance)))
    axes.set_xlim(low - 0.45 * (high - low), high + 0.45 * (high - low))
    axes.set_ylim(top - apart * half, 1.8)
    axes.axis("off")
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in _ticks(int(low), int(high)):
        axes.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        axes.text(tick, 0.2, str(tick), ha="center", va="bottom", fontsize="small")
    axes.plot([low, low + distance], [1.0, 1.0], color="black", linewidth=2)
    axes.text(low + distance / 2, 1.08, f"CD = {distance:.2f}", ha="center", va="bottom", fontsize="small")
    for place, (method, rank) in enumerate(ranked):
        left = place < half
        row = top - apart * (place if left else len(ranked) - 1 - place)
        end = low - 0.05 * (high - low) if left else high + 0.05 * (high - low)
        style = styles[method]
        look = {} if style.is_grey else {"linewidth": 1.0, "linestyle": "-"}
        axes.plot([rank.value, rank.value, end], [0, row, row], **style.line() | look)
        side = "right" if left else "left"
        end += (-0.02 if left else 0.02) * (high - low)  # clear of its line
        axes.text(end, row, labels[place], ha=side, va="center", fontsize=size)
    for level, members in enumerate(overall.cliques):
        values = [overall.ranks[method].value for method in members]
        at = -0.24 - 0.2 * level
        axes.plot([min(values) - 0.04, max(values) + 0.04], [at, at], color="0.35", linewidth=3)
    return figure, (
        "Critical-difference diagram (Demsar 2006): mean ranks on the axis, 1 is best. Methods joined by a "
        "thick bar do not differ by Nemenyi's test at 95 %; the bar above shows how far apart ranks must be."
        f"{missing}"
    )


def gains(overall: Overall, styles: Mapping[str, Style], name: str) -> Picture | None:
    """Mean gains over the baseline with intervals."""
    found = {method: gain for method, gain in overall.gains.items() if method != overall.baseline}
    if not overall.baseline or not found:
        return None
    ordered = sorted(found.items(), key=lambda item: -item[1].value)
    figure, axes, missing = _intervals(ordered, styles, overall.baseline)
    axes.axvline(0.0, color="0.5", linewidth=0.8)
    axes.set_xlabel(f"mean gain in test {overall.measure.symbol} over {line(overall.baseline)}")
    axes.set_title(f"gain over {line(name)}, {'tuned' if overall.tuned else 'not tuned'}")
    return figure, (
        f"Mean difference of test {overall.measure.title}, method - {line(overall.baseline)}, over the "
        "boards on which neither has gaps, with a 95 % t interval over these boards; further right is "
        f"better.{missing}"
    )


def profile(overall: Overall, styles: Mapping[str, Style]) -> Picture | None:
    """Performance profiles of the AUC gap."""
    if not overall.profile:
        return None
    labels = legend(styles, list(overall.profile))
    figure, axes = begin(height(labels))
    for label, (method, (ratios, shares)) in zip(labels, overall.profile.items(), strict=True):
        axes.step(ratios, shares, where="post", label=label, **styles[method].line())
    gap = f"1 - {overall.measure.symbol}"
    against_log(axes, f"({gap}) relative to the best method", "share of the boards", "performance profile")
    axes.set_ylim(0.0, 1.03)
    return figure, (
        f"For each factor, the share of boards on which a method's {gap} is within that factor of the best "
        "method's (Dolan and More 2002). Higher is better; the value at the left edge is the share of boards "
        "on which it is best."
    )


def overall_tests(overall: Overall) -> Picture | None:
    """Holm-corrected p-values of Wilcoxon's tests."""
    return p_values(
        [method for method in overall.methods if method in overall.ranks_with_gaps],
        overall.baseline,
        overall.pairwise,
        "Wilcoxon's tests across boards, Holm's correction",
        "Corrected p-value of Wilcoxon's signed-rank test of two methods over their means on the boards that "
        "both have; dark cells (p < 0.05) differ.",
    )


def _ticks(low: int, high: int) -> range:
    """Ranks at which an axis has ticks."""
    return range(low, high + 1, 1 + (high - low) // TICKS)


def _intervals(
    values: list[tuple[str, Estimate]],
    styles: Mapping[str, Style],
    baseline: str,
    hollow: Sequence[str] = (),
) -> tuple[Any, Any, str]:
    """A figure with a row for each method that fits, its axes, and a sentence on those that do not.

    The value is a mark, hollow for some methods, and its interval a line.
    """
    shown, missing = fitting([method for method, _ in values], baseline)
    figure, axes = begin_rows(shown)
    largest = axes.get_yticklabels()[0].get_size()
    for place, method in enumerate(shown):
        style, value = styles[method], dict(values)[method]
        axes.plot([value.low, value.high], [place, place], color=style.colour, linewidth=1.6)
        axes.plot(
            value.value, place, marker=style.marker, color=style.colour, clip_on=False,
            markersize=min(4.0 if style.is_grey else 7.0, largest),
            markerfacecolor="white" if method in hollow else style.colour,
        )  # fmt: skip
    return figure, axes, missing
