"""The reference study: every method on every data set at hand, read from the archive that the project keeps.

``python docs/_ext/reference_study.py`` prints the sentences that README and the front page quote from it, and
draws their picture anew.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import matplotlib
import numpy as np
from markdown import table
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from method_pages import source_page
from scipy import stats

import aucbench
from aucbench import Access
from aucbench.contracts.validation import Family
from aucbench.reports import build, cells
from aucbench.reports.render import display, figure_style
from aucbench.reports.render.page import write_page
from aucbench.reports.report import Board, Estimate, MethodInfo, Report, Row
from aucbench.reports.statistics.multiple_comparisons import holm
from aucbench.studies.archive import Archive
from aucbench.studies.archive_file import read

DOCS = Path(__file__).parents[1]
ARCHIVE = DOCS / "results" / "reference.zip"
TRIALS = DOCS / "results" / "reference_trials.zip"  # of the same study under ``ruleset=trials``
PICTURE = DOCS / "_static" / "reference.svg"
BASELINE = "log_reg"
STUDY = "reference"
PAPERS = ("fsauc", "opauc", "psam", "sauc", "spdam")  # named in the picture, besides those of the sentences
LOWEST, HIGHEST = -0.016, 0.006  # gains that the picture shows; those beyond are marks at these
SPOTS = (  # where a name may stand beside its mark: points to the right, points up, and its alignment
    (5, 3, "left", "bottom"), (5, -3, "left", "top"), (-5, 3, "right", "bottom"), (-5, -3, "right", "top"),
    (7, 0, "left", "center"), (-7, 0, "right", "center"), (0, 6, "center", "bottom"),
    (0, -6, "center", "top"), (0, 16, "center", "bottom"), (0, -16, "center", "top"),
)  # fmt: skip


class Answer(NamedTuple):
    """What the study says, in numbers."""

    methods: int  # that are ranked
    datasets: int
    runs: int
    rows: int  # most training rows
    better: tuple[str, ...]  # linear methods whose mean gain over the baseline has an interval above 0
    leader: str  # the stochastic method with the best mean rank
    rank: float
    second: str  # the stochastic method with the next mean rank
    second_rank: float
    gain: Estimate  # of the leader over the baseline, mean over data sets
    pays: tuple[str, ...]  # data sets on which the paired interval of its gain lies above 0
    loses: tuple[str, ...]  # and below 0
    significant: tuple[
        str, ...
    ]  # data sets on which its gain is not 0, with Holm's correction over data sets
    ratio: float  # of training seconds, leader to baseline, geometric mean over data sets
    best: str  # the best mean rank of all
    best_rank: float
    equals: int  # other methods that the tests do not tell from the leader
    trees: Estimate  # gain of boosted trees over the baseline


class TunedAnswer(NamedTuple):
    """What the study says where every method was tuned, in numbers."""

    settings: int  # that were tried for each method
    datasets: int
    runs: int
    rows: int  # most training rows
    best: str  # the linear method with the best mean rank
    best_rank: float
    leader: str  # and the best of the stochastic ones
    rank: float
    gain: Estimate  # of the leader over the tuned baseline, mean over data sets
    better: tuple[str, ...]  # linear methods whose mean gain over the baseline has an interval above 0


@cache
def archive(file: Path = ARCHIVE) -> Archive:
    """What a file has of the study."""
    return read(file)[1]


@cache
def report(file: Path = ARCHIVE) -> Report:
    """The leaderboard of the study, or of what another archive has of it."""
    return build.build(cells.from_store(archive(file), STUDY), STUDY, one_study=True)


@cache
def answer() -> Answer:
    """The numbers of the sentences, computed from the archive."""
    overall, boards = report().overall[0], report().boards
    plugins = aucbench.catalog().plugins[Family.algorithms]
    rows = [row for board in boards for row in board.rows]
    linear = {row.method for row in rows} - {row.method for row in rows if not row.linear}
    ranked = sorted(overall.ranks, key=lambda method: overall.ranks[method].value)
    stochastic = (each for each in ranked if each in linear and plugins[each].cls.access is not Access.full)
    leader, second, *_ = stochastic
    both = [(board.dataset, _row(board, leader)) for board in boards]
    (trees,) = overall.gains.keys() - linear
    letters = set(overall.groups[leader])
    return Answer(
        methods=len(ranked),
        datasets=len(boards),
        runs=max(row.runs for row in rows),
        rows=max(board.facts.train_rows or 0 for board in boards),
        better=tuple(sorted(each for each in linear & overall.gains.keys() if overall.gains[each].low > 0)),
        leader=leader,
        rank=overall.ranks[leader].value,
        second=second,
        second_rank=overall.ranks[second].value,
        gain=overall.gains[leader],
        pays=tuple(name for name, own in both if own.gain.low > 0),
        loses=tuple(name for name, own in both if own.gain.high < 0),
        significant=_significant(both),
        ratio=ratio(leader),
        best=ranked[0],
        best_rank=overall.ranks[ranked[0]].value,
        equals=sum(bool(letters & set(text)) for text in overall.groups.values()) - 1,
        trees=overall.gains[trees],
    )


@cache
def tuned_answer() -> TunedAnswer:
    """The numbers of the sentences about tuned methods, computed from the archive of the trials."""
    whole = report(TRIALS)
    overall, boards = next((own, boards) for own, boards in whole.groups() if own.tuned)
    plugins = aucbench.catalog().plugins[Family.algorithms]
    rows = [row for board in boards for row in board.rows]
    linear = {row.method for row in rows} - {row.method for row in rows if not row.linear}
    ranked = sorted(linear & overall.ranks.keys(), key=lambda method: overall.ranks[method].value)
    leader = next(each for each in ranked if plugins[each].cls.access is not Access.full)
    return TunedAnswer(
        settings=max(len(tried) for board in boards for tried in board.trials.values()),
        datasets=len(boards),
        runs=max(row.runs for row in rows),
        rows=max(board.facts.train_rows or 0 for board in boards),
        best=ranked[0],
        best_rank=overall.ranks[ranked[0]].value,
        leader=leader,
        rank=overall.ranks[leader].value,
        gain=overall.gains[leader],
        better=tuple(sorted(each for each in linear & overall.gains.keys() if overall.gains[each].low > 0)),
    )


def ratio(method: str) -> float:
    """Training seconds of a method over those of the baseline, geometric mean over data sets."""
    ratios = np.array(
        [
            _row(board, method).train_seconds / _row(board, BASELINE).train_seconds
            for board in report().boards
            if any(row.method == method for row in board.rows)
        ]
    )
    return float(np.exp(np.mean(np.log(ratios[np.isfinite(ratios)]))))


def _significant(rows: list[tuple[str, Row]]) -> tuple[str, ...]:
    """Data sets on which a gain is not 0, at the level 5 % with Holm's correction over all of them."""
    p_values = []
    for _, own in rows:
        freedom = own.runs - 1  # the intervals are those of t-tests over runs
        error = (own.gain.high - own.gain.low) / 2 / stats.t.ppf(0.975, freedom)
        equal = own.gain.value == 0.0 == error
        p_values.append(1.0 if equal else 2 * stats.t.sf(abs(own.gain.value) / error, freedom))
    adjusted = holm(np.array(p_values))
    return tuple(name for (name, _), p in zip(rows, adjusted, strict=True) if p < 0.05)


def _row(board: Board, method: str) -> Row:
    return next(row for row in board.rows if row.method == method)


def sentences() -> str:
    """What README and the front page quote."""
    a = answer()
    gain, trees = _interval(a.gain), _interval(a.trees)
    texts = (
        f"**Which method leads?** At their default settings, over {a.datasets} data sets with {a.runs} runs",
        f"each, {_beaters(a.better)} balanced logistic regression (`{BASELINE}`) by more than noise;",
        f"`{a.leader}`, which has the best mean rank of the stochastic methods",
        f"({a.rank:.2f} among {a.methods} methods; `{a.second}` follows with {a.second_rank:.2f}),",
        f"gains {gain} test AUC over it.",
        "**Where does it pay?** The paired interval of its gain on a single data set lies above",
        f"zero on {_listed(a.pays)}, and below zero on {_listed(a.loses)}; with Holm's correction for",
        f"{a.datasets} data sets, {_told(a.significant)}.",
        f"**At what cost?** `{a.leader}` trains for {a.ratio:.2g} times the seconds of `{BASELINE}`",
        f"(geometric mean); `{a.best}` has the best mean rank of all ({a.best_rank:.1f}),",
        f"and trains for {ratio(a.best):.2g} times those.",
        f"**What limits all of them?** Boosted trees gain {trees}:",
        "the linear model limits these AUCs more than the choice of a loss does.",
        f"**What cannot be told?** {a.equals} of the other methods do not differ significantly from",
        f"`{a.leader}`; no method was tuned, and at most {a.rows:,} rows were trained on.",
    )
    return " ".join(texts)


def tuned_sentences() -> str:
    """What the front page says of tuned methods."""
    a = tuned_answer()
    runs = "one run" if a.runs == 1 else f"{a.runs} runs"
    texts = (
        f"**And with tuning?** The same settings, up to {a.settings} from the grid of each method, were",
        f"tried on {a.datasets} data sets, {runs} each, with at most {a.rows:,} training rows.",
        f"`{a.best}` has the best mean rank ({a.best_rank:.1f}); `{a.leader}` is the best stochastic method",
        f"({a.rank:.1f}), and its gain over the tuned `{BASELINE}` is {_interval(a.gain)}.",
        f"Here, {_beaters(a.better)} `{BASELINE}` by more than noise.",
    )
    return " ".join(texts)


def _beaters(names: tuple[str, ...]) -> str:
    if not names:
        return "no linear method beats"
    return f"{', '.join(f'`{name}`' for name in names)} {'beats' if len(names) == 1 else 'beat'}"


def _told(names: tuple[str, ...]) -> str:
    if not names:
        return "none of these differences is significant"
    return f"{'that on' if len(names) == 1 else 'those on'} {_listed(names)} remain{'s' * (len(names) == 1)}"


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:+.4f} (95 % interval {estimate.low:+.4f} to {estimate.high:+.4f})"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def picture() -> Figure:
    """Gain over the baseline against its training seconds: a mark for each method, some with names."""
    gains, a = report().overall[0].gains, answer()
    shown = {method: (ratio(method), min(max(gain.value, LOWEST), HIGHEST)) for method, gain in gains.items()}
    names = {method: method for method in (a.leader, a.best, BASELINE, *PAPERS)} | {
        method: f"{method} {gain.value:+.3f}"
        for method, gain in gains.items()
        if shown[method][1] != gain.value
    }
    styles = {
        method: style if method in names else figure_style.Style(figure_style.GREY, "o", "-", is_grey=True)
        for method, style in figure_style.styles(report()).items()
    }
    labels = figure_style.legend(styles, list(shown))
    figure, axes = figure_style.begin(4.0)
    axes.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    for (method, at), label in zip(shown.items(), labels, strict=True):
        style, gain = styles[method], gains[method]
        order = 1 if style.is_grey else 2.5
        axes.plot(
            *at, style.marker, color=style.colour, markersize=5 if style.is_grey else 6, zorder=order,
            label=label if style.is_grey else figure_style.HIDDEN,
        )  # fmt: skip
        if at[1] == gain.value:
            ends = np.clip([gain.low, gain.high], LOWEST, HIGHEST)
            axes.plot([at[0]] * 2, ends, color=style.colour, alpha=0.4, linewidth=1.0, zorder=order - 1)
    margin = 0.05 * (HIGHEST - LOWEST)
    axes.set(xlabel=f"training seconds, times those of {BASELINE}", ylim=(LOWEST - margin, HIGHEST + margin))
    axes.set_ylabel(f"mean gain in test AUC over {BASELINE}")
    axes.set_xscale("log")
    figure_style.logarithmic(axes.xaxis, *axes.get_xlim())
    figure.legend(loc="outside lower right", frameon=False, fontsize="small")
    figure.draw_without_rendering()
    corners = axes.transData.transform(list(shown.values()))
    taken = [Bbox.from_extents(x - 5, y - 5, x + 5, y + 5) for x, y in corners]
    for method, name in names.items():
        taken.append(_named(axes, name, shown[method], taken))
    return figure


def _named(axes: Axes, name: str, at: tuple[float, float], taken: Sequence[Bbox]) -> Bbox:
    """Write a name beside a mark, inside the frame and clear of what is taken; returns its place."""
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # hides the grid
    for x, y, across, up in SPOTS:
        text = axes.annotate(
            name, at, (x, y), textcoords="offset points", ha=across, va=up, fontsize=8, bbox=ground
        )
        box = text.get_window_extent()
        inside = axes.bbox.contains(box.x0, box.y0) and axes.bbox.contains(box.x1, box.y1)
        if inside and not any(box.overlaps(other) for other in taken):
            return box
        text.remove()
    raise ValueError(f"{name} has no place in the picture; name fewer methods, or add to SPOTS")


def draw(path: Path) -> None:
    """Write the picture of README and the front page."""
    # Equal drawings are equal files.
    with figure_style.look(), matplotlib.rc_context({"svg.hashsalt": STUDY}):
        picture().savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def write_leaderboard(path: Path, file: Path = ARCHIVE) -> None:
    """The page of the whole study, one file; methods and data sets link to the pages of this site."""
    whole = report(file)
    methods = {label: replace(info, links=_links(info)) for label, info in whole.methods.items()}
    page = ("Documentation", "generated/datasets.html")
    boards = [
        replace(board, facts=replace(board.facts, links=(*board.facts.links, page))) for board in whole.boards
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_page(replace(whole, methods=methods, boards=tuple(boards)), path)


def _links(info: MethodInfo) -> tuple[tuple[str, str], ...]:
    own = {
        "Documentation": f"generated/methods/{info.name}.html",
        "Source": f"generated/{source_page(info.source)}.html",
    }
    return tuple((dict(info.links) | own).items())


def write(folder: Path) -> None:
    """What the front page shows of the study, below the folder of generated pages."""
    overall = report().overall[0]
    head = ("method", "mean rank", f"gain over {BASELINE}", f"seconds, times those of {BASELINE}")
    rows = []
    for method in sorted(overall.gains, key=lambda each: -overall.gains[each].value):
        rank, gain = overall.ranks.get(method), overall.gains[method]
        shown = display.mean_rank(rank) if rank else "runs are missing"
        name = f"[`{method}`](generated/methods/{method}.md)"
        rows.append(
            (name, shown, f"{gain.value:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})", f"{ratio(method):.2g}")
        )
    (folder / "reference_table.inc").write_text(table(head, rows) + "\n", encoding="utf-8")
    (folder / "reference_answer.inc").write_text(sentences() + "\n", encoding="utf-8")
    (folder / "tuned_answer.inc").write_text(tuned_sentences() + "\n", encoding="utf-8")


if __name__ == "__main__":
    print(fill(sentences(), 120, break_long_words=False))
    draw(PICTURE)
