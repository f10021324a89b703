"""The runs whose results the pages show: a small study for the front page, and a curve for each method."""

import contextlib
import io
import os
from pathlib import Path
from typing import Any
from zlib import crc32

import front_picture
import numpy as np
from markdown import escaped, table

import aucbench
from aucbench.cli.main import main
from aucbench.contracts.validation import Family
from aucbench.errors import AucbenchError
from aucbench.leaderboard import build, cells
from aucbench.leaderboard.render import display, figure_style
from aucbench.leaderboard.render.page import write_page
from aucbench.studies.plugin_metadata import colour
from aucbench.studies.store import Store

BOARD = "front-page"
COMMON = ["tracking=none"]  # ten passes, the default; methods that converge run until they have
CURVES = ["dataset=digits", "runs=3"]
STUDY = [
    "algo=solam,fsauc,opauc,spam,psam,bam,log_reg",
    "dataset=breast_cancer,digits,label_noise",
    "tuning=none",
    "runs=5",
]
KEPT = f"board-{crc32(' '.join([*STUDY, *COMMON]).encode()):08x}"  # other settings have a store of their own
_store: list[Store] = []
_curves: dict[str, aucbench.Result] = {}


def run(folder: Path) -> Store:
    """Run what the folder does not have; gives the store of the front page's study."""
    folder.mkdir(parents=True, exist_ok=True)
    before, printed = Path.cwd(), io.StringIO()
    os.chdir(folder)  # Hydra leaves a folder where it is called
    try:
        for method in aucbench.catalog().plugins[Family.algorithms]:
            # A stranger's method may not be made for such data; its page then has no curve.
            with contextlib.suppress(AucbenchError):
                found = aucbench.run(f"algo={method}", *CURVES, "store.path=curves", *COMMON)
                if all(len(cell.curve["auc"]) for cell in found.cells):
                    _curves[method] = found
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = main(["--multirun", *STUDY, *COMMON, f"study={BOARD}", f"store.path={KEPT}"])
    finally:
        os.chdir(before)
    if status:
        raise RuntimeError(f"The study of the front page failed:\n{printed.getvalue()}")
    _store[:] = [Store(folder / KEPT)]
    return _store[0]


def has_curve(method: str) -> bool:
    """Whether there is a picture of the method."""
    return method in _curves


def draw_curves(folder: Path) -> None:
    """A picture for each method, the others in grey."""
    means = {name: _mean([cell.curve for cell in result.cells]) for name, result in _curves.items()}
    with figure_style.look():
        for name in means:
            figure, axes = figure_style.begin(7.0, 3.2)
            for other, (samples, auc, _) in means.items():
                if other != name:
                    axes.plot(samples, auc, color="0.85", linewidth=0.8, zorder=1)
            samples, auc, std = means[name]
            axes.fill_between(samples, auc - std, auc + std, color=colour(name), alpha=0.2, zorder=2)
            axes.plot(samples, auc, color=colour(name), linewidth=2.0, marker=".", zorder=3, label=name)
            axes.set(ylim=(0.4, 1.0), xlabel="rows seen", ylabel="test AUC on digits")
            axes.set_xscale("log")
            figure_style.logarithmic(axes.xaxis, *axes.get_xlim())
            axes.legend(loc="lower right")
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def _mean(curves: list[Any]) -> tuple[Any, Any, Any]:
    length = min(len(curve["auc"]) for curve in curves)
    aucs = np.array([curve["auc"][:length] for curve in curves])
    return curves[0]["samples"][:length], aucs.mean(axis=0), aucs.std(axis=0, ddof=1)


def draw_board(folder: Path) -> None:
    """The leaderboard of the front page: a picture, a table, and the page that opens without a network."""
    found = cells.from_store(_store[0], BOARD)
    report = build.build(found, BOARD, one_study=True)
    write_page(report, folder / "board" / "leaderboard.html")
    ranks = sorted(report.overall[0].ranks.items(), key=lambda item: item[1].value)
    head = ("method", "mean rank", *(board.dataset for board in report.boards))
    rows = []
    for method, rank in ranks:
        found = [next(row for row in board.rows if row.method == method) for board in report.boards]
        shown = [display.auc(row) for row in found]
        rows.append((f"[`{method}`](generated/methods/{method}.md)", display.mean_rank(rank), *shown))
    (folder / "board_table.inc").write_text(table(tuple(map(escaped, head)), rows) + "\n", encoding="utf-8")
    front_picture.draw(report, folder / "board.svg")
