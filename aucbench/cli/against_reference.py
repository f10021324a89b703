"""The gain of a single run over the reference, with an interval and a verdict."""

import shlex
from collections.abc import Sequence

from aucbench import api
from aucbench.config.words import parse
from aucbench.errors import AucbenchError
from aucbench.humanize import counted
from aucbench.reports.cell_frame import REFERENCE, TUNED_REFERENCE
from aucbench.studies.execution.execute import opened_store
from aucbench.studies.record import CellStatus
from aucbench.studies.result import FinishedEntry
from aucbench.studies.study import Observer, Study

CHEAP = 2.0  # seconds; a reference that takes longer is not trained unasked
# Upper bound of the seconds of log_reg for each training row and pair of columns, of at most 50.
SECONDS, MOST_COLUMNS = 4e-9, 50
OF_THE_METHOD = (
    "algo", "loss", "budget", "tuning", "study", "tracking", "metrics", "store.weights", "reference",
)  # fmt: skip


class _Kept(Observer):
    entry: FinishedEntry | None = None

    def entry_finished(self, executed: FinishedEntry) -> None:
        self.entry = executed


def against_reference(words: Sequence[str], study: Study, executed: FinishedEntry) -> str:
    """One sentence on a finished run; empty for the reference itself, and where a cell failed or diverged.

    The results of the reference are those of the store. If it lacks them, the reference is trained where
    that takes less than two seconds; otherwise the sentence names the command.
    """
    if not executed.cells or executed.failures or any(cell.diverged for cell in executed.cells):
        return ""
    is_tuned = any(cell.record.tuned for cell in executed.cells)
    reference = study.running.reference or (TUNED_REFERENCE if is_tuned else REFERENCE)
    if reference == executed.record.algorithm.name:
        return ""
    others = [word for word in words if not word.lstrip("+").startswith(OF_THE_METHOD)]
    wanted = [f"algo={reference}", *(word for word in others if not word.startswith("--only"))]
    try:
        kept = _Kept()
        if not _is_cheap(executed, is_tuned) and _lacks(study, wanted):
            return f"not known yet; train the reference: {shlex.join(['aucbench', *wanted])}"
        api.run_study([*wanted, "tracking=none"], kept)
    except AucbenchError as error:  # the run itself went well
        return f"not known: {error}"
    found = (
        kept.entry and kept.entry.cells and _sentence([executed, kept.entry], reference, study.running.rope)
    )
    return found or ""


def _is_cheap(executed: FinishedEntry, is_tuned: bool) -> bool:
    data = executed.record.data
    pairs = data.train_rows * data.features * min(data.features, MOST_COLUMNS)
    return not is_tuned and pairs * SECONDS * len(executed.cells) <= CHEAP


def _lacks(study: Study, wanted: Sequence[str]) -> bool:
    """Whether the store has not all cells of the reference."""
    from aucbench.studies.execution.plan import plan_study

    with opened_store(study.store_path) as store:
        plan = plan_study(api.study_of(parse([*wanted, "tracking=none"])), store)
        return plan.count(CellStatus.finished) < len(plan.cells())


def _sentence(entries: Sequence[FinishedEntry], reference: str, rope: float | None) -> str:
    from aucbench.reports.build import build
    from aucbench.reports.cells import of_results
    from aucbench.reports.columns import RESULTS

    cells = [cell for each in entries for cell in of_results(each.cells)]
    report = build(cells, "", True, planned_reference=reference, planned_rope=rope)
    gains = report.gains[report.gains["method"] != reference]
    means = report.results.set_index("method")["mean"]
    if len(gains) != 1 or reference not in means:
        return ""
    (row,) = gains.to_dict("records")
    verdict = f", {row['verdict']}" if row["verdict"] else ""
    gain = RESULTS["gain"].shown({**row, "gain_low": row["low"], "gain_high": row["high"]})
    aucs = ", ".join(f"{name} {means[name]:.4f}" for name in (row["method"], reference))
    return f"{aucs}: {gain}{verdict}; {counted(int(row['runs']), 'run')}"
