"""Pictures of a report as PNG, SVG and PDF, each with a sentence that says how to read it."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aucbench.leaderboard.render import display
from aucbench.leaderboard.render.display import line
from aucbench.leaderboard.render.figure_style import Style, begin, height, logarithmic, look, short, styles
from aucbench.leaderboard.render.markdown import plain
from aucbench.leaderboard.report import Board, Estimate, Overall, Pairwise, Report

FORMATS = ("png", "svg", "pdf")
CAPTIONS = "pictures.md"  # the sentences once more, as text
Picture = tuple[Any, str]  # the figure, and how to read it


def draw_all(report: Report, folder: Path, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """Draw and write every picture that the report has numbers for; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    captions: list[str] = []
    taken: set[str] = set()
    with look():
        for title, figure, sentence in pictures(report):
            name = _file_name(title, taken)
            captions.append(f"- `{name}` ({plain(title)}): {plain(sentence)}")
            lines = textwrap.wrap(sentence, int(figure.get_figwidth() * 14))
            figure.supxlabel("\n".join(lines), fontsize="x-small", color="0.25")
            for form in formats:
                file = folder / f"{name}.{form}"
                figure.savefig(file, dpi=150, metadata={"Date": None} if form == "svg" else None)
                files.append(file)
    (folder / CAPTIONS).write_text("\n".join(captions) + "\n", encoding="utf-8")
    return [*files, folder / CAPTIONS]


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
        kind = "tuned" if overall.tuned else "untuned"
        yield f"ranks-{kind}", ranks(overall, style)
        yield f"gains-{kind}", gains(overall, style, report.baseline)
        yield f"critical-difference-{kind}", critical_difference(overall, style)
        yield f"profile-{kind}", profile(overall, style)
        yield f"tests-{kind}", overall_tests(overall)
    for board in report.boards:
        where = f"{board.number}-{board.dataset}"
        yield f"{where}-auc-samples", curves(board, style, "samples")
        yield f"{where}-auc-seconds", curves(board, style, "seconds")
        yield f"{where}-auc-cost", pareto(board, style)
        yield f"{where}-runs", runs(board, style)
        yield f"{where}-tests", board_tests(board)
        for name, picture in sensitivity(board, style):
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
    """Mean ranks with intervals; bars join methods that do not differ significantly."""
    ranked = sorted(overall.ranks.items(), key=lambda item: item[1].value)
    if len(ranked) < 2:
        return None
    figure, axes = _intervals(ranked, styles)
    _bars(axes, [method for method, _ in ranked], overall)
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
        side = "right" if left else "left"
        axes.text(end, row, labels[place], ha=side, va="center", fontsize="small")
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
    figure, axes = _intervals(ordered, styles)
    axes.axvline(0.0, color="0.5", linewidth=0.8)
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
    _against_log(axes, "(1 - AUC) relative to the best method", "share of the boards", "performance profile")
    axes.set_ylim(0.0, 1.03)
    return figure, (
        "For each factor, the share of boards on which a method's 1 - AUC is within that factor of the best "
        "method's (Dolan and More 2002). Higher is better; the value at the left edge is the share of boards "
        "on which it is best."
    )


def overall_tests(overall: Overall) -> Picture | None:
    """Holm-corrected p-values of Wilcoxon's tests."""
    methods = [method for method in overall.methods if method in overall.ranks_with_gaps]
    figure = _matrix(methods, overall.pairwise, "Wilcoxon's tests across boards, Holm's correction")
    return figure and (
        figure,
        "Corrected p-value of Wilcoxon's signed-rank test of two methods over their means on the boards that "
        "both have; dark cells (p < 0.05) differ.",
    )


def _matrix(methods: list[str], pairwise: Pairwise, title: str) -> Any:
    """P-values of all pairs as a figure; None with fewer than two methods or no test at all."""
    import seaborn as sns

    size = len(methods)
    values = np.array([[pairwise.get((one, other), np.nan) for other in methods] for one in methods])
    if size < 2 or np.isnan(values).all():
        return None
    written = np.array([["<.01" if p < 0.01 else f"{p:.2f}" for p in row] for row in values])
    side = 2.6 + 0.46 * size
    figure, axes = begin(side + 1.6, side)
    names = short(methods, 24)
    sns.heatmap(
        values, vmin=0.0, vmax=0.2, cmap="viridis", annot=written if size <= 14 else None, fmt="",
        annot_kws={"fontsize": "x-small"}, xticklabels=names, yticklabels=names, ax=axes, square=True,
        cbar_kws={"label": "p-value", "shrink": 0.7, "extend": "max"}, linewidths=0.5, linecolor="white",
    )  # fmt: skip
    axes.set_title(line(title))
    axes.tick_params(axis="x", rotation=90, labelsize="small")
    axes.tick_params(axis="y", rotation=0, labelsize="small")
    axes.grid(visible=False)
    return figure


def _intervals(values: list[tuple[str, Estimate]], styles: Mapping[str, Style]) -> tuple[Any, Any]:
    """A figure with a line for each method: a marker at its value, and a bar over the interval."""
    labels = short([method for method, _ in values])
    figure, axes = begin(7.0, 1.6 + sum(0.34 + 0.12 * label.count("\n") for label in labels))
    for place, (method, value) in enumerate(values):
        style = styles[method]
        axes.plot([value.low, value.high], [place, place], color=style.colour, linewidth=1.6)
        axes.plot(value.value, place, marker=style.marker, color=style.colour, markersize=7)
    axes.set_yticks(range(len(values)), labels)
    axes.invert_yaxis()
    return figure, axes


def _against_log(axes: Any, x: str, y: str, title: str) -> None:
    """A logarithmic x axis, headings, and a legend beside the axes, where it hides nothing."""
    axes.set_xscale("log")
    logarithmic(axes.xaxis, *axes.get_xlim())
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(line(title))
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")


def _bars(axes: Any, methods: list[str], overall: Overall) -> None:
    """A bar for each letter that several methods share, to the left of all intervals."""
    lows = [rank.low if np.isfinite(rank.low) else rank.value for rank in overall.ranks.values()]
    low, step = min(lows), 0.02 * max(len(methods), 5)
    letters = sorted({letter for method in methods for letter in overall.groups.get(method, "")})
    groups = [
        [at for at, m in enumerate(methods) if letter in overall.groups.get(m, "")] for letter in letters
    ]
    for level, places in enumerate(group for group in groups if len(group) > 1):
        x = low - step * (level + 1.5)
        axes.plot([x] * len(places), places, color="0.6", linewidth=2, marker="o", markersize=5)


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
    label = "examples seen" if against == "samples" else "training seconds"
    _against_log(axes, label, "test AUC", f"{board.dataset} ({'tuned' if board.tuned else 'not tuned'})")
    what = "examples seen" if against == "samples" else "seconds of training"
    sentence = f"Mean test AUC over the runs against {what}, log scale; higher and further left is better."
    if banded:
        sentence += " The band is one standard deviation to either side."
    if np.isfinite(board.target):
        sentence += f" The dotted line is the target ({board.target:.4f})."
    return figure, sentence


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
    _against_log(axes, "training seconds", "test AUC", f"{board.dataset}: AUC against cost")
    marked = [row.method for row in rows if row.timing_mark]
    sentence = (
        "Mean test AUC and training time of each method, bars one standard deviation; the grey line is "
        "the Pareto front."
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
    gaps = " Runs that gave no AUC are not shown." if any(map(display.trouble, board.rows)) else ""
    return figure, (
        "One point a run; boxes hold the middle half, the line is the median, whiskers reach to the last "
        f"point within 1.5 box lengths. Further right is better.{gaps}"
    )


def board_tests(board: Board) -> Picture | None:
    """P-values of the paired tests."""
    methods = [row.method for row in board.rows]
    figure = _matrix(methods, board.pairwise, f"{board.dataset}: paired t-tests")
    return figure and (
        figure,
        f"P-value of two methods after Holm's correction ({board.procedure}); dark cells (p < 0.05) differ. "
        "Methods are in order of their mean AUC, those with gaps last.",
    )


def sensitivity(board: Board, styles: Mapping[str, Style]) -> list[tuple[str, Picture]]:
    """Validation AUC over the tuned fields, one picture a method."""
    tuned = {method: display.tuned_fields(trials) for method, trials in board.trials.items()}
    return [
        (method, _sensitivity(board, method, own, styles[method])) for method, own in tuned.items() if own
    ]


def _sensitivity(board: Board, method: str, tuned: list[display.TunedField], style: Style) -> Picture:
    figure, every = begin(1.2 + 4.2 * len(tuned), 4.2, len(tuned))
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
    np.atleast_1d(every)[0].set_ylabel("validation AUC")
    name = short([method], 40 * len(tuned))[0]
    figure.suptitle(f"{name} on {line(board.dataset)}", fontsize="medium")
    return figure, (
        "Each point is a setting that was tried; the line joins the best for each value of a field. A flat "
        "line means that the field hardly matters."
    )
