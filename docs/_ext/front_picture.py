"""The picture of the front page and of README: test AUC against training time, one panel a data set.

``python docs/_ext/front_picture.py docs/_static/board.svg`` draws README's anew.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from aucbench.leaderboard import build, cells
from aucbench.leaderboard.render import figure_style
from aucbench.leaderboard.report import Report

EVERY = 8  # points of a curve to one marker
LOWEST = 0.47  # AUC that is shown: a little below chance


def draw(report: Report, path: Path) -> None:
    """One panel for each board of the report, with one legend below them."""
    styles = figure_style.styles(report)
    with figure_style.look():
        figure, panels = figure_style.begin(10.0, 3.5, len(report.boards))
        for axes, board in zip(np.atleast_1d(panels), report.boards, strict=True):
            for row in sorted(board.rows, key=lambda row: row.method):
                _curve(axes, row, styles[row.method])
            axes.set_xscale("log")
            figure_style.logarithmic(axes.xaxis, *axes.get_xlim())
            axes.set_ylim(bottom=max(axes.get_ylim()[0], LOWEST))
            axes.set(title=board.dataset, xlabel="training seconds")
        np.atleast_1d(panels)[0].set_ylabel("test AUC")
        handles, labels = np.atleast_1d(panels)[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _curve(axes: Any, row: Any, style: figure_style.Style) -> None:
    seconds = np.asarray(row.curve.seconds, float)
    shown = seconds > 0
    axes.plot(
        seconds[shown], row.curve.auc[shown], color=style.colour, linestyle=style.dashes, linewidth=1.6,
        marker=style.marker, markersize=4.5, markevery=EVERY, label=row.method,
    )  # fmt: skip


def main(target: Path) -> None:
    """Run what the study of the front page lacks, and draw it."""
    import results  # runs methods: only where the picture is drawn alone

    store = results.run(Path(__file__).parents[1] / "_runs")
    draw(build.build(cells.from_store(store, results.BOARD), results.BOARD, one_study=True), target)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
