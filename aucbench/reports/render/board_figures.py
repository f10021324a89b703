"""Pictures of one board: curves, AUC against cost, runs, paired tests and the sensitivity of tuned fields."""

from collections.abc import Mapping, Sequence

import numpy as np

from aucbench.reports.render import display
from aucbench.reports.render.display import line
from aucbench.reports.render.figure_style import (
    Picture,
    Style,
    against_log,
    begin,
    begin_rows,
    fitting,
    height,
    legend,
    logarithmic,
    p_values,
    short,
    width,
)
from aucbench.reports.report import Board, MeasureText


def curves(
    board: Board, styles: Mapping[str, Style], against: str, other: MeasureText | None = None
) -> Picture | None:
    """The measure of the board, or another one, against samples or seconds, on a logarithmic axis."""
    rows = [row for row in board.rows if row.curve and (other is None or other.name in row.curve.others)]
    if not rows:
        return None
    labels = legend(styles, [row.method for row in rows])
    figure, axes = begin(height(labels))
    banded, ends = False, []
    for row, label in zip(rows, labels, strict=True):
        assert row.curve is not None
        style, curve = styles[row.method], row.curve
        x = np.asarray(curve.samples if against == "samples" else curve.seconds, float)
        values = curve.auc if other is None else curve.others[other.name]
        shown = (x > 0) & np.isfinite(values)
        axes.plot(x[shown], values[shown], label=label, **style.line(True, int(shown.sum())))
        ends += [(float(value), row.linear) for value in values[shown][-1:]]
        if other is not None or style.is_grey:
            continue
        banded |= bool((curve.high > curve.low).any())
        axes.fill_between(
            x[shown], curve.low[shown], curve.high[shown], color=style.colour, alpha=0.12, linewidth=0
        )
    measure, has_target = other or board.measure, other is None and np.isfinite(board.target)
    low, high = zoomed(ends)
    if has_target:
        low, high = min(low, board.target), max(high, board.target)
        axes.axhline(board.target, color="0.5", linewidth=0.8, linestyle=":")
    axes.set_ylim(low, high)
    label = "examples seen" if against == "samples" else "training seconds"
    title = f"{board.dataset} ({'tuned' if board.tuned else 'not tuned'})"
    against_log(axes, label, f"test {measure.symbol}", title)
    what = "examples seen" if against == "samples" else "seconds of training"
    sentence = f"Mean test {measure.title} over the runs against {what}, log scale; higher and further left "
    sentence += "is better. Values far below the final ones are not shown."
    if banded:
        sentence += " The band is one standard deviation to either side."
    if has_target:
        sentence += f" The dotted line is the target ({board.target:.4f})."
    return figure, sentence


def zoomed(ends: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """The range of an axis around final values, each with whether it is that of a linear method.

    It begins somewhat below the worst quarter, as in the zoom of the page (`zoomed` in `board_charts.js`).
    References that are not linear may be far above all others, and do not widen it downwards.
    """
    if not ends:
        return 0.5, 1.0
    top = max(value for value, _ in ends)
    finals = sorted(value for value, linear in ends if linear) or sorted(value for value, _ in ends)
    quarter, best = finals[len(finals) // 4], finals[-1]
    spread = max(best - quarter, 0.005)
    low, high = quarter - spread, max(top, best + spread / 2)
    more = 0.03 * (high - low)
    return max(0.0, low - more), min(1.0, high + more)


def pareto(board: Board, styles: Mapping[str, Style]) -> Picture | None:
    """AUC against training seconds, one point a method."""
    rows = [row for row in board.rows if np.isfinite(row.auc.value) and row.train_seconds > 0]
    if not rows:
        return None
    labels = legend(styles, [row.method for row in rows])
    figure, axes = begin(height(labels))
    for row, label in zip(rows, labels, strict=True):
        style = styles[row.method]
        axes.errorbar(
            row.train_seconds, row.auc.value, yerr=0.0 if np.isnan(row.std) else row.std, color=style.colour,
            marker=style.marker, markersize=4 if style.is_grey else 7, linestyle="none", capsize=2,
            zorder=1 if style.is_grey else 2.5, label=label,
        )  # fmt: skip
    front = sorted((row.train_seconds, row.auc.value) for row in rows if row.on_front)
    if front:
        front.append((max(row.train_seconds for row in rows), front[-1][1]))
        axes.step(*zip(*front, strict=True), where="post", color="0.6", linewidth=0.9, zorder=0)
    symbol = board.measure.symbol
    against_log(axes, "training seconds", f"test {symbol}", f"{board.dataset}: {symbol} against cost")
    marked = [row.method for row in rows if row.timing_mark]
    sentence = (
        f"Mean test {board.measure.title} and training time of each method, bars one standard deviation; the "
        "grey line is the Pareto front."
    )
    if any(map(display.trouble, board.rows)):
        sentence += " Means of methods with gaps are over the runs that finished."
    if marked:
        sentence += f" Not comparable in time, and not considered for the front: {', '.join(marked)}."
    return figure, sentence


def runs(board: Board, styles: Mapping[str, Style]) -> Picture | None:
    """The final AUC of every run, as boxes and points."""
    rows = [row for row in board.rows if np.isfinite(row.aucs).any()]
    if not rows:
        return None
    shown, missing = fitting([row.method for row in rows], board.baseline)
    rows = [row for row in rows if row.method in shown]
    figure, axes = begin_rows(shown)
    rng = np.random.default_rng(0)
    for place, row in enumerate(rows):
        aucs = np.array([auc for auc in row.aucs if np.isfinite(auc)])
        colour = styles[row.method].colour
        axes.boxplot(
            [aucs], positions=[place], orientation="horizontal", widths=0.6, showfliers=False,
            medianprops={"color": colour}, boxprops={"color": "0.5"}, whiskerprops={"color": "0.5"},
            capprops={"color": "0.5"}, manage_ticks=False,
        )  # fmt: skip
        spread = place + rng.uniform(-0.18, 0.18, len(aucs))
        axes.scatter(aucs, spread, color=colour, s=12, alpha=0.8, linewidths=0, zorder=3)
    axes.set_xlabel(f"test {board.measure.symbol}")
    axes.set_title(line(f"{board.dataset}: single runs"))
    gaps = " Runs that gave no AUC are not shown." if any(map(display.trouble, board.rows)) else ""
    return figure, (
        "One point a run; boxes hold the middle half, the line is the median, whiskers reach to the last "
        f"point within 1.5 box lengths. Further right is better.{gaps}{missing}"
    )


def board_tests(board: Board) -> Picture | None:
    """P-values of the paired tests."""
    return p_values(
        [row.method for row in board.rows], board.baseline, board.pairwise,
        f"{board.dataset}: paired t-tests",
        f"P-value of two methods after Holm's correction ({board.procedure}); dark cells (p < 0.05) differ. "
        "Methods are in order of their means, those with gaps last.",
    )  # fmt: skip


def sensitivity(board: Board, styles: Mapping[str, Style]) -> list[tuple[str, Picture]]:
    """Validation AUC over the tuned fields, one picture a method."""
    tuned = {method: display.tuned_fields(trials) for method, trials in board.trials.items()}
    return [
        (method, _sensitivity(board, method, own, styles[method])) for method, own in tuned.items() if own
    ]


def _sensitivity(board: Board, method: str, tuned: list[display.TunedField], style: Style) -> Picture:
    figure, every = begin(min(4.2, 0.65 * width()), len(tuned))
    for axes, own in zip(np.atleast_1d(every), tuned, strict=True):
        places = {value: value if own.numeric else at for at, (value, _) in enumerate(own.best)}
        x, aucs = zip(*((places[value], auc) for value, auc in own.points), strict=True)
        axes.scatter(x, aucs, color=style.colour, s=12, alpha=0.5, linewidths=0)
        axes.plot(list(places.values()), [auc for _, auc in own.best], color=style.colour, linewidth=1.4)
        if not own.numeric:
            axes.set_xticks(list(places.values()), short(list(places), 12))
        elif min(places) > 0:
            axes.set_xscale("log")
            logarithmic(axes.xaxis, min(places), max(places))
        axes.set_xlabel(line(own.name))
    np.atleast_1d(every)[0].set_ylabel(f"validation {board.tuned_by}")
    name = short([method], 40 * len(tuned))[0]
    figure.suptitle(f"{name} on {line(board.dataset)}", fontsize="medium")
    return figure, (
        "Each point is a setting that was tried; the line joins the best for each value of a field. A flat "
        "line means that the field hardly matters."
    )
