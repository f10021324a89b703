"""The frame of cells, a line for each cell with setting, data set and method; choice of the reference."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import asdict

from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import MEASURES
from aucbench.reports.cells import BoardCell
from aucbench.reports.labels import dataset_names, dataset_of, is_tuned, labels, method_of, setting_of
from aucbench.reports.report import DEFAULTS, TUNED
from aucbench.studies.codec import canonical, subset
from aucbench.studies.record import SEEDS, EntryDescription
from aucbench.suggestions import suggest

if TYPE_CHECKING:
    import pandas as pd

REFERENCE, TUNED_REFERENCE = "log_reg", "log_reg_cv"  # log_reg_cv chooses C itself
PLACE = ["setting", "data_set", "method"]
_DESCRIBED = (
    "dataset", "loss", "features", "scaling", "rescale", "regularisation", "protocol", "tuning",
    "max_train_rows", "budget", "order", "dtype",
)  # fmt: skip
_MEASURED = (
    "auc", "iterations", "train_seconds", "train_cpu_seconds", "ns_per_iteration", "state_bytes",
    "stop_reason",
)  # fmt: skip
_ENVIRONMENT = ("concurrency", "cpu", "finished_at")
_ROWS = ("train_rows", "test_rows", "train_positives", "test_positives")
CELL = (
    "setting", "data_set", "family", "method", "algorithm", "status", "seed", "split_seed", "order_seed",
    "fold",
    *_MEASURED, "tuning_passes", "tuning_seconds", "chosen", "edges", *_ROWS, *_ENVIRONMENT, "parameters",
    "described", "source", "key",
)  # fmt: skip


def cell_frame(cells: Sequence[BoardCell], one_study: bool) -> "pd.DataFrame":
    """A line for each cell, enough to recompute all results except those from curves; and the column `cell`.

    In one study methods are compared regardless of budget. Otherwise they are compared on a data set only if
    everything except the method agrees, and data sets share a setting only if everything except the data set
    agrees. If cells were run with several versions of the code, or several numbers of checkpoints, only the
    version that finished last counts: `setting`, `data_set` and `method` are null for the others. The last
    columns are the other measures of the cells with their parameters.
    """
    import pandas as pd

    entries = _entries({id(cell.described): cell.described for cell in cells}, one_study)
    extras = [name for name in MEASURES if name not in CELL]
    measured = [name for name in extras if any(cell.value(name) is not None for cell in cells)]
    rows = []
    for cell in cells:  # cells of an entry share its description
        row = entries[id(cell.described)] | _cell(cell)
        for name in measured:
            row[name] = cell.value(name)
            measure = cell.record.measures.get(name) if cell.record else None
            row |= {f"{name}_{key}": value for key, value in measure.parameters.items()} if measure else {}
        rows.append(row)
    names = dict.fromkeys([*CELL, *measured, *(name for row in rows for name in row)])
    frame = pd.DataFrame(rows, columns=list(names)).assign(cell=pd.Series(list(cells), dtype=object))
    return frame.assign(**frame[PLACE].where(_counts(frame)))


def _entries(entries: Mapping[int, EntryDescription], one_study: bool) -> dict[int, dict[str, str]]:
    """Setting, data set, method and description of entries, by the identifiers of the entries."""
    groups: dict[str, dict[str, list[int]]] = {}
    for at, entry in entries.items():
        group = str(is_tuned(entry)) if one_study else setting_of(entry)
        groups.setdefault(group, {}).setdefault(dataset_of(entry), []).append(at)
    rows: dict[int, dict[str, str]] = {}
    settings: list[str] = []
    for members in groups.values():
        by_data = [[entries[at] for at in ids] for ids in members.values()]
        kind = TUNED if is_tuned(by_data[0][0]) else DEFAULTS
        count = sum(name.startswith(kind) for name in settings)
        settings.append(f"{kind} {count + 1}" if count else kind)
        methods, names = labels(by_data, one_study), dataset_names([board[0] for board in by_data])
        for name, at in ((name, at) for name, ids in zip(names, members.values(), strict=True) for at in ids):
            described = entries[at]
            rows[at] = {
                "setting": settings[-1],
                "data_set": name,
                "method": methods[method_of(described, one_study)],
                "family": described.dataset.family or described.dataset.name,
                "algorithm": described.algorithm.name,
                "parameters": json.dumps(described.algorithm.parameters, default=str),
                "described": canonical(subset(described, _DESCRIBED)),
            }
    return rows


def _counts(frame: "pd.DataFrame") -> "pd.Series[bool]":
    """Whether a cell counts: one per method and run, of the method's last version or else without result."""
    records = [cell.record for cell in frame["cell"]]
    runs = frame[[*PLACE, *SEEDS]].assign(
        done=[record is not None for record in records],
        time=frame["finished_at"].astype(object).fillna(""),
        # Cells of one line of results have equal checkpoints, code and data.
        version=[
            canonical([record.budget.checkpoints, record.source, record.data.sha256]) if record else ""
            for record in records
        ],
    )
    order = runs.sort_values(["done", "time", "version"], ascending=False, kind="stable")
    is_last = order["version"] == order.groupby(PLACE)["version"].transform("first")
    current = order[is_last | ~order["done"]].drop_duplicates([*PLACE, *SEEDS])
    return runs.index.to_series().isin(current.index)


def _cell(cell: BoardCell) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(("source", "tuning_passes", "tuning_seconds", "chosen", "edges"))
    row |= {"status": str(cell.status), "key": cell.key, **asdict(cell.run)}
    if (record := cell.record) is None:
        return row
    row["source"] = record.source
    if tuned := record.tuned:
        row |= {"tuning_passes": tuned.cost.passes, "tuning_seconds": tuned.cost.train_seconds}
        row["chosen"] = json.dumps(tuned.parameters, default=str)
        row["edges"] = json.dumps(tuned.edges) if tuned.edges is not UNSET else None
    parts = (record.environment, _ENVIRONMENT), (record.data, _ROWS), (record.result, _MEASURED)
    for part, names in parts:
        row |= {name: None if (value := getattr(part, name, None)) is UNSET else value for name in names}
    if record.result.placements is not UNSET:
        row["placements"] = list(record.result.placements)
    return row


def default_reference(cells: "pd.DataFrame", planned: str | None = None) -> str:
    """The planned reference if it was run; else `log_reg_cv` if run and methods are tuned; else `log_reg`."""
    if planned and planned in {*cells["method"], *cells["algorithm"]}:
        return planned
    was_run = cells["algorithm"].eq(TUNED_REFERENCE).any()
    return TUNED_REFERENCE if was_run and cells["setting"].str.startswith(TUNED).any() else REFERENCE


def check_reference(name: str, known: Iterable[str] = ()) -> None:
    """Raise ParameterError for a reference that is neither installed nor among the known names."""
    from aucbench.registry import catalog

    if name in (names := {REFERENCE, *known}):
        return
    names |= set(catalog().plugins[Family.algorithms])
    if name not in names:
        raise ParameterError(f"Unknown reference '{name}'. {suggest(name, sorted(names))}")


def reference_of(cells: "pd.DataFrame", name: str) -> str:
    """The label of the reference among the cells of a setting, "" if it was not run.

    An exact label is preferred. Among several variants of a method, variants with neither feature map
    nor limit of the training rows come first; then the variant on most data sets; then alphabetical order.
    """
    group = cells[(cells["method"] == name) | (cells["algorithm"] == name)]
    described = [cell.described for cell in group["cell"]]
    special = [entry.features.name != "identity" or entry.max_train_rows is not None for entry in described]
    variants = group.assign(special=special).groupby("method").agg({"special": "any", "data_set": "nunique"})
    order = [(label != name, row.special, -row.data_set, str(label)) for label, row in variants.iterrows()]
    return min(order)[-1] if order else ""
