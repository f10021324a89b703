"""The runs for the pages of methods: a learning curve for each method."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

import aucbench
from aucbench.contracts.validation import Family
from aucbench.errors import AucbenchError
from aucbench.reports.views import figure_style
from aucbench.studies.method_look import colour

COMMON = ["tracking=none"]  # ten passes by default; methods with a convergence test run until convergence
CURVES = ["dataset=digits", "runs=3"]
_curves: dict[str, aucbench.Result] = {}


def run(folder: Path) -> None:
    """Run every method whose result is not in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(folder):  # Hydra creates a folder in the working directory
        for method in aucbench.catalog().plugins[Family.algorithms]:
            # A third-party method may not accept these data; its page then has no curve.
            with contextlib.suppress(AucbenchError):
                result = aucbench.run(f"algo={method}", *CURVES, "store.path=curves", *COMMON)
                if all(len(cell.curve["auc"]) for cell in result.cells):
                    _curves[method] = result


def has_curve(method: str) -> bool:
    """Whether there is a picture of the method."""
    return method in _curves


def draw_curves(folder: Path) -> None:
    """Draw a picture for each method, with the other methods in grey."""
    means = {name: _mean([cell.curve for cell in result.cells]) for name, result in _curves.items()}
    with figure_style.look():
        for name in means:
            figure, axes = figure_style.begin(3.2)
            for other, (samples, auc, _) in means.items():
                if other != name:
                    axes.plot(samples, auc, color="0.85", linewidth=0.8, zorder=1)
            samples, auc, std = means[name]
            axes.fill_between(samples, auc - std, auc + std, color=colour(name), alpha=0.2, zorder=2)
            axes.plot(samples, auc, color=colour(name), linewidth=2.0, marker=".", zorder=3, label=name)
            axes.set(ylim=(0.4, 1.0), xlabel="rows seen", ylabel="test AUC on digits")
            figure_style.logarithmic(axes, samples)
            axes.legend(loc="lower right")
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def _mean(curves: list[Any]) -> tuple[Any, Any, Any]:
    length = min(len(curve["auc"]) for curve in curves)
    aucs = np.array([curve["auc"][:length] for curve in curves])
    return curves[0]["samples"][:length], aucs.mean(axis=0), aucs.std(axis=0, ddof=1)
