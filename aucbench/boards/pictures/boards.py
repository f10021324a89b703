"""Pictures of one board: curves, cost, runs, tests, sensitivity."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aucbench.boards.pictures.matrices import matrix
from aucbench.boards.pictures.styling import Style, begin, height, legend, logarithmic, short
from aucbench.boards.report import Board
from aucbench.boards.texts import line

Picture = tuple[Any, str]  # the figure, and how to read it


def curves(board: Board, styles: Mapping[str, Style], against: str) -> Picture | None:
    """AUC against samples or seconds, on a logarithmic axis."""
    rows = [row for row in board.rows if row.curve is not None]
    if not rows:
        return None
    labels = short([row.method for row in rows])
    figure, axes = begin(8.4, height(labels))
    banded = False
    for row, label in zip(rows, labels, strict=True):
        assert row.curve is not None
        style, curve = styles[row.method], row.curve
        x = np.asarray(curve.samples if against == "samples" else curve.seconds, float)
        shown = x > 0
        every = max(1, int(shown.sum()) // 8)
        axes.plot(
            x[shown], curve.auc[shown], color=style.colour, linestyle=style.dashes, marker=style.marker,
            markevery=every, markersize=4, linewidth=1.4, label=label,
        )  # fmt: skip
        banded |= bool((curve.high > curve.low).any())
        axes.fill_between(
            x[shown], curve.low[shown], curve.high[shown], color=style.colour, alpha=0.12, linewidth=0
        )
    if np.isfinite(board.target):
        axes.axhline(board.target, color="0.5", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    logarithmic(axes.xaxis, *axes.get_xlim())
    axes.set_xlabel("examples seen" if against == "samples" else "training seconds")
    axes.set_ylabel("test AUC")
    axes.set_title(line(f"{board.dataset} ({'tuned' if board.tuned else 'not tuned'})"))
    legend(axes)
    what = "examples seen" if against == "samples" else "seconds of training"
    band = " The band is one standard deviation to either side." if banded else ""
    target = f" The dotted line is the target ({board.target:.4f})." if np.isfinite(board.target) else ""
    return figure, (
        f"Mean test AUC over the runs against {what}, log scale; higher and further left is better."
        f"{band}{target}"
    )


def pareto(board: Board, styles: Mapping[str, Style]) -> Picture | None:
    """AUC against training seconds, one point a method."""
    rows = [row for row in board.rows if np.isfinite(row.auc.value) and row.train_seconds > 0]
    if not rows:
        return None
    labels = short([row.method for row in rows])
    figure, axes = begin(8.4, height(labels))
    for row, label in zip(rows, labels, strict=True):
        style = styles[row.method]
        axes.errorbar(
            row.train_seconds, row.auc.value, yerr=0.0 if np.isnan(row.std) else row.std, color=style.colour,
            marker=style.marker, markersize=7, linestyle="none", capsize=2, label=label,
        )  # fmt: skip
    front = sorted((row.train_seconds, row.auc.value) for row in rows if row.on_front)
    if front:
        front.append((max(row.train_seconds for row in rows), front[-1][1]))
        axes.step(*zip(*front, strict=True), where="post", color="0.6", linewidth=0.9, zorder=0)
    axes.set_xscale("log")
    logarithmic(axes.xaxis, *axes.get_xlim())
    axes.set_xlabel("training seconds")
    axes.set_ylabel("test AUC")
    axes.set_title(line(f"{board.dataset}: AUC against cost"))
    legend(axes)
    marked = [row.method for row in rows if row.timing_mark]
    times = (
        f" Not comparable in time, and not considered for the front: {', '.join(marked)}." if marked else ""
    )
    gaps = " Means of methods with gaps are over the runs that finished." if _gaps(board) else ""
    return figure, (
        "Mean test AUC and training time of each method, bars one standard deviation; the grey line is "
        f"the Pareto front.{gaps}{times}"
    )


def runs(board: Board, styles: Mapping[str, Style]) -> Picture | None:
    """The final AUC of every run, as boxes and points."""
    rows = [row for row in board.rows if np.isfinite(row.aucs).any()]
    if not rows:
        return None
    labels = short([row.method for row in rows])
    figure, axes = begin(7.0, 1.4 + sum(0.36 + 0.12 * label.count("\n") for label in labels))
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
    axes.set_yticks(range(len(rows)), labels)
    axes.invert_yaxis()
    axes.set_xlabel("test AUC")
    axes.set_title(line(f"{board.dataset}: single runs"))
    gaps = " Runs that gave no AUC are not shown." if _gaps(board) else ""
    return figure, (
        "One point a run; boxes hold the middle half, the line is the median, whiskers reach to the last "
        f"point within 1.5 box lengths. Further right is better.{gaps}"
    )


def tests(board: Board) -> Picture | None:
    """P-values of the paired tests."""
    methods = [row.method for row in board.rows]
    figure = matrix(methods, board.pairwise, f"{board.dataset}: paired t-tests")
    return figure and (
        figure,
        f"P-value of two methods after Holm's correction ({board.procedure}); dark cells (p < 0.05) differ. "
        "Methods are in order of their mean AUC, those with gaps last.",
    )


def sensitivity(board: Board, styles: Mapping[str, Style]) -> list[tuple[str, Picture]]:
    """Validation AUC over the tuned fields, one picture a method."""
    found = []
    for method, trials in board.trials.items():
        known = [(trial.parameters, trial.auc) for trial in trials if trial.auc is not None]
        by_field = {}
        for field in sorted({field for parameters, _ in known for field in parameters}):
            points = [(parameters[field], auc) for parameters, auc in known if field in parameters]
            if len({str(value) for value, _ in points}) > 1:
                by_field[field] = points
        if by_field:
            found.append((method, _sensitivity(board, method, by_field, styles[method])))
    return found


def _sensitivity(
    board: Board, method: str, by_field: Mapping[str, list[tuple[Any, float]]], style: Style
) -> Picture:
    figure, every = begin(1.2 + 4.2 * len(by_field), 4.2, len(by_field))
    for axes, (field, points) in zip(np.atleast_1d(every), by_field.items(), strict=True):
        _field(axes, points, style)
        axes.set_xlabel(line(field))
    np.atleast_1d(every)[0].set_ylabel("validation AUC")
    name = short([method], 40 * len(by_field))[0]
    figure.suptitle(f"{name} on {line(board.dataset)}", fontsize="medium")
    return figure, (
        "Each point is a setting that was tried; the line joins the best for each value of a field. A flat "
        "line means that the field hardly matters."
    )


def _field(axes: Any, points: list[tuple[Any, float]], style: Style) -> None:
    values = [value for value, _ in points]
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    names = sorted(set(map(str, values)))
    x = [float(value) if numeric else float(names.index(str(value))) for value in values]
    aucs = [auc for _, auc in points]
    axes.scatter(x, aucs, color=style.colour, s=12, alpha=0.5, linewidths=0)
    places = sorted(set(x))
    best = [max(auc for at, auc in zip(x, aucs, strict=True) if at == place) for place in places]
    axes.plot(places, best, color=style.colour, linewidth=1.4)
    if not numeric:
        axes.set_xticks(range(len(names)), short(names, 12))
    elif min(places) > 0:
        axes.set_xscale("log")
        logarithmic(axes.xaxis, min(places), max(places))


def _gaps(board: Board) -> bool:
    return any(row.gaps for row in board.rows)
