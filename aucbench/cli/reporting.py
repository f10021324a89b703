"""What a run shows: stages and a progress bar on standard error, a short summary on standard output."""

import sys
from typing import Any

import numpy as np
from tqdm import tqdm

from aucbench.entry import Cell, Entry
from aucbench.execution import Executed, Observer
from aucbench.result import CellResult


class Console(Observer):
    """Shows an execution in the terminal; bars only where there is one."""

    def __init__(self, entry: Entry):
        self._entry = entry
        self._bar: Any = None
        self._terminal = sys.stderr.isatty()

    def stage(self, text: str) -> None:
        """Print the stage."""
        self._close()
        print(f"aucbench: {text} ...", file=sys.stderr, flush=True)

    def progress(self, cell: Cell, share: float) -> None:
        """Move the bar."""
        if not self._terminal:
            return
        if self._bar is None:
            self._bar = tqdm(
                total=100,
                desc=self._entry.algorithm.name,
                unit="%",
                leave=False,
                bar_format="{l_bar}{bar}| {elapsed}",
            )
        self._bar.update(100 * share - self._bar.n)

    def finished(self, cell: Cell, result: CellResult, stored: bool) -> None:
        """Print where a cell came from when it was not run, and what became of one of several."""
        self._close()
        if stored:
            print(f"aucbench: seed {cell.seed} was in the store", file=sys.stderr, flush=True)
        elif self._entry.settings.runs > 1:
            print(f"aucbench: seed {cell.seed}: test AUC {_auc(result)}", file=sys.stderr, flush=True)

    def summary(self, executed: Executed, path: str | None, uri: str | None, run_id: str | None) -> float:
        """Print the summary; returns the mean test AUC."""
        self._close()
        entry, cells = executed.entry, executed.cells
        outcomes = [cell.outcome for cell in cells]
        aucs = np.array([cell.auc for cell in cells])
        spread = f" +- {np.std(aucs, ddof=1):.6f} over {len(aucs)} runs" if len(aucs) > 1 else ""
        first = cells[0]
        facts = first.record["data"]
        lines = {
            "run": f"{entry.algorithm.name} on {entry.dataset.title} "
            f"({facts['train_rows']:,} training and {facts['test_rows']:,} test rows, "
            f"{facts['features']:,} features)",
            "test AUC": f"{_auc(first)}" if len(cells) == 1 else f"{np.mean(aucs):.6f}{spread}",
            "training": f"{_mean(outcomes, 'train_seconds'):.4g} s "
            f"({_mean(outcomes, 'train_cpu_seconds'):.4g} s of CPU)",
            "cost": f"{_mean(outcomes, 'ns_per_iteration'):,.0f} ns per iteration",
            "iterations": f"{_mean(outcomes, 'iterations'):,.0f}",
            "state": f"{_mean(outcomes, 'state_bytes'):,.0f} bytes",
            "stopped": ", ".join(sorted({_stop(outcome) for outcome in outcomes})),
        }
        if entry.features.name != "identity":
            lines["features"] = f"{entry.features.name}, fitted in {facts['features_seconds']:.3g} s"
        if first.record["algorithm"]["exempt"]:
            lines["exempt"] = "from checks: " + ", ".join(first.record["algorithm"]["exempt"])
        if executed.from_store and path:
            lines["from"] = f"the store {path} (nothing was run again)"
        if uri and run_id:
            lines["MLflow"] = f"run {run_id}"
        for name, text in lines.items():
            print(f"{name:>10}  {text}")
        nexts = [f"mlflow ui --backend-store-uri {uri}"] if run_id else []
        if path:
            nexts.append("aucbench leaderboard" + ("" if path == "aucbench-store" else f" --store {path}"))
        for number, command in enumerate(nexts):
            print(f"{'next' if number == 0 else '':>10}  {command}")
        sys.stdout.flush()
        return float(np.mean(aucs))

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _auc(cell: CellResult) -> str:
    return "none (diverged)" if cell.outcome["auc"] is None else f"{cell.auc:.6f}"


def _stop(outcome: dict[str, Any]) -> str:
    reason = str(outcome["stop_reason"])
    return f"{reason} at iteration {outcome['iterations']:,}" if reason == "diverged" else reason


def _mean(outcomes: list[dict[str, Any]], key: str) -> float:
    return float(np.mean([outcome[key] for outcome in outcomes]))
